import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { createLogger, type LogRecord } from "../infra/log.ts";
import { parseAgeMs, parseSizeBytes, planDisk, planPrune, resolveMaintenance } from "./maintenance.ts";
import { createSessionService } from "./service.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 30, 12);

describe("session.maintenance", () => {
  it.each([["30d", 30 * DAY], ["12h", DAY / 2], [7, 7 * DAY], ["2w", 14 * DAY], ["soon", undefined], [undefined, undefined]])("an age of %j is %j ms", (raw, ms) => {
    expect(parseAgeMs(raw)).toBe(ms);
  });
  it.each([["10mb", 10_485_760], ["1.5 KB", 1536], [2048, 2048], ["2g", 2_147_483_648], ["big", undefined]])("a size of %j is %j bytes", (raw, bytes) => {
    expect(parseSizeBytes(raw)).toBe(bytes);
  });

  it("warns and keeps everything unless it is told to enforce; archives live as long as entries", () => {
    expect(resolveMaintenance({})).toEqual({ mode: "warn", pruneAfterMs: 30 * DAY, maxEntries: 500, rotateBytes: 10_485_760, archiveRetentionMs: 30 * DAY, disk: undefined });
    const own = { mode: "enforce" as const, pruneDays: 3, maxEntries: 5, rotateBytes: "1mb", resetArchiveRetention: false as const, maxDiskBytes: "100kb" };
    expect(resolveMaintenance({ session: { maintenance: own } })).toEqual({
      mode: "enforce", pruneAfterMs: 3 * DAY, maxEntries: 5, rotateBytes: 1_048_576, archiveRetentionMs: undefined, disk: { maxBytes: 102_400, highWaterBytes: 81_920 },
    });
    expect(resolveMaintenance({ session: { maintenance: { pruneAfter: "1d", resetArchiveRetention: "2d" } } })).toMatchObject({ pruneAfterMs: DAY, archiveRetentionMs: 2 * DAY });
  });

  it("leaves the newest and never what is at work", () => {
    const entry = fc.record({ updatedAt: fc.integer({ min: NOW - 60 * DAY, max: NOW }), isActive: fc.boolean() });
    fc.assert(fc.property(fc.array(entry, { maxLength: 40 }), fc.integer({ min: 1, max: 10 }), (list, maxEntries) => {
      const entries = list.map((each, index) => ({ ...each, key: String(index) }));
      const { stale, excess } = planPrune(entries, { pruneAfterMs: 30 * DAY, maxEntries }, NOW);
      const gone = new Set([...stale, ...excess]);
      const kept = entries.filter(({ key }) => !gone.has(key));
      expect(entries.filter(({ isActive }) => isActive).every(({ key }) => !gone.has(key))).toBe(true);
      expect(kept.length).toBeLessThanOrEqual(Math.max(maxEntries, entries.filter(({ isActive }) => isActive).length));
      const oldestKept = Math.min(...kept.filter(({ isActive }) => !isActive).map(({ updatedAt }) => updatedAt));
      for (const key of excess) expect(entries[Number(key)]?.updatedAt ?? 0).toBeLessThanOrEqual(oldestKept);
    }));
  });

  it("gives up archives first, then transcripts of nobody, then the oldest sessions", () => {
    const file = (name: string, mtimeMs: number) => ({ name, bytes: 10, mtimeMs });
    const files = [file("a.jsonl", 1), file("b.jsonl", 2), file("loose.jsonl", 3), file("c.jsonl.reset.2026-11-01T00-00-00.000Z", 9), file("sessions.json", 5)];
    const entries = [
      { key: "a", file: "a.jsonl", updatedAt: 1, isActive: true }, { key: "b", file: "b.jsonl", updatedAt: 2, isActive: false },
    ];
    const plan = (maxBytes: number, highWaterBytes: number) => planDisk(files, entries, { maxBytes, highWaterBytes });
    expect(plan(50, 10)).toEqual({ files: [], keys: [] });
    expect(plan(49, 40)).toEqual({ files: ["c.jsonl.reset.2026-11-01T00-00-00.000Z"], keys: [] });
    expect(plan(49, 30).files).toEqual(["c.jsonl.reset.2026-11-01T00-00-00.000Z", "loose.jsonl"]);
    expect(plan(49, 0)).toEqual({ files: ["c.jsonl.reset.2026-11-01T00-00-00.000Z", "loose.jsonl"], keys: ["b"] });
  });
});

