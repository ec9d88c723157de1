import { z } from "zod";
import type { Logger } from "../../infra/log.ts";
import type { LarkApi } from "./api.ts";
import { LarkError } from "./errors.ts";

/** Source: spec channels-cn §4.4: names are kept for ten minutes. */
const KEEP_MS = 600_000;
const MAX_ENTRIES = 2000;
/** The platform repeats an event that is not acknowledged within three seconds. */
const TIMEOUT_MS = 1500;
const GRANT_QUIET_MS = 300_000;

const userAnswer = z.looseObject({ user: z.looseObject({ name: z.string().optional(), en_name: z.string().optional(), nickname: z.string().optional() }) });
const chatAnswer = z.looseObject({ name: z.string().optional(), chat_mode: z.string().optional() });
const quoted = z.looseObject({
  message_id: z.string().default(""), msg_type: z.string().default("unknown"), chat_id: z.string().optional(), upper_message_id: z.string().optional(), deleted: z.boolean().optional(),
  sender: z.looseObject({ id: z.string().optional(), sender_type: z.string().optional() }).optional(),
  body: z.looseObject({ content: z.string().default("") }).optional(),
  mentions: z.array(z.looseObject({ key: z.string(), id: z.string().optional(), name: z.string().default("") })).nullish(),
});
const messageAnswer = z.looseObject({ items: z.array(quoted).default([]) });

export type QuotedMessage = z.infer<typeof quoted>;
export interface ChatInfo {
  readonly name: string | undefined;
  /** `group`, `topic` or `p2p`. */
  readonly mode: string | undefined;
}

/** What the platform knows about ids of one account. Never rejects: what cannot be had is undefined. */
export interface Lookups {
  userName(openId: string): Promise<string | undefined>;
  chat(chatId: string): Promise<ChatInfo | undefined>;
  /** A message, and for forwarded ones those inside. */
  message(messageId: string): Promise<readonly QuotedMessage[]>;
}

export interface LookupDeps {
  readonly api: LarkApi;
  readonly log: Logger;
  readonly now: () => number;
  /** The app may not look something up; `grantUrl` is where it is allowed. At most once in five minutes. */
  onMissingPermission(reason: string, grantUrl: string | undefined): void;
}

export function createLookups(deps: LookupDeps): Lookups {
  const { api, log, now } = deps;
  const cache = new Map<string, { readonly value: Promise<unknown>; readonly until: number }>();
  let quietUntilMs = 0;

  function failed(what: string, err: unknown): undefined {
    log.debug("lookup failed", { what, reason: err instanceof Error ? err.message : String(err) });
    if (err instanceof LarkError && err.kind === "permission" && now() >= quietUntilMs) {
      quietUntilMs = now() + GRANT_QUIET_MS;
      deps.onMissingPermission(err.message, err.grantUrl);
    }
    return undefined;
  }

  async function ask<T>(what: string, path: string, query: Readonly<Record<string, string>>, schema: z.ZodType<T>): Promise<T | undefined> {
    try {
      return schema.parse(await api.call("GET", path, { what, query, signal: AbortSignal.timeout(TIMEOUT_MS) }));
    } catch (err) {
      return failed(what, err);
    }
  }

  function remember<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = cache.get(key);
    // A key belongs to one kind of question, and with it to one type.
    if (known && now() < known.until) return known.value as Promise<T>;
    const value = make();
    cache.delete(key);
    cache.set(key, { value, until: now() + KEEP_MS });
    const oldest = cache.keys().next().value;
    if (cache.size > MAX_ENTRIES && oldest !== undefined) cache.delete(oldest);
    return value;
  }

  return {
    userName: (openId) =>
      remember(`user:${openId}`, async () => {
        const answer = await ask("say who wrote", `/contact/v3/users/${encodeURIComponent(openId)}`, { user_id_type: "open_id" }, userAnswer);
        return answer?.user.name || answer?.user.nickname || answer?.user.en_name || undefined;
      }),
    chat: (chatId) =>
      remember(`chat:${chatId}`, async () => {
        const answer = await ask("describe a group", `/im/v1/chats/${encodeURIComponent(chatId)}`, {}, chatAnswer);
        return answer && { name: answer.name || undefined, mode: answer.chat_mode };
      }),
    message: (messageId) =>
      remember(`message:${messageId}`, async () => (await ask("read a message", `/im/v1/messages/${encodeURIComponent(messageId)}`, { user_id_type: "open_id" }, messageAnswer))?.items ?? []),
  };
}
