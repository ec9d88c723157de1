import { sleep } from "openclaw/plugin-sdk";
import { DingTalkError } from "./errors.ts";

const REFRESH_BEFORE_MS = 60_000;
const MAX_TRIES = 3;
const FIRST_PAUSE_MS = 100;

export interface Token {
  readonly value: string;
  readonly lifeSeconds: number;
}

export interface TokenCache {
  /** One request at a time, however many ask. @throws DingTalkError */
  get(): Promise<string>;
  /** Forgets `value`, unless a newer one is already there. */
  drop(value: string): void;
}

/** Keeps an access token until a minute before its end. Source: spec channels-cn §3.2. */
export function createTokenCache(request: () => Promise<Token>, now: () => number): TokenCache {
  let cached: { readonly value: string; readonly refreshAtMs: number } | undefined;
  let pending: Promise<string> | undefined;

  async function fetchToken(): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { value, lifeSeconds } = await request();
        const lifeMs = lifeSeconds * 1000;
        cached = { value, refreshAtMs: now() + lifeMs - Math.min(REFRESH_BEFORE_MS, lifeMs / 2) };
        return value;
      } catch (err) {
        // Asking for a token changes nothing: an answer that was lost may be asked for again.
        if (!(err instanceof DingTalkError) || err.kind === "refused" || err.kind === "permission") throw err;
        if (attempt > MAX_TRIES) throw err.kind === "uncertain" ? new DingTalkError("retry", err.message, { cause: err }) : err;
        await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1));
      }
    }
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
