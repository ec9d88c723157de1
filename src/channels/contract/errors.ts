/** A channel's own failure, classified once; `fix` says what the operator does next. */
export class ChannelError extends Error {
  override readonly name = "ChannelError";
  readonly code: "auth" | "conflict" | "rate-limited" | "unreachable" | "rejected" | "too-large" | "config";
  readonly fix: string;
  readonly retryAfterMs: number | undefined;

  constructor(code: ChannelError["code"], message: string, fix: string, options?: ErrorOptions & { retryAfterMs?: number }) {
    super(message, options);
    this.code = code;
    this.fix = fix;
    this.retryAfterMs = options?.retryAfterMs;
  }
}
