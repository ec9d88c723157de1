import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { z } from "zod";
import { silentLogger } from "../../infra/log.ts";
import { createDeviceStore, identityFromSeed, signedText } from "../../pairing/index.ts";
import type { DeviceIdentity, DeviceStore } from "../../pairing/index.ts";
import { createAuthGate } from "../../security/index.ts";
import type { SecurityConfig } from "../../security/index.ts";
import { createMethodRouter, defineMethod } from "../protocol/index.ts";
import type { ErrorShape, HelloOk, MethodRouter } from "../protocol/index.ts";
import { createWsServer } from "./server.ts";
import type { WsLimits, WsServer } from "./server.ts";
import type { Connection } from "./connection.ts";

export const TOKEN = "GATEWAY-TOKEN";
export const ALL_SCOPES = ["operator.admin", "operator.read", "operator.write", "operator.approvals", "operator.pairing"];

interface Frame {
  type: string;
  id?: string;
  ok?: boolean;
  event?: string;
  seq?: number;
  // The tests look into payloads of every kind.
  payload?: Record<string, unknown>;
  error?: ErrorShape;
}

export interface TestGateway extends AsyncDisposable {
  readonly port: number;
  readonly ws: WsServer;
  readonly devices: DeviceStore;
  readonly router: MethodRouter;
  readonly disconnected: Connection[];
  config: SecurityConfig;
  open(headers?: Record<string, string>): Promise<TestClient>;
  /** Opens and connects as a paired (silently approved) operator. */
  connect(options?: ConnectOptions): Promise<TestClient>;
}

export interface ConnectOptions {
  readonly headers?: Record<string, string>;
  readonly params?: Record<string, unknown>;
  readonly client?: Record<string, unknown>;
  readonly scopes?: readonly string[];
  readonly auth?: Record<string, string> | null;
  readonly role?: string;
  /** null: no device. */
  readonly device?: DeviceIdentity | null;
  /** Changes what is signed or sent. */
  readonly tamper?: (device: Record<string, unknown>) => void;
  readonly signedAt?: number;
  readonly nonce?: string;
}

export class TestClient {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | undefined;
  private readonly waiters = new Set<() => void>();
  private nextId = 1;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString("utf8")) as Frame);
      this.wake();
    });
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.wake();
    });
    socket.on("error", () => undefined);
  }

  private wake(): void {
    for (const waiter of this.waiters) waiter();
  }

  async until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.closed) throw new Error(`socket closed: ${this.closed.code} ${this.closed.reason}`);
      await new Promise<void>((resolve) => {
        const waiter = (): void => {
          this.waiters.delete(waiter);
          resolve();
        };
        this.waiters.add(waiter);
      });
    }
  }

  event(name: string): Promise<Frame> {
    return this.until(() => this.frames.find((f) => f.type === "event" && f.event === name));
  }

  response(id: string): Promise<Frame> {
    return this.until(() => this.frames.find((f) => f.type === "res" && f.id === id));
  }

  async close(): Promise<{ code: number; reason: string }> {
    if (!this.closed) await once(this.socket, "close");
    if (!this.closed) throw new Error("not closed");
    return this.closed;
  }

  sendRaw(text: string): void {
    this.socket.send(text);
  }

  async call(method: string, params?: unknown): Promise<Frame> {
    const id = `c${this.nextId++}`;
    this.sendRaw(JSON.stringify({ type: "req", id, method, ...(params === undefined ? {} : { params }) }));
    return this.response(id);
  }

  async hello(options: ConnectOptions = {}): Promise<Frame> {
    const challenge = await this.event("connect.challenge");
    this.sendRaw(JSON.stringify(connectFrame(String(challenge.payload?.["nonce"]), options)));
    return this.response("connect");
  }
}

