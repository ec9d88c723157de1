import type { SendOutcome } from "openclaw/plugin-sdk";

/** How one call to the platform failed. The texts hold no token. */
export class QQApiError extends Error {
  override readonly name = "QQApiError";
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** The request may have arrived although no answer came. */
  readonly mayHaveArrived: boolean;
  constructor(message: string, facts: { readonly status: number; readonly code?: number | undefined; readonly retryAfterMs?: number | undefined; readonly mayHaveArrived?: boolean }, options?: ErrorOptions) {
    super(message, options);
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterMs = facts.retryAfterMs;
    this.mayHaveArrived = facts.mayHaveArrived ?? false;
  }
}

export type Decision = "refresh-token" | "stop" | "retry" | "back-off" | "window" | "markdown" | "accepted" | "drop-url" | "send-bytes" | "unknown";

const CODES: readonly (readonly [Decision, readonly number[]])[] = [
  ["refresh-token", [11241, 11242, 11243, 11244]],
  ["stop", [11251, 11253, 11254, 11264, 11265, 40034102, 1100101, 50006, 40093002, 304045, 304046, 304047, 304048, 304049, 304050]],
  ["retry", [11252, 11263, 11281, 304018, 500, 504]],
  ["back-off", [100001, 22009, 20028, 1100100, 1100308, 610013]],
  ["window", [304026, 304027]],
  ["markdown", [50055, 50056]],
  ["accepted", [304023, 304024]],
  ["drop-url", [304003]],
  ["send-bytes", [304082, 304083]],
];

/** What to do about an answer. Source: spec channels-cn §1.8. */
export function decide(error: { readonly status: number; readonly code?: number | undefined }): Decision {
  const known = CODES.find(([, codes]) => error.code !== undefined && codes.includes(error.code));
  if (known) return known[0];
  if (error.status === 401) return "refresh-token";
  if (error.status === 429) return "back-off";
  return error.status >= 500 ? "retry" : "unknown";
}

const DEFAULT_BACK_OFF_MS = 5000;

export function toOutcome(err: unknown, sentParts: number): SendOutcome {
  if (!(err instanceof QQApiError)) return { kind: "rejected", reason: err instanceof Error ? err.message : String(err) };
  const decision = decide(err);
  if (decision === "back-off") return { kind: "rate-limited", retryAfterMs: err.retryAfterMs ?? DEFAULT_BACK_OFF_MS, sentParts };
  if (decision === "window") return { kind: "window-expired", reason: err.message };
  if (err.mayHaveArrived) return { kind: "uncertain", reason: err.message, sentParts };
  if (decision === "retry" || err.status === 0) return { kind: "unreachable", reason: err.message, sentParts };
  return { kind: "rejected", reason: err.message };
}
