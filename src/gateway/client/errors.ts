import type { ErrorShape } from "../protocol/types.ts";

export type ConnectErrorCode =
  /** Nobody answers at the address. */
  | "unreachable"
  /** Something answers, but it speaks another protocol, or drops the connection. */
  | "protocol"
  | "timeout"
  /** The gateway refused the credentials. */
  | "unauthorized"
  /** The gateway wants this device approved first. */
  | "pairing-required";

/** No connection to the gateway. */
export class GatewayConnectError extends Error {
  override readonly name = "GatewayConnectError";
  readonly code: ConnectErrorCode;
  readonly fix: string | undefined;
  readonly details: unknown;
  constructor(code: ConnectErrorCode, message: string, options: ErrorOptions & { readonly fix?: string | undefined; readonly details?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.fix = options.fix;
    this.details = options.details;
  }
}

/** The gateway answered a request with an error; `code` is the wire's. */
export class GatewayCallError extends Error {
  override readonly name = "GatewayCallError";
  readonly code: string;
  readonly details: unknown;
  /** What the gateway sent beside the error. */
  readonly payload: unknown;
  constructor(error: ErrorShape, payload: unknown) {
    super(error.message);
    this.code = error.code;
    this.details = error.details;
    this.payload = payload;
  }
}
