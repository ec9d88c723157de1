import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { ChannelError } from "../contract/index.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const BODY_TIMEOUT_MS = 30_000;
const MAX_PER_MINUTE = 120;
const MINUTE_MS = 60_000;
const MAX_CALLERS = 4096;

export interface WebhookRequest {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly body?: string | undefined;
}

export interface WebhookRoute {
  readonly path: string;
  /** JSON bodies of POST requests that are neither too large nor too many. */
  handle(request: WebhookRequest): Promise<WebhookAnswer>;
  onError(err: unknown): void;
}

export interface WebhookServers {
  /** Listens on `host:port`, once for all accounts that share it. @throws ChannelError when the port or the path is taken */
  add(host: string, port: number, route: WebhookRoute): Promise<{ readonly port: number; close(): Promise<void> }>;
}

interface Shared {
  readonly server: Server;
  readonly routes: Map<string, WebhookRoute>;
  readonly listening: Promise<void>;
}

export function createWebhookServers(options: { readonly now: () => number; readonly bodyTimeoutMs?: number | undefined }): WebhookServers {
  const servers = new Map<string, Shared>();
  const limit = createRateLimit(options.now);
  const bodyTimeoutMs = options.bodyTimeoutMs ?? BODY_TIMEOUT_MS;

  async function serve(routes: ReadonlyMap<string, WebhookRoute>, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const route = routes.get(req.url ?? "/");
    if (!route) return answer(res, { status: 404, body: "not found" });
    if (!limit(`${route.path} ${req.socket.remoteAddress ?? ""}`)) return answer(res, { status: 429, body: "too many requests" });
    if (req.method !== "POST") return answer(res, { status: 200 });
    if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(req.headers["content-type"] ?? "")) return answer(res, { status: 415, body: "Unsupported media type" });
    const body = await readBody(req, bodyTimeoutMs);
    if (body === "too-large") return answer(res, { status: 413, body: "Payload too large" });
    if (body === "too-slow") return answer(res, { status: 408, body: "Request timeout" });
    try {
      answer(res, await route.handle({ headers: req.headers, rawBody: body }));
    } catch (err) {
      route.onError(err);
      answer(res, { status: 500 });
    }
  }

  function open(host: string, port: number): Shared {
    const routes = new Map<string, WebhookRoute>();
    // A caller that goes away in the middle needs no answer.
    const server = createServer((req, res) => void serve(routes, req, res).catch(() => res.destroy()));
    server.headersTimeout = BODY_TIMEOUT_MS;
    const listening = new Promise<void>((resolve, reject) => {
      server.on("error", (err) => reject(new ChannelError("config", `The webhook cannot listen on ${host}:${port}: ${err.message}`, "Choose another webhookPort, or stop what uses it.", { cause: err })));
      server.listen(port, host, () => resolve());
    });
    return { server, routes, listening };
  }

  return {
    async add(host, port, route) {
      const key = `${host}:${port}`;
      const shared = (port === 0 ? undefined : servers.get(key)) ?? open(host, port);
      if (shared.routes.has(route.path)) throw new ChannelError("config", `The webhook path ${route.path} on port ${port} belongs to another account`, "Give each account a webhookPath of its own.");
      shared.routes.set(route.path, route);
      servers.set(key, shared);
      const close = async (): Promise<void> => {
        shared.routes.delete(route.path);
        if (shared.routes.size > 0) return;
        if (servers.get(key) === shared) servers.delete(key);
        await new Promise<void>((resolve) => {
          shared.server.close(() => resolve());
          shared.server.closeAllConnections();
        });
      };
      try {
        await shared.listening;
      } catch (err) {
        await close();
        throw err;
      }
      const address = shared.server.address();
      return { port: typeof address === "object" && address ? address.port : port, close };
    },
  };
}

function answer(res: ServerResponse, { status, body = "" }: WebhookAnswer): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, { "content-type": body.startsWith("{") || body.startsWith('"') ? "application/json; charset=utf-8" : "text/plain; charset=utf-8", ...(status === 413 || status === 408 ? { connection: "close" } : {}) });
  res.end(body);
}

function readBody(req: IncomingMessage, timeoutMs: number): Promise<Buffer | "too-large" | "too-slow"> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (result: Buffer | "too-large" | "too-slow"): void => {
      clearTimeout(timer);
      req.removeAllListeners("data");
      if (typeof result === "string") req.resume();
      resolve(result);
    };
    const timer = setTimeout(() => end("too-slow"), timeoutMs);
    req.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) end("too-large");
      else chunks.push(chunk);
    });
    req.on("end", () => end(Buffer.concat(chunks)));
    req.on("error", (err) => {
      clearTimeout(timer);
      reject(err);
    });
  });
}

/** 120 requests a minute from one address to one path. */
function createRateLimit(now: () => number): (key: string) => boolean {
  const callers = new Map<string, { count: number; readonly since: number }>();
  return (key) => {
    const known = callers.get(key);
    const entry = known && now() - known.since < MINUTE_MS ? known : { count: 0, since: now() };
    entry.count++;
    callers.delete(key);
    callers.set(key, entry);
    const oldest = callers.keys().next().value;
    if (callers.size > MAX_CALLERS && oldest !== undefined) callers.delete(oldest);
    return entry.count <= MAX_PER_MINUTE;
  };
}
