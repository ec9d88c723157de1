import { parseRetryAfter } from "openclaw/plugin-sdk";
import { z } from "zod";
import { backOffMs, classify, DingTalkError } from "./errors.ts";

export interface HttpCall {
  /** What is being done, for error texts: `send to a group`. */
  readonly what: string;
  readonly url: string;
  readonly method?: "GET" | "POST" | "PUT" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** Both dialects of refusal: `{code,message}` and `{errcode,errmsg}`, the latter with status 200. */
const refusal = z.looseObject({ code: z.union([z.string(), z.number()]).optional(), message: z.string().optional(), errcode: z.number().optional(), errmsg: z.string().optional(), success: z.boolean().optional() });

/** One request; the parsed JSON of a success. @throws DingTalkError */
export async function callJson(call: HttpCall): Promise<unknown> {
  const deadline = AbortSignal.timeout(call.timeoutMs);
  const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
  let response: Response;
  let text: string;
  try {
    const isForm = call.body instanceof FormData;
    response = await fetch(call.url, {
      method: call.method ?? "POST", redirect: "error", signal,
      headers: { accept: "application/json", ...(call.body && !isForm ? { "content-type": "application/json" } : {}), ...call.headers },
      ...(call.body instanceof FormData ? { body: call.body } : call.body ? { body: JSON.stringify(call.body) } : {}),
    });
    text = await response.text();
  } catch (err) {
    throw networkError(call, deadline.aborted, err);
  }
  const json = parseJson(text);
  const { code, message, errcode, errmsg, success } = refusal.safeParse(json).data ?? {};
  if (response.ok && (errcode ?? 0) === 0 && success !== false) {
    if (json === undefined) throw new DingTalkError("uncertain", `DingTalk's answer could not be read (${call.what}, HTTP ${response.status})`);
    return json;
  }
  const failureCode = errcode !== undefined && errcode !== 0 ? String(errcode) : code === undefined ? undefined : String(code);
  const kind = classify(response.status, failureCode);
  const words = [message ?? errmsg, failureCode, response.ok ? undefined : `HTTP ${response.status}`].filter(Boolean).join(", ");
  const asked = parseRetryAfter(new Map(response.headers), call.now());
  throw new DingTalkError(kind, `DingTalk refused to ${call.what}: ${words || "no reason given"}`, { code: failureCode, retryAfterMs: kind === "rate-limited" ? backOffMs(failureCode, asked) : undefined });
}

function networkError(call: HttpCall, timedOut: boolean, err: unknown): DingTalkError {
  if (timedOut) return new DingTalkError("uncertain", `DingTalk gave no answer within ${call.timeoutMs} ms (${call.what})`, { cause: err });
  const code = err instanceof Error && err.cause instanceof Error && "code" in err.cause ? String(err.cause.code) : undefined;
  // Nothing left this machine: the call may be repeated without harm.
  const isSafe = code !== undefined && /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(code);
  return new DingTalkError(isSafe ? "retry" : "uncertain", `DingTalk cannot be reached (${call.what}${code === undefined ? "" : `, ${code}`})`, { cause: err });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // An error page of a proxy: the status says enough.
    return undefined;
  }
}
