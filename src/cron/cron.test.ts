import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../infra/log.ts";
import { parseJob, patchJob } from "./input.ts";
import { createCronRunLog } from "./run-log.ts";
import { checkSchedule, defaultStagger, nextRunAt, parseAt, staggerOffset } from "./schedule.ts";
import { createCronService, type CronService } from "./service.ts";
import { createCronStore } from "./store.ts";
import type { CronEvent, CronJob, CronOutcome, CronSchedule } from "./types.ts";

const NOW = Date.UTC(2026, 10, 30, 12, 0, 30);
const MINUTE = 60_000;
const job = (schedule: CronSchedule, state: CronJob["state"] = {}, id = "j"): Pick<CronJob, "id" | "schedule" | "state" | "createdAtMs"> => ({ id, schedule, state, createdAtMs: NOW - 10 * MINUTE });
const iso = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(ms).toISOString());

describe("when a job runs next", () => {
  it.each<[string, CronSchedule, CronJob["state"], string | undefined]>([
    ["once", { kind: "at", at: "2026-11-30T13:00:00.000Z" }, {}, "2026-11-30T13:00:00.000Z"],
    ["once, and has run", { kind: "at", at: "2026-11-30T12:00:00.000Z" }, { lastRunAtMs: NOW }, undefined],
    ["once, and has failed", { kind: "at", at: "2026-11-30T12:00:00.000Z" }, { lastRunAtMs: NOW, consecutiveErrors: 2 }, "2026-11-30T12:01:30.000Z"],
    ["once, and has failed too often", { kind: "at", at: "2026-11-30T12:00:00.000Z" }, { lastRunAtMs: NOW, consecutiveErrors: 4 }, undefined],
    ["every 4 min on its grid", { kind: "every", everyMs: 4 * MINUTE }, {}, "2026-11-30T12:02:30.000Z"],
    ["every 4 min after its last run", { kind: "every", everyMs: 4 * MINUTE }, { lastRunAtMs: NOW - MINUTE }, "2026-11-30T12:03:30.000Z"],
    ["every 4 min, long overdue", { kind: "every", everyMs: 4 * MINUTE, anchorMs: NOW - 9 * MINUTE }, { lastRunAtMs: NOW - 60 * MINUTE }, "2026-11-30T12:03:30.000Z"],
    ["every millisecond, but not at once again", { kind: "every", everyMs: 1 }, { lastRunAtMs: NOW - 100 }, "2026-11-30T12:00:31.900Z"],
    ["every hour, anchored ahead", { kind: "every", everyMs: 60 * MINUTE, anchorMs: NOW + MINUTE }, {}, "2026-11-30T12:01:30.000Z"],
    ["at half past", { kind: "cron", expr: "30 * * * *", tz: "UTC" }, {}, "2026-11-30T12:30:00.000Z"],
    ["at nine in Shanghai", { kind: "cron", expr: "0 9 * * *", tz: "Asia/Shanghai", staggerMs: 0 }, {}, "2026-12-01T01:00:00.000Z"],
    ["each second, but not at once again", { kind: "cron", expr: "* * * * * *", tz: "UTC" }, { lastRunAtMs: NOW }, "2026-11-30T12:00:33.000Z"],
    ["after an error", { kind: "every", everyMs: 1000 }, { lastRunAtMs: NOW - 500, consecutiveErrors: 3 }, "2026-11-30T12:05:30.000Z"],
    ["after many errors", { kind: "every", everyMs: 1000 }, { lastRunAtMs: NOW - 500, consecutiveErrors: 30 }, "2026-11-30T13:00:30.000Z"],
  ])("%s", (_name, schedule, state, expected) => {
    expect(iso(nextRunAt(job(schedule, state), NOW))).toBe(expected);
  });

  it("full hours are spread by the job's id, as the reference spreads them", () => {
    expect([defaultStagger("0 * * * *"), defaultStagger("0 0 * * * *"), defaultStagger("5 * * * *"), defaultStagger("0 9 * * *")]).toEqual([300_000, 300_000, 0, 0]);
    const id = "69785873-22b5-4f5b-8989-43c981d9bf2a";
    expect(staggerOffset(id, 300_000)).toBe(60_453);
    expect(nextRunAt(job({ kind: "cron", expr: "0 * * * *", tz: "UTC" }, {}, id), NOW)).toBe(Date.UTC(2026, 10, 30, 12, 1, 0, 453));
  });

  it("summer time: a time that is skipped runs once that day, one that comes twice runs once", () => {
    const at = (expr: string, from: string): string | undefined => iso(nextRunAt(job({ kind: "cron", expr, tz: "Europe/Berlin", staggerMs: 0 }), Date.parse(from)));
    expect(at("30 2 * * *", "2026-03-28T12:00:00Z")?.slice(0, 10)).toBe("2026-03-29");
    const first = at("30 2 * * *", "2026-10-24T12:00:00Z");
    expect(first?.slice(0, 10)).toBe("2026-10-25");
    expect(at("30 2 * * *", first as string)?.slice(0, 10)).toBe("2026-10-26");
  });

  it("is always ahead, whatever the interval and the past", () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 10 ** 9 }), fc.integer({ min: 0, max: 10 ** 10 }), fc.option(fc.integer({ min: 0, max: 10 ** 10 }), { nil: undefined }), (everyMs, age, lastAge) => {
      const next = nextRunAt({ ...job({ kind: "every", everyMs, anchorMs: NOW - age }, lastAge === undefined ? {} : { lastRunAtMs: NOW - lastAge }) }, NOW);
      expect(next).toBeGreaterThan(NOW);
      expect(next).toBeLessThanOrEqual(NOW + Math.max(everyMs, 2000));
    }));
  });
});

