import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Duplex } from "node:stream";

export interface FrontServerOptions {
  readonly handler: RequestListener;
  /** PEM texts; TLS 1.3 at least. Undefined: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string | undefined } | undefined;
}

const HEADERS_TIMEOUT_MS = 15_000;
/** Bodies have tighter limits of their own (see body.ts); this is the last resort. */
const REQUEST_TIMEOUT_MS = 120_000;
const KEEP_ALIVE_MS = 10_000;
const MAX_HEADER_BYTES = 32 * 1024;

/** The listener of the one port, with limits on what a slow or broken client may hold. It does not listen yet. */
export function createFrontServer(options: FrontServerOptions): Server {
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const { tls } = options;
  const server = tls
    ? createTlsServer({ ...limits, minVersion: "TLSv1.3", cert: tls.cert, key: tls.key, ...(tls.ca ? { ca: tls.ca } : {}) }, options.handler)
    : createServer(limits, options.handler);
  server.on("clientError", answerBrokenRequest);
  return server;
}

function answerBrokenRequest(err: NodeJS.ErrnoException, socket: Duplex): void {
  if (err.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const status = err.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : err.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
