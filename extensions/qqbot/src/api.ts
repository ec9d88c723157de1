import { z } from "zod";
import { parseRetryAfter } from "openclaw/plugin-sdk";
import { decide, QQApiError } from "./errors.ts";
import type { TokenSource } from "./token.ts";

const TIMEOUT_MS = 30_000;
const number = z.coerce.number().optional().catch(undefined);
const errorBody = z.object({ code: number, err_code: number, message: z.string().optional().catch(undefined) });

export interface QQApi {
  /** The JSON that came back. Repeats once with a new token. @throws QQApiError */
  call(method: "GET" | "POST" | "PUT", path: string, body?: object, options?: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number }): Promise<unknown>;
  token(): Promise<string>;
  dropToken(token: string): void;
}

/** The bot's HTTP calls. Source: spec channels-cn §1.2. */
export function createApi(options: { readonly root: string; readonly tokens: TokenSource }): QQApi {
  async function once(token: string, method: string, path: string, body: object | undefined, signal: AbortSignal): Promise<unknown> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${options.root}${path}`, {
        method, redirect: "error", signal, headers: { authorization: `QQBot ${token}`, "content-type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}),
      });
      text = await response.text();
    } catch (err) {
      throw new QQApiError(`${method} ${path.split("/").at(-1) ?? path}: QQ's API gave no answer`, { status: 0, mayHaveArrived: method !== "GET" && !isRefusedConnection(err) }, { cause: err });
    }
    const json = parseJson(text);
    const parsed = errorBody.safeParse(json).data;
    const code = parsed?.code ?? parsed?.err_code;
    const failed = !response.ok || (code !== undefined && code !== 0);
    if (!failed || decide({ status: response.status, code }) === "accepted") return json ?? {};
    const words = parsed?.message ?? (json === undefined ? friendly(response.status) : "no reason given");
    throw new QQApiError(`QQ refused: ${words}${code === undefined ? "" : ` (${code})`} [HTTP ${response.status}]`, {
      status: response.status, code, retryAfterMs: parseRetryAfter(new Map(response.headers), Date.now()),
    });
  }

  return {
    async call(method, path, body, { signal, timeoutMs = TIMEOUT_MS } = {}) {
      const deadline = AbortSignal.timeout(timeoutMs);
      const stop = signal ? AbortSignal.any([signal, deadline]) : deadline;
      const token = await options.tokens.get();
      try {
        return await once(token, method, path, body, stop);
      } catch (err) {
        if (!(err instanceof QQApiError) || !isAboutToken(err)) throw err;
        options.tokens.drop(token);
        return once(await options.tokens.get(), method, path, body, stop);
      }
    },
    token: () => options.tokens.get(),
    dropToken: (token) => options.tokens.drop(token),
  };
}

/** Codes that are not known speak for themselves. */
const isAboutToken = (err: QQApiError): boolean => decide(err) === "refresh-token" || (decide(err) === "unknown" && /access_?token|\btoken\b/i.test(err.message));

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Gateways in front of the API answer HTML.
    return undefined;
  }
}

const friendly = (status: number): string => (status === 429 ? "too many requests" : status >= 500 ? "the service is busy" : "an answer that is no JSON");

function isRefusedConnection(err: unknown): boolean {
  const cause = err instanceof Error ? err.cause : undefined;
  return cause instanceof Error && "code" in cause && /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(String(cause.code));
}