describe("times and schedules that are refused", () => {
  it.each<[unknown, string]>([["2026-12-01", "2026-12-01T00:00:00.000Z"], ["2026-12-01T09:00", "2026-12-01T09:00:00.000Z"], ["2026-12-01T09:00:00+08:00", "2026-12-01T01:00:00.000Z"], [1796073084353, "2026-11-30T21:11:24.353Z"], ["1796073084353", "2026-11-30T21:11:24.353Z"]])("%s is %s", (value, expected) => {
    expect(parseAt(value)).toBe(expected);
  });
  it.each<[CronSchedule, RegExp]>([
    [{ kind: "at", at: "2026-11-30T11:00:00.000Z" }, /^schedule\.at is in the past/],
    [{ kind: "at", at: "2037-11-30T11:00:00.000Z" }, /more than 10 years/],
    [{ kind: "every", everyMs: 0 }, /everyMs must be at least 1/],
    [{ kind: "every", everyMs: 1e300 }, /more than 10 years/],
    [{ kind: "cron", expr: "* * *" }, /5 or 6 fields, not 3/],
    [{ kind: "cron", expr: "61 * * * *" }, /cannot be read/],
    [{ kind: "cron", expr: "0 9 * * *", tz: "Mars/Olympus" }, /is no time zone: "Mars\/Olympus"/],
    [{ kind: "cron", expr: "0 0 30 2 *" }, /never comes true/],
  ])("%j", (schedule, problem) => {
    expect(() => checkSchedule(schedule, NOW)).toThrow(problem);
  });
  it("a time that is none is named", () => {
    expect(() => parseAt("tomorrow")).toThrow('schedule.at is not a time: "tomorrow"');
  });
});

