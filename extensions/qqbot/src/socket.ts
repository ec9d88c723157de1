import { z } from "zod";
import { ChannelError, errorText, type Logger, sleep } from "openclaw/plugin-sdk";
import type WebSocketClient from "ws";
import type { QQApi } from "./api.ts";
import { rootProblem } from "./config.ts";
import { decide, QQApiError } from "./errors.ts";
import type { SavedSession, SessionStore } from "./session-store.ts";

/** PUBLIC_GUILD_MESSAGES | INTERACTION | GROUP_AND_C2C_EVENT | DIRECT_MESSAGE, then what narrower bots are granted. */
const INTENT_LEVELS = [1_174_409_216, 1_107_300_352, 1_107_296_256, 1_073_741_826];

const payload = z.object({ op: z.number(), d: z.unknown().optional(), s: z.number().nullish(), t: z.string().nullish(), id: z.string().nullish() });
export type WSPayload = z.infer<typeof payload>;

export interface SocketTimings {
  readonly reconnectMs: readonly number[];
  /** After "too fast", and after three connections that fell at once. */
  readonly calmMs: number;
  readonly invalidSessionMs: number;
  readonly helloMs: number;
}
export const SOCKET_TIMINGS: SocketTimings = { reconnectMs: [1000, 2000, 5000, 10_000, 30_000, 60_000], calmMs: 60_000, invalidSessionMs: 3000, helloMs: 20_000 };
const QUICK_END_MS = 5000;

export interface SocketDeps {
  readonly api: QQApi;
  readonly store: SessionStore;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly timings: SocketTimings;
  /** false: not taken over, so the event must come again. */
  onDispatch(event: WSPayload): Promise<boolean>;
  onReady(bot: { readonly id: string | undefined; readonly username: string | undefined } | undefined): void;
  onDown(reason: string, attempt: number): void;
}

type Next = "resume" | "identify" | "new-token" | "lower-intents" | "calm" | "fatal";
interface Ending {
  readonly next: Next;
  readonly reason: string;
  readonly wasReady: boolean;
}

/** Close code → what to do. Source: spec channels-cn §1.3. */
export function reactionTo(code: number): Next {
  if (code === 4004) return "new-token";
  if (code === 4006 || code === 4007 || (code >= 4900 && code <= 4913)) return "identify";
  if (code === 4008) return "calm";
  if (code === 4013 || code === 4014) return "lower-intents";
  if (code === 4914 || code === 4915 || code === 4001 || code === 4002 || (code >= 4010 && code <= 4012)) return "fatal";
  return "resume";
}

/** Keeps one bot connected until the signal aborts. @throws ChannelError when reconnecting cannot help */
export async function runSocket(deps: SocketDeps): Promise<void> {
  const { api, store, signal, timings } = deps;
  let session = await store.load();
  let level = 0;
  let attempt = 0;
  let quickEnds = 0;
  while (!signal.aborted) {
    const startedAt = deps.now();
    const ending = await connectOnce(deps, session, INTENT_LEVELS[level] ?? 0, (next) => (session = next));
    if (signal.aborted) return;
    if (ending.wasReady) attempt = 0;
    quickEnds = ending.wasReady && deps.now() - startedAt < QUICK_END_MS ? quickEnds + 1 : 0;
    attempt++;
    deps.onDown(ending.reason, attempt);
    deps.log.warn("QQ connection ended", { reason: ending.reason, next: ending.next });
    if (ending.next === "fatal") throw new ChannelError("rejected", `QQ closed the connection: ${ending.reason}`, "Check on the QQ Open Platform whether the bot is published, and not limited to the sandbox or banned.");
    if (ending.next !== "resume" && ending.next !== "calm") {
      session = undefined;
      await store.clear();
    }
    if (ending.next === "new-token" || ending.next === "identify") api.dropToken(await api.token().catch(() => ""));
    if (ending.next === "lower-intents") {
      if (level + 1 >= INTENT_LEVELS.length) throw new ChannelError("rejected", `QQ refused every set of events: ${ending.reason}`, "Enable the bot's message events on the QQ Open Platform.");
      level++;
    }
    await sleep(delayFor(ending, attempt, quickEnds, timings), signal).catch(() => undefined);
  }
}

function delayFor(ending: Ending, attempt: number, quickEnds: number, timings: SocketTimings): number {
  if (ending.next === "calm" || quickEnds >= 3) return timings.calmMs;
  if (ending.next === "identify") return timings.invalidSessionMs;
  return timings.reconnectMs[Math.min(attempt - 1, timings.reconnectMs.length - 1)] ?? 0;
}

