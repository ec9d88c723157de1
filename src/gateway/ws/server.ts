import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import type { Logger } from "../../infra/log.ts";
import { authorize, isHostKnown, isOriginAllowed } from "../../security/index.ts";
import type { OperatorScope } from "../../security/index.ts";
import {
  eventRule,
  HANDSHAKE_TIMEOUT_MS,
  MAX_BUFFERED_BYTES,
  MAX_PAYLOAD_BYTES,
  TICK_INTERVAL_MS,
} from "../protocol/index.ts";
import type { HelloOk, IssuedDeviceToken, MethodRouter, StateVersion } from "../protocol/index.ts";
import { closeReason, eventBody } from "./connection.ts";
import type { Admission, Connection, Outbox } from "./connection.ts";
import type { HandshakeDeps } from "./handshake.ts";
import { serveSocket } from "./socket.ts";

const MAX_SILENT_TICKS = 4;

export interface WsLimits {
  readonly maxPayloadBytes: number;
  readonly maxBufferedBytes: number;
  readonly tickIntervalMs: number;
  readonly handshakeTimeoutMs: number;
  /** Of a socket before its handshake. */
  readonly maxHandshakeBytes: number;
  /** Sockets before their handshake; beyond this the oldest is closed. */
  readonly maxPending: number;
  readonly maxConnections: number;
  /** Requests of one socket at a time; further ones are answered UNAVAILABLE. */
  readonly maxInFlight: number;
}

export const DEFAULT_WS_LIMITS: WsLimits = {
  maxPayloadBytes: MAX_PAYLOAD_BYTES,
  maxBufferedBytes: MAX_BUFFERED_BYTES,
  tickIntervalMs: TICK_INTERVAL_MS,
  handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
  maxHandshakeBytes: 512 * 1024,
  maxPending: 128,
  maxConnections: 1024,
  maxInFlight: 256,
};

export interface WsServerDeps extends HandshakeDeps {
  readonly server: Server;
  readonly router: MethodRouter;
  readonly log: Logger;
  /** hello-ok without what this room knows itself. Must give nothing the connection may not read. */
  readonly hello: (conn: Connection) => Omit<HelloOk, "type" | "protocol" | "policy" | "auth">;
  /** Takes an upgrade away from the gateway (canvas reload); returns true when it did. */
  readonly interceptUpgrade?: ((req: IncomingMessage, socket: Duplex, head: Buffer) => boolean) | undefined;
  readonly onConnected?: ((conn: Connection) => void) | undefined;
  readonly onDisconnected?: ((conn: Connection, close: { code: number; reason: string }) => void) | undefined;
  readonly limits?: Partial<WsLimits> | undefined;
}

export interface BroadcastOptions {
  /** A slow client misses this event instead of being closed. */
  readonly dropIfSlow?: boolean | undefined;
  /** Overrides the event's own rule. */
  readonly scope?: OperatorScope | "none" | undefined;
  readonly stateVersion?: StateVersion | undefined;
  /** Narrows the receivers further; never widens them. */
  readonly filter?: ((conn: Connection) => boolean) | undefined;
}

export interface WsServer {
  /** To every connection that may hear it, numbered per connection. */
  broadcast(event: string, payload: unknown, options?: BroadcastOptions): void;
  /** To one connection, not numbered. False when it is gone or missed the event for being slow. */
  sendTo(connId: string, event: string, payload: unknown, options?: { dropIfSlow?: boolean; stateVersion?: StateVersion }): boolean;
  /** Sends to each of these connections that has the cap `tool-events` and operator.read (spec §5.3, decisions §2.5). */
  sendToolEvent(payload: unknown, filter?: (conn: Connection) => boolean): void;
  connections(): readonly Connection[];
  get(connId: string): Connection | undefined;
  close(connId: string, code: number, reason: string): void;
  /** Judges every connection again by the present config; what would be refused now is closed with 1008. */
  revalidate(): void;
  /** Announces the end, then closes every socket with 1012. Resolves when all are gone or cut. */
  shutdown(options: { readonly reason: string; readonly restartExpectedMs: number | null }): Promise<void>;
}

interface Entry {
  readonly conn: Connection;
  readonly outbox: Outbox;
  readonly socket: WebSocket;
  readonly admission: Admission;
  /** For a close that this very client asked for: its answer goes out first. */
  readonly closeAfterResponse: (code: number, reason: string) => void;
  silentTicks: number;
}

