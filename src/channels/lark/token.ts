import { LarkError } from "./errors.ts";

/** Source: spec channels-cn §4.2: refreshed three minutes early. */
const REFRESH_BEFORE_MS = 180_000;

export interface TokenCache {
  /** One request at a time, however many ask. @throws LarkError */
  get(): Promise<string>;
  /** Forgets `value`, unless a newer one is already there. */
  drop(value: string): void;
}

/** Keeps the tenant access token, for messages, cards and tools alike. */
export function createTokenCache(request: () => Promise<{ readonly value: string; readonly lifeSeconds: number }>, now: () => number): TokenCache {
  let cached: { readonly value: string; readonly refreshAtMs: number } | undefined;
  let pending: Promise<string> | undefined;

  async function renew(): Promise<string> {
    const { value, lifeSeconds } = await request().catch((err: unknown) => {
      // Asking for a token changes nothing at the platform: a lost answer may be asked for again.
      throw err instanceof LarkError && err.kind === "uncertain" ? new LarkError("retry", err.message, { cause: err }) : err;
    });
    const lifeMs = lifeSeconds * 1000;
    cached = { value, refreshAtMs: now() + lifeMs - Math.min(REFRESH_BEFORE_MS, lifeMs / 2) };
    return value;
  }

  return {
    get() {
      if (cached && now() < cached.refreshAtMs) return Promise.resolve(cached.value);
      pending ??= renew().finally(() => (pending = undefined));
      return pending;
    },
    drop(value) {
      if (cached?.value === value) cached = undefined;
    },
  };
}
