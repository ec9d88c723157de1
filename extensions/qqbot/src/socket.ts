import { z } from "zod";
import { ChannelError, errorText, type Logger, sleep } from "openclaw/plugin-sdk";
import type WebSocketClient from "ws";
import type { QQApi } from "./api.ts";
import { rootProblem } from "./config.ts";
import { decide, QQApiError } from "./errors.ts";
import type { SavedSession, SessionStore } from "./session-store.ts";

/** PUBLIC_GUILD_MESSAGES | INTERACTION | GROUP_AND_C2C_EVENT | DIRECT_MESSAGE, then what narrower bots are granted. */
const INTENT_LEVELS = [1_174_409_216, 1_107_300_352, 1_107_296_256, 1_073_741_826];

export const payload = z.object({ op: z.number(), d: z.unknown().optional(), s: z.number().nullish(), t: z.string().nullish(), id: z.string().nullish() });
export type WSPayload = z.infer<typeof payload>;

const DEFAULT_BEAT_MS = 41_250;
const MAX_BEAT_MS = 3_600_000;
/** What no timer can hold counts as not given. */
const hello = z.object({ heartbeat_interval: z.number().min(1).max(MAX_BEAT_MS).catch(DEFAULT_BEAT_MS) }).catch({ heartbeat_interval: DEFAULT_BEAT_MS });
const readyEvent = z.object({ session_id: z.string().min(1), user: z.object({ id: z.coerce.string().optional(), username: z.string().optional().catch(undefined) }).optional().catch(undefined) });

export interface SocketTimings {
  readonly reconnectMs: readonly number[];
  /** After "too fast", and after three connections that fell at once. */
  readonly calmMs: number;
  readonly invalidSessionMs: number;
  readonly helloMs: number;
  /** Tries in a row without a connection, after which the account ends. */
  readonly maxAttempts: number;
}
export const SOCKET_TIMINGS: SocketTimings = { reconnectMs: [1000, 2000, 5000, 10_000, 30_000, 60_000], calmMs: 60_000, invalidSessionMs: 3000, helloMs: 20_000, maxAttempts: 100 };
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
  /** `bot` is known when the session is new. `intentLevel` 0: every event that there is. */
  onReady(ready: { readonly bot: { readonly id: string | undefined; readonly username: string | undefined } | undefined; readonly intentLevel: number }): void;
  onDown(reason: string, attempt: number): void;
  /** The connection that stands now, to drop it where the platform does not know of it; undefined when there is none. */
  onLink(link: { reconnect(reason: string): void } | undefined): void;
}

/** `refused`: a new session was not admitted, with this set of events or this token. `stop`: a normal end. */
type Next = "resume" | "identify" | "new-token" | "lower-intents" | "refused" | "calm" | "fatal" | "stop";
interface Ending {
  readonly next: Next;
  readonly reason: string;
  readonly wasReady: boolean;
}

/** Close code → what to do. Source: spec channels-cn §1.3. */
export function reactionTo(code: number): Next {
  if (code === 1000) return "stop";
  if (code === 4004) return "new-token";
  if (code === 4006 || code === 4007 || (code >= 4900 && code <= 4913)) return "identify";
  if (code === 4008) return "calm";
  if (code === 4013 || code === 4014) return "lower-intents";
  if (code === 4914 || code === 4915 || code === 4001 || code === 4002 || (code >= 4010 && code <= 4012)) return "fatal";
  return "resume";
}

/**
 * Keeps one bot connected until the signal aborts or the platform ends the connection normally.
 * @throws ChannelError when reconnecting cannot help
 */
export async function runSocket(deps: SocketDeps): Promise<void> {
  const { api, store, signal, timings } = deps;
  let session = await store.load();
  let level = Math.min(session?.intentLevelIndex ?? 0, INTENT_LEVELS.length - 1);
  let attempt = 0;
  let quickEnds = 0;
  try {
    while (!signal.aborted) {
      const startedAt = deps.now();
      const ending = await connectOnce(deps, { session, level, keep: (next) => (session = next) });
      if (signal.aborted) return;
      if (ending.wasReady) attempt = 0;
      quickEnds = ending.wasReady && deps.now() - startedAt < QUICK_END_MS ? quickEnds + 1 : 0;
      attempt++;
      deps.onDown(ending.reason, attempt);
      deps.log.warn("QQ connection ended", { reason: ending.reason, next: ending.next });
      if (ending.next === "stop") return;
      rejectHopeless(ending, attempt, timings);
      if (ending.next !== "resume" && ending.next !== "calm") {
        session = undefined;
        await store.clear();
      }
      if (ending.next === "new-token" || ending.next === "identify" || ending.next === "refused") api.dropToken(await api.token().catch(() => ""));
      const isLowest = level + 1 >= INTENT_LEVELS.length;
      if (ending.next === "lower-intents" && isLowest) throw new ChannelError("rejected", `QQ refused every set of events: ${ending.reason}`, "Enable the bot's message events on the QQ Open Platform.");
      // A refusal may also be about the token: after the last set the first has another chance.
      if (ending.next === "lower-intents" || ending.next === "refused") level = isLowest ? 0 : level + 1;
      const delayMs = ending.next === "refused" && isLowest ? timings.calmMs : delayFor(ending, attempt, quickEnds, timings);
      await sleep(delayMs, signal).catch(() => undefined);
    }
  } finally {
    await store.flush();
  }
}

