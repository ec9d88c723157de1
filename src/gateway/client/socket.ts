import { createHash } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { WebSocket } from "ws";
import type { Frame } from "../protocol/types.ts";
import { GatewayConnectError } from "./errors.ts";

const MAX_PAYLOAD_BYTES = 26_214_400;

/** A WebSocket that carries the gateway's frames. */
export interface FrameSocket {
  send(frame: object): void;
  onFrame(listener: (frame: Frame) => void): void;
  onClose(listener: (code: number, reason: string) => void): void;
  close(): void;
}

/** @throws GatewayConnectError when nobody answers, or no WebSocket does */
export async function openSocket(url: string, timeoutMs: number, tlsFingerprint: string | undefined): Promise<FrameSocket> {
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(url, {
    handshakeTimeout: timeoutMs,
    maxPayload: MAX_PAYLOAD_BYTES,
    perMessageDeflate: false,
    ...(tlsFingerprint === undefined ? {} : { rejectUnauthorized: false }),
  });
  const frames: Frame[] = [];
  let deliver: ((frame: Frame) => void) | undefined;
  let closed: { code: number; reason: string } | undefined;
  const closers: ((code: number, reason: string) => void)[] = [];
  socket.on("message", (data) => {
    const frame = parseFrame(data);
    if (frame === undefined) return;
    if (deliver) deliver(frame);
    else frames.push(frame);
  });
  socket.on("close", (code, reason) => {
    closed = { code, reason: reason.toString("utf8") };
    for (const closer of closers) closer(closed.code, closed.reason);
  });
  await opened(socket, url, timeoutMs);
  socket.on("error", () => undefined); // a close event follows with the code
  if (tlsFingerprint !== undefined) checkFingerprint(socket, tlsFingerprint);
  return {
    send: (frame) => socket.send(JSON.stringify(frame)),
    onFrame(listener) {
      deliver = listener;
      for (const frame of frames.splice(0)) listener(frame);
    },
    onClose(listener) {
      closers.push(listener);
      if (closed) listener(closed.code, closed.reason);
    },
    close: () => socket.close(1000),
  };
}

function opened(socket: WebSocket, url: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("unexpected-response", (_req, res) => {
      socket.terminate();
      reject(new GatewayConnectError("protocol", `${url} answered HTTP ${res.statusCode ?? "?"} instead of opening a WebSocket`, { fix: "Check the address: something else may be listening there." }));
    });
    socket.once("error", (err) => {
      const code = "code" in err ? String(err.code) : "";
      const isTimeout = code === "ETIMEDOUT" || /handshake has timed out/.test(err.message);
      if (isTimeout) reject(new GatewayConnectError("timeout", `no answer from ${url} within ${timeoutMs} ms`, { cause: err }));
      else if (code.startsWith("E") || err.message === "socket hang up") {
        reject(new GatewayConnectError("unreachable", `gateway not reachable: ${err.message || code}`, { cause: err, fix: "Start it with `openclaw gateway`." }));
      } else reject(new GatewayConnectError("protocol", `no gateway at ${url}: ${err.message}`, { cause: err }));
    });
  });
}

function checkFingerprint(socket: WebSocket, wanted: string): void {
  const raw = (socket as unknown as { readonly _socket?: TLSSocket })._socket?.getPeerCertificate?.()?.raw;
  const hex = (text: string): string => text.replace(/^sha256:?/i, "").replaceAll(/[^0-9a-f]/gi, "").toLowerCase();
  if (raw && createHash("sha256").update(raw).digest("hex") === hex(wanted)) return;
  socket.terminate();
  throw new GatewayConnectError("unauthorized", "the gateway's certificate is not the one of gateway.remote.tlsFingerprint", {
    fix: "Compare the fingerprint on the gateway host; update gateway.remote.tlsFingerprint only if the certificate was renewed there.",
  });
}

function parseFrame(data: unknown): Frame | undefined {
  try {
    const frame: unknown = JSON.parse(String(data));
    return typeof frame === "object" && frame !== null && "type" in frame ? (frame as Frame) : undefined;
  } catch {
    return undefined; // not a frame of the gateway: the handshake's time limit tells
  }
}
