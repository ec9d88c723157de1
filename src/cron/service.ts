import { randomUUID } from "node:crypto";
import type { OpenClawConfig } from "../config/index.ts";
import type { Clock } from "../infra/clock.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { parseJob, patchJob } from "./input.ts";
import type { CronRunLog, RunLogQuery } from "./run-log.ts";
import { MAX_AT_RETRIES, nextRunAt } from "./schedule.ts";
import type { CronStore } from "./store.ts";
import { CronError, type CronAuthority, type CronEvent, type CronJob, type CronJobDraft, type CronJobState, type CronOutcome, type CronRunEntry } from "./types.ts";

export interface CronServiceOptions {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: CronStore;
  readonly runLog: CronRunLog;
  /** Does what the job says. Rejects only when it could not even be tried. */
  readonly execute: (job: CronJob, signal: AbortSignal) => Promise<CronOutcome>;
  readonly onEvent: (event: CronEvent) => void;
  readonly isEnabled: () => boolean;
  /** After each round: sessions of past runs that are no longer kept. */
  readonly sweep: () => Promise<void>;
}

export interface CronListQuery {
  readonly enabled: "all" | "enabled" | "disabled";
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly query?: string | undefined;
  readonly sortBy?: "nextRunAtMs" | "updatedAtMs" | "name" | undefined;
  readonly sortDir?: "asc" | "desc" | undefined;
}

export type CronRunResult = { readonly ran: true } | { readonly ran: false; readonly reason: "already-running" | "not-due" };

/** Jobs that run by themselves. Reads never change anything. Source: spec tools-and-automation part 2 §7. */
export interface CronService {
  start(): Promise<void>;
  /** Begins nothing any more; runs that go on may end. */
  quiesce(): void;
  /** The same, and aborts what still runs. */
  stop(): Promise<void>;
  /** Call when `cron` of the configuration changed. */
  reload(): void;
  list(query: CronListQuery): Promise<{ jobs: CronJob[]; total: number }>;
  get(id: string): Promise<CronJob | undefined>;
  status(): Promise<{ enabled: boolean; storePath: string; jobs: number; nextWakeAtMs: number | null }>;
  /** @throws CronError naming what is wrong */
  add(input: unknown, made?: { readonly authority?: CronAuthority | undefined; readonly defaults?: Partial<CronJobDraft> | undefined }): Promise<CronJob>;
  /** @throws CronError, also for an unknown id */
  update(id: string, patch: unknown): Promise<CronJob>;
  remove(id: string): Promise<boolean>;
  /** Resolves when the run has ended. @throws CronError for an unknown id */
  run(id: string, mode: "due" | "force"): Promise<CronRunResult>;
  runs(query: RunLogQuery): Promise<{ entries: CronRunEntry[]; total: number }>;
}

const MAX_SLEEP_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 10 * 60_000;
/** A mark older than this is left over from a process that died. */
const STALE_RUN_MS = 2 * 60 * 60_000;
const MAX_SCHEDULE_ERRORS = 3;
const DEFAULT_LOG_BYTES = 2_000_000;
const DEFAULT_LOG_LINES = 2000;

