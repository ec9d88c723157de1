import type { Agent } from "node:http";
import type { WebSocket } from "ws";
import { refusal, WecomError } from "../errors.ts";
import { type Frame, newReqId, parseFrame } from "./frames.ts";

export interface LinkTimings {
  readonly pingMs: number;
  /** Pings without an answer after which the link is dead. */
  readonly maxMisses: number;
  readonly connectMs: number;
  /** ms for the acknowledgement of a frame. */
  readonly ackMs: number;
}

/** One open connection of a bot. */
export interface BotLink {
  /**
   * Sends a command and waits for its acknowledgement; frames with the same `reqId` go out one after the other.
   * @throws WecomError
   */
  request(cmd: string, body: object, options: { readonly what: string; readonly reqId?: string | undefined; readonly timeoutMs?: number | undefined }): Promise<unknown>;
}

export interface LinkOptions {
  readonly url: string;
  readonly agent: Agent | undefined;
  readonly botId: string;
  readonly secret: string;
  readonly timings: LinkTimings;
  readonly signal: AbortSignal;
  onOpen(link: BotLink): void;
  /** A message or an event; taken over one after the other. */
  onCallback(frame: Frame): Promise<void>;
  onProblem(message: string, err: unknown): void;
}

export type LinkEnd =
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string }
  /** A newer connection of the bot took over. */
  | { readonly kind: "replaced" }
  | { readonly kind: "stopped" };

const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Frames of one request that may wait. Source: spec channels-cn §2.2. */
const MAX_QUEUE = 500;

interface Waiting {
  readonly what: string;
  readonly resolve: (body: unknown) => void;
  readonly reject: (err: WecomError) => void;
  readonly timer: NodeJS.Timeout;
}

/** One socket from opening over its subscription to its end. */
export async function runLink(options: LinkOptions): Promise<LinkEnd> {
  const { WebSocket } = await import("ws");
  const { signal, timings } = options;
  if (signal.aborted) return { kind: "stopped" };
  const socket = new WebSocket(options.url, { handshakeTimeout: timings.connectMs, maxPayload: MAX_FRAME_BYTES, followRedirects: false, ...(options.agent ? { agent: options.agent } : {}) });
  const acks = new Map<string, Waiting>();
  const lanes = new Map<string, { readonly last: Promise<unknown>; readonly waiting: number }>();
  let taking: Promise<void> = Promise.resolve();

  function sendNow(cmd: string, body: object | undefined, reqId: string, what: string, timeoutMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (socket.readyState !== socket.OPEN) return reject(new WecomError("retry", `The connection to WeCom is not open (${what})`));
      const timer = setTimeout(() => {
        acks.delete(reqId);
        reject(new WecomError("uncertain", `WeCom did not acknowledge within ${timeoutMs} ms (${what})`));
      }, timeoutMs);
      acks.set(reqId, { what, resolve, reject, timer });
      socket.send(JSON.stringify({ cmd, headers: { req_id: reqId }, ...(body ? { body } : {}) }), (err) => {
        if (err) settle(reqId, (waiting) => waiting.reject(new WecomError("uncertain", `The connection broke while sending (${what})`, { cause: err })));
      });
    });
  }

  function settle(reqId: string, end: (waiting: Waiting) => void): void {
    const waiting = acks.get(reqId);
    if (!waiting) return;
    acks.delete(reqId);
    clearTimeout(waiting.timer);
    end(waiting);
  }

  const link: BotLink = {
    request(cmd, body, { what, reqId = newReqId(cmd), timeoutMs = timings.ackMs }) {
      const lane = lanes.get(reqId);
      if ((lane?.waiting ?? 0) >= MAX_QUEUE) return Promise.reject(new WecomError("retry", `Too many frames wait for WeCom (${what})`));
      const done = (lane?.last ?? Promise.resolve()).then(() => sendNow(cmd, body, reqId, what, timeoutMs));
      const last = done.catch(() => undefined).then(() => {
        const now = lanes.get(reqId);
        if (now && now.waiting > 1) lanes.set(reqId, { ...now, waiting: now.waiting - 1 });
        else lanes.delete(reqId);
      });
      lanes.set(reqId, { last, waiting: (lane?.waiting ?? 0) + 1 });
      return done;
    },
  };

  return new Promise<LinkEnd>((resolve) => {
    let stopPings: (() => void) | undefined;
    let lastError: Error | undefined;
    let end: LinkEnd | undefined;
    const finish = (what: LinkEnd): void => {
      end ??= what;
      socket.close();
    };
    const onAbort = (): void => void taking.finally(() => socket.terminate());
    signal.addEventListener("abort", onAbort, { once: true });

    async function subscribe(): Promise<void> {
      try {
        await sendNow("aibot_subscribe", { bot_id: options.botId, secret: options.secret }, newReqId("aibot_subscribe"), "accept the bot", timings.connectMs);
        stopPings = keepAlive(socket, timings, () => sendNow("ping", undefined, newReqId("ping"), "answer a ping", timings.pingMs).then(() => true, () => false));
        options.onOpen(link);
      } catch (err) {
        finish(err instanceof WecomError && err.code !== undefined ? { kind: "refused", reason: err.message } : { kind: "lost", reason: err instanceof Error ? err.message : String(err) });
      }
    }

    socket.on("open", () => void subscribe());
    socket.on("message", (raw: Buffer) => {
      const frame = parseFrame(raw.toString("utf8"));
      if (!frame) return options.onProblem("frame not understood", undefined);
      const { cmd, headers: { req_id: reqId } } = frame;
      if (cmd === undefined || cmd === "") {
        return settle(reqId, (waiting) => ((frame.errcode ?? 0) === 0 ? waiting.resolve(frame.body) : waiting.reject(refusal(waiting.what, frame.errcode ?? 0, frame.errmsg))));
      }
      if (isTakeOver(frame)) return finish({ kind: "replaced" });
      taking = taking.then(() => options.onCallback(frame)).catch((err: unknown) => options.onProblem("message not understood", err));
    });
    socket.on("error", (err) => (lastError = err));
    socket.on("close", (code) => {
      signal.removeEventListener("abort", onAbort);
      stopPings?.();
      for (const reqId of acks.keys()) settle(reqId, (waiting) => waiting.reject(new WecomError("uncertain", `The connection to WeCom broke (${waiting.what})`)));
      // Whoever waits for the end of the account waits for what it has begun to take over.
      void taking.finally(() => resolve(signal.aborted ? { kind: "stopped" } : (end ?? { kind: "lost", reason: lastError?.message ?? `closed with code ${code}` })));
    });
  });
}

function isTakeOver({ cmd, body }: Frame): boolean {
  if (cmd !== "aibot_event_callback" || typeof body !== "object" || body === null || !("event" in body)) return false;
  const { event } = body;
  return typeof event === "object" && event !== null && "eventtype" in event && event.eventtype === "disconnected_event";
}

/** Ends the socket after `maxMisses` pings without an answer. */
function keepAlive(socket: WebSocket, { pingMs, maxMisses }: LinkTimings, ping: () => Promise<boolean>): () => void {
  let misses = 0;
  socket.on("message", () => (misses = 0));
  const timer = setInterval(() => {
    if (misses >= maxMisses) return socket.terminate();
    misses++;
    void ping();
  }, pingMs);
  return () => clearInterval(timer);
}
