import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { RawData, WebSocket } from "ws";
import { parseUntrustedJson } from "../../security/index.ts";
import { GatewayError, parseConnectParams, parseRequestFrame, ROLE_REFUSED_PREFIX, toErrorShape } from "../protocol/index.ts";
import type { ErrorShape, HelloOk, IssuedDeviceToken, MethodCall, RequestFrame, ResponseFrame } from "../protocol/index.ts";
import { closeReason, createOutbox, eventBody } from "./connection.ts";
import type { Admission, Connection, Outbox } from "./connection.ts";
import { runHandshake } from "./handshake.ts";
import type { WsLimits, WsServerDeps } from "./server.ts";

/** After so many refusals in a row the client does not get the point (spec §2.9). */
const MAX_ROLE_REFUSALS = 11;
/** Frames that arrive while the handshake is judged wait here. */
const MAX_EARLY_FRAMES = 16;
const CLOSE_GRACE_MS = 1_000;

export interface SocketDeps extends Omit<WsServerDeps, "hello" | "limits"> {
  readonly limits: WsLimits;
  readonly connId: string;
  /** False when the gateway is full. */
  admit(conn: Connection, admission: Admission, outbox: Outbox, closeAfterResponse: (code: number, reason: string) => void): boolean;
  hello(conn: Connection, issued: IssuedDeviceToken | undefined): HelloOk;
  onReady(conn: Connection): void;
}

/** Serves one socket from challenge to close. Nothing a client sends makes it throw. */
export function serveSocket(ws: WebSocket, req: IncomingMessage, deps: SocketDeps): void {
  const outbox = createOutbox(ws, deps.limits);
  const nonce = randomUUID();
  const gone = new AbortController();
  const early: string[] = [];
  let state: { kind: "waiting" } | { kind: "judging" } | { kind: "ready"; serve: (frame: unknown) => void } | { kind: "closed" } = {
    kind: "waiting",
  };

  const timeout = setTimeout(() => end(1000, ""), deps.limits.handshakeTimeoutMs);
  const stopCounting = limitHandshakeBytes(req, deps.limits.maxHandshakeBytes, () => {
    end(1009, "");
    ws.terminate();
  });
  const end = (code: number, reason: string): void => {
    state = { kind: "closed" };
    ws.close(code, closeReason(reason));
  };
  ws.on("error", (err) => deps.log.debug("websocket error", { connId: deps.connId, err }));
  ws.on("close", () => {
    state = { kind: "closed" };
    clearTimeout(timeout);
    stopCounting();
    gone.abort();
  });

  const refuse = (id: string, error: ErrorShape, code = 1008): void => {
    deps.log.info("connection refused", { connId: deps.connId, code: error.code, message: error.message });
    outbox.send({ type: "res", id, ok: false, error } satisfies ResponseFrame);
    end(code, error.message);
  };
  const refuseInvalid = (id: string, message: string): void => refuse(id, { code: "INVALID_REQUEST", message });

  const onFirstFrame = (text: string): void => {
    let raw: unknown;
    try {
      raw = parseUntrustedJson(text);
    } catch {
      return end(1000, ""); // not JSON: closed without a word (spec §2.2)
    }
    const frame = parseRequestFrame(raw);
    if (!frame.ok) return end(1008, "invalid request frame");
    if (frame.value.method !== "connect") return refuseInvalid(frame.value.id, "invalid handshake: first request must be connect");
    const params = parseConnectParams(frame.value.params ?? {});
    if (!params.ok) return refuseInvalid(frame.value.id, `invalid connect params: ${params.details}`);
    state = { kind: "judging" };
    const { id } = frame.value;
    const request = { params: params.value, nonce, headers: req.headers, remoteAddress: req.socket.remoteAddress };
    runHandshake(request, deps).then(
      (outcome) => {
        if (state.kind !== "judging") return;
        if (outcome.kind === "refused") return refuse(id, outcome.error, outcome.closeCode);
        start(id, outcome, request);
      },
    ).catch((err: unknown) => {
      deps.log.error("handshake failed", { connId: deps.connId, err });
      if (state.kind === "judging") refuse(id, { code: "UNAVAILABLE", message: "handshake failed; see the gateway log" });
    });
  };

  const start = (id: string, acceptance: Admission["acceptance"], request: { params: Connection["params"] }): void => {
    const { params } = request;
    const conn: Connection = {
      connId: deps.connId,
      role: acceptance.role,
      scopes: acceptance.scopes,
      isOwner: acceptance.role === "operator" && acceptance.scopes.includes("operator.admin"),
      client: params.client,
      deviceId: acceptance.deviceId,
      clientIp: acceptance.client.ip || undefined,
      caps: params.caps ?? [],
      commands: acceptance.commands,
      connectedAtMs: deps.clock.now(),
      isLocal: acceptance.client.isLocal,
      hostHeader: req.headers.host,
      params,
    };
    const requests = createRequestServer(conn, ws, outbox, deps, gone.signal);
    const admission = { acceptance, headers: req.headers, remoteAddress: req.socket.remoteAddress };
    if (!deps.admit(conn, admission, outbox, requests.closeAfterResponse)) {
      return refuse(id, { code: "UNAVAILABLE", message: "too many connections; close one and try again", retryable: true }, 1013);
    }
    clearTimeout(timeout);
    stopCounting();
    const { issued } = acceptance;
    const token = issued && {
      deviceToken: issued.token,
      role: issued.role,
      scopes: [...issued.scopes].sort(),
      issuedAtMs: issued.rotatedAtMs ?? issued.createdAtMs,
    };
    outbox.send({ type: "res", id, ok: true, payload: deps.hello(conn, token) } satisfies ResponseFrame);
    state = { kind: "ready", serve: requests.serve };
    deps.onReady(conn);
    for (const text of early.splice(0)) onLaterFrame(text, requests.serve);
  };

  const onLaterFrame = (text: string, serve: (frame: unknown) => void): void => {
    let raw: unknown;
    try {
      raw = parseUntrustedJson(text);
    } catch {
      return; // ignored silently once connected (spec §1)
    }
    serve(raw);
  };

  ws.on("message", (data) => {
    const text = textOf(data);
    try {
      if (state.kind === "ready") onLaterFrame(text, state.serve);
      else if (state.kind === "waiting") onFirstFrame(text);
      else if (state.kind === "judging" && early.push(text) > MAX_EARLY_FRAMES) end(1008, "too many frames before hello");
    } catch (err) {
      deps.log.error("frame not served", { connId: deps.connId, err });
    }
  });
  outbox.event(eventBody("connect.challenge", { nonce, ts: deps.clock.now() }), { numbered: false, dropIfSlow: false });
}

