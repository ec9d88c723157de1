import type { IncomingMessage, ServerResponse } from "node:http";
import { errorText } from "../infra/errors.ts";

/** Bodies of callbacks from the internet, bounded in size and time. Source: spec plugin-sdk §14. */

export const DEFAULT_WEBHOOK_MAX_BODY_BYTES = 1_048_576;
export const DEFAULT_WEBHOOK_BODY_TIMEOUT_MS = 30_000;

export type RequestBodyLimitCode = "PAYLOAD_TOO_LARGE" | "REQUEST_BODY_TIMEOUT" | "CONNECTION_CLOSED";

const STATUS: Readonly<Record<RequestBodyLimitCode, number>> = { PAYLOAD_TOO_LARGE: 413, REQUEST_BODY_TIMEOUT: 408, CONNECTION_CLOSED: 400 };
const TEXT: Readonly<Record<RequestBodyLimitCode, string>> = { PAYLOAD_TOO_LARGE: "Payload too large", REQUEST_BODY_TIMEOUT: "Request body timeout", CONNECTION_CLOSED: "Connection closed" };

export const requestBodyErrorToText = (code: RequestBodyLimitCode): string => TEXT[code];

export class RequestBodyLimitError extends Error {
  override readonly name = "RequestBodyLimitError";
  readonly code: RequestBodyLimitCode;
  readonly statusCode: number;
  constructor({ code, message }: { readonly code: RequestBodyLimitCode; readonly message?: string | undefined }) {
    super(message ?? code);
    this.code = code;
    this.statusCode = STATUS[code];
  }
}

export const isRequestBodyLimitError = (err: unknown, code?: RequestBodyLimitCode): err is RequestBodyLimitError =>
  err instanceof RequestBodyLimitError && (code === undefined || err.code === code);

export interface BodyLimits {
  readonly maxBytes: number;
  /** Default 30 s. */
  readonly timeoutMs?: number | undefined;
  readonly encoding?: BufferEncoding | undefined;
}

const announcedBytes = (req: IncomingMessage): number => Number(req.headers["content-length"] ?? Number.NaN);

/** @throws RequestBodyLimitError; the request is then ended */
export function readRequestBodyWithLimit(req: IncomingMessage, limits: BodyLimits): Promise<string> {
  const { maxBytes, timeoutMs = DEFAULT_WEBHOOK_BODY_TIMEOUT_MS, encoding = "utf8" } = limits;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let settled = false;
    const finish = (code: RequestBodyLimitCode | undefined): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      req.removeListener("data", onData);
      if (code === undefined) return resolve(Buffer.concat(chunks).toString(encoding));
      // Whatever still comes is thrown away, so that an answer can be sent.
      if (!req.destroyed) req.resume();
      reject(new RequestBodyLimitError({ code }));
    };
    const onData = (chunk: Buffer | string): void => {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
      size += bytes.length;
      if (size > maxBytes) finish("PAYLOAD_TOO_LARGE");
      else chunks.push(bytes);
    };
    const timer = setTimeout(() => finish("REQUEST_BODY_TIMEOUT"), timeoutMs);
    if (announcedBytes(req) > maxBytes) return finish("PAYLOAD_TOO_LARGE");
    req.on("data", onData);
    req.on("end", () => finish(undefined));
    req.on("error", () => finish("CONNECTION_CLOSED"));
    req.on("close", () => finish("CONNECTION_CLOSED"));
  });
}

export type JsonBody = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly code: RequestBodyLimitCode | "INVALID_JSON"; readonly error: string };

/** Never rejects for what the sender did. */
export async function readJsonBodyWithLimit(req: IncomingMessage, limits: BodyLimits & { readonly emptyObjectOnEmpty?: boolean | undefined }): Promise<JsonBody> {
  let text: string;
  try {
    text = (await readRequestBodyWithLimit(req, limits)).trim();
  } catch (err) {
    if (isRequestBodyLimitError(err)) return { ok: false, code: err.code, error: requestBodyErrorToText(err.code) };
    throw err;
  }
  if (text === "") return limits.emptyObjectOnEmpty === false ? { ok: false, code: "INVALID_JSON", error: "empty payload" } : { ok: true, value: {} };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (err) {
    return { ok: false, code: "INVALID_JSON", error: errorText(err) };
  }
}

export interface BodyGuard {
  dispose(): void;
  isTripped(): boolean;
  code(): RequestBodyLimitCode | null;
}

/** Watches a body that somebody else reads (a platform's SDK); answers and ends the request when it goes beyond the limits. */
export function installRequestBodyLimitGuard(
  req: IncomingMessage,
  res: ServerResponse,
  limits: BodyLimits & { readonly responseFormat?: "json" | "text" | undefined; readonly responseText?: Partial<Record<RequestBodyLimitCode, string>> | undefined },
): BodyGuard {
  let tripped: RequestBodyLimitCode | null = null;
  let done = false;
  let size = 0;
  const dispose = (): void => {
    if (done) return;
    done = true;
    clearTimeout(timer);
    req.removeListener("data", onData);
    req.removeListener("end", dispose);
    req.removeListener("close", dispose);
  };
  const trip = (code: RequestBodyLimitCode): void => {
    if (tripped !== null || done) return;
    tripped = code;
    dispose();
    const text = limits.responseText?.[code] ?? requestBodyErrorToText(code);
    if (!res.headersSent) {
      const json = limits.responseFormat !== "text";
      res.writeHead(STATUS[code], { "content-type": json ? "application/json; charset=utf-8" : "text/plain; charset=utf-8", connection: "close" });
      res.end(json ? JSON.stringify({ error: text }) : text, () => req.destroy());
    } else req.destroy();
  };
  const onData = (chunk: Buffer | string): void => {
    size += Buffer.byteLength(chunk);
    if (size > limits.maxBytes) trip("PAYLOAD_TOO_LARGE");
  };
  const timer = setTimeout(() => trip("REQUEST_BODY_TIMEOUT"), limits.timeoutMs ?? DEFAULT_WEBHOOK_BODY_TIMEOUT_MS);
  if (announcedBytes(req) > limits.maxBytes) trip("PAYLOAD_TOO_LARGE");
  else {
    req.on("data", onData);
    req.on("end", dispose);
    req.on("close", dispose);
  }
  return { dispose, isTripped: () => tripped !== null, code: () => tripped };
}
