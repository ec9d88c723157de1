import { once } from "node:events";
import { randomBytes, randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { identityFromSeed, signedText } from "../../src/pairing/index.ts";

export interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly ok?: boolean;
  readonly event?: string;
  readonly seq?: number;
  readonly payload?: Record<string, unknown>;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown };
}

export const ALL_SCOPES = ["operator.admin", "operator.read", "operator.write", "operator.approvals", "operator.pairing"];

/** A paired operator over a real socket. */
export class TestClient implements AsyncDisposable {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  hello: Frame | undefined;
  #waiters = new Set<() => void>();

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString("utf8")) as Frame);
      for (const waiter of [...this.#waiters]) waiter();
    });
    socket.on("error", () => undefined);
  }

  /** The first frame, past or future, that matches. */
  async waitFor(match: (frame: Frame) => boolean, timeoutMs = 20_000): Promise<Frame> {
    const found = this.frames.find(match);
    if (found) return found;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(new Error(`no such frame within ${timeoutMs} ms; last: ${JSON.stringify(this.frames.slice(-5)).slice(0, 1500)}`));
      }, timeoutMs);
      const waiter = (): void => {
        const hit = this.frames.find(match);
        if (!hit) return;
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        resolve(hit);
      };
      this.#waiters.add(waiter);
    });
  }

  async request(method: string, params?: unknown): Promise<Frame> {
    const id = randomUUID();
    this.socket.send(JSON.stringify({ type: "req", id, method, ...(params === undefined ? {} : { params }) }));
    return this.waitFor((frame) => frame.type === "res" && frame.id === id);
  }

  /** The payload of a successful call. @throws Error with the gateway's message */
  async call<T = Record<string, unknown>>(method: string, params?: unknown): Promise<T> {
    const frame = await this.request(method, params);
    if (!frame.ok) throw new Error(`${method}: ${frame.error?.message}`);
    return frame.payload as T;
  }

  /** Sends a chat message and waits for the end of its run. */
  async chat(message: string, sessionKey = "main", extra: Record<string, unknown> = {}): Promise<{ runId: string; text: string | undefined; end: Frame }> {
    const runId = randomUUID();
    await this.call("chat.send", { sessionKey, message, idempotencyKey: runId, ...extra });
    const end = await this.chatEnd(runId);
    return { runId, text: chatText(end), end };
  }

  chatEnd(runId: string): Promise<Frame> {
    return this.waitFor((frame) => frame.event === "chat" && frame.payload?.["runId"] === runId && frame.payload["state"] !== "delta");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.close();
    await once(this.socket, "close");
  }
}

export function chatText(frame: Frame): string | undefined {
  const message = frame.payload?.["message"] as { content?: { text?: string }[] } | undefined;
  return message?.content?.map((block) => block.text ?? "").join("");
}

export interface ConnectOptions {
  readonly scopes?: readonly string[];
  readonly caps?: readonly string[];
  readonly seed?: Buffer;
  /** Connects as a node that can do these things. */
  readonly node?: { readonly commands: readonly string[]; readonly displayName?: string; readonly platform?: string };
}

export async function connectClient(url: string, token: string, options: ConnectOptions = {}): Promise<TestClient> {
  const socket = new WebSocket(url.replace(/^http/, "ws"));
  const client = new TestClient(socket);
  const challenge = await client.waitFor((frame) => frame.event === "connect.challenge");
  const nonce = String(challenge.payload?.["nonce"]);
  const identity = identityFromSeed(options.seed ?? randomBytes(32));
  const { node } = options;
  const role = node ? "node" : "operator";
  const scopes = options.scopes ?? (node ? [] : ALL_SCOPES);
  const signedAt = Date.now();
  const info = { version: "1.0.0", platform: node?.platform ?? "linux", ...(node?.displayName ? { displayName: node.displayName } : {}), ...(node ? { id: "node-host", mode: "node" } as const : { id: "test", mode: "test" } as const) };
  const signature = identity.sign(signedText({ deviceId: identity.deviceId, clientId: info.id, clientMode: info.mode, role, scopes, signedAtMs: signedAt, token, nonce }));
  const hello = await client.request("connect", {
    minProtocol: 3, maxProtocol: 3, client: info, role, scopes, caps: options.caps ?? (node ? [] : ["tool-events"]), auth: { token }, ...(node ? { commands: node.commands } : {}),
    device: { id: identity.deviceId, publicKey: identity.publicKey, signature, signedAt, nonce },
  });
  if (!hello.ok) throw new Error(`connect refused: ${hello.error?.message}`);
  client.hello = hello;
  return client;
}
