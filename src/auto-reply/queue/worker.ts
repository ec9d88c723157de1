import { randomUUID } from "node:crypto";
import type { ActiveRun, RunRegistry } from "../../agents/index.ts";
import { sleep } from "../../infra/backoff.ts";
import type { Inbox, InboxRow } from "../../delivery/index.ts";
import type { SessionService, SessionStore } from "../../sessions/index.ts";
import type { TurnDeps } from "../turn.ts";
import { clientRunIds, mergeKeyOf, NO_PROMPT_STATE, promptOf, rowIds, type Prepared } from "../prepared.ts";
import { withQueueHints } from "../run-hints.ts";
import { createRunEvents } from "../reply/run-events.ts";
import { SessionQueue, type Batch, type Queued } from "./session-queue.ts";
import { resolveQueueSettings, type QueueSettings } from "./settings.ts";

export interface WorkerDeps extends Pick<TurnDeps, "config" | "clock" | "events"> {
  readonly sessions: Pick<SessionService, "agentIdOf"> & { storeFor(agentId: string): Pick<SessionStore, "get"> };
  readonly agents: { readonly runs: Pick<RunRegistry, "bySession" | "get" | "abort"> };
  readonly inbox: Pick<Inbox, "bindRun" | "finish">;
  /** Tells the senders of messages that will not be read, each in their own chat. */
  reportUnread(items: readonly Prepared[], sessionKey: string, reason: string): Promise<void>;
  /** Tracks work until the gateway has drained; a failure is told to the senders of `rows`. */
  background(rows: readonly InboxRow[], work: () => Promise<void>): void;
  readonly isDraining: () => boolean;
  /** Runs one turn over a batch. Never rejects. */
  runBatch(sessionKey: string, batch: Batch<Prepared>, runId: string, session: TurnSession): Promise<Announce>;
}

/** Tells clients how a turn ended; called when the session is ready for the next message. */
export type Announce = () => void;

/** What the running turn of a session took in besides its batch. */
export interface TurnSession {
  /** Rows whose text the model has read; given out once. */
  takeSteered(): InboxRow[];
}

interface Steered {
  readonly queued: Queued<Prepared>;
  taken: boolean;
}

type QueuePlace = Pick<Prepared, "message" | "plugin">;

interface SessionState extends TurnSession {
  /** Who takes from the queue; undefined when the session is free. */
  worker: object | undefined;
  idle: Promise<void>;
  /** The latest message: its channel's settings apply. */
  place: QueuePlace | undefined;
  /** Merge key of the running batch. */
  current: string | undefined;
  runId: string | undefined;
  /** Turns that go before what is queued. */
  readonly first: (() => Promise<Announce>)[];
  readonly queue: SessionQueue<Prepared>;
  /** Messages given to the running turn. */
  steered: Steered[];
  /** Gave way and is not reported yet. */
  dropped: Prepared[];
}

export interface SessionWorkers {
  /** Runs the message now, puts it into the running turn, or lets it wait: as the queue mode says. */
  submit(sessionKey: string, item: Prepared): void;
  /** Takes the session for a turn that is not in the queue; what waits comes after it. */
  runFirst(sessionKey: string, rows: readonly InboxRow[], turn: () => Promise<Announce>): void;
  /** The run that is next, when it still waits for its lane. */
  pendingRun(sessionKey: string): string | undefined;
  /** Takes away what waits; its rows are the caller's. */
  clear(sessionKey: string): Prepared[];
  isBusy(sessionKey: string): boolean;
  /** Resolves when nothing runs or waits any more. */
  whenIdle(sessionKey: string): Promise<void>;
  depth(sessionKey: string): number;
}

