import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { ApiFailure, type BotState, callMethod, type Json } from "./bot-methods.ts";
import { parseMultipart, type UploadedFile } from "./multipart.ts";

export interface RecordedCall {
  readonly token: string;
  readonly method: string;
  readonly params: Json;
  readonly files: Readonly<Record<string, UploadedFile>>;
  readonly headers: IncomingMessage["headers"];
  readonly atMs: number;
}

export interface FailureSpec {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string> | undefined;
  /** Cut the connection instead of answering. */
  readonly drop?: boolean | undefined;
  /** Do the work first, then fail: the caller cannot know. */
  readonly afterwards?: boolean | undefined;
}

export interface PendingUpdate {
  readonly id: number;
  readonly kind: string;
  readonly body: Json;
}

interface Poller {
  finish(status: number, body: unknown): void;
  check(): void;
}

/** The HTTP side of the emulator: routing, long polls, faults. */
export class TelegramServer {
  readonly calls: RecordedCall[] = [];
  readonly bots = new Map<string, BotState>();
  readonly updates = new Map<string, PendingUpdate[]>();
  /** Highest offset that each bot confirmed. */
  readonly confirmed = new Map<string, number>();
  private readonly pollers = new Map<string, Poller>();
  private readonly failures: { method: string; left: number; spec: FailureSpec }[] = [];
  private readonly holds: { method: string; promise: Promise<void> }[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly callListeners = new Set<() => void>();
  private stalled = false;
  private port = 0;
  private server = this.newServer();

  private newServer() {
    const server = createServer((req, res) => {
      this.serve(req, res).catch(() => res.destroy());
    });
    server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(this.port, "127.0.0.1", () => resolve());
    });
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** No port, no sockets: as when the network is gone. */
  async goOffline(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.dropSockets();
    await closed;
  }

  async goOnline(): Promise<void> {
    this.server = this.newServer();
    await this.listen();
  }

  dropSockets(): void {
    this.pollers.clear();
    for (const socket of this.sockets) socket.destroy();
  }

  /** Connections are taken but nothing is ever answered on them, not even after `unstall`. */
  stall(): void {
    this.stalled = true;
    this.pollers.clear();
  }

  unstall(): void {
    this.stalled = false;
  }

  failNext(method: string, times: number, spec: FailureSpec): void {
    this.failures.push({ method, left: times, spec });
  }

  /** Answers of this method wait until the result is called. */
  hold(method: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const entry = { method, promise };
    this.holds.push(entry);
    return () => {
      this.holds.splice(this.holds.indexOf(entry), 1);
      resolve();
    };
  }

  notify(token: string): void {
    this.pollers.get(token)?.check();
  }

  onCall(listener: () => void): () => void {
    this.callListeners.add(listener);
    return () => void this.callListeners.delete(listener);
  }