async function withSessions(
  maintenance: NonNullable<NonNullable<OpenClawConfig["session"]>["maintenance"]>,
  run: (world: { service: ReturnType<typeof createSessionService>; dir: string; lines: LogRecord[]; files: () => Promise<string[]> }) => Promise<void>,
): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-care-"));
  const dir = join(stateDir, "agents", "main", "sessions");
  await mkdir(dir, { recursive: true });
  const lines: LogRecord[] = [];
  const service = createSessionService({
    config: () => ({ session: { maintenance } }), roots: { stateDir, workspaceDir: join(stateDir, "w") }, clock: { now: () => NOW },
    log: createLogger([{ threshold: () => "info", write: (record) => void lines.push(record) }]), withLock: (_path, write) => write(), isActive: (key) => key === "agent:main:busy",
  });
  const entry = (id: string, days: number) => ({ sessionId: id, updatedAt: NOW - days * DAY });
  await writeFile(join(dir, "sessions.json"), JSON.stringify({
    "agent:main:main": entry("m", 0), "agent:main:old": entry("o", 40), "agent:main:busy": entry("b", 50), "agent:main:telegram:group:1": entry("g", 2),
  }));
  for (const id of ["m", "o", "b", "g"]) await writeFile(join(dir, `${id}.jsonl`), `{"type":"session","version":3,"id":"${id}","timestamp":"x","cwd":"/"}\n`);
  await writeFile(join(dir, "x.jsonl.reset.2026-10-01T00-00-00.000Z"), "old");
  await writeFile(join(dir, "x.jsonl.reset.2026-11-29T00-00-00.000Z"), "new");
  try {
    await service.update("agent:main:main", { label: "touched" });
    await service.flush();
    await service.flush();
    await run({ service, dir, lines, files: async () => (await readdir(dir)).toSorted() });
  } finally {
    await service.close();
    await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

describe("a store that is written", () => {
  it("archives old sessions and deletes expired archives when that is enforced", async () => {
    await withSessions({ mode: "enforce" }, async ({ service, files, dir }) => {
      expect(service.storeFor("main").keys().toSorted()).toEqual(["agent:main:busy", "agent:main:main", "agent:main:telegram:group:1"]);
      expect(await files()).toEqual(["b.jsonl", "g.jsonl", "m.jsonl", "o.jsonl.deleted.2026-11-30T12-00-00.000Z", "sessions.json", "x.jsonl.reset.2026-11-29T00-00-00.000Z"]);
      expect(Object.keys(JSON.parse(await readFile(join(dir, "sessions.json"), "utf8")) as object)).toHaveLength(3);
    });
  });

  it("keeps to its number of entries", async () => {
    await withSessions({ mode: "enforce", pruneAfter: "90d", maxEntries: 2 }, async ({ service }) => {
      expect(service.storeFor("main").keys().toSorted()).toEqual(["agent:main:busy", "agent:main:main"]);
    });
  });

  it("only says what it would do otherwise, once an hour", async () => {
    await withSessions({}, async ({ service, files, lines }) => {
      expect(service.storeFor("main").size).toBe(4);
      expect(await files()).toHaveLength(7);
      expect(lines.filter(({ message }) => message.includes("session.maintenance.mode"))).toMatchObject([{ fields: { stale: 1, excess: 0, entries: 4 } }]);
    });
  });

  it("keeps the last three large stores beside the new one", async () => {
    await withSessions({ mode: "enforce", rotateBytes: 10 }, async ({ files }) => {
      expect((await files()).filter((name) => name.startsWith("sessions.json.bak."))).toEqual([`sessions.json.bak.${NOW}`]);
    });
  });

  it("stays within its disk budget", async () => {
    await withSessions({ mode: "enforce", maxDiskBytes: 1, pruneAfter: "90d" }, async ({ service, files }) => {
      expect(service.storeFor("main").keys()).toEqual(["agent:main:main", "agent:main:busy"]);
      expect(await files()).toEqual(["b.jsonl", "m.jsonl", "sessions.json"]);
    });
  });
});
