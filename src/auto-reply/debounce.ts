import type { InboxRow } from "../delivery/index.ts";
import { isStopMessage } from "./abort-words.ts";
import { chatKey } from "./inbox-rows.ts";

export interface DebouncerOptions {
  /** ms that a channel waits for more of the same sender; 0 for none. */
  readonly delayMs: (channel: string) => number;
  readonly flush: (rows: readonly InboxRow[]) => void;
}

/** Joins short messages that one sender writes in one breath (`messages.inbound`). */
export interface Debouncer {
  take(row: InboxRow): void;
  /** Forgets what is held; it is still in the inbox. */
  clear(): void;
}

export function createDebouncer(options: DebouncerOptions): Debouncer {
  const held = new Map<string, { readonly rows: readonly InboxRow[]; readonly timer: NodeJS.Timeout }>();

  function flush(key: string): void {
    const batch = held.get(key);
    if (!batch) return;
    held.delete(key);
    clearTimeout(batch.timer);
    options.flush(batch.rows);
  }

  return {
    take(row) {
      const { message } = row;
      const delay = options.delayMs(message.channel);
      const key = `${chatKey(message)}|${message.sender.id}|${row.agentId ?? ""}`;
      const text = message.text.trim();
      if (delay <= 0 || message.noDebounce === true || (message.media?.length ?? 0) > 0 || text === "" || text.startsWith("/") || isStopMessage(message)) {
        flush(key); // what was said before goes first
        options.flush([row]);
        return;
      }
      const before = held.get(key);
      clearTimeout(before?.timer);
      held.set(key, { rows: [...(before?.rows ?? []), row], timer: setTimeout(() => flush(key), delay) });
    },
    clear() {
      for (const { timer } of held.values()) clearTimeout(timer);
      held.clear();
    },
  };
}
