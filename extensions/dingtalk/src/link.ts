import type { WebSocket } from "ws";
import { acknowledge, actionFor, type Callback, type Frame, parseFrame, refuse } from "./frames.ts";

export interface LinkTimings {
  /** Between two pings of ours, ms. */
  readonly pingMs: number;
  /** Pings without an answer after which the link is dead. */
  readonly maxMisses: number;
  readonly connectMs: number;
}

export interface LinkOptions {
  readonly url: string;
  readonly keepAlive: boolean;
  readonly timings: LinkTimings;
  readonly signal: AbortSignal;
  onOpen(): void;
  onFrame(frame: Frame): void;
  /** Takes a message or a pressed button over: `false` leaves it unacknowledged, so that the platform sends it again. */
  onCallback(callback: Callback): Promise<boolean>;
  onProblem(message: string, err: unknown): void;
}

export type LinkEnd = { readonly kind: "lost"; readonly reason: string } | { readonly kind: "replace" } | { readonly kind: "stopped" };

/** Frames are at most some kilobytes; whatever is larger is not the platform's. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

/**
 * One socket from opening to its end. After `disconnect` it takes nothing new, but still acknowledges what it has taken.
 * Messages are taken over one after the other. @throws Error when it does not open
 */
export async function runLink(options: LinkOptions): Promise<LinkEnd> {
  const { WebSocket } = await import("ws");
  const { signal, timings } = options;
  if (signal.aborted) return { kind: "stopped" };
  const socket = new WebSocket(options.url, { handshakeTimeout: timings.connectMs, maxPayload: MAX_FRAME_BYTES, followRedirects: false });
  let taking: Promise<void> = Promise.resolve();
  let isReplaced = false;

  return new Promise<LinkEnd>((resolve, reject) => {
    let isOpen = false;
    let stopPings: (() => void) | undefined;
    let lastError: Error | undefined;
    const onAbort = (): void => void taking.finally(() => socket.terminate());
    signal.addEventListener("abort", onAbort, { once: true });
    const say = (text: string): void => {
      if (socket.readyState === socket.OPEN) socket.send(text, (err) => err && options.onProblem("frame not answered", err));
    };
    socket.on("open", () => {
      isOpen = true;
      if (options.keepAlive) stopPings = keepAlive(socket, timings);
      options.onOpen();
    });
    socket.on("message", (raw: Buffer) => {
      const frame = parseFrame(raw.toString("utf8"));
      if (!frame) return options.onProblem("frame not understood", undefined);
      options.onFrame(frame);
      const action = actionFor(frame);
      if (action.kind === "answer") return say(action.text);
      if (action.kind === "disconnect") {
        isReplaced = true;
        resolve({ kind: "replace" });
        return void taking.finally(() => socket.close());
      }
      if (action.kind === "callback" && !isReplaced) {
        taking = taking.then(async () => {
          try {
            if (await options.onCallback(action.callback)) say(acknowledge(frame));
          } catch (err) {
            options.onProblem("message not understood", err);
            say(refuse(frame, "the message was not understood"));
          }
        });
      }
    });
    socket.on("error", (err) => (lastError = err));
    socket.on("close", (code) => {
      signal.removeEventListener("abort", onAbort);
      stopPings?.();
      // Whoever waits for the end of the account waits for what it has begun to take over.
      void taking.finally(() => {
        if (signal.aborted) resolve({ kind: "stopped" });
        else if (isOpen) resolve({ kind: "lost", reason: lastError?.message ?? `closed with code ${code}` });
        else reject(lastError ?? new Error(`the connection closed with code ${code} before it opened`));
      });
    });
  });
}

/** Ends the socket after `maxMisses` pings without an answer. */
function keepAlive(socket: WebSocket, { pingMs, maxMisses }: LinkTimings): () => void {
  let misses = 0;
  const alive = (): void => void (misses = 0);
  socket.on("pong", alive);
  socket.on("message", alive);
  const timer = setInterval(() => {
    if (misses >= maxMisses) return socket.terminate();
    misses++;
    socket.ping();
  }, pingMs);
  return () => clearInterval(timer);
}
