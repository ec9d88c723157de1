import type { ConnectParams, ErrorShape, EventFrame, HelloOk } from "../../gateway/protocol/types.ts";
import { Observable } from "../ui/observable.ts";
import { loadIdentity } from "./device.ts";
import type { DeviceIdentity } from "./device.ts";
import { retriesItself, toFailure } from "./failure.ts";
import type { ConnectFailure } from "./failure.ts";
import { dropDeviceToken, isRecord, loadDeviceToken, loadSettings, saveDeviceToken } from "./storage.ts";

export type Phase =
  | { readonly kind: "connecting" }
  | { readonly kind: "connected"; readonly hello: HelloOk; readonly sinceMs: number }
  | { readonly kind: "waiting"; readonly reason: "lost" | "restart"; readonly retryAtMs: number }
  | { readonly kind: "refused"; readonly failure: ConnectFailure; readonly retryAtMs: number | undefined };

export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: string;
  readonly details: unknown;
  constructor(error: ErrorShape) {
    super(error.message);
    this.code = error.code;
    this.details = error.details;
  }
}

/** The connection went away before the answer came. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

const SCOPES = ["operator.admin", "operator.approvals", "operator.pairing", "operator.read", "operator.write"] as const;
const ROLE = "operator";
const CHALLENGE_WAIT_MS = 750;
const FIRST_RETRY_MS = 800;
const RETRY_FACTOR = 1.7;
const MAX_RETRY_MS = 15_000;
const REQUEST_TIMEOUT_MS = 60_000;

interface Waiting {
  resolve(payload: unknown): void;
  reject(err: Error): void;
  readonly timer: number | undefined;
}

type EventListener = (event: EventFrame) => void;

/** One gateway, kept connected. Observers are told of each change of `phase`; events and gaps have their own listeners. */
export class GatewayClient extends Observable {
  phase: Phase = { kind: "connecting" };
  readonly url: string;
  /** Only for this page's life; never stored (spec control-ui §8.1). */
  password = "";
  readonly #instanceId = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
  readonly #locale: () => string;
  readonly #listeners = new Set<EventListener>();
  readonly #gapListeners = new Set<() => void>();
  readonly #waiting = new Map<string, Waiting>();
  #identity: Promise<DeviceIdentity | undefined> | undefined;
  #socket: WebSocket | undefined;
  #generation = 0;
  #nextId = 1;
  #retries = 0;
  #retryTimer: number | undefined;
  #watchdog: number | undefined;
  #lastSeq: number | undefined;

