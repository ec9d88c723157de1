const KEEP_MS = 24 * 60 * 60 * 1000;
const MAX_ENTRIES = 5000;

/** Which messages the bot itself sent in the last 24 hours, for reactions to its own. Oldest go first. */
export interface SentLog {
  add(chatId: string, messageId: number): void;
  has(chatId: string, messageId: number): boolean;
}

export function createSentLog(now: () => number): SentLog {
  const sent = new Map<string, number>();
  return {
    add(chatId, messageId) {
      sent.set(`${chatId}:${messageId}`, now());
      for (const [key, atMs] of sent) {
        if (sent.size <= MAX_ENTRIES && now() - atMs < KEEP_MS) break;
        sent.delete(key);
      }
    },
    has(chatId, messageId) {
      const atMs = sent.get(`${chatId}:${messageId}`);
      return atMs !== undefined && now() - atMs < KEEP_MS;
    },
  };
}
