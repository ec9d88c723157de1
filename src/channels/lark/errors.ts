import type { SendOutcome } from "../contract/index.ts";

export type FailureKind = "token" | "credentials" | "rate-limited" | "retry" | "permission" | "gone" | "refused" | "uncertain" | "aborted";

/** How one call to the platform failed. The texts hold no token and no secret. */
export class LarkError extends Error {
  override readonly name = "LarkError";
  readonly kind: FailureKind;
  readonly code: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** Where the console grants what is missing. */
  readonly grantUrl: string | undefined;
  constructor(kind: FailureKind, message: string, options?: ErrorOptions & { readonly code?: number | undefined; readonly retryAfterMs?: number | undefined; readonly grantUrl?: string | undefined }) {
    super(message, options);
    this.kind = kind;
    this.code = options?.code;
    this.retryAfterMs = options?.retryAfterMs;
    this.grantUrl = options?.grantUrl;
  }
}

const DEFAULT_BACK_OFF_MS = 1000;

/** Codes by what is to be done about them. Source: spec channels-cn §4.5 (limits) and the platform's list of errors. */
const KINDS: readonly (readonly [FailureKind, readonly number[]])[] = [
  ["token", [99991663, 99991664, 99991668, 99991661, 99991671, 99991677]],
  ["credentials", [10003, 10014, 10012, 99991543, 99991544, 403, 514]],
  ["rate-limited", [99991400, 230020, 11232, 11233, 1000004, 1000005]],
  ["permission", [99991672, 99991679, 230027]],
  // The message was recalled or deleted, the thread is gone: an answer to it goes to the chat.
  ["gone", [230011, 231003, 230050, 230110, 230019]],
  ["retry", [1, 2200, 55001, 190005, 230049, 1000040343, 1000040350]],
];

/** What a refusal means. `code` is the platform's, 0 or undefined if it gave none. */
export function classify(status: number, code: number | undefined): FailureKind {
  const known = code === undefined ? undefined : KINDS.find(([, codes]) => codes.includes(code))?.[0];
  if (known) return known;
  if (status === 429) return "rate-limited";
  if (status === 401) return "token";
  return status >= 500 ? "retry" : "refused";
}

export function toOutcome(err: unknown, sentParts: number): SendOutcome {
  if (!(err instanceof LarkError)) return { kind: "rejected", reason: err instanceof Error ? err.message : String(err) };
  const reason = err.message;
  switch (err.kind) {
    case "rate-limited":
      return { kind: "rate-limited", retryAfterMs: err.retryAfterMs ?? DEFAULT_BACK_OFF_MS, sentParts };
    case "retry":
    case "aborted":
      return { kind: "unreachable", reason, sentParts };
    case "uncertain":
      return { kind: "uncertain", reason, sentParts };
    case "token":
    case "credentials":
    case "permission":
    case "gone":
    case "refused":
      return { kind: "rejected", reason };
  }
}

export const isTemporary = (err: LarkError): boolean => err.kind === "rate-limited" || err.kind === "retry" || err.kind === "uncertain" || err.kind === "aborted";