  constructor(url: string, locale: () => string) {
    super();
    this.url = url;
    this.#locale = locale;
    globalThis.addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#hurry();
    });
  }

  get hello(): HelloOk | undefined {
    return this.phase.kind === "connected" ? this.phase.hello : undefined;
  }

  /** Whether the gateway says it serves this method. */
  has(method: string): boolean {
    return this.hello?.features.methods.includes(method) ?? false;
  }

  onEvent(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Events were missed: whoever shows state built from them reads it again. */
  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  /** Connects now, dropping what was there. */
  connect(): void {
    this.#retries = 0;
    this.#open();
  }

  /** @throws RpcError as the gateway answered; ConnectionLost when it went away; Error after `timeoutMs` */
  request<T>(method: string, params: object = {}, timeoutMs = REQUEST_TIMEOUT_MS): Promise<T> {
    const socket = this.#socket;
    if (this.phase.kind !== "connected" || !socket) return Promise.reject(new ConnectionLost("not connected"));
    return this.#send(socket, method, params, timeoutMs) as Promise<T>;
  }

  #send(socket: WebSocket, method: string, params: object, timeoutMs: number): Promise<unknown> {
    const id = `c${this.#nextId++}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`${method}: no answer after ${Math.round(timeoutMs / 1000)} s`));
      }, timeoutMs);
      this.#waiting.set(id, { resolve, reject, timer });
      socket.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }

  #setPhase(phase: Phase): void {
    this.phase = phase;
    this.notify();
  }

  #hurry(): void {
    if (this.phase.kind === "waiting") this.#open();
  }

  #open(): void {
    const generation = ++this.#generation;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#watchdog);
    this.#socket?.close(1000);
    this.#failWaiting();
    if (this.phase.kind !== "refused") this.#setPhase({ kind: "connecting" });
    const socket = new WebSocket(this.url);
    this.#socket = socket;
    this.#lastSeq = undefined;
    let greeted = false;
    let refusal: ConnectFailure | undefined;

    const greet = (nonce: string): void => {
      if (greeted || generation !== this.#generation) return;
      greeted = true;
      this.#handshake(socket, nonce).then(
        (hello) => {
          if (generation !== this.#generation) return;
          this.#retries = 0;
          this.#setPhase({ kind: "connected", hello, sinceMs: Date.now() });
          this.#feedWatchdog();
        },
        (err: unknown) => {
          if (err instanceof RpcError) refusal = toFailure({ code: "INVALID_REQUEST", message: err.message, details: err.details });
          socket.close(4008, "connect failed");
        },
      );
    };

    socket.addEventListener("open", () => setTimeout(() => greet(""), CHALLENGE_WAIT_MS));
    socket.addEventListener("message", (message) => {
      if (generation !== this.#generation) return;
      const frame = parseFrame(message.data);
      if (!frame) return;
      if (frame["type"] === "event" && frame["event"] === "connect.challenge") {
        const nonce = isRecord(frame["payload"]) ? frame["payload"]["nonce"] : undefined;
        greet(typeof nonce === "string" ? nonce : "");
        return;
      }
      this.#take(frame);
    });
    socket.addEventListener("close", (event) => {
      if (generation !== this.#generation) return;
      this.#socket = undefined;
      clearTimeout(this.#watchdog);
      this.#failWaiting();
      // Let the handshake's refusal, answered in the same turn, be noted first.
      queueMicrotask(() => setTimeout(() => generation === this.#generation && this.#closed(event, refusal)));
    });
  }

  #closed(event: CloseEvent, refusal: ConnectFailure | undefined): void {
    if (refusal?.deviceToken) {
      dropDeviceToken();
      return this.#open();
    }
    const delayMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * RETRY_FACTOR ** this.#retries++);
    if (refusal) {
      const again = retriesItself(refusal.kind);
      this.#setPhase({ kind: "refused", failure: refusal, retryAtMs: again ? Date.now() + delayMs : undefined });
      if (!again) return;
    } else {
      const reason = event.code === 1012 ? "restart" : "lost";
      // A page that was refused stays with its explanation while the gateway is away.
      this.#setPhase({ kind: "waiting", reason, retryAtMs: Date.now() + delayMs });
    }
    this.#retryTimer = setTimeout(() => this.#open(), delayMs);
  }

  async #handshake(socket: WebSocket, nonce: string): Promise<HelloOk> {
    this.#identity ??= loadIdentity();
    const identity = await this.#identity;
    const { token } = loadSettings();
    const deviceToken = identity ? loadDeviceToken(identity.deviceId, ROLE) : undefined;
    const client = {
      id: "openclaw-control-ui",
      version: __APP_VERSION__,
      platform: navigator.platform || "web",
      mode: "webchat",
      instanceId: this.#instanceId,
    } as const;
    const signedAt = Date.now();
    const signed = ["v2", identity?.deviceId, client.id, client.mode, ROLE, SCOPES.join(","), signedAt, token || deviceToken || "", nonce].join("|");
    const device = identity && { id: identity.deviceId, publicKey: identity.publicKey, signature: await identity.sign(signed), signedAt, nonce };
    const auth = { ...(token ? { token } : {}), ...(deviceToken ? { deviceToken } : {}), ...(this.password ? { password: this.password } : {}) };
    const params: ConnectParams = {
      minProtocol: 3,
      maxProtocol: 3,
      client,
      role: ROLE,
      scopes: SCOPES,
      caps: ["tool-events"],
      ...(Object.keys(auth).length > 0 ? { auth } : {}),
      ...(device ? { device } : {}),
      userAgent: navigator.userAgent,
      locale: this.#locale(),
    };
    const hello = (await this.#send(socket, "connect", params, REQUEST_TIMEOUT_MS)) as HelloOk;
    if (identity && hello.auth) {
      const { role, scopes, issuedAtMs } = hello.auth;
      saveDeviceToken(identity.deviceId, { token: hello.auth.deviceToken, role, scopes, updatedAtMs: issuedAtMs });
    }
    return hello;
  }

  #take(frame: Record<string, unknown>): void {
    this.#feedWatchdog();
    if (frame["type"] === "res" && typeof frame["id"] === "string") {
      const waiting = this.#waiting.get(frame["id"]);
      if (!waiting) return;
      this.#waiting.delete(frame["id"]);
      clearTimeout(waiting.timer);
      if (frame["ok"] === true) waiting.resolve(frame["payload"]);
      else waiting.reject(new RpcError(toErrorShape(frame["error"])));
      return;
    }
    if (frame["type"] !== "event" || typeof frame["event"] !== "string") return;
    const { seq } = frame;
    if (typeof seq === "number") {
      const missed = this.#lastSeq !== undefined && seq > this.#lastSeq + 1;
      this.#lastSeq = seq;
      if (missed) for (const listener of this.#gapListeners) listener();
    }
    for (const listener of this.#listeners) listener(frame as unknown as EventFrame);
  }

  /** A laptop that slept holds a socket nobody answers; the ticks' absence tells. */
  #feedWatchdog(): void {
    if (this.phase.kind !== "connected") return;
    clearTimeout(this.#watchdog);
    const patienceMs = 2 * this.phase.hello.policy.tickIntervalMs + 5_000;
    this.#watchdog = setTimeout(() => this.#open(), patienceMs);
  }

  #failWaiting(): void {
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new ConnectionLost("connection lost"));
    }
    this.#waiting.clear();
  }
}

function parseFrame(data: unknown): Record<string, unknown> | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const frame: unknown = JSON.parse(data);
    return isRecord(frame) ? frame : undefined;
  } catch {
    return undefined; // Not ours to judge; the next frame may be fine.
  }
}

function toErrorShape(value: unknown): ErrorShape {
  const error = isRecord(value) ? value : {};
  const message = typeof error["message"] === "string" ? error["message"] : "request failed";
  return { code: (typeof error["code"] === "string" ? error["code"] : "UNAVAILABLE") as ErrorShape["code"], message, details: error["details"] };
}
