import { THINK_LEVELS, type FailoverReason, type ThinkLevel } from "./models/types.ts";
import type { RunErrorKind } from "./pi-embedded-runner/run/types.ts";

const MAX_BILLING_TEXT = 512;
const MAX_SHOWN_TEXT = 600;

const TESTS: readonly (readonly [FailoverReason, RegExp])[] = [
  ["context_overflow", /context (?:length|window)|prompt is too long|maximum context|too many (?:input )?tokens(?!.*(?:wait|per minute|try again|rate))|input (?:is )?too long|exceeds? the (?:model's )?(?:context|maximum)|request_too_large|context_length_exceeded/i],
  ["model_not_found", /model[^.]{0,60}(?:not found|does not exist|not exist|unknown)|unknown model|no such model|model_not_found|not_found_error/i],
  ["timeout", /\b(?:408|500|502|503|504|521|522|523|524|529)\b|internal server error|bad gateway|service unavailable|gateway time-?out|api_error/i],
  ["rate_limit", /\b429\b|rate.?limit|too many requests|overloaded|resource.?exhausted|quota (?:exceeded|reached)|throttl/i],
  ["billing", /\b402\b|billing|payment required|insufficient (?:credit|balance|funds|quota)|credit balance|exceeded your current quota/i],
  ["timeout", /timed? ?out|timeout|etimedout|econnreset|econnrefused|enotfound|eai_again|socket hang up|network|fetch failed|terminated|connection error|premature close|other side closed|ended without/i],
  ["auth_permanent", /(?:revoked|deactivated|disabled|suspended)[^.]{0,40}(?:key|account|token)|(?:key|account|token)[^.]{0,40}(?:revoked|deactivated|suspended)/i],
  ["auth", /\b40[13]\b|unauthori[sz]ed|invalid.{0,12}api.?key|incorrect api key|authentication|no api key|forbidden|expired|permission.denied/i],
  ["format", /\b400\b|invalid_request|bad request|malformed|schema|validation/i],
];

/** Why a model call failed, from its text. Source: spec agent-pipeline §5.7. */
export function classifyFailoverReason(raw: string): FailoverReason {
  // Behind the status of a refusal other numbers are amounts and ids.
  const status = /^\s*4\d\d\b/.exec(raw)?.[0] ?? "";
  const text = status === "" ? raw : `${status}${raw.slice(status.length).replace(/\b[45]\d\d\b/g, "…")}`;
  for (const [reason, pattern] of TESTS) {
    if (reason === "billing" && text.length > MAX_BILLING_TEXT) continue;
    if (pattern.test(text)) return reason;
  }
  return "unknown";
}

export function isTransientReason(reason: FailoverReason): boolean {
  return reason === "rate_limit" || reason === "timeout";
}

const TIME = "(?<time>(?:\\d+(?:\\.\\d+)? ?(?:ms|s(?:ec(?:onds?)?)?|m(?:in(?:utes?)?)?|h(?:ours?)?)(?![a-z]) ?)+|\\d+(?:\\.\\d+)?)";
const WAITS = [`retry[-_ ]?after(?<inMs>[-_ ]ms)?["':\\s]*${TIME}`, `(?:try again|retry) in ${TIME}`, `retry_?delay["':\\s]*${TIME}`].map((source) => new RegExp(source, "i"));
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** How long a provider asked to wait, in ms: `7` (seconds), `250ms`, `36.5s`, `6m0s`, `20 minutes`. */
export function retryAfterMs(text: string): number | undefined {
  const { time, inMs } = WAITS.map((wait) => wait.exec(text)?.groups).find((groups) => groups !== undefined) ?? {};
  if (time === undefined) return undefined;
  return [...time.matchAll(/(\d+(?:\.\d+)?) ?([a-z]*)/gi)].reduce((sum, [, value, unit = ""]) => {
    const isMs = unit === "" ? inMs !== undefined : unit.toLowerCase() === "ms";
    return sum + Number(value) * (isMs ? 1 : (UNIT_MS[unit.charAt(0).toLowerCase()] ?? 1000));
  }, 0);
}

/**
 * The thinking level to ask for after one was refused: the nearest that the refusal lists, lower ones first; without a
 * list the next lower one, or `low` in place of `off`. undefined when the text is no such refusal, or nothing is left to try.
 */
export function nextThinkLevel(text: string, refused: ThinkLevel, tried: ReadonlySet<ThinkLevel>): ThinkLevel | undefined {
  if (!/thinking|reasoning/i.test(text) || !/support|invalid|not allowed|unknown/i.test(text)) return undefined;
  const listed = /(?:supported|allowed|valid)[^:]*?(?:values|levels|options)?[^:]*:(.*)$/is.exec(text)?.[1] ?? "";
  const named = THINK_LEVELS.filter((level) => new RegExp(`\\b${level === "off" ? "none|off" : level}\\b`, "i").test(listed) && !tried.has(level));
  const at = THINK_LEVELS.indexOf(refused);
  const below = (levels: readonly ThinkLevel[]): ThinkLevel | undefined => levels.findLast((level) => THINK_LEVELS.indexOf(level) < at);
  if (named.length > 0) return below(named) ?? named[0];
  if (refused === "off") return tried.has("low") ? undefined : "low"; // some models cannot do without
  return below(THINK_LEVELS.filter((level) => !tried.has(level)));
}

export function errorKindOf(reason: FailoverReason): RunErrorKind {
  switch (reason) {
    case "auth":
    case "auth_permanent":
      return "auth";
    case "billing":
    case "rate_limit":
    case "timeout":
    case "format":
    case "context_overflow":
      return reason;
    case "model_not_found":
      return "no_model";
    default:
      return "internal";
  }
}

/**
 * One sentence a person understands, with what to do; the provider's own words only where we know no better. `waitMs`: how
 * long the provider asked to wait.
 */
export function friendlyErrorText(reason: FailoverReason, raw: string, model: string, waitMs?: number): string {
  switch (reason) {
    case "context_overflow":
      return "⚠️ The conversation no longer fits into the model's context. Send /compact to shorten it or /new to start afresh.";
    case "billing":
      return `⚠️ The provider of ${model} refuses for lack of credit. Top up the account or choose another model with /model.`;
    case "rate_limit":
      return `⚠️ ${model} is overloaded or rate-limited. Please try again ${waitMs === undefined || waitMs < 1000 ? "in a moment" : `in ${formatWait(waitMs)}`}.`;
    case "auth":
    case "auth_permanent":
      return `⚠️ The provider of ${model} rejected the API key (HTTP 401/403). Check the key with \`openclaw models status\`.`;
    case "model_not_found":
      return `⚠️ The provider does not know ${model}. Choose another one with /model or /models.`;
    case "timeout":
      return `⚠️ ${model} did not answer in time or the connection broke. Please try again.`;
    default:
      return `⚠️ ${model} failed: ${raw.length > MAX_SHOWN_TEXT ? `${raw.slice(0, MAX_SHOWN_TEXT)}…` : raw || "no further details"}`;
  }
}

function formatWait(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

/** Failed calls of one kind end the search for other keys and models. */
export class FailoverError extends Error {
  override readonly name = "FailoverError";
  readonly reason: FailoverReason;
  readonly provider: string;
  readonly model: string;
  constructor(reason: FailoverReason, provider: string, model: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.provider = provider;
    this.model = model;
  }
}
