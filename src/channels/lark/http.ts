import { z } from "zod";
import { parseRetryAfter } from "../../infra/retry-after.ts";
import { classify, LarkError } from "./errors.ts";

export interface HttpCall {
  /** What is being done, for error texts: `send a message`. */
  readonly what: string;
  readonly url: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly now: () => number;
}

const envelope = z.looseObject({
  code: z.number().optional(), msg: z.string().optional(),
  error: z.looseObject({ permission_violations: z.array(z.looseObject({ subject: z.string() })).optional() }).optional(),
});

/** One request; the whole JSON answer of a success (`code` 0). @throws LarkError */
export async function callJson(call: HttpCall): Promise<Readonly<Record<string, unknown>>> {
  const response = await send(call);
  const text = await readBody(call, response);
  const answer = parseObject(text);
  const code = envelope.safeParse(answer).data?.code;
  if (response.ok && answer !== undefined && (code ?? 0) === 0) return answer;
  throw refusal(call, response, answer);
}

/** One request whose success is no JSON. The caller reads the body, within `signal` and the deadline. @throws LarkError */
export async function callBinary(call: HttpCall): Promise<Response> {
  const response = await send(call);
  const isAnswer = (response.headers.get("content-type") ?? "").includes("application/json") && !response.headers.has("content-disposition");
  if (response.ok && !isAnswer) return response;
  const text = await readBody(call, response);
  const answer = parseObject(text);
  // A file may be JSON itself; a refusal has a code.
  if (response.ok && typeof answer?.["code"] !== "number") return new Response(text, { headers: response.headers });
  throw refusal(call, response, answer);
}

async function send(call: HttpCall): Promise<Response> {
  const isForm = call.body instanceof FormData;
  const deadline = AbortSignal.timeout(call.timeoutMs);
  try {
    return await fetch(call.url, {
      method: call.method, redirect: "error", signal: call.signal ? AbortSignal.any([call.signal, deadline]) : deadline,
      headers: { ...(call.body && !isForm ? { "content-type": "application/json; charset=utf-8" } : {}), ...call.headers },
      ...(call.body instanceof FormData ? { body: call.body } : call.body ? { body: JSON.stringify(call.body) } : {}),
    });
  } catch (err) {
    throw networkError(call, deadline.aborted, err);
  }
}

async function readBody(call: HttpCall, response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (err) {
    throw networkError(call, false, err);
  }
}

function refusal(call: HttpCall, response: Response, answer: Readonly<Record<string, unknown>> | undefined): LarkError {
  const { code, msg, error } = envelope.safeParse(answer).data ?? {};
  if (response.ok && answer === undefined) return new LarkError("uncertain", `Feishu's answer could not be read (${call.what}, HTTP ${response.status})`);
  const kind = classify(response.status, code);
  const words = [msg, code === undefined ? undefined : `code ${code}`, response.ok ? undefined : `HTTP ${response.status}`].filter(Boolean).join(", ");
  const missing = error?.permission_violations?.map(({ subject }) => subject) ?? [];
  const scopes = missing.length === 0 ? "" : ` (missing permission: ${missing.join(", ")})`;
  return new LarkError(kind, `Feishu refused to ${call.what}: ${words || "no reason given"}${scopes}`, {
    code, grantUrl: /https:\/\/[^\s"]+\/app\/[^\s"]+/.exec(msg ?? "")?.[0], retryAfterMs: kind === "rate-limited" ? askedPauseMs(response.headers, call.now()) : undefined,
  });
}

/** `x-ogw-ratelimit-reset` is in seconds, as `retry-after` may be. */
function askedPauseMs(headers: Headers, nowMs: number): number | undefined {
  const reset = Number(headers.get("x-ogw-ratelimit-reset") ?? Number.NaN);
  return parseRetryAfter(new Map(headers), nowMs) ?? (Number.isFinite(reset) && reset >= 0 ? reset * 1000 : undefined);
}

function networkError(call: HttpCall, timedOut: boolean, err: unknown): LarkError {
  if (call.signal?.aborted) return new LarkError("aborted", `stopped (${call.what})`, { cause: err });
  if (timedOut) return new LarkError("uncertain", `Feishu gave no answer within ${call.timeoutMs} ms (${call.what})`, { cause: err });
  const code = err instanceof Error && err.cause instanceof Error && "code" in err.cause ? String(err.cause.code) : undefined;
  // Nothing left this machine: the call may be repeated without harm.
  const isSafe = code !== undefined && /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(code);
  return new LarkError(isSafe ? "retry" : "uncertain", `Feishu cannot be reached (${call.what}${code === undefined ? "" : `, ${code}`})`, { cause: err });
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    // An error page of a proxy: the status says enough.
    return undefined;
  }
}