  private async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = decodeURIComponent((req.url ?? "/").split("?")[0] ?? "/");
    const body = await readAll(req);
    if (this.stalled) return;
    const file = /^\/file\/bot([^/]+)\/(.+)$/.exec(path);
    if (file) return this.serveFile(res, file[1] ?? "", file[2] ?? "");
    const match = /^\/bot([^/]+)\/(\w+)$/.exec(path);
    const [, token = "", method = ""] = match ?? [];
    const bot = this.bots.get(token);
    if (!bot) return respond(res, /^\d+:.+/.test(token) ? 401 : 404, { ok: false, error_code: /^\d+:.+/.test(token) ? 401 : 404, description: /^\d+:.+/.test(token) ? "Unauthorized" : "Not Found" });
    const { params, files } = readParams(req, body);
    this.calls.push({ token, method, params, files, headers: req.headers, atMs: Date.now() });
    for (const listener of this.callListeners) listener();
    const failure = this.takeFailure(method);
    if (failure && !failure.afterwards) return this.fail(res, failure);
    await Promise.all(this.holds.filter((hold) => hold.method === method || hold.method === "*").map((hold) => hold.promise));
    if (res.destroyed) return;
    if (method === "getUpdates") return this.longPoll(res, token, bot, params);
    try {
      const result = callMethod(bot, method, params, files);
      if (failure) return this.fail(res, failure);
      respond(res, 200, { ok: true, result });
    } catch (err) {
      if (!(err instanceof ApiFailure)) throw err;
      respond(res, err.status, { ok: false, error_code: err.status, description: err.message, ...(err.parameters ? { parameters: err.parameters } : {}) });
    }
  }

  private takeFailure(method: string): FailureSpec | undefined {
    const entry = this.failures.find((failure) => failure.left > 0 && (failure.method === method || failure.method === "*"));
    if (!entry) return undefined;
    entry.left--;
    return entry.spec;
  }

  private fail(res: ServerResponse, spec: FailureSpec): void {
    if (spec.drop) {
      res.destroy();
      return;
    }
    const body = spec.body ?? { ok: false, error_code: spec.status, description: `Error ${spec.status}` };
    res.writeHead(spec.status, { "content-type": "application/json", ...spec.headers });
    res.end(typeof body === "string" ? body : JSON.stringify(body));
  }

  private serveFile(res: ServerResponse, token: string, path: string): void {
    const file = [...(this.bots.get(token)?.files.values() ?? [])].find((entry) => entry.path === path);
    this.calls.push({ token, method: "file", params: { path }, files: {}, headers: {}, atMs: Date.now() });
    const failure = this.takeFailure("file");
    if (failure) return this.fail(res, failure);
    if (!file) return respond(res, 404, { ok: false, error_code: 404, description: "Not Found" });
    res.writeHead(200, { "content-type": "application/octet-stream", "content-length": file.bytes.length });
    res.end(file.bytes);
  }

  private longPoll(res: ServerResponse, token: string, bot: BotState, params: Json): void {
    if (bot.webhook) return respond(res, 409, { ok: false, error_code: 409, description: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first" });
    this.pollers.get(token)?.finish(409, { ok: false, error_code: 409, description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running" });
    const queue = this.updates.get(token) ?? [];
    const offset = Number(params.offset ?? 0);
    const keep = offset < 0 ? queue.slice(offset) : queue.filter((update) => update.id >= offset);
    this.updates.set(token, keep);
    this.confirmed.set(token, Math.max(this.confirmed.get(token) ?? 0, offset));
    const allowed = Array.isArray(params.allowed_updates) && params.allowed_updates.length > 0 ? params.allowed_updates : undefined;
    const limit = Math.min(100, Number(params.limit ?? 100));
    let timer: NodeJS.Timeout | undefined;
    const finish = (status: number, body: unknown): void => {
      clearTimeout(timer);
      if (this.pollers.get(token) === poller) this.pollers.delete(token);
      if (!res.destroyed) respond(res, status, body);
    };
    const take = (): unknown[] =>
      (this.updates.get(token) ?? [])
        .filter((update) => !allowed || allowed.includes(update.kind))
        .slice(0, limit)
        .map((update) => ({ update_id: update.id, [update.kind]: update.body }));
    const poller: Poller = {
      finish,
      check: () => {
        const batch = take();
        if (batch.length > 0) finish(200, { ok: true, result: batch });
      },
    };
    this.pollers.set(token, poller);
    res.on("close", () => {
      clearTimeout(timer);
      if (this.pollers.get(token) === poller) this.pollers.delete(token);
    });
    timer = setTimeout(() => finish(200, { ok: true, result: take() }), Number(params.timeout ?? 0) * 1000);
    poller.check();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.dropSockets();
    await closed;
  }
}

function respond(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify(body));
}

async function readAll(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function readParams(req: IncomingMessage, body: Buffer): { params: Json; files: Record<string, UploadedFile> } {
  const type = req.headers["content-type"] ?? "";
  const query = Object.fromEntries(new URL(req.url ?? "/", "http://x").searchParams);
  const boundary = /boundary=([^;]+)/.exec(type)?.[1];
  if (boundary !== undefined) {
    const form = parseMultipart(body, boundary);
    return { params: { ...query, ...Object.fromEntries(Object.entries(form.fields).map(([key, value]) => [key, readField(value)])) }, files: form.files };
  }
  if (type.includes("json") && body.length > 0) return { params: { ...query, ...(JSON.parse(body.toString("utf8")) as Json) }, files: {} };
  if (type.includes("urlencoded")) return { params: { ...query, ...Object.fromEntries(new URLSearchParams(body.toString("utf8"))) }, files: {} };
  return { params: query, files: {} };
}

function readField(value: string): unknown {
  if (!/^[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    // An ordinary text that begins with a bracket.
    return value;
  }
}