export function createCronService(options: CronServiceOptions): CronService {
  const { config, clock, log, store, runLog } = options;
  const running = new Map<string, { readonly done: Promise<void>; readonly controller: AbortController }>();
  let timer: NodeJS.Timeout | undefined;
  let started = false;
  let ticking: Promise<void> | undefined;

  const find = (jobs: readonly CronJob[], id: string): CronJob => {
    const job = jobs.find((item) => item.id === id);
    if (!job) throw new CronError(`unknown cron job id: ${id}`);
    return job;
  };
  const replace = (jobs: readonly CronJob[], next: CronJob): CronJob[] => jobs.map((job) => (job.id === next.id ? next : job));

  /** The job with its next time; one whose schedule cannot be read three times in a row is switched off. */
  function scheduled(job: CronJob): CronJob {
    const { nextRunAtMs: _before, ...rest } = job.state ?? {};
    if (!job.enabled) return { ...job, state: rest };
    try {
      const next = nextRunAt({ ...job, state: rest }, clock.now());
      return { ...job, state: { ...rest, ...(next === undefined ? {} : { nextRunAtMs: next }), scheduleErrorCount: undefined } };
    } catch (err) {
      const count = (rest.scheduleErrorCount ?? 0) + 1;
      log.error("the schedule of a cron job cannot be read", { jobId: job.id, name: job.name, error: errorText(err), disabled: count >= MAX_SCHEDULE_ERRORS });
      return { ...job, enabled: count < MAX_SCHEDULE_ERRORS, state: { ...rest, scheduleErrorCount: count, lastError: errorText(err) } };
    }
  }

  // ── Timer ──────────────────────────────────────────────────────────────

  async function arm(): Promise<void> {
    clearTimeout(timer);
    if (!started) return;
    const jobs = await store.read().catch(() => []); // said at the next tick
    const next = Math.min(...jobs.filter((job) => job.enabled && !running.has(job.id)).map((job) => job.state?.nextRunAtMs ?? Infinity));
    timer = setTimeout(() => void tick(), Math.min(MAX_SLEEP_MS, Math.max(50, next - clock.now())));
    timer.unref();
  }

  function tick(): Promise<void> {
    ticking ??= round()
      .catch((err: unknown) => log.error("cron round failed", { err }))
      .then(() => {
        ticking = undefined;
        return arm();
      });
    return ticking;
  }

  async function round(): Promise<void> {
    if (!started || !options.isEnabled()) return;
    await settleMarks();
    const jobs = await store.read();
    // Who is due is decided before anything is computed anew: a job must not lose its turn to a recalculation.
    const due = jobs.filter((job) => isDue(job)).toSorted((a, b) => (a.state.nextRunAtMs ?? 0) - (b.state.nextRunAtMs ?? 0));
    const free = Math.max(0, Math.max(1, config().cron?.maxConcurrentRuns ?? 1) - running.size);
    for (const job of due.slice(0, free)) void begin(job);
    await options.sweep().catch((err: unknown) => log.warn("sessions of past cron runs not swept", { err }));
  }

  const isDue = (job: CronJob): boolean => job.enabled && !running.has(job.id) && job.state?.runningAtMs === undefined && (job.state?.nextRunAtMs ?? Infinity) <= clock.now();

  /** Marks of dead processes go; jobs that others wrote into the file get their time. */
  async function settleMarks(): Promise<void> {
    const isStale = (job: CronJob): boolean => job.state?.runningAtMs !== undefined && !running.has(job.id) && clock.now() - job.state.runningAtMs > STALE_RUN_MS;
    const needsTime = (job: CronJob): boolean => job.enabled && job.state?.nextRunAtMs === undefined && !running.has(job.id) && job.state?.runningAtMs === undefined && !isSpent(job);
    if (!(await store.read()).some((job) => isStale(job) || needsTime(job))) return;
    await store.update((jobs) => ({ value: undefined, jobs: jobs.map((job) => (isStale(job) ? scheduled(withoutMark(job)) : needsTime(job) ? scheduled({ ...job, state: job.state ?? {} }) : job)) }));
  }

  const isSpent = (job: CronJob): boolean => job.schedule.kind === "at" && job.state?.lastRunAtMs !== undefined;

  function withoutMark(job: CronJob): CronJob {
    const { runningAtMs: _mark, ...state } = job.state;
    return { ...job, state };
  }

  /** What ran when the process died waits for its next time; a one-shot job is tried again, it would be lost else. */
  function afterInterruption(job: CronJob): CronJob {
    const { state } = withoutMark(job);
    const errors = job.schedule.kind === "at" ? { consecutiveErrors: (state.consecutiveErrors ?? 0) + 1 } : {};
    return scheduled({ ...job, state: { ...state, ...errors, lastRunAtMs: job.state.runningAtMs, lastStatus: "error", lastError: "interrupted by a restart" } });
  }

  // ── Running ────────────────────────────────────────────────────────────

  function begin(job: CronJob): Promise<void> {
    const controller = new AbortController();
    const done = perform(job, controller)
      .catch((err: unknown) => log.error("cron job not recorded", { jobId: job.id, err }))
      .finally(() => {
        running.delete(job.id);
        if (started) void tick(); // others may be waiting for the place
      });
    running.set(job.id, { done, controller });
    return done;
  }

  async function perform(job: CronJob, controller: AbortController): Promise<void> {
    const startedAt = clock.now();
    const marked = await store.update((jobs) => {
      const current = jobs.find((item) => item.id === job.id);
      if (!current) return { value: undefined };
      const next: CronJob = { ...current, state: { ...current.state, runningAtMs: startedAt } };
      return { value: next, jobs: replace(jobs, next) };
    });
    if (!marked) return;
    options.onEvent({ jobId: job.id, action: "started", runAtMs: startedAt });
    const outcome = await executeInTime(marked, controller);
    if (!started && outcome.status === "error") return; // ended by the stop: the mark tells the next start that it was interrupted
    await record(marked, outcome, startedAt);
  }

  async function executeInTime(job: CronJob, controller: AbortController): Promise<CronOutcome> {
    const seconds = job.payload.kind === "agentTurn" ? job.payload.timeoutSeconds : undefined;
    const limitMs = seconds === undefined ? DEFAULT_TIMEOUT_MS : seconds * 1000;
    const late = limitMs > 0 ? setTimeout(() => controller.abort(new Error("cron: job execution timed out")), limitMs) : undefined;
    try {
      const outcome = await options.execute(job, controller.signal);
      return late && controller.signal.aborted && outcome.status !== "ok" ? { ...outcome, status: "error", error: "cron: job execution timed out" } : outcome;
    } catch (err) {
      return { status: "error", error: errorText(err) };
    } finally {
      clearTimeout(late);
    }
  }

  async function record(job: CronJob, outcome: CronOutcome, runAtMs: number): Promise<void> {
    const durationMs = clock.now() - runAtMs;
    const next = await store.update((jobs) => {
      const current = jobs.find((item) => item.id === job.id);
      if (!current) return { value: undefined };
      const after = afterRun(current, outcome, runAtMs, durationMs);
      return { value: after, jobs: after ? replace(jobs, after) : jobs.filter((item) => item.id !== job.id) };
    });
    const entry: CronRunEntry = { ts: clock.now(), jobId: job.id, action: "finished", ...outcome, runAtMs, durationMs, ...(next?.state.nextRunAtMs === undefined ? {} : { nextRunAtMs: next.state.nextRunAtMs }) };
    const limits = config().cron?.runLog;
    await runLog
      .append(entry, { maxBytes: toBytes(limits?.maxBytes) ?? DEFAULT_LOG_BYTES, keepLines: limits?.keepLines ?? DEFAULT_LOG_LINES })
      .catch((err: unknown) => log.error("cron run not logged", { jobId: job.id, err }));
    options.onEvent({ ...entry });
  }

  /** undefined: the job has done its one run and goes. */
  function afterRun(job: CronJob, outcome: CronOutcome, runAtMs: number, durationMs: number): CronJob | undefined {
    const errors = outcome.status === "error" ? (job.state.consecutiveErrors ?? 0) + 1 : 0;
    const state: CronJobState = {
      lastRunAtMs: runAtMs, lastRunStatus: outcome.status, lastStatus: outcome.status, lastDurationMs: durationMs, consecutiveErrors: errors,
      ...(outcome.error === undefined ? {} : { lastError: outcome.error }), ...(outcome.delivered === undefined ? {} : { lastDelivered: outcome.delivered }),
      ...(outcome.deliveryStatus === undefined ? {} : { lastDeliveryStatus: outcome.deliveryStatus }), ...(outcome.deliveryError === undefined ? {} : { lastDeliveryError: outcome.deliveryError }),
    };
    if (job.schedule.kind === "at") {
      if (outcome.status !== "error" && job.deleteAfterRun !== false) return undefined;
      if (outcome.status !== "error" || errors > MAX_AT_RETRIES) return { ...job, enabled: false, state };
    }
    return scheduled({ ...job, state });
  }

  function quiesce(): void {
    started = false;
    clearTimeout(timer);
  }

  return {
    async start() {
      started = true;
      if (!options.isEnabled()) return;
      const mine = (job: CronJob): boolean => job.state?.runningAtMs !== undefined;
      try {
        if ((await store.read()).some(mine)) {
          await store.update((jobs) => ({ value: undefined, jobs: jobs.map((job) => (mine(job) ? afterInterruption(job) : job)) }));
        }
        await tick();
      } catch (err) {
        log.error("cron did not start", { err });
        await arm();
      }
    },
    quiesce,
    async stop() {
      quiesce();
      for (const { controller } of running.values()) controller.abort(new Error("the gateway stops"));
      await Promise.allSettled([...running.values()].map(({ done }) => done));
      await ticking;
    },
    reload: () => void arm(),
    async list({ enabled, limit, offset = 0, query, sortBy = "nextRunAtMs", sortDir = "asc" }) {
      const wanted = query?.trim().toLowerCase();
      const jobs = (await store.read()).filter((job) => (enabled === "all" || job.enabled === (enabled === "enabled")) && (!wanted || `${job.name} ${job.description ?? ""} ${job.id}`.toLowerCase().includes(wanted)));
      const keyOf = (job: CronJob): number | string => (sortBy === "name" ? job.name.toLowerCase() : sortBy === "updatedAtMs" ? job.updatedAtMs : (job.state?.nextRunAtMs ?? Infinity));
      const sorted = jobs.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0) * (sortDir === "asc" ? 1 : -1));
      return { jobs: sorted.slice(offset, limit === undefined ? undefined : offset + limit), total: sorted.length };
    },
    get: async (id) => (await store.read()).find((job) => job.id === id),
    async status() {
      const jobs = await store.read();
      const next = Math.min(...jobs.filter((job) => job.enabled).map((job) => job.state?.nextRunAtMs ?? Infinity));
      return { enabled: options.isEnabled(), storePath: store.path, jobs: jobs.length, nextWakeAtMs: Number.isFinite(next) ? next : null };
    },
    async add(input, { authority, defaults } = {}) {
      const draft = { ...defaults, ...stripUndefined(parseJob(input, clock.now())), ...(authority ? { authority } : {}) };
      const now = clock.now();
      const schedule = draft.schedule.kind === "every" && draft.schedule.anchorMs === undefined ? { ...draft.schedule, anchorMs: now } : draft.schedule;
      const job = scheduled({ ...draft, id: randomUUID(), createdAtMs: now, updatedAtMs: now, schedule, state: {} });
      await store.update((jobs) => ({ value: undefined, jobs: [...jobs, job] }));
      options.onEvent({ jobId: job.id, action: "added", nextRunAtMs: job.state.nextRunAtMs });
      await arm();
      return job;
    },
    async update(id, patch) {
      const next = await store.update((jobs) => {
        const job = find(jobs, id);
        const changed: CronJob = { ...job, ...patchJob(job, patch, clock.now()), updatedAtMs: clock.now() };
        const isNewTime = changed.schedule !== job.schedule;
        const { consecutiveErrors: _errors, lastRunAtMs: _last, ...fresh } = changed.state;
        const value = scheduled(isNewTime && changed.schedule.kind === "at" ? { ...changed, state: fresh } : changed);
        return { value, jobs: replace(jobs, value) };
      });
      options.onEvent({ jobId: id, action: "updated", nextRunAtMs: next.state.nextRunAtMs });
      await arm();
      return next;
    },
    async remove(id) {
      const removed = await store.update((jobs) => {
        const rest = jobs.filter((job) => job.id !== id);
        return rest.length === jobs.length ? { value: false } : { value: true, jobs: rest };
      });
      if (!removed) return false;
      running.get(id)?.controller.abort(new Error("the job was removed"));
      options.onEvent({ jobId: id, action: "removed" });
      await arm();
      return true;
    },
    async run(id, mode) {
      const job = find(await store.read(), id);
      if (running.has(id)) return { ran: false, reason: "already-running" };
      if (mode === "due" && !isDue(job)) return { ran: false, reason: "not-due" };
      await begin(job);
      return { ran: true };
    },
    runs: (query) => runLog.read(query),
  };
}

function toBytes(value: string | number | undefined): number | undefined {
  if (typeof value === "number") return value;
  const match = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)?$/i.exec(value?.trim() ?? "");
  if (!match) return undefined;
  return Number(match[1]) * ({ kb: 1e3, mb: 1e6, gb: 1e9 }[match[2]?.toLowerCase() ?? ""] ?? 1);
}

function stripUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