describe("what people and models write", () => {
  it.each<[unknown, object]>([
    [{ name: "x", schedule: { kind: "at", atMs: NOW + MINUTE }, payload: { kind: "systemEvent", text: "hi" } }, { sessionTarget: "main", wakeMode: "now", deleteAfterRun: true, schedule: { kind: "at", at: "2026-11-30T12:01:30.000Z" } }],
    [{ job: { schedule: { everyMs: 5000 }, message: "do it\nnow" } }, { name: "do it", sessionTarget: "isolated", payload: { kind: "agentTurn", message: "do it\nnow" }, delivery: { mode: "announce", channel: "last" } }],
    [{ data: { expr: "0 9 * * *", tz: "UTC", text: "wake up" } }, { schedule: { kind: "cron", expr: "0 9 * * *", tz: "UTC" }, payload: { kind: "systemEvent", text: "wake up" } }],
    [{ everyMs: 5000, payload: { kind: "AgentTurn", message: "m", deliver: true, channel: "Telegram", to: 42, bestEffortDeliver: true } }, { delivery: { mode: "announce", channel: "telegram", to: "42", bestEffort: true } }],
    [{ everyMs: 5000, message: "m", delivery: { mode: "deliver", to: "7" } }, { delivery: { mode: "announce", channel: "last", to: "7" } }],
    [{ everyMs: 5000, message: "m", delivery: { mode: "none" }, wakeMode: "next-heartbeat" }, { delivery: { mode: "none", channel: "last" }, wakeMode: "next-heartbeat" }],
  ])("%j", (input, expected) => {
    expect(parseJob(input, NOW)).toMatchObject(expected);
  });

  it.each<[unknown, RegExp]>([
    [{ everyMs: 5000 }, /payload\.kind must be/],
    [{ message: "m" }, /schedule is missing/],
    ["nonsense", /schedule is missing/],
    [{ everyMs: 5000, sessionTarget: "main", message: "m" }, /^main cron jobs require payload\.kind="systemEvent"$/],
    [{ everyMs: 5000, sessionTarget: "isolated", text: "m" }, /^isolated cron jobs require payload\.kind="agentTurn"$/],
    [{ everyMs: 5000, text: "m", delivery: { mode: "announce" } }, /^cron channel delivery config is only supported/],
    [{ everyMs: 5000, message: "m", delivery: { mode: "webhook", to: "ftp://x" } }, /^cron webhook delivery requires delivery\.to/],
    [{ everyMs: 5000, message: "m", sessionTarget: "elsewhere" }, /sessionTarget must be/],
    [{ name: "n".repeat(201), everyMs: 5000, text: "t" }, /name has 201 characters; at most 200/],
  ])("%j is refused", (input, problem) => {
    expect(() => parseJob(input, NOW)).toThrow(problem);
  });

  it("a patch changes what it names and nothing else", () => {
    const before: CronJob = { ...parseJob({ name: "n", everyMs: 5000, message: "m", delivery: { mode: "announce", channel: "telegram", to: "1" } }, NOW), id: "j", createdAtMs: 1, updatedAtMs: 1, state: {} };
    const { name: _name, ...rest } = before;
    expect(patchJob(before, { name: "other" }, NOW)).toMatchObject({ name: "other", schedule: rest.schedule, payload: rest.payload, delivery: rest.delivery });
    expect(patchJob(before, { payload: { thinking: "high" } }, NOW).payload).toEqual({ kind: "agentTurn", message: "m", thinking: "high" });
    expect(patchJob(before, { delivery: { to: "2" } }, NOW).delivery).toEqual({ mode: "announce", channel: "telegram", to: "2" });
    expect(() => patchJob(before, { schedule: { expr: "bad" } }, NOW)).toThrow("5 or 6 fields");
  });
});

interface World extends AsyncDisposable {
  readonly cron: CronService;
  readonly clock: { nowMs: number };
  readonly ran: string[];
  readonly events: CronEvent[];
  readonly dir: string;
  outcome: () => Promise<CronOutcome>;
  restart(): CronService;
  finished(count: number): Promise<void>;
}