function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString("utf8");
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)).toString("utf8");
}

/** A client nobody knows yet may not make us buffer a 25 MiB frame. */
function limitHandshakeBytes(req: IncomingMessage, maxBytes: number, onExceeded: () => void): () => void {
  const { socket } = req;
  const start = socket.bytesRead;
  const check = (): void => {
    if (socket.bytesRead - start <= maxBytes) return;
    stop();
    onExceeded();
  };
  const stop = (): void => void socket.off("data", check);
  socket.on("data", check);
  return stop;
}

interface RequestServer {
  readonly serve: (raw: unknown) => void;
  readonly closeAfterResponse: (code: number, reason: string) => void;
}

/** Answers requests of one connection, many at a time; a late answer to a closed socket goes nowhere. */
function createRequestServer(conn: Connection, ws: WebSocket, outbox: Outbox, deps: SocketDeps, signal: AbortSignal): RequestServer {
  let inFlight = 0;
  let roleRefusals = 0;
  let closing: { code: number; reason: string } | undefined;

  const closeIfIdle = (): void => {
    if (closing && inFlight === 0) ws.close(closing.code, closeReason(closing.reason));
  };
  const fail = (id: string, err: unknown): void => {
    const error = toErrorShape(err);
    const payload = err instanceof GatewayError && err.payload !== undefined ? { payload: err.payload } : {};
    outbox.send({ type: "res", id, ok: false, ...payload, error } satisfies ResponseFrame);
    if (!error.message.startsWith(ROLE_REFUSED_PREFIX)) {
      roleRefusals = 0;
    } else if (++roleRefusals >= MAX_ROLE_REFUSALS) {
      ws.close(1008, "repeated unauthorized calls");
    }
  };

  const run = async (frame: RequestFrame): Promise<void> => {
    const effects: (() => void)[] = [];
    const call: MethodCall = {
      requestId: frame.id,
      caller: conn,
      signal,
      respond: (payload) => outbox.send({ type: "res", id: frame.id, ok: true, payload } satisfies ResponseFrame),
      afterResponse: (effect) => void effects.push(effect),
    };
    try {
      const payload = await deps.router.call(frame.method, frame.params, call);
      roleRefusals = 0;
      outbox.send({ type: "res", id: frame.id, ok: true, payload } satisfies ResponseFrame);
    } catch (err) {
      if (!(err instanceof GatewayError)) deps.log.warn("method failed", { method: frame.method.slice(0, 100), err });
      fail(frame.id, err);
    } finally {
      for (const effect of effects) effect();
    }
  };

  return {
    closeAfterResponse(code, reason) {
      closing = { code, reason };
      closeIfIdle();
      // A long poll must not keep a revoked client listening.
      setTimeout(() => ws.close(code, closeReason(reason)), CLOSE_GRACE_MS).unref();
    },
    serve(raw) {
      if (closing) return;
      const frame = parseRequestFrame(raw);
      if (!frame.ok) {
        const error: ErrorShape = { code: "INVALID_REQUEST", message: `invalid request frame: ${frame.details}` };
        return outbox.send({ type: "res", id: idOf(raw), ok: false, error } satisfies ResponseFrame);
      }
      if (inFlight >= deps.limits.maxInFlight) {
        const message = `too many requests in flight (${inFlight}); wait for answers`;
        return fail(frame.value.id, new GatewayError("UNAVAILABLE", message, { retryable: true, retryAfterMs: 1000 }));
      }
      inFlight++;
      run(frame.value)
        .catch((err: unknown) => {
          // The answer could not be serialised, or an effect failed.
          deps.log.error("response failed", { method: frame.value.method.slice(0, 100), err });
          fail(frame.value.id, new GatewayError("UNAVAILABLE", "Error: the response could not be sent"));
        })
        .catch((err: unknown) => deps.log.error("error response failed", { err }))
        .finally(() => {
          inFlight--;
          closeIfIdle();
        });
    },
  };
}

function idOf(raw: unknown): string {
  if (typeof raw !== "object" || raw === null || !("id" in raw) || typeof raw.id !== "string" || raw.id === "") return "invalid";
  return raw.id.slice(0, 1000);
}
