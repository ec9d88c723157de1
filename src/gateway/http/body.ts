import type { IncomingMessage } from "node:http";
import { parseUntrustedJson } from "../../security/index.ts";

/** A failure with an HTTP status; `message` is shown to the client. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, type: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.headers = headers;
  }
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** Until the whole body is there; default 30 s. */
  readonly timeoutMs?: number | undefined;
}

export const DEFAULT_BODY_TIMEOUT_MS = 30_000;

/**
 * Reads the raw body. On a breach the rest is left unread; the front door then answers before it closes the connection.
 * @throws HttpError 413 too large, 408 too slow, 400 cut off
 */
export function readBody(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const tooLarge = (): HttpError =>
    new HttpError(413, "invalid_request_error", `request body is larger than ${limits.maxBytes} bytes`);
  if (Number(req.headers["content-length"] ?? 0) > limits.maxBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timeoutMs = limits.timeoutMs ?? DEFAULT_BODY_TIMEOUT_MS;
    const timer = setTimeout(() => fail(new HttpError(408, "invalid_request_error", `request body did not arrive within ${timeoutMs} ms`)), timeoutMs);
    const cleanup = (): void => {
      clearTimeout(timer);
      req.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
    };
    const fail = (err: HttpError): void => {
      cleanup();
      req.pause();
      reject(err);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limits.maxBytes) return fail(tooLarge());
      chunks.push(chunk);
    };
    const onEnd = (): void => {
      cleanup();
      resolve(Buffer.concat(chunks, size));
    };
    const onClose = (): void => fail(new HttpError(400, "invalid_request_error", "request was cut off"));
    req.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

/** The body as JSON; empty counts as `{}`. @throws HttpError 400 with the parser's message, or as `readBody` */
export async function readJsonBody(req: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  const text = (await readBody(req, limits)).toString("utf8");
  if (text.trim() === "") return {};
  try {
    return parseUntrustedJson(text);
  } catch (err) {
    throw new HttpError(400, "invalid_request_error", err instanceof Error ? err.message : "invalid JSON");
  }
}
