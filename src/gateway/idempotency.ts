import type { Clock } from "../infra/clock.ts";

const TTL_MS = 5 * 60_000;
const MAX_ENTRIES = 1000;

/**
 * Results by idempotency key, failures included, for five minutes; callers of a running key join it.
 * Source: spec gateway-protocol §5.8.
 */
export interface IdempotencyCache {
  get(key: string): unknown;
  set(key: string, result: unknown): void;
  /** Runs `work` once per key. */
  once<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createIdempotencyCache(clock: Clock): IdempotencyCache {
  const entries = new Map<string, { at: number; result: unknown }>();
  function sweep(): void {
    const oldest = clock.now() - TTL_MS;
    for (const [key, entry] of entries) {
      if (entry.at > oldest && entries.size <= MAX_ENTRIES) break;
      entries.delete(key);
    }
  }
  const set = (key: string, result: unknown): void => {
    entries.delete(key);
    entries.set(key, { at: clock.now(), result });
    sweep();
  };
  const get = (key: string): unknown => {
    sweep();
    return entries.get(key)?.result;
  };
  return {
    get,
    set,
    once<T>(key: string, work: () => Promise<T>): Promise<T> {
      const known = get(key);
      if (known instanceof Promise) return known as Promise<T>;
      const running = work();
      running.catch(() => undefined); // every caller awaits the same promise and sees the failure
      set(key, running);
      return running;
    },
  };
}
