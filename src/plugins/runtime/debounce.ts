import type { OpenClawConfig } from "../../config/index.ts";

export interface InboundDebouncerOptions<T> {
  readonly debounceMs: number;
  /** Items of one key wait together; null or undefined: not at all. */
  readonly buildKey: (item: T) => string | null | undefined;
  readonly shouldDebounce?: ((item: T) => boolean) | undefined;
  readonly resolveDebounceMs?: ((item: T) => number | undefined) | undefined;
  readonly onFlush: (items: T[]) => Promise<void> | void;
  readonly onError?: ((err: unknown, items: T[]) => void) | undefined;
}

export interface InboundDebouncer<T> {
  /** Resolves when the item is held or, if it does not wait, handled. Never rejects. */
  enqueue(item: T): Promise<void>;
  flushKey(key: string): Promise<void>;
}

/** Joins what comes in one breath. An item that may not wait first sends on what waits before it. */
export function createInboundDebouncer<T>(options: InboundDebouncerOptions<T>): InboundDebouncer<T> {
  const held = new Map<string, { readonly items: T[]; readonly timer: NodeJS.Timeout }>();

  const handle = async (items: T[]): Promise<void> => {
    try {
      await options.onFlush(items);
    } catch (err) {
      options.onError?.(err, items);
    }
  };
  const flushKey = async (key: string): Promise<void> => {
    const batch = held.get(key);
    if (!batch) return;
    held.delete(key);
    clearTimeout(batch.timer);
    await handle(batch.items);
  };

  return {
    flushKey,
    async enqueue(item) {
      const key = options.buildKey(item);
      const delay = Math.max(0, Math.trunc(options.resolveDebounceMs?.(item) ?? options.debounceMs));
      if (!key || delay === 0 || options.shouldDebounce?.(item) === false) {
        if (key) await flushKey(key);
        return handle([item]);
      }
      const before = held.get(key);
      clearTimeout(before?.timer);
      held.set(key, { items: [...(before?.items ?? []), item], timer: setTimeout(() => void flushKey(key), delay) });
    },
  };
}

/** `messages.inbound.byChannel`, then `messages.inbound.debounceMs`, then 0. ms */
export function resolveInboundDebounceMs(query: { readonly cfg: OpenClawConfig; readonly channel: string; readonly overrideMs?: number | undefined }): number {
  const inbound = query.cfg.messages?.inbound;
  const byChannel = inbound?.byChannel as Readonly<Record<string, number | undefined>> | undefined;
  const ms = query.overrideMs ?? byChannel?.[query.channel] ?? inbound?.debounceMs ?? 0;
  return Number.isFinite(ms) ? Math.max(0, Math.trunc(ms)) : 0;
}