/** The WebSocket side of the gateway: serves upgrades of `deps.server` on any path (spec: gateway-protocol §1–§3, §6). */
export function createWsServer(deps: WsServerDeps): WsServer {
  const limits: WsLimits = { ...DEFAULT_WS_LIMITS, ...deps.limits };
  const wss = new WebSocketServer({ noServer: true, maxPayload: limits.maxPayloadBytes, perMessageDeflate: false, clientTracking: false });
  const entries = new Map<string, Entry>();
  const pending = new Set<WebSocket>();
  const sockets = new Set<WebSocket>();
  let stopping = false;

  const onUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on("error", () => socket.destroy());
    try {
      if (deps.interceptUpgrade?.(req, socket, head)) return;
      if (stopping || sockets.size >= limits.maxConnections + limits.maxPending) return rejectUpgrade(socket, "503 Service Unavailable");
      const foreignHost = req.headers.origin !== undefined && !isHostKnown(req.headers.host, deps.config());
      if (foreignHost && !isOriginAllowed(req.headers.origin, req.headers.host, deps.config())) {
        return rejectUpgrade(socket, "421 Misdirected Request");
      }
      wss.handleUpgrade(req, socket, head, (ws) => accept(ws, req));
    } catch (err) {
      deps.log.warn("websocket upgrade failed", { err });
      socket.destroy();
    }
  };

  const accept = (ws: WebSocket, req: IncomingMessage): void => {
    sockets.add(ws);
    pending.add(ws);
    if (pending.size > limits.maxPending) {
      const oldest = pending.values().next().value;
      if (oldest) {
        pending.delete(oldest);
        oldest.close(1013, "too many pending handshakes");
        oldest.terminate();
      }
    }
    const connId = randomUUID();
    ws.on("close", (code, reason) => {
      sockets.delete(ws);
      pending.delete(ws);
      const entry = entries.get(connId);
      if (!entry) return;
      entries.delete(connId);
      guard(() => deps.onDisconnected?.(entry.conn, { code, reason: reason.toString("utf8").slice(0, 200) }));
    });
    serveSocket(ws, req, {
      ...deps,
      limits,
      connId,
      admit(conn, admission, outbox, closeAfterResponse) {
        if (entries.size >= limits.maxConnections) return false;
        pending.delete(ws);
        const entry: Entry = { conn, outbox, socket: ws, admission, closeAfterResponse, silentTicks: 0 };
        entries.set(connId, entry);
        const heard = (): void => void (entry.silentTicks = 0);
        ws.on("pong", heard).on("message", heard);
        return true;
      },
      hello: (conn, issued) => helloOk(conn, issued),
      onReady: (conn) => guard(() => deps.onConnected?.(conn)),
    });
  };

  const helloOk = (conn: Connection, issued: IssuedDeviceToken | undefined): HelloOk => ({
    type: "hello-ok",
    protocol: 3,
    ...deps.hello(conn),
    ...(issued ? { auth: issued } : {}),
    policy: {
      maxPayload: limits.maxPayloadBytes,
      maxBufferedBytes: limits.maxBufferedBytes,
      tickIntervalMs: limits.tickIntervalMs,
    },
  });

  const guard = (task: () => void): void => {
    try {
      task();
    } catch (err) {
      deps.log.error("connection listener failed", { err });
    }
  };

  const broadcast: WsServer["broadcast"] = (event, payload, options = {}) => {
    if (entries.size === 0) return;
    const rule = eventRule(event);
    const requires = options.scope ?? rule.scope;
    const body = eventBody(event, payload, options.stateVersion);
    for (const { conn, outbox } of entries.values()) {
      if (!authorize({ kind: "event", event, requires, nodes: rule.nodes }, conn).allowed) continue;
      if (options.filter && !options.filter(conn)) continue;
      outbox.event(body, { numbered: true, dropIfSlow: options.dropIfSlow ?? false });
    }
  };

  /** A peer that vanished without a word (sleep, cut cable) is found out by its silence. */
  const probe = (entry: Entry): void => {
    if (++entry.silentTicks > MAX_SILENT_TICKS) entry.socket.terminate();
    else if (entry.socket.readyState === 1) entry.socket.ping();
  };

  const closeEntry = (entry: Entry, code: number, reason: string): void => entry.socket.close(code, closeReason(reason));

  const tick = setInterval(() => {
    broadcast("tick", { ts: deps.clock.now() }, { dropIfSlow: true });
    for (const entry of entries.values()) probe(entry);
  }, limits.tickIntervalMs);
  tick.unref();

  const offDevices = deps.devices.on((event) => {
    if (event.kind !== "revoked") return;
    for (const entry of entries.values()) {
      const { conn } = entry;
      if (conn.deviceId !== event.deviceId || (event.role !== undefined && conn.role !== event.role)) continue;
      if (conn.connId === event.by) entry.closeAfterResponse(1008, "device access revoked");
      else closeEntry(entry, 1008, "device access revoked");
    }
  });

  deps.server.on("upgrade", onUpgrade);

  return {
    broadcast,
    sendTo(connId, event, payload, options = {}) {
      const entry = entries.get(connId);
      const body = eventBody(event, payload, options.stateVersion);
      return entry?.outbox.event(body, { numbered: false, dropIfSlow: options.dropIfSlow ?? false }) ?? false;
    },
    sendToolEvent(payload, filter) {
      const body = eventBody("agent", payload);
      for (const { conn, outbox } of entries.values()) {
        if (!conn.caps.includes("tool-events") || (filter && !filter(conn))) continue;
        if (!authorize({ kind: "event", event: "agent", requires: "operator.read", nodes: false }, conn).allowed) continue;
        outbox.event(body, { numbered: false, dropIfSlow: false });
      }
    },
    connections: () => [...entries.values()].map((entry) => entry.conn),
    get: (connId) => entries.get(connId)?.conn,
    close(connId, code, reason) {
      const entry = entries.get(connId);
      if (entry) closeEntry(entry, code, reason);
    },
    revalidate() {
      for (const entry of entries.values()) {
        const { acceptance, headers, remoteAddress } = entry.admission;
        const { origin } = acceptance.client;
        const stands =
          deps.auth.isStillValid(acceptance.auth, headers, remoteAddress) &&
          (origin === undefined || isOriginAllowed(origin, headers.host, deps.config()));
        if (!stands) closeEntry(entry, 1008, "gateway auth changed");
      }
    },
    async shutdown(event) {
      stopping = true;
      clearInterval(tick);
      offDevices();
      deps.server.off("upgrade", onUpgrade);
      broadcast("shutdown", event);
      const open = [...sockets];
      const gone = Promise.all(open.map((ws) => new Promise<void>((resolve) => (ws.readyState === 3 ? resolve() : ws.once("close", () => resolve())))));
      for (const ws of open) ws.close(1012, "service restart");
      // Clients that do not answer the close are cut.
      const cut = setTimeout(() => open.forEach((ws) => ws.terminate()), 1_000);
      await gone;
      clearTimeout(cut);
      wss.close();
    },
  };
}

function rejectUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
