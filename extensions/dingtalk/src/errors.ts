import type { SendOutcome } from "openclaw/plugin-sdk";

export type FailureKind = "token" | "rate-limited" | "retry" | "permission" | "window" | "refused" | "uncertain";

/** How one call to the platform failed. The texts hold no token, ticket or webhook address. */
export class DingTalkError extends Error {
  override readonly name = "DingTalkError";
  readonly kind: FailureKind;
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(kind: FailureKind, message: string, options?: ErrorOptions & { readonly code?: string | undefined; readonly retryAfterMs?: number | undefined }) {
    super(message, options);
    this.kind = kind;
    this.code = options?.code;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** 20 messages a minute and webhook; who goes on is shut out for ten minutes. Source: spec channels-cn §3.5 (rates). */
const DEFAULT_BACK_OFF_MS = 60_000;
const THROTTLED_MS = 2000;

/** Codes of both APIs: words of the new one, `errcode` numbers of the old one. */
const KINDS: readonly (readonly [FailureKind, RegExp])[] = [
  ["token", /^(?:InvalidAuthentication|invalidAccessToken|invalid\.?token|40001|40014|42001|88)$/i],
  ["rate-limited", /^(?:130101|90030|90018|90006|.*Throttling.*|.*QpsLimit.*|tooManyRequests)$/i],
  ["window", /^(?:300001|300005|310000|invalidSession|sessionExpired)$/i],
  ["permission", /^Forbidden\.AccessDenied/i],
  ["retry", /^(?:-1|system\.err(?:or)?|ServiceUnavailable|internalError)$/i],
];

/** What a refusal means. `code` is the platform's, if it gave one. */
export function classify(status: number, code: string | undefined): FailureKind {
  const known = code === undefined ? undefined : KINDS.find(([, pattern]) => pattern.test(code))?.[0];
  if (known) return known;
  if (status === 401) return "token";
  if (status === 429) return "rate-limited";
  if (status === 403) return "permission";
  return status >= 500 ? "retry" : "refused";
}

export function backOffMs(code: string | undefined, asked: number | undefined): number {
  if (asked !== undefined) return asked;
  return /^\d+$/.test(code ?? "") ? DEFAULT_BACK_OFF_MS : THROTTLED_MS;
}

export function toOutcome(err: unknown, sentParts: number): SendOutcome {
  if (!(err instanceof DingTalkError)) return { kind: "rejected", reason: err instanceof Error ? err.message : String(err) };
  const reason = err.message;
  switch (err.kind) {
    case "rate-limited":
      return { kind: "rate-limited", retryAfterMs: backOffMs(err.code, err.retryAfterMs), sentParts };
    case "retry":
      return { kind: "unreachable", reason, sentParts };
    case "uncertain":
      return { kind: "uncertain", reason, sentParts };
    case "window":
      return { kind: "window-expired", reason };
    case "token":
    case "permission":
    case "refused":
      return { kind: "rejected", reason };
  }
}
