/**
 * Puts a message into the running turn; false when the model is not at work or is compacting. `onTaken` is called when the
 * message is in the transcript, before the model reads it; a turn that ends earlier never calls it.
 */
export type Steer = (text: string, onTaken: () => void) => boolean;

/** Runs that are going on, by run id and by session. One registry for chat.send, agent, channels and cron alike. */
export interface ActiveRun {
  readonly runId: string;
  readonly sessionKey: string;
  readonly startedAt: number;
  readonly controller: AbortController;
  steer?: Steer | undefined;
  /** Text shown so far of the current message. */
  partialText: string;
  abortedBy?: "rpc" | "stop" | "timeout" | "interrupt" | "shutdown" | undefined;
}

export interface RunSnapshot {
  readonly runId: string;
  readonly status: "ok" | "error" | "timeout";
  readonly startedAt?: number | undefined;
  readonly endedAt: number;
  readonly error?: string | undefined;
}

const SNAPSHOT_TTL_MS = 10 * 60_000;
const SNAPSHOT_MAX = 2000;
/** Of those that never begin some would stay. */
const DOOMED_MAX = 1000;

export interface RunOutcome {
  readonly status: RunSnapshot["status"];
  readonly error?: string | undefined;
}

export interface RunRegistry {
  begin(runId: string, sessionKey: string): ActiveRun;
  /** The answer is there: who waits for the run need not wait for what follows. It stays active until `end`. */
  answered(runId: string, outcome: RunOutcome): void;
  /** After `answered`, the outcome is the earlier one. */
  end(runId: string, outcome: RunOutcome): void;
  get(runId: string): ActiveRun | undefined;
  bySession(sessionKey: string): ActiveRun[];
  all(): ActiveRun[];
  /** Aborts and returns the ids of what was running. */
  abort(match: { runId?: string | undefined; sessionKey?: string | undefined }, by: NonNullable<ActiveRun["abortedBy"]>): string[];
  /** Aborts a run that is on its way and not here yet, as soon as it begins. false when it has ended. */
  abortComing(runId: string, by: NonNullable<ActiveRun["abortedBy"]>): boolean;
  /** Resolves with the end of the run, or undefined when it does not end in time. Unknown runs may still begin. */
  wait(runId: string, timeoutMs: number): Promise<RunSnapshot | undefined>;
  /** Resolves when the session has no run, or after `timeoutMs` with false. */
  waitIdle(sessionKey: string, timeoutMs: number): Promise<boolean>;
}

export function createRunRegistry(now: () => number): RunRegistry {
  const active = new Map<string, ActiveRun>();
  const ended = new Map<string, RunSnapshot>();
  const waiters = new Set<() => void>();
  const doomed = new Map<string, NonNullable<ActiveRun["abortedBy"]>>();

  const notify = (): void => {
    for (const waiter of [...waiters]) waiter();
  };

  function until<T>(check: () => T | undefined, timeoutMs: number): Promise<T | undefined> {
    const found = check();
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      const finish = (value: T | undefined): void => {
        clearTimeout(timer);
        waiters.delete(waiter);
        resolve(value);
      };
      const waiter = (): void => {
        const value = check();
        if (value !== undefined) finish(value);
      };
      const timer = setTimeout(() => finish(undefined), timeoutMs);
      waiters.add(waiter);
    });
  }

  function keep(runId: string, outcome: RunOutcome): void {
    ended.set(runId, { runId, ...outcome, startedAt: active.get(runId)?.startedAt, endedAt: now() });
    for (const [id, snapshot] of ended) {
      if (ended.size <= SNAPSHOT_MAX && snapshot.endedAt > now() - SNAPSHOT_TTL_MS) break;
      ended.delete(id);
    }
  }

  function stop(run: ActiveRun, by: NonNullable<ActiveRun["abortedBy"]>): void {
    run.abortedBy ??= by;
    run.controller.abort(new Error(`aborted: ${by}`));
  }

  const bySession = (sessionKey: string): ActiveRun[] => [...active.values()].filter((run) => run.sessionKey === sessionKey);

  return {
    begin(runId, sessionKey) {
      const run: ActiveRun = { runId, sessionKey, startedAt: now(), controller: new AbortController(), partialText: "" };
      active.set(runId, run);
      ended.delete(runId);
      const by = doomed.get(runId);
      if (by !== undefined) stop(run, by);
      doomed.delete(runId);
      return run;
    },
    answered(runId, outcome) {
      keep(runId, outcome);
      notify();
    },
    end(runId, outcome) {
      if (!active.has(runId) || !ended.has(runId)) keep(runId, outcome);
      active.delete(runId);
      doomed.delete(runId);
      notify();
    },
    get: (runId) => active.get(runId),
    bySession,
    all: () => [...active.values()],
    abort(match, by) {
      const hit = [...active.values()].filter(
        (run) => (match.runId === undefined || run.runId === match.runId) && (match.sessionKey === undefined || run.sessionKey === match.sessionKey),
      );
      for (const run of hit) stop(run, by);
      return hit.map((run) => run.runId);
    },
    abortComing(runId, by) {
      const run = active.get(runId);
      if (run) stop(run, by);
      else if (ended.has(runId)) return false;
      else doomed.set(runId, by);
      for (const id of doomed.keys()) if (doomed.size > DOOMED_MAX) doomed.delete(id);
      return true;
    },
    wait: (runId, timeoutMs) => until(() => ended.get(runId), timeoutMs),
    async waitIdle(sessionKey, timeoutMs) {
      return (await until(() => (bySession(sessionKey).length === 0 ? true : undefined), timeoutMs)) ?? false;
    },
  };
}
