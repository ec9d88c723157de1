import type { Clock } from "../infra/clock.ts";

export interface FailureLimits {
  readonly maxAttempts: number;
  readonly windowMs: number;
  readonly lockoutMs: number;
}

export const DEFAULT_FAILURE_LIMITS: FailureLimits = { maxAttempts: 10, windowMs: 60_000, lockoutMs: 300_000 };

/** Counts failed attempts per key; the oldest keys are forgotten beyond this number. */
const MAX_KEYS = 10_000;
const MAX_LOOKED_AT = 64;

export interface FailureLimiter {
  /** ms until the key may try again; 0 when it may now. */
  retryAfterMs(key: string): number;
  /** Counts one failure; the maxAttempts-th within the window locks the key. */
  fail(key: string): void;
  /** Forgets the key's failures. */
  succeed(key: string): void;
  reset(): void;
}

export function createFailureLimiter(limits: () => FailureLimits, clock: Clock): FailureLimiter {
  const keys = new Map<string, { failures: number[]; lockedUntil: number }>();
  return {
    retryAfterMs: (key) => Math.max(0, (keys.get(key)?.lockedUntil ?? 0) - clock.now()),
    fail(key) {
      const now = clock.now();
      const { maxAttempts, windowMs, lockoutMs } = limits();
      const entry = keys.get(key) ?? { failures: [], lockedUntil: 0 };
      entry.failures = entry.failures.filter((at) => at > now - windowMs);
      entry.failures.push(now);
      if (entry.failures.length >= maxAttempts) {
        entry.lockedUntil = now + lockoutMs;
        entry.failures = [];
      }
      keys.delete(key);
      keys.set(key, entry);
      if (keys.size > MAX_KEYS) forgetOne(keys, now);
    },
    succeed: (key) => void keys.delete(key),
    reset: () => keys.clear(),
  };
}

/** Prefers a key that is not locked among the oldest ones, so that a flood of addresses does not free a locked one. */
function forgetOne(keys: Map<string, { readonly lockedUntil: number }>, now: number): void {
  let looked = 0;
  let eldest: string | undefined;
  for (const [key, entry] of keys) {
    eldest ??= key;
    if (entry.lockedUntil <= now) {
      keys.delete(key);
      return;
    }
    if (++looked >= MAX_LOOKED_AT) break;
  }
  if (eldest !== undefined) keys.delete(eldest);
}