function rejectHopeless({ next, reason }: Ending, attempt: number, { maxAttempts }: SocketTimings): void {
  if (next === "fatal") throw new ChannelError("rejected", `QQ closed the connection: ${reason}`, "Check on the QQ Open Platform whether the bot is published, and not limited to the sandbox or banned.");
  if (attempt >= maxAttempts) throw new ChannelError("unreachable", `QQ was not reached in ${attempt} tries: ${reason}`, "Check the network of this machine, then restart the channel.");
}

function delayFor(ending: Ending, attempt: number, quickEnds: number, timings: SocketTimings): number {
  if (ending.next === "calm" || quickEnds >= 3) return timings.calmMs;
  if (ending.next === "identify" || ending.next === "refused") return timings.invalidSessionMs;
  return timings.reconnectMs[Math.min(attempt - 1, timings.reconnectMs.length - 1)] ?? 0;
}

async function connectOnce(deps: SocketDeps, opening: Omit<Opening, "token">): Promise<Ending> {
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
  return follow(deps, new WebSocket(url, { handshakeTimeout: deps.timings.helloMs }), { ...opening, token });
}

interface Opening {
  readonly session: SavedSession | undefined;
  readonly level: number;
  readonly token: string;
  readonly keep: (session: SavedSession) => void;
}

function follow(deps: SocketDeps, ws: WebSocketClient, opening: Opening): Promise<Ending> {
  const { log, signal, store } = deps;
  let { session } = opening;
  let wasReady = false;
  let verdict: { next: Next; reason: string } | undefined;
  let beat: NodeJS.Timeout | undefined;
  let unanswered = false;
  /** Events are taken one after the other: their order is the order of the chat. */
  let line: Promise<void> = Promise.resolve();
  /** Runs until QQ says hello, and then until it admits or refuses the bot. */
  let silence = setTimeout(() => end("resume", "no hello"), deps.timings.helloMs);
  const stop = (): void => end("resume", "stopped");
  signal.addEventListener("abort", stop, { once: true });
  deps.onLink({ reconnect: (reason) => end("resume", reason) });

  function end(next: Next, reason: string): void {
    verdict ??= { next, reason };
    // A peer that is gone does not answer a close frame.
    ws.terminate();
  }
  const send = (message: object): void => {
    if (ws.readyState === ws.OPEN) ws.send(JSON.stringify(message));
  };
  const remember = (next: SavedSession): void => {
    session = next;
    opening.keep(next);
    store.save(next);
  };
  const ready = (bot: { readonly id: string | undefined; readonly username: string | undefined } | undefined): void => {
    wasReady = true;
    deps.onReady({ bot, intentLevel: opening.level });
  };
  function startBeating(intervalMs: number): void {
    clearInterval(beat);
    unanswered = false;
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
      const begun = readyEvent.safeParse(event.d).data;
      if (!begun) return end("resume", "a session that is not understood");
      remember({ sessionId: begun.session_id, lastSeq: seq, intentLevelIndex: opening.level });
      return ready(begun.user ? { id: begun.user.id, username: begun.user.username } : undefined);
    }
    if (event.t === "RESUMED") ready(undefined);
    else if (!(await take(event))) return end("resume", "the gateway takes no messages at the moment");
    if (session && seq > session.lastSeq) remember({ ...session, lastSeq: seq });
  }
  function handle(message: WSPayload): void {
    switch (message.op) {
      case 10: {
        clearTimeout(silence);
        silence = setTimeout(() => end("resume", "no answer to the sign-in"), deps.timings.helloMs);
        const token = `QQBot ${opening.token}`;
        if (session) send({ op: 6, d: { token, session_id: session.sessionId, seq: session.lastSeq } });
        else send({ op: 2, d: { token, intents: INTENT_LEVELS[opening.level] ?? 0, shard: [0, 1], properties: {} } });
        return startBeating(hello.parse(message.d).heartbeat_interval);
      }
      case 0:
        clearTimeout(silence);
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
        return end(message.d === true ? "resume" : session ? "identify" : "refused", "invalid session");
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
      clearTimeout(silence);
      clearInterval(beat);
      signal.removeEventListener("abort", stop);
      deps.onLink(undefined);
      const { next, reason: why } = verdict ?? { next: reactionTo(code), reason: `close code ${code} ${String(reason)}`.trim() };
      void line.then(() => resolve({ next, reason: why, wasReady }));
    });
  });
}