async function world(): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), "cron-"));
  const clock = { nowMs: NOW };
  const make = (): CronService =>
    createCronService({
      config: () => ({}), clock: { now: () => clock.nowMs }, log: silentLogger, store: createCronStore(join(dir, "jobs.json"), silentLogger), runLog: createCronRunLog(join(dir, "runs")),
      isEnabled: () => true, sweep: async () => undefined, onEvent: (event) => void w.events.push(event),
      execute: async (one) => {
        w.ran.push(one.name);
        return w.outcome();
      },
    });
  const w: World = {
    cron: make(), clock, ran: [], events: [], dir,
    outcome: async () => ({ status: "ok", summary: "done" }),
    restart: make,
    async finished(count) {
      await expect.poll(() => w.events.filter((event) => event.action === "finished").length, { interval: 10, timeout: 15_000 }).toBeGreaterThanOrEqual(count);
    },
    async [Symbol.asyncDispose]() {
      await w.cron.stop();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return w;
}

describe("the service", () => {
  it("runs an overdue one-shot job once after a start, then forgets it", async () => {
    await using w = await world();
    await w.cron.add({ name: "water", at: iso(NOW + MINUTE), text: "water the plants" });
    w.clock.nowMs += 10 * MINUTE;
    const later = w.restart();
    await later.start();
    await w.finished(1);
    expect(w.ran).toEqual(["water"]);
    await later.stop();
    expect(await later.list({ enabled: "all" })).toEqual({ jobs: [], total: 0 });
    expect((await later.runs({ limit: 10, offset: 0 })).entries).toMatchObject([{ action: "finished", status: "ok", summary: "done" }]);
  });

  it("reading never changes anything: an overdue job stays due", async () => {
    await using w = await world();
    const made = await w.cron.add({ name: "n", everyMs: MINUTE, text: "t" });
    w.clock.nowMs += 5 * MINUTE;
    const before = await readFile(join(w.dir, "jobs.json"), "utf8");
    await w.cron.list({ enabled: "all" });
    await w.cron.status();
    await w.cron.get(made.id);
    await w.cron.runs({ jobId: made.id, limit: 10, offset: 0 });
    expect(await readFile(join(w.dir, "jobs.json"), "utf8")).toBe(before);
    await w.cron.start();
    await w.finished(1);
    expect(w.ran).toEqual(["n"]);
  });

  it("a failed one-shot job is tried again, then kept switched off", async () => {
    await using w = await world();
    w.outcome = async () => ({ status: "error", error: "no network" });
    await w.cron.add({ name: "once", at: iso(NOW), text: "t" });
    await w.cron.start();
    for (let tries = 1; tries <= 4; tries++) {
      await w.finished(tries);
      w.clock.nowMs += 10 * MINUTE;
      const [one] = (await w.cron.list({ enabled: "all" })).jobs;
      if (tries < 4) await w.cron.run(one?.id ?? "", "due");
    }
    expect((await w.cron.list({ enabled: "disabled" })).jobs).toMatchObject([{ enabled: false, state: { lastError: "no network", consecutiveErrors: 4 } }]);
    expect(w.ran).toHaveLength(4);
  });

  it("says what it does not know, and that a job runs already", async () => {
    await using w = await world();
    await expect(w.cron.run("nobody", "force")).rejects.toThrow("unknown cron job id: nobody");
    await expect(w.cron.update("nobody", {})).rejects.toThrow("unknown cron job id: nobody");
    expect(await w.cron.remove("nobody")).toBe(false);
    const gate = Promise.withResolvers<CronOutcome>();
    w.outcome = () => gate.promise;
    const made = await w.cron.add({ name: "long", everyMs: MINUTE, text: "t" });
    expect(await w.cron.run(made.id, "due")).toEqual({ ran: false, reason: "not-due" });
    const first = w.cron.run(made.id, "force");
    await expect.poll(() => w.ran.length).toBe(1);
    expect(await w.cron.run(made.id, "force")).toEqual({ ran: false, reason: "already-running" });
    gate.resolve({ status: "ok" });
    expect(await first).toEqual({ ran: true });
  });

  it("what ran when the process died waits for its next time; a one-shot job is tried again", async () => {
    await using w = await world();
    const every = await w.cron.add({ name: "every", everyMs: 60 * MINUTE, text: "t" });
    const once = await w.cron.add({ name: "once", at: iso(NOW + MINUTE), text: "t" });
    const file = join(w.dir, "jobs.json");
    const stored = JSON.parse(await readFile(file, "utf8")) as { jobs: { id: string; state: Record<string, unknown> }[] };
    for (const item of stored.jobs) item.state["runningAtMs"] = NOW - 1000;
    await writeFile(file, JSON.stringify(stored));
    const later = w.restart();
    await later.start();
    expect(w.ran).toEqual([]);
    expect(await later.get(every.id)).toMatchObject({ state: { lastError: "interrupted by a restart", nextRunAtMs: NOW - 1000 + 60 * MINUTE } });
    expect(await later.get(once.id)).toMatchObject({ enabled: true, state: { nextRunAtMs: NOW + 30_000 } });
    await later.stop();
  });

  it("takes what a person wrote into the file, and leaves what it does not understand", async () => {
    await using w = await world();
    await mkdir(w.dir, { recursive: true });
    await writeFile(join(w.dir, "jobs.json"), JSON.stringify({ version: 1, jobs: [{ id: "mine", name: "mine", enabled: true, createdAtMs: 1, updatedAtMs: 1, schedule: { kind: "at", at: iso(NOW - MINUTE) }, sessionTarget: "main", wakeMode: "now", payload: { kind: "systemEvent", text: "t" } }, { odd: true }] }));
    await w.cron.start();
    await w.cron.add({ name: "other", everyMs: 60 * MINUTE, text: "t" });
    await expect.poll(async () => {
      await w.cron.run("mine", "due").catch(() => undefined);
      return w.ran;
    }).toEqual(["mine"]);
    expect(JSON.parse(await readFile(join(w.dir, "jobs.json"), "utf8"))).toMatchObject({ jobs: expect.arrayContaining([{ odd: true }, expect.objectContaining({ name: "other" })]) });
  });

  it("a damaged file is not taken for an empty one, and nothing is lost", async () => {
    await using w = await world();
    await writeFile(join(w.dir, "jobs.json"), '{"version":1,"jobs":[{"id":"a"');
    await w.cron.start();
    await expect(w.cron.add({ everyMs: MINUTE, text: "t" })).rejects.toThrow(/jobs\.json is damaged.*\.bak/);
    expect(await readFile(join(w.dir, "jobs.json"), "utf8")).toContain('"id":"a"');
  });

  it("a schedule that cannot be read switches its job off after three looks, and no other", async () => {
    await using w = await world();
    const good = await w.cron.add({ name: "good", everyMs: 60 * MINUTE, text: "t" });
    const file = join(w.dir, "jobs.json");
    const stored = JSON.parse(await readFile(file, "utf8")) as { jobs: unknown[] };
    stored.jobs.push({ ...good, id: "bad", name: "bad", schedule: { kind: "cron", expr: "nonsense" }, state: {} });
    await writeFile(file, JSON.stringify(stored));
    await w.cron.start();
    for (let i = 0; i < 3; i++) await w.cron.update("bad", { description: String(i) }).catch(() => undefined);
    expect(await w.cron.get("bad")).toMatchObject({ enabled: false });
    expect(await w.cron.get(good.id)).toMatchObject({ enabled: true });
  });

  it("fifty jobs that are due at once all run, one after another", async () => {
    await using w = await world();
    for (let i = 0; i < 50; i++) await w.cron.add({ name: String(i), everyMs: 60 * MINUTE, anchorMs: NOW + 1000, text: "t" });
    w.clock.nowMs += 2000;
    await w.cron.start();
    await w.finished(50);
    expect(new Set(w.ran).size).toBe(50);
  }, 20_000);
});

it("the log of a job is cut to its newest lines", async () => {
  const dir = await mkdtemp(join(tmpdir(), "cron-log-"));
  const log = createCronRunLog(dir);
  for (let i = 0; i < 30; i++) await log.append({ ts: i, jobId: "j", action: "finished", status: "ok", runAtMs: i, durationMs: 1 }, { maxBytes: 500, keepLines: 5 });
  const { entries, total } = await log.read({ jobId: "j", limit: 100, offset: 0 });
  expect(entries[0]?.ts).toBe(29);
  expect(total).toBeLessThan(12);
  expect(await log.read({ jobId: "../j", limit: 1, offset: 0 })).toEqual({ entries: [], total: 0 });
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
});
