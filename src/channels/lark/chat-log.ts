import type { InboundChat } from "../contract/index.ts";

const MAX_ENTRIES = 5000;
const MAX_ALIASES = 2000;

export interface LoggedMessage {
  readonly chat: InboundChat;
  readonly isBot: boolean;
}

/** What one account has lately seen and sent; oldest go first. */
export interface ChatLog {
  add(messageId: string, entry: LoggedMessage): void;
  find(messageId: string): LoggedMessage | undefined;
  /** One person under the platform's three kinds of ids. */
  person(openId: string, others: readonly (string | undefined)[]): void;
  /** The open_id of another id, else the id itself. */
  openIdOf(id: string): string;
}

export function createChatLog(): ChatLog {
  const messages = new Map<string, LoggedMessage>();
  const people = new Map<string, string>();
  return {
    add: (messageId, entry) => put(messages, messageId, entry, MAX_ENTRIES),
    find: (messageId) => messages.get(messageId),
    person(openId, others) {
      for (const id of others) if (id !== undefined && id !== "" && id !== openId) put(people, id, openId, MAX_ALIASES);
    },
    openIdOf: (id) => people.get(id) ?? id,
  };
}

function put<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next().value;
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
