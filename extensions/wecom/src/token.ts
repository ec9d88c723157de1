const REFRESH_BEFORE_MS = 60_000;

export interface TokenCache {
  /** One request at a time, however many ask. @throws WecomError */
  get(): Promise<string>;
  /** Forgets `value`, unless a newer one is already there. */
  drop(value: string): void;
}

/** Keeps an access token until a minute before its end. Source: spec channels-cn §2.5. */
export function createTokenCache(request: () => Promise<{ readonly value: string; readonly lifeSeconds: number }>, now: () => number): TokenCache {
  let cached: { readonly value: string; readonly refreshAtMs: number } | undefined;
  let pending: Promise<string> | undefined;

  async function fetchToken(): Promise<string> {
    const { value, lifeSeconds } = await request();
    const lifeMs = lifeSeconds * 1000;
    cached = { value, refreshAtMs: now() + lifeMs - Math.min(REFRESH_BEFORE_MS, lifeMs / 2) };
    return value;
  }

  return {
    get() {
      if (cached && now() < cached.refreshAtMs) return Promise.resolve(cached.value);
      pending ??= fetchToken().finally(() => (pending = undefined));
      return pending;
    },
    drop(value) {
      if (cached?.value === value) cached = undefined;
    },
  };
}
