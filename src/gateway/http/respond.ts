import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpError } from "./body.ts";

/** After an answer to a half-read request: how long and how much more is swallowed before the connection is cut. */
const DRAIN_MS = 5_000;
const DRAIN_BYTES = 128 * 1024 * 1024;

export function sendText(res: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  send(res, status, Buffer.from(text, "utf8"), { "Content-Type": "text/plain; charset=utf-8", ...headers });
}

export function sendJson(res: ServerResponse, status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
  send(res, status, Buffer.from(JSON.stringify(value), "utf8"), { "Content-Type": "application/json; charset=utf-8", ...headers });
}

/** `{"error":{message,type}}`, the shape of the HTTP endpoints (spec: gateway-protocol §9.1). */
export function sendHttpError(res: ServerResponse, err: HttpError): void {
  sendJson(res, err.status, { error: { message: err.message, type: err.type } }, err.headers);
}

function send(res: ServerResponse, status: number, body: Buffer, headers: Readonly<Record<string, string>>): void {
  if (res.headersSent) return void res.destroy();
  const { req } = res;
  if (!req.complete && mayHaveBody(req)) drain(req);
  res.writeHead(status, { ...headers, "Content-Length": String(body.length) });
  res.end(req.method === "HEAD" ? undefined : body);
}

const mayHaveBody = (req: IncomingMessage): boolean =>
  req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;

/**
 * Closing a socket with unread data resets it, and the client never sees the answer. So: answer, swallow a bounded
 * rest, and cut only a client that goes on sending.
 */
function drain(req: IncomingMessage): void {
  const cut = setTimeout(() => req.socket.destroy(), DRAIN_MS);
  cut.unref();
  let swallowed = 0;
  req.on("data", (chunk: Buffer) => {
    swallowed += chunk.length;
    if (swallowed > DRAIN_BYTES) req.socket.destroy();
  });
  req.on("error", () => undefined);
  req.once("close", () => clearTimeout(cut));
  req.resume();
}