/** One worker per session that has something to do: turns one after another, in the order and shape of the queue mode. Source: spec agent-pipeline §4. */
export function createSessionWorkers(deps: WorkerDeps): SessionWorkers {
  const { agents, clock, inbox } = deps;
  const states = new Map<string, SessionState>();

  function state(key: string): SessionState {
    const known = states.get(key);
    if (known) return known;
    const session: SessionState = {
      worker: undefined, idle: Promise.resolve(), place: undefined, current: undefined, runId: undefined, first: [], queue: new SessionQueue(), steered: [], dropped: [],
      takeSteered() {
        const taken = session.steered.filter((entry) => entry.taken);
        session.steered = session.steered.filter((entry) => !entry.taken);
        // They were read: what the message wears says so.
        for (const { queued } of taken) queued.item.status?.end("done");
        return taken.flatMap(({ queued }) => queued.item.rows);
      },
    };
    states.set(key, session);
    return session;
  }

  function settingsOf(sessionKey: string, place: QueuePlace | undefined): QueueSettings {
    const entry = deps.sessions.storeFor(deps.sessions.agentIdOf(sessionKey)).get(sessionKey);
    return resolveQueueSettings(deps.config(), place?.message.channel ?? "webchat", entry, place?.plugin?.defaults?.queue?.debounceMs);
  }

  function submit(sessionKey: string, item: Prepared): void {
    const session = state(sessionKey);
    const run = agents.runs.bySession(sessionKey)[0];
    const settings = withQueueHints(settingsOf(sessionKey, (session.place = item)), item.hints);
    if (run && settings.mode === "interrupt") agents.runs.abort({ sessionKey }, "interrupt");
    if (session.worker === undefined) {
      session.first.push(() => runBatch(sessionKey, session, soloBatch(item), clientRunIds([item])[0] ?? randomUUID()));
      start(sessionKey, session, item.rows);
      return;
    }
    // A queued client message ends its own run at once; the later run names it in `originRunIds`.
    for (const runId of clientRunIds([item])) createRunEvents(deps.events, runId, sessionKey).final(undefined);
    const queued: Queued<Prepared> = { item, mergeKey: mergeKeyOf(item), preview: item.body };
    const steered = (settings.mode === "steer" || settings.mode === "steer-backlog") && run !== undefined && steer(session, sessionKey, run, queued, settings.mode);
    if (steered && settings.mode === "steer") return;
    const notice = session.queue.push(queued, settings, clock.now());
    if (notice) report(sessionKey, session, notice.dropped, settings);
  }

  /** Into the running turn, if that may do what the sender may and answers where the sender reads. */
  function steer(session: SessionState, sessionKey: string, run: ActiveRun, queued: Queued<Prepared>, mode: "steer" | "steer-backlog"): boolean {
    const { item } = queued;
    if (!run.steer || session.current !== queued.mergeKey || (item.ctx.MediaPaths?.length ?? 0) > 0) return false;
    const entry: Steered = { queued, taken: false };
    const accepted = run.steer(promptOf(deps.config(), item, NO_PROMPT_STATE), () => {
      entry.taken = true;
      if (mode === "steer") inbox.bindRun(rowIds([item]), run.runId, sessionKey);
    });
    if (accepted && mode === "steer") session.steered.push(entry);
    return accepted;
  }

  function runFirst(sessionKey: string, rows: readonly InboxRow[], turn: () => Promise<Announce>): void {
    const session = state(sessionKey);
    session.first.push(turn);
    if (session.worker === undefined) start(sessionKey, session, rows);
  }

  function start(sessionKey: string, session: SessionState, rows: readonly InboxRow[]): void {
    const me = {};
    session.worker = me;
    const done = Promise.withResolvers<void>();
    session.idle = done.promise;
    deps.background(rows, () => work(sessionKey, session, me).finally(done.resolve));
  }

  async function work(sessionKey: string, session: SessionState, me: object): Promise<void> {
    try {
      await takeTurns(sessionKey, session);
    } finally {
      if (session.worker === me) {
        session.worker = undefined;
        // A turn that broke what must not break leaves nobody behind it waiting.
        const isLeft = session.queue.depth > 0 || session.first.length > 0;
        if (isLeft && !deps.isDraining()) start(sessionKey, session, []);
      }
      forgetIdle(sessionKey, session);
    }
  }

  async function takeTurns(sessionKey: string, session: SessionState): Promise<void> {
    if (session.first.length === 0) {
      const next = await nextTurn(sessionKey, session);
      if (next) session.first.push(next);
    }
    for (let turn = session.first.shift(); turn && !deps.isDraining(); turn = session.first.shift() ?? (await nextTurn(sessionKey, session))) {
      const announce = await turn();
      session.current = undefined;
      session.runId = undefined;
      // What the turn had no more occasion to read is a message like any other.
      session.queue.putBack(session.steered.splice(0).map(({ queued }) => queued));
      // The end is told only when the next message would find the session free.
      const idle = session.queue.depth === 0 && session.first.length === 0;
      if (idle) session.worker = undefined;
      announce();
      if (idle) break;
    }
  }

  function forgetIdle(sessionKey: string, session: SessionState): void {
    const idle = session.worker === undefined && session.queue.depth === 0 && session.dropped.length === 0;
    if (idle && states.get(sessionKey) === session) states.delete(sessionKey);
  }

  async function nextTurn(sessionKey: string, session: SessionState): Promise<(() => Promise<Announce>) | undefined> {
    while (session.queue.depth > 0 && !deps.isDraining()) {
      const settings = settingsOf(sessionKey, session.place);
      const waitMs = settings.mode === "interrupt" ? 0 : session.queue.waitMs(settings.debounceMs, clock.now());
      if (waitMs > 0) {
        await sleep(waitMs);
        continue;
      }
      const batch = session.queue.take(settings.mode);
      return batch && (() => runBatch(sessionKey, session, batch, randomUUID()));
    }
    return undefined;
  }

  function runBatch(sessionKey: string, session: SessionState, batch: Batch<Prepared>, runId: string): Promise<Announce> {
    session.current = batch.mergeKey;
    session.runId = runId;
    return deps.runBatch(sessionKey, batch, runId, session);
  }

  /** One notice for all that gave way in a moment; a burst does not become a burst of notices. */
  function report(sessionKey: string, session: SessionState, dropped: readonly Prepared[], settings: QueueSettings): void {
    const isFirst = session.dropped.length === 0;
    session.dropped.push(...dropped);
    if (!isFirst) return;
    deps.background([], async () => {
      await sleep(settings.debounceMs);
      if (deps.isDraining()) return; // they are in the inbox, and the next process reads them
      const unread = session.dropped.splice(0);
      forgetIdle(sessionKey, session);
      await deps.reportUnread(unread, sessionKey, `Too many messages are waiting (limit ${settings.cap}).`);
      inbox.finish(rowIds(unread));
    });
  }

  return {
    submit,
    runFirst,
    clear(sessionKey) {
      const session = states.get(sessionKey);
      if (!session) return [];
      const unread = session.steered.filter(({ taken }) => !taken).map(({ queued }) => queued.item);
      session.steered = session.steered.filter(({ taken }) => taken);
      return [...unread, ...session.queue.clear()];
    },
    pendingRun(sessionKey) {
      const runId = states.get(sessionKey)?.runId;
      return runId === undefined || agents.runs.get(runId) ? undefined : runId;
    },
    isBusy: (sessionKey) => states.get(sessionKey)?.worker !== undefined || agents.runs.bySession(sessionKey).length > 0,
    whenIdle: (sessionKey) => states.get(sessionKey)?.idle ?? Promise.resolve(),
    depth: (sessionKey) => states.get(sessionKey)?.queue.depth ?? 0,
  };
}

const soloBatch = (item: Prepared): Batch<Prepared> => ({ items: [item], mergeKey: mergeKeyOf(item), summarised: [], lines: [], cut: 0 });
