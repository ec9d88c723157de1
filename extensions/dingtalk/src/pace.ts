import { DingTalkError } from "./errors.ts";

const MAX_PER_MINUTE = 20;
const MINUTE_MS = 60_000;
const MAX_CHATS = 500;

/** Keeps a chat below 20 messages a minute: DingTalk shuts who goes on out for ten. Source: spec channels-cn §3.5 (rates). */
export interface Pace {
  /** Counts one message. @throws DingTalkError `rate-limited` with the time until the next may go */
  take(chatId: string): void;
}

export function createPace(now: () => number): Pace {
  const sentAt = new Map<string, number[]>();
  return {
    take(chatId) {
      const recent = (sentAt.get(chatId) ?? []).filter((at) => at + MINUTE_MS > now());
      const [oldest] = recent;
      if (oldest !== undefined && recent.length >= MAX_PER_MINUTE) {
        throw new DingTalkError("rate-limited", "DingTalk takes 20 messages a minute for a chat", { retryAfterMs: oldest + MINUTE_MS - now() });
      }
      sentAt.delete(chatId);
      sentAt.set(chatId, [...recent, now()]);
      const first = sentAt.keys().next().value;
      if (sentAt.size > MAX_CHATS && first !== undefined) sentAt.delete(first);
    },
  };
}
