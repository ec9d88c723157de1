import type { IncomingHttpHeaders } from "node:http";
import type { WebSocket } from "ws";
import type { ConnectParams } from "../protocol/index.ts";
import type { Caller } from "../protocol/index.ts";
import type { StateVersion } from "../protocol/index.ts";
import type { Acceptance } from "./handshake.ts";

/** One client after its handshake, as the rest of the gateway sees it. */
export interface Connection extends Caller {
  readonly role: "operator" | "node";
  readonly connectedAtMs: number;
  readonly isLocal: boolean;
  readonly hostHeader: string | undefined;
  readonly params: ConnectParams;
  /** For nodes: declared and approved. */
  readonly commands: readonly string[];
}

export interface SendLimits {
  readonly maxBufferedBytes: number;
}

export interface EventBody {
  readonly event: string;
  /** `,"payload":…` or "": serialised once for all receivers. */
  readonly payloadJson: string;
  readonly stateVersion?: StateVersion | undefined;
}

export function eventBody(event: string, payload: unknown, stateVersion?: StateVersion): EventBody {
  const json = payload === undefined ? undefined : JSON.stringify(payload);
  return { event, payloadJson: json === undefined ? "" : `,"payload":${json}`, stateVersion };
}

/** The sending half of a socket: sequence numbers without gaps and a bound on what may pile up (spec §6.1). */
export interface Outbox {
  /** A frame that is not numbered. */
  send(frame: object): void;
  /** Returns false when the event was dropped because the client is slow. */
  event(body: EventBody, options: { readonly numbered: boolean; readonly dropIfSlow: boolean }): boolean;
}

export function createOutbox(socket: WebSocket, limits: SendLimits): Outbox {
  let seq = 0;
  const isOpen = (): boolean => socket.readyState === 1;
  const isSlow = (): boolean => socket.bufferedAmount > limits.maxBufferedBytes;
  const write = (text: string): void => {
    // A failed write surfaces as the socket's close event, which is handled there.
    socket.send(text, () => undefined);
  };
  return {
    send(frame) {
      if (!isOpen()) return;
      if (isSlow()) return closeSlow(socket);
      write(JSON.stringify(frame));
    },
    event(body, { numbered, dropIfSlow }) {
      if (!isOpen()) return false;
      if (isSlow()) {
        if (!dropIfSlow) closeSlow(socket);
        return false;
      }
      const number = numbered ? `,"seq":${++seq}` : "";
      const version = body.stateVersion ? `,"stateVersion":${JSON.stringify(body.stateVersion)}` : "";
      write(`{"type":"event","event":${JSON.stringify(body.event)}${body.payloadJson}${number}${version}}`);
      return true;
    },
  };
}

/** The close frame queues behind megabytes that are not read, so the socket is cut soon after. */
function closeSlow(socket: WebSocket): void {
  socket.close(1008, "slow consumer");
  setTimeout(() => socket.terminate(), 1_000).unref();
}

/** What must be remembered of a handshake to judge it again after a reload. */
export interface Admission {
  readonly acceptance: Acceptance;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string | undefined;
}

/** At most 120 bytes of UTF-8, not cutting a character (a close reason may hold 123). */
export function closeReason(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= 120) return text;
  return new TextDecoder("utf-8").decode(bytes.subarray(0, 120)).replace(/\uFFFD+$/, "");
}
