import { errorText } from "../../infra/errors.ts";
import { createFragments } from "./fragments.ts";
import { decodeFrame, encodeFrame, type Frame, headerOf, METHOD_CONTROL, METHOD_DATA, pingFrame } from "./frames.ts";

export interface LinkTimings {
  /** At least this often a ping goes out, ms; the platform may ask for less time between two. */
  readonly pingMs: number;
  /** Nothing heard for so long after a ping: the link is dead. */
  readonly pongMs: number;
  readonly connectMs: number;
}

export interface LinkOptions {
  readonly url: string;
  readonly pingMs: number | undefined;
  readonly timings: LinkTimings;
  readonly signal: AbortSignal;
  readonly now: () => number;
  onOpen(): void;
  onHeard(): void;
  /** Takes an event over: undefined leaves it unacknowledged, so that the platform sends it again. */
  onEvent(payload: Buffer): Promise<{ readonly data?: unknown } | undefined>;
  onProblem(message: string, reason: string): void;
}

export type LinkEnd = { readonly kind: "lost"; readonly reason: string } | { readonly kind: "stopped" };

const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** One socket from opening to its end. Events are taken over one after the other and then acknowledged. @throws Error when it does not open */
export async function runLink(options: LinkOptions): Promise<LinkEnd> {
  const { WebSocket } = await import("ws");
  const { signal, timings, now } = options;
  if (signal.aborted) return { kind: "stopped" };
  const service = Number(new URL(options.url).searchParams.get("service_id") ?? "0");
  const socket = new WebSocket(options.url, { handshakeTimeout: timings.connectMs, maxPayload: MAX_FRAME_BYTES, followRedirects: false });
  const fragments = createFragments(now);
  let taking: Promise<void> = Promise.resolve();
  let pinger: ReturnType<typeof keepAlive> | undefined;

  const say = (frame: Uint8Array): void => {
    if (socket.readyState === socket.OPEN) socket.send(frame, (err) => err && options.onProblem("frame not sent", errorText(err)));
  };
  const hear = (frame: Frame): void => {
    if (frame.method === METHOD_CONTROL) {
      if (headerOf(frame, "type") === "pong") pinger?.tune(askedPingMs(frame.payload));
      return;
    }
    if (frame.method !== METHOD_DATA) return;
    const payload = fragments.add(frame);
    if (payload) taking = taking.then(() => take(frame, payload));
  };
  const take = async (frame: Frame, payload: Buffer): Promise<void> => {
    const startedMs = now();
    let answer: object | undefined;
    try {
      const taken = await options.onEvent(payload);
      answer = taken && { code: 200, ...(taken.data === undefined ? {} : { data: Buffer.from(JSON.stringify(taken.data)).toString("base64") }) };
    } catch (err) {
      options.onProblem("event not understood", errorText(err));
      answer = { code: 500 };
    }
    if (answer) say(encodeFrame({ ...frame, headers: [...frame.headers, ["biz_rt", String(now() - startedMs)]], payload: Buffer.from(JSON.stringify(answer)) }));
  };

  return new Promise<LinkEnd>((resolve, reject) => {
    let isOpen = false;
    let lastError: Error | undefined;
    const onAbort = (): void => void taking.finally(() => socket.terminate());
    signal.addEventListener("abort", onAbort, { once: true });
    socket.on("open", () => {
      isOpen = true;
      pinger = keepAlive({ ping: () => say(pingFrame(service)), dead: () => socket.terminate(), timings, askedMs: options.pingMs });
      options.onOpen();
    });
    socket.on("message", (raw: Buffer) => {
      pinger?.heard();
      options.onHeard();
      try {
        hear(decodeFrame(raw));
      } catch (err) {
        options.onProblem("frame not understood", errorText(err));
      }
    });
    socket.on("error", (err) => (lastError = err));
    socket.on("close", (code) => {
      signal.removeEventListener("abort", onAbort);
      pinger?.stop();
      // Whoever waits for the end of the account waits for what it has begun to take over.
      void taking.finally(() => {
        if (signal.aborted) resolve({ kind: "stopped" });
        else if (isOpen) resolve({ kind: "lost", reason: lastError?.message ?? `closed with code ${code}` });
        else reject(lastError ?? new Error(`the connection closed with code ${code} before it opened`));
      });
    });
  });
}

/** The first ping at once, as the platform expects. A ping after which nothing at all is heard ends the link. */
function keepAlive(options: { ping(): void; dead(): void; readonly timings: LinkTimings; readonly askedMs: number | undefined }) {
  const { timings } = options;
  let intervalMs = Math.min(timings.pingMs, options.askedMs ?? timings.pingMs);
  let next: NodeJS.Timeout | undefined;
  let late: NodeJS.Timeout | undefined;
  const beat = (): void => {
    options.ping();
    late ??= setTimeout(options.dead, timings.pongMs);
    next = setTimeout(beat, intervalMs);
  };
  beat();
  return {
    heard(): void {
      clearTimeout(late);
      late = undefined;
    },
    tune(askedMs: number | undefined): void {
      if (askedMs !== undefined) intervalMs = Math.min(timings.pingMs, askedMs);
    },
    stop(): void {
      clearTimeout(next);
      clearTimeout(late);
    },
  };
}

function askedPingMs(payload: Uint8Array | undefined): number | undefined {
  if (!payload?.length) return undefined;
  try {
    return pingIntervalMs(JSON.parse(Buffer.from(payload).toString("utf8")));
  } catch {
    // A pong without settings keeps those there are.
    return undefined;
  }
}

/** Of the platform's ClientConfig, which counts seconds; never more often than once a second. */
export function pingIntervalMs(clientConfig: unknown): number | undefined {
  const seconds: unknown = typeof clientConfig === "object" && clientConfig !== null && "PingInterval" in clientConfig ? clientConfig.PingInterval : undefined;
  return typeof seconds === "number" && seconds > 0 ? Math.max(1, seconds) * 1000 : undefined;
}
