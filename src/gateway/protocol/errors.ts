import type { ErrorCode, ErrorShape } from "./types.ts";

export interface GatewayErrorOptions extends ErrorOptions {
  readonly details?: unknown;
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Sent beside the error (`agent`, `chat.send`, `skills.install`). */
  readonly payload?: unknown;
}

/** A failure that goes to the client as it is: `message` must hold no secret and no path the client may not know. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly details: unknown;
  readonly retryable: boolean | undefined;
  readonly retryAfterMs: number | undefined;
  readonly payload: unknown;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.payload = options.payload;
  }
}

export const invalidRequest = (message: string, details?: unknown): GatewayError =>
  new GatewayError("INVALID_REQUEST", message, { details });

export const unavailable = (message: string, options?: GatewayErrorOptions): GatewayError =>
  new GatewayError("UNAVAILABLE", message, options);

/** The wire's form of anything thrown. Foreign errors become UNAVAILABLE with their text (spec §1). */
export function toErrorShape(err: unknown): ErrorShape {
  if (err instanceof GatewayError) {
    return {
      code: err.code,
      message: err.message,
      ...(err.details === undefined ? {} : { details: err.details }),
      ...(err.retryable === undefined ? {} : { retryable: err.retryable }),
      ...(err.retryAfterMs === undefined ? {} : { retryAfterMs: err.retryAfterMs }),
    };
  }
  return { code: "UNAVAILABLE", message: err instanceof Error ? `${err.name}: ${err.message}` : "Error: unknown failure" };
}
