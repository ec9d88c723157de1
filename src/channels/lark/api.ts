import { z } from "zod";
import { sleep } from "../../infra/backoff.ts";
import type { LarkAccount } from "./config.ts";
import { LarkError } from "./errors.ts";
import { callBinary, callJson, type HttpCall } from "./http.ts";
import { createTokenCache } from "./token.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 120_000;
const PATIENT_TRIES = 4;
const MAX_PAUSE_MS = 10_000;
const FIRST_PAUSE_MS = 200;

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CallOptions {
  /** What is being done, for error texts: `send a message`. */
  readonly what: string;
  readonly query?: Query | undefined;
  readonly body?: object | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Waits out rate limits and short outages: for calls that may be repeated and that nobody else retries. */
  readonly patient?: boolean | undefined;
}

/** The open platform for one app. Every method @throws LarkError. */
export interface LarkApi {
  /** `data` of the answer. A token that the platform no longer knows is replaced once. */
  call(method: string, path: string, options: CallOptions): Promise<unknown>;
  /** The whole answer, for the few calls that keep their result beside `data`. */
  raw(method: string, path: string, options: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  download(path: string, options: CallOptions): Promise<Response>;
  /** Where to connect for events. */
  endpoint(signal: AbortSignal): Promise<{ readonly url: string; readonly clientConfig: unknown }>;
  botInfo(signal?: AbortSignal): Promise<{ readonly openId: string; readonly name: string | undefined }>;
}

const tokenAnswer = z.looseObject({ tenant_access_token: z.string().min(1), expire: z.coerce.number().positive().default(7200) });
const endpointAnswer = z.looseObject({ data: z.looseObject({ URL: z.string().min(1), ClientConfig: z.unknown().optional() }) });
const botAnswer = z.looseObject({ bot: z.looseObject({ open_id: z.string().min(1), app_name: z.string().optional() }) });

export interface ApiOptions {
  readonly now: () => number;
  readonly timeoutMs?: number | undefined;
}

export function createLarkApi(account: Pick<LarkAccount, "apiRoot" | "appId" | "appSecret">, options: ApiOptions): LarkApi {
  const { apiRoot, appId, appSecret } = account;
  const { now, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const token = createTokenCache(async () => {
    const answer = await callJson({ what: "give an access token; check appId and appSecret", method: "POST", url: `${apiRoot}/open-apis/auth/v3/tenant_access_token/internal`, body: { app_id: appId, app_secret: appSecret }, timeoutMs, now });
    const { tenant_access_token: value, expire: lifeSeconds } = read(tokenAnswer, answer, "access token");
    return { value, lifeSeconds };
  }, now);

  async function authorized<T>(method: string, path: string, call: CallOptions, run: (http: HttpCall) => Promise<T>): Promise<T> {
    const once = async (bearer: string): Promise<T> => run({
      what: call.what, method, url: `${apiRoot}/open-apis${path}${queryText(call.query)}`, body: call.body, signal: call.signal, headers: { authorization: `Bearer ${bearer}` },
      timeoutMs: call.body instanceof FormData ? Math.max(timeoutMs, UPLOAD_TIMEOUT_MS) : timeoutMs, now,
    });
    const value = await token.get();
    try {
      return await once(value);
    } catch (err) {
      if (!(err instanceof LarkError) || err.kind !== "token") throw err;
      token.drop(value);
      return once(await token.get());
    }
  }

  const attempt = <T>(method: string, path: string, call: CallOptions, run: (http: HttpCall) => Promise<T>): Promise<T> => {
    const go = (): Promise<T> => authorized(method, path, call, run);
    return call.patient === true ? patiently(go, call.signal) : go();
  };

  return {
    async call(method, path, call) {
      return (await attempt(method, path, call, callJson))["data"];
    },
    raw: (method, path, call) => attempt(method, path, call, callJson),
    download: (path, call) => attempt("GET", path, call, callBinary),
    async endpoint(signal) {
      const answer = await callJson({ what: "open a connection", method: "POST", url: `${apiRoot}/callback/ws/endpoint`, body: { AppID: appId, AppSecret: appSecret }, headers: { locale: "zh" }, signal, timeoutMs, now });
      const { data } = read(endpointAnswer, answer, "connection address");
      return { url: data.URL, clientConfig: data.ClientConfig };
    },
    async botInfo(signal) {
      const answer = await attempt("GET", "/bot/v3/info", { what: "say who the bot is", signal }, callJson);
      const { bot } = read(botAnswer, answer, "bot");
      return { openId: bot.open_id, name: bot.app_name };
    },
  };
}

/** Repeats what failed for a reason that passes. @throws LarkError */
async function patiently<T>(run: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (err) {
      const passes = err instanceof LarkError && (err.kind === "rate-limited" || err.kind === "retry" || err.kind === "uncertain");
      if (!passes || attempt >= PATIENT_TRIES) throw err;
      await sleep(Math.min(MAX_PAUSE_MS, err.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1)), signal);
    }
  }
}

function queryText(query: Query | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([key, value]): [string, string][] => (value === undefined ? [] : [[key, String(value)]]));
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

/** @throws LarkError when the answer has not what it should have */
export function read<T>(schema: z.ZodType<T>, answer: unknown, what: string): T {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new LarkError("refused", `Feishu's answer has no ${what}`);
  return parsed.data;
}
