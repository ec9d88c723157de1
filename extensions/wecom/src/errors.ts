import type { SendOutcome } from "openclaw/plugin-sdk";

export type FailureKind = "token" | "rate-limited" | "retry" | "window" | "refused" | "too-large" | "uncertain";

/** How one call to the platform failed. The texts hold no token and no secret. */
export class WecomError extends Error {
  override readonly name = "WecomError";
  readonly kind: FailureKind;
  readonly code: number | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(kind: FailureKind, message: string, options?: ErrorOptions & { readonly code?: number | undefined; readonly retryAfterMs?: number | undefined }) {
    super(message, options);
    this.kind = kind;
    this.code = options?.code;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** The stream of a message is over, or its request id cannot be used. Source: spec channels-cn §2.2. */
export const STREAM_EXPIRED = 846608;
const REQUEST_UNUSABLE = 846605;
const DEFAULT_BACK_OFF_MS = 60_000;

/** What is to be done about a refusal. Source: spec channels-cn §2.5 (errcode). */
const FIXES: Readonly<Record<number, string>> = {
  40001: "the secret is wrong: check corpSecret", 60020: "this machine's address is not allowed: add it under 企业可信IP of the app", 86008: "the app has no right to this chat", 81013: "none of the receivers is in the app's visible range (可见范围)",
};

export function refusal(what: string, code: number, message: string | undefined): WecomError {
  const words = `WeCom refused to ${what}: ${[message, FIXES[code]].filter(Boolean).join("; ") || "no reason given"} (${code})`;
  if (code === -1) return new WecomError("retry", words, { code });
  if (code === 40014 || code === 42001) return new WecomError("token", words, { code });
  if (code === 45009) return new WecomError("rate-limited", words, { code, retryAfterMs: DEFAULT_BACK_OFF_MS });
  if (code === STREAM_EXPIRED || code === REQUEST_UNUSABLE) return new WecomError("window", words, { code });
  return new WecomError("refused", words, { code });
}

export function toOutcome(err: unknown, sentParts: number): SendOutcome {
  if (!(err instanceof WecomError)) return { kind: "rejected", reason: err instanceof Error ? err.message : String(err) };
  const reason = err.message;
  switch (err.kind) {
    case "rate-limited":
      return { kind: "rate-limited", retryAfterMs: err.retryAfterMs ?? DEFAULT_BACK_OFF_MS, sentParts };
    case "retry":
      return { kind: "unreachable", reason, sentParts };
    case "uncertain":
      return { kind: "uncertain", reason, sentParts };
    case "window":
      return { kind: "window-expired", reason };
    case "token":
    case "too-large":
    case "refused":
      return { kind: "rejected", reason };
  }
}