function connectFrame(challengeNonce: string, options: ConnectOptions) {
  const client = { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend", ...options.client };
  const scopes = options.scopes ?? ALL_SCOPES;
  const auth = options.auth === null ? undefined : (options.auth ?? { token: TOKEN });
  const identity = options.device === undefined ? identityFromSeed(Buffer.alloc(32, 7)) : options.device;
  const nonce = options.nonce ?? challengeNonce;
  const signedAt = options.signedAt ?? Date.now();
  const device: Record<string, unknown> | undefined = identity
    ? {
        id: identity.deviceId,
        publicKey: identity.publicKey,
        signature: identity.sign(
          signedText({
            deviceId: identity.deviceId,
            clientId: client.id,
            clientMode: client.mode,
            role: options.role ?? "operator",
            scopes,
            signedAtMs: signedAt,
            token: auth?.["token"] ?? auth?.["deviceToken"] ?? "",
            nonce,
          }),
        ),
        signedAt,
        nonce,
      }
    : undefined;
  if (device) options.tamper?.(device);
  const params = { minProtocol: 3, maxProtocol: 3, client, scopes, role: options.role, auth, device, ...options.params };
  return { type: "req", id: "connect", method: "connect", params };
}

export interface TestGatewayOptions {
  readonly config?: SecurityConfig;
  readonly limits?: Partial<WsLimits>;
}

/** A gateway of this room alone: real sockets, a temp state directory, a few methods. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-ws-"));
  const clock = { now: () => Date.now() };
  const state = { config: options.config ?? { gateway: { auth: { mode: "token", token: TOKEN } } } } as { config: SecurityConfig };
  const auth = createAuthGate({ config: () => state.config, env: {}, clock });
  const devices = createDeviceStore({ stateDir, clock, log: silentLogger });
  const router = createMethodRouter(
    [
      defineMethod({ name: "health", scope: "none", params: z.looseObject({}), handle: () => ({ ok: true }) }),
      defineMethod({ name: "status", scope: "operator.read", params: z.strictObject({}), handle: () => ({ fine: true }) }),
      defineMethod({
        name: "agent",
        scope: "operator.write",
        params: z.strictObject({ message: z.string().min(1) }),
        handle: ({ message }, _ctx: object, call) => {
          call.respond({ status: "accepted" });
          return { status: "ok", message };
        },
      }),
      defineMethod({
        name: "wake",
        scope: "operator.write",
        params: z.strictObject({}),
        handle: () => {
          throw new Error("boom");
        },
      }),
      defineMethod({ name: "agent.wait", scope: "operator.write", params: z.looseObject({}), handle: () => new Promise(() => undefined) }),
      defineMethod({ name: "skills.bins", scope: "node", params: z.strictObject({}), handle: () => ({ bins: [] }) }),
    ],
    {},
  );
  const server = createServer((_req, res) => res.end("http"));
  const disconnected: Connection[] = [];
  const ws = createWsServer({
    server,
    router,
    auth,
    devices,
    clock,
    config: () => state.config,
    log: silentLogger,
    limits: options.limits,
    hello: (conn): Omit<HelloOk, "type" | "protocol" | "policy" | "auth"> => ({
      server: { version: "dev", connId: conn.connId },
      features: { methods: router.advertised(), events: [] },
      snapshot: {
        presence: [],
        health: {},
        stateVersion: { presence: 1, health: 1 },
        uptimeMs: 1,
        configPath: "",
        stateDir: "",
        sessionDefaults: { defaultAgentId: "main", mainKey: "main", mainSessionKey: "agent:main:main", scope: "per-sender" },
        authMode: "token",
      },
    }),
    onDisconnected: (conn) => disconnected.push(conn),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const open = async (headers: Record<string, string> = {}): Promise<TestClient> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers });
    const client = new TestClient(socket);
    await Promise.race([once(socket, "open"), once(socket, "error").then(([err]) => Promise.reject(err as Error))]);
    return client;
  };
  return {
    port,
    ws,
    devices,
    router,
    disconnected,
    get config() {
      return state.config;
    },
    set config(next) {
      state.config = next;
    },
    open,
    async connect(connectOptions = {}) {
      const client = await open(connectOptions.headers);
      const hello = await client.hello(connectOptions);
      if (!hello.ok) throw new Error(`connect refused: ${hello.error?.message}`);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await ws.shutdown({ reason: "gateway stopping", restartExpectedMs: null });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
