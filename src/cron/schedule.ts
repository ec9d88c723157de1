import { createHash } from "node:crypto";
import { Cron } from "croner";
import { CronError, type CronJob, type CronSchedule } from "./types.ts";

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS;
const DEFAULT_STAGGER_MS = 5 * MINUTE_MS;
/** No job starts again this soon, whatever its schedule says: each start may be a paid request. */
const MIN_GAP_MS = 2000;
const BACKOFF_MS = [30_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS];
/** A one-shot job that fails is tried again this often. */
export const MAX_AT_RETRIES = 3;

/** When a job runs next; undefined: never again. @throws CronError for a schedule that cannot be read */
export function nextRunAt(job: Pick<CronJob, "id" | "schedule" | "state" | "createdAtMs">, nowMs: number): number | undefined {
  const { schedule, state } = job;
  const errors = state.consecutiveErrors ?? 0;
  switch (schedule.kind) {
    case "at": {
      if (state.lastRunAtMs === undefined) return Date.parse(schedule.at);
      return errors > 0 && errors <= MAX_AT_RETRIES ? nowMs + backoffMs(errors) : undefined;
    }
    case "every":
      return atLeast(nextOnGrid(schedule, job, nowMs), nowMs, errors);
    case "cron": {
      const earliest = Math.max(nowMs, (state.lastRunAtMs ?? 0) + MIN_GAP_MS);
      return atLeast(nextOfExpression(schedule, job.id, earliest), nowMs, errors);
    }
  }
}

const backoffMs = (errors: number): number => BACKOFF_MS[Math.min(errors, BACKOFF_MS.length) - 1] ?? 0;

const atLeast = (next: number | undefined, nowMs: number, errors: number): number | undefined => (next === undefined || errors === 0 ? next : Math.max(next, nowMs + backoffMs(errors)));

/** A job that has run is due one interval later; else the next point of the grid that starts at its anchor. */
function nextOnGrid(schedule: Extract<CronSchedule, { kind: "every" }>, job: Pick<CronJob, "state" | "createdAtMs">, nowMs: number): number {
  const everyMs = Math.max(schedule.everyMs, MIN_GAP_MS);
  const after = job.state.lastRunAtMs === undefined ? undefined : job.state.lastRunAtMs + everyMs;
  if (after !== undefined && after > nowMs) return after;
  const anchor = schedule.anchorMs ?? job.createdAtMs;
  return anchor > nowMs ? anchor : anchor + (Math.floor((nowMs - anchor) / everyMs) + 1) * everyMs;
}

function nextOfExpression(schedule: Extract<CronSchedule, { kind: "cron" }>, jobId: string, afterMs: number): number | undefined {
  const offset = staggerOffset(jobId, schedule.staggerMs ?? defaultStagger(schedule.expr));
  const cron = parseExpression(schedule);
  const next = cron.nextRun(new Date(afterMs - offset));
  return next ? next.getTime() + offset : undefined;
}

/** Jobs of many installations that run at the full hour are spread a little. */
export function defaultStagger(expr: string): number {
  const fields = expr.trim().split(/\s+/);
  const [minute, hour] = fields.length === 6 ? [fields[1], fields[2]] : [fields[0], fields[1]];
  return minute === "0" && hour?.includes("*") ? DEFAULT_STAGGER_MS : 0;
}

export function staggerOffset(jobId: string, staggerMs: number): number {
  return staggerMs <= 0 ? 0 : createHash("sha256").update(jobId).digest().readUInt32BE(0) % staggerMs;
}

/** @throws CronError naming what is wrong with the expression or the time zone */
function parseExpression(schedule: Extract<CronSchedule, { kind: "cron" }>): Cron {
  const fields = schedule.expr.trim().split(/\s+/).length;
  if (fields !== 5 && fields !== 6) throw new CronError(`schedule.expr must have 5 or 6 fields, not ${fields}: "${schedule.expr}"`);
  if (schedule.tz && !isTimeZone(schedule.tz)) throw new CronError(`schedule.tz is no time zone: "${schedule.tz}". Write it like Europe/Berlin.`);
  try {
    const cron = new Cron(schedule.expr.trim(), { paused: true, mode: fields === 6 ? "6-part" : "5-part", ...(schedule.tz ? { timezone: schedule.tz } : {}) });
    cron.nextRun(); // some faults show only when it is used
    return cron;
  } catch (cause) {
    throw new CronError(`schedule.expr cannot be read: "${schedule.expr}" (${cause instanceof Error ? cause.message : String(cause)})`, { cause });
  }
}

/** @throws CronError when the job would never run, or only in the far future */
export function checkSchedule(schedule: CronSchedule, nowMs: number): void {
  if (schedule.kind === "every") {
    if (!(schedule.everyMs >= 1)) throw new CronError("schedule.everyMs must be at least 1");
    if (schedule.everyMs > 10 * YEAR_MS) throw new CronError("schedule.everyMs is more than 10 years");
    return;
  }
  if (schedule.kind === "cron") {
    if (parseExpression(schedule).nextRun() === null) throw new CronError(`schedule.expr never comes true: "${schedule.expr}"`);
    return;
  }
  const at = Date.parse(schedule.at);
  if (Number.isNaN(at)) throw new CronError(`schedule.at is not a time: "${schedule.at}"`);
  if (at < nowMs - MINUTE_MS) throw new CronError(`schedule.at is in the past: ${schedule.at} (now ${new Date(nowMs).toISOString()})`);
  if (at > nowMs + 10 * YEAR_MS) throw new CronError(`schedule.at is more than 10 years away: ${schedule.at}`);
}

/** ISO with zone, ISO without (UTC), or digits (ms since the epoch), as ISO in UTC. @throws CronError */
export function parseAt(value: unknown): string {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  const ms = /^\d{9,}$/.test(text) ? Number(text) : Date.parse(/[zZ]$|[+-]\d{2}:?\d{2}$/.test(text) || /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : `${text}Z`);
  if (text === "" || Number.isNaN(ms) || Number.isNaN(new Date(ms).getTime())) throw new CronError(`schedule.at is not a time: "${text}". Write it like 2026-12-01T09:00:00Z.`);
  return new Date(ms).toISOString();
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false; // RangeError
  }
}