async function connectOnce(deps: SocketDeps, session: SavedSession | undefined, intents: number, keep: (session: SavedSession | undefined) => void): Promise<Ending> {
  const ended = (next: Next, reason: string): Ending => ({ next, reason, wasReady: false });
  let url: string;
  let token: string;
  try {
    token = await deps.api.token();
    url = z.object({ url: z.string() }).parse(await deps.api.call("GET", "/gateway", undefined, { signal: deps.signal })).url;
  } catch (err) {
    if (err instanceof QQApiError && (err.code === 100016 || (err.status === 401 && decide(err) === "stop") || err.code === 11251)) throw new ChannelError("auth", err.message, "Check appId and clientSecret.", { cause: err });
    return ended(/too many requests|100001/i.test(errorText(err)) ? "calm" : "resume", errorText(err));
  }
  const problem = rootProblem(url);
  if (problem) return ended("resume", problem);
  const { default: WebSocket } = await import("ws");
  if (deps.signal.aborted) return ended("resume", "stopped");
  return follow(deps, new WebSocket(url, { handshakeTimeout: deps.timings.helloMs }), { session, intents, token, keep });
}

interface Opening {
  readonly session: SavedSession | undefined;
  readonly intents: number;
  readonly token: string;
  readonly keep: (session: SavedSession | undefined) => void;
}

function follow(deps: SocketDeps, ws: WebSocketClient, opening: Opening): Promise<Ending> {
  const { log, signal } = deps;
  let { session } = opening;
  let wasReady = false;
  let verdict: { next: Next; reason: string } | undefined;
  let beat: NodeJS.Timeout | undefined;
  let unanswered = false;
  /** Events are taken one after the other: their order is the order of the chat. */
  let line: Promise<void> = Promise.resolve();
  const hello = setTimeout(() => end("resume", "no hello"), deps.timings.helloMs);
  const stop = (): void => end("resume", "stopped");
  signal.addEventListener("abort", stop, { once: true });

  function end(next: Next, reason: string): void {
    verdict ??= { next, reason };
    // A peer that is gone does not answer a close frame.
    ws.terminate();
  }
  const send = (message: object): void => {
    if (ws.readyState === ws.OPEN) ws.send(JSON.stringify(message));
  };
  const remember = async (next: SavedSession): Promise<void> => {
    session = next;
    opening.keep(next);
    try {
      await deps.store.save(next);
    } catch (err) {
      log.warn("QQ session not saved", { err });
    }
  };
  function startBeating(intervalMs: number): void {
    beat = setInterval(() => {
      if (unanswered) return end("resume", "no answer to a heartbeat");
      unanswered = true;
      send({ op: 1, d: session?.lastSeq ?? null });
    }, intervalMs);
  }
  /** An event that cannot be read is passed over; one that the gateway failed on comes again. */
  async function take(event: WSPayload): Promise<boolean> {
    try {
      return await deps.onDispatch(event);
    } catch (err) {
      log.error("QQ event not taken over", { type: event.t, reason: errorText(err) });
      return err instanceof z.ZodError;
    }
  }
  async function dispatch(event: WSPayload): Promise<void> {
    if (verdict) return;
    const seq = event.s ?? session?.lastSeq ?? 0;
    if (event.t === "READY") {
      const ready = z.object({ session_id: z.string(), user: z.object({ id: z.coerce.string().optional(), username: z.string().optional() }).optional() }).parse(event.d);
      wasReady = true;
      await remember({ sessionId: ready.session_id, lastSeq: seq });
      return deps.onReady(ready.user ? { id: ready.user.id, username: ready.user.username } : undefined);
    }
    if (event.t === "RESUMED") {
      wasReady = true;
      deps.onReady(undefined);
    } else if (!(await take(event))) return end("resume", "the gateway takes no messages at the moment");
    if (session && seq > session.lastSeq) await remember({ ...session, lastSeq: seq });
  }
  function handle(message: WSPayload): void {
    switch (message.op) {
      case 10: {
        clearTimeout(hello);
        const token = `QQBot ${opening.token}`;
        if (session) send({ op: 6, d: { token, session_id: session.sessionId, seq: session.lastSeq } });
        else send({ op: 2, d: { token, intents: opening.intents, shard: [0, 1], properties: {} } });
        return startBeating(z.object({ heartbeat_interval: z.number() }).parse(message.d).heartbeat_interval);
      }
      case 0:
        line = line.then(() => dispatch(message)).catch((err: unknown) => log.error("QQ event not understood", { type: message.t, reason: errorText(err) }));
        return;
      case 1:
        return send({ op: 1, d: session?.lastSeq ?? null });
      case 11:
        unanswered = false;
        return;
      case 7:
        return end("resume", "QQ asked to reconnect");
      case 9:
        return end(message.d === true ? "resume" : session ? "identify" : "lower-intents", "invalid session");
      default:
    }
  }
  ws.on("message", (data) => {
    try {
      handle(payload.parse(JSON.parse(String(data))));
    } catch (err) {
      log.warn("QQ frame not understood", { reason: errorText(err) });
    }
  });
  return new Promise((resolve) => {
    ws.on("error", (err) => (verdict ??= { next: "resume", reason: errorText(err) }));
    ws.on("close", (code, reason) => {
      clearTimeout(hello);
      clearInterval(beat);
      signal.removeEventListener("abort", stop);
      const { next, reason: why } = verdict ?? { next: reactionTo(code), reason: `close code ${code} ${String(reason)}`.trim() };
      void line.then(() => resolve({ next, reason: why, wasReady }));
    });
  });
}
