import { z } from "zod";
import { QQApiError } from "./errors.ts";

const REFRESH_BEFORE_MS = 300_000;
const TIMEOUT_MS = 30_000;
const answer = z.object({ access_token: z.string().optional(), expires_in: z.coerce.number().optional(), code: z.coerce.number().optional().catch(undefined), message: z.string().optional().catch(undefined) });

export interface TokenSource {
  /** One request at a time, however many ask. @throws QQApiError */
  get(): Promise<string>;
  /** Forgets `token`, unless a newer one is already there. */
  drop(token: string): void;
}

/** Access tokens of one bot, fetched anew before they end. Source: spec channels-cn §1.2. */
export function createTokenSource(options: { readonly root: string; readonly appId: string; readonly clientSecret: string; readonly now: () => number }): TokenSource {
  let cached: { readonly token: string; readonly refreshAtMs: number } | undefined;
  let pending: Promise<string> | undefined;

  async function request(): Promise<string> {
    let response: Response;
    try {
      response = await fetch(`${options.root}/app/getAppAccessToken`, {
        method: "POST", headers: { "content-type": "application/json" }, redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS),
        body: JSON.stringify({ appId: options.appId, clientSecret: options.clientSecret }),
      });
    } catch (err) {
      throw new QQApiError(`QQ's token service cannot be reached at ${options.root}`, { status: 0 }, { cause: err });
    }
    const parsed = answer.safeParse(await response.json().catch(() => undefined));
    const { access_token: token, expires_in: seconds = 7200, code, message } = parsed.data ?? {};
    if (!token) throw new QQApiError(`QQ gave no access token: ${message ?? `HTTP ${response.status}`}${code === undefined ? "" : ` (${code})`}; check appId and clientSecret`, { status: response.status, code });
    const lifeMs = seconds * 1000;
    cached = { token, refreshAtMs: options.now() + lifeMs - Math.min(REFRESH_BEFORE_MS, lifeMs / 3) };
    return token;
  }

  return {
    get() {
      if (cached && options.now() < cached.refreshAtMs) return Promise.resolve(cached.token);
      pending ??= request().finally(() => (pending = undefined));
      return pending;
    },
    drop(token) {
      if (cached?.token === token) cached = undefined;
    },
  };
}
