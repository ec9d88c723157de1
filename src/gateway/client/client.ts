import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { acquireFileLock } from "../../infra/file-lock.ts";
import type { Logger } from "../../infra/log.ts";
import { createDeviceAuthStore, loadDeviceIdentity, signedText, type DeviceAuthStore, type DeviceIdentity } from "../../pairing/index.ts";
import type { ClientId, ClientMode, ConnectParams, EventFrame, Frame, HelloOk, ResponseFrame } from "../protocol/types.ts";
import { GatewayCallError, GatewayConnectError } from "./errors.ts";
import { openSocket, type FrameSocket } from "./socket.ts";
import type { GatewayTarget } from "./target.ts";

export interface ConnectOptions {
  readonly target: GatewayTarget;
  readonly version: string;
  /** Holds this machine's device key and tokens; undefined connects without a device. */
  readonly stateDir: string | undefined;
  readonly log: Logger;
  /** For the connection as a whole; default 10 s. */
  readonly timeoutMs?: number | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly client?: { readonly id: ClientId; readonly mode: ClientMode } | undefined;
  readonly caps?: readonly string[] | undefined;
}

export interface RequestOptions {
  /** Default 10 s; 0 waits without end. */
  readonly timeoutMs?: number | undefined;
  /** Waits for the last answer of a method that first says "accepted". */
  readonly expectFinal?: boolean | undefined;
}

export interface GatewayClient {
  readonly hello: HelloOk;
  /** @throws GatewayCallError for an error answer, GatewayConnectError when the connection ends or time runs out */
  request(method: string, params?: unknown, options?: RequestOptions): Promise<unknown>;
  onEvent(listener: (event: EventFrame) => void): () => void;
  /** Resolves when the connection is gone, with the reason. */
  readonly closed: Promise<string>;
  close(): void;
}

const DEFAULT_CALL_TIMEOUT_MS = 10_000;
/** What an operator at the command line may ask for; admin covers read and write. */
const OPERATOR_SCOPES = ["operator.admin", "operator.approvals", "operator.pairing"];
const ROLE = "operator";

interface Credentials {
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  readonly deviceToken?: string | undefined;
}

/**
 * Connects as an operator. The shared secret goes first; this device's own token is used where there is none, or where it is no
 * longer right, and a token the gateway no longer knows is forgotten here, so that nothing stale blocks the next run.
 * @throws GatewayConnectError
 */
export async function connectGateway(options: ConnectOptions): Promise<GatewayClient> {
  const { target } = options;
  const device = options.stateDir === undefined ? undefined : await loadDevice(options.stateDir, options.log);
  const stored = target.isOwn ? device?.tokens.get(device.identity.deviceId, ROLE) : undefined;
  const shared: Credentials | undefined = target.token || target.password ? { ...(target.token ? { token: target.token } : {}), ...(target.password ? { password: target.password } : {}) } : undefined;
  const attempts: (Credentials | undefined)[] = [];
  if (shared) attempts.push(shared);
  if (stored) attempts.push({ deviceToken: stored.token });
  if (attempts.length === 0) attempts.push(undefined);
  let failure: GatewayConnectError | undefined;
  for (const credentials of attempts) {
    try {
      const client = await attempt(options, device?.identity, credentials);
      await keepToken(client.hello, target, device, options.log);
      return client;
    } catch (err) {
      if (!(err instanceof GatewayConnectError) || err.code !== "unauthorized") throw err;
      if (credentials?.deviceToken !== undefined && device && isStale(err)) await device.tokens.forget(device.identity.deviceId, ROLE);
      failure ??= err;
    }
  }
  throw failure ?? new GatewayConnectError("unauthorized", "unauthorized");
}

interface Device {
  readonly identity: DeviceIdentity;
  readonly tokens: DeviceAuthStore;
}

/** A state directory that cannot be written (another user's) must not stop a command that has the shared secret. */
async function loadDevice(stateDir: string, log: Logger): Promise<Device | undefined> {
  try {
    const isNew = !existsSync(join(stateDir, "identity", "device.json"));
    // Two commands that start at the same moment on a new installation must come to one key, or a device is left that nobody is.
    await using _held = isNew ? await acquireFileLock(join(stateDir, "identity", "device.json.lock")) : undefined;
    return { identity: await loadDeviceIdentity(stateDir, Date.now()), tokens: createDeviceAuthStore({ stateDir, log }) };
  } catch (err) {
    log.warn("connecting without a device identity", { err });
    return undefined;
  }
}

const isStale = (err: GatewayConnectError): boolean =>
  typeof err.details === "object" && err.details !== null && "code" in err.details && err.details.code === "AUTH_DEVICE_TOKEN_MISMATCH";

async function keepToken(hello: HelloOk, target: GatewayTarget, device: Device | undefined, log: Logger): Promise<void> {
  if (!hello.auth || !device || !target.isOwn) return;
  const { deviceToken, role, scopes, issuedAtMs } = hello.auth;
  if (device.tokens.get(device.identity.deviceId, role)?.token === deviceToken) return;
  await device.tokens.save(device.identity.deviceId, { token: deviceToken, role, scopes, updatedAtMs: issuedAtMs }).catch((err: unknown) => log.warn("device token not kept", { err }));
}

async function attempt(options: ConnectOptions, identity: DeviceIdentity | undefined, credentials: Credentials | undefined): Promise<GatewayClient> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_CALL_TIMEOUT_MS;
  const socket = await openSocket(options.target.url, timeoutMs, options.target.tlsFingerprint);
  try {
    return await handshake(socket, options, identity, credentials, timeoutMs);
  } catch (err) {
    socket.close();
    throw err;
  }
}

function handshake(socket: FrameSocket, options: ConnectOptions, identity: DeviceIdentity | undefined, credentials: Credentials | undefined, timeoutMs: number): Promise<GatewayClient> {
  return new Promise((resolve, reject) => {
    const id = randomUUID();
    const timer = setTimeout(() => reject(new GatewayConnectError("timeout", `the gateway at ${options.target.url} did not finish the handshake within ${timeoutMs} ms`)), timeoutMs);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    socket.onClose((code, reason) => settle(() => reject(new GatewayConnectError("protocol", `gateway closed (${code}): ${reason || "no reason given"}`))));
    socket.onFrame((frame: Frame) => {
      if (frame.type === "event" && frame.event === "connect.challenge") {
        const nonce = (frame.payload as { nonce?: unknown } | undefined)?.nonce;
        socket.send({ type: "req", id, method: "connect", params: connectParams(options, identity, credentials, typeof nonce === "string" ? nonce : "") });
      } else if (frame.type === "res" && frame.id === id) {
        settle(() => (frame.ok ? resolve(createClient(socket, frame.payload as HelloOk)) : reject(refusal(frame))));
      }
    });
  });
}

function connectParams(options: ConnectOptions, identity: DeviceIdentity | undefined, credentials: Credentials | undefined, nonce: string): ConnectParams {
  const client = options.client ?? { id: "cli", mode: "cli" };
  const scopes = options.scopes ?? OPERATOR_SCOPES;
  const signedAt = Date.now();
  const signature = identity?.sign(
    signedText({
      deviceId: identity.deviceId, clientId: client.id, clientMode: client.mode, role: ROLE, scopes, signedAtMs: signedAt,
      token: credentials?.token ?? credentials?.deviceToken ?? "", nonce,
    }),
  );
  return {
    minProtocol: 3,
    maxProtocol: 3,
    client: { ...client, displayName: hostname() || "cli", version: options.version, platform: process.platform },
    role: ROLE,
    scopes,
    ...(options.caps ? { caps: options.caps } : {}),
    ...(credentials ? { auth: credentials } : {}),
    ...(identity && signature !== undefined ? { device: { id: identity.deviceId, publicKey: identity.publicKey, signature, signedAt, nonce } } : {}),
  };
}

function refusal(frame: ResponseFrame): GatewayConnectError {
  const { code, message = "refused", details } = frame.error ?? {};
  if (code !== "NOT_PAIRED") return new GatewayConnectError(/^unauthorized/.test(message) ? "unauthorized" : "protocol", message, { details });
  const requestId = typeof details === "object" && details !== null && "requestId" in details ? String(details.requestId) : undefined;
  return new GatewayConnectError("pairing-required", message, {
    details,
    fix: requestId === undefined ? "Give --token or --password." : `Approve this device on the gateway host: openclaw devices approve ${requestId}`,
  });
}

interface Pending {
  readonly expectFinal: boolean;
  settle(frame: ResponseFrame): void;
  fail(err: Error): void;
}

function createClient(socket: FrameSocket, hello: HelloOk): GatewayClient {
  const pending = new Map<string, Pending>();
  const listeners = new Set<(event: EventFrame) => void>();
  let gone: string | undefined;
  const { promise: closed, resolve: markClosed } = Promise.withResolvers<string>();
  socket.onFrame((frame) => {
    if (frame.type === "event") for (const listener of listeners) listener(frame);
    if (frame.type !== "res") return;
    const waiting = pending.get(frame.id);
    if (!waiting || (waiting.expectFinal && frame.ok && isAccepted(frame.payload))) return;
    pending.delete(frame.id);
    waiting.settle(frame);
  });
  socket.onClose((code, reason) => {
    gone = `gateway closed (${code}): ${reason || "no reason given"}`;
    for (const waiting of pending.values()) waiting.fail(new GatewayConnectError("protocol", gone));
    pending.clear();
    markClosed(gone);
  });
  return {
    hello,
    closed,
    request(method, params, { timeoutMs = DEFAULT_CALL_TIMEOUT_MS, expectFinal = false } = {}) {
      if (gone !== undefined) return Promise.reject(new GatewayConnectError("protocol", gone));
      return new Promise((resolve, reject) => {
        const id = randomUUID();
        const timer = timeoutMs === 0 ? undefined : setTimeout(() => {
          pending.delete(id);
          reject(new GatewayConnectError("timeout", `${method} was not answered within ${timeoutMs} ms`, { fix: "Give it longer with --timeout." }));
        }, timeoutMs);
        pending.set(id, {
          expectFinal,
          settle(frame) {
            clearTimeout(timer);
            if (frame.ok) resolve(frame.payload);
            else reject(new GatewayCallError(frame.error ?? { code: "UNAVAILABLE", message: "refused without a reason" }, frame.payload));
          },
          fail(err) {
            clearTimeout(timer);
            reject(err);
          },
        });
        socket.send({ type: "req", id, method, ...(params === undefined ? {} : { params }) });
      });
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => socket.close(),
  };
}

const isAccepted = (payload: unknown): boolean => typeof payload === "object" && payload !== null && "status" in payload && payload.status === "accepted";
