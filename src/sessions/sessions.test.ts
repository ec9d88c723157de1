import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { systemClock } from "../infra/clock.ts";
import { silentLogger } from "../infra/log.ts";
import { appendTranscriptMessage } from "./append.ts";
import { resolveTranscriptPath } from "./paths.ts";
import { lastDailyBoundaryMs, resolveResetPolicy, sessionFreshness } from "./reset.ts";
import { createSessionStore, type PendingSessionLog, type SessionStore } from "./session-store.ts";
import { splitObjectMembers } from "./store-format.ts";
import { loadTranscript, readLinesBackwards, readRecentMessages } from "./transcript-read.ts";

async function withStore(run: (store: SessionStore, path: string, reopen: () => SessionStore) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "openclaw-sessions-"));
  const path = join(dir, "sessions.json");
  const rows = new Map<string, string | null>();
  const pending: PendingSessionLog = {
    save: (_path, key, json) => void rows.set(key, json),
    load: () => [...rows].map(([key, entryJson]) => ({ key, entryJson })),
    clear: (_path, keys) => keys.forEach((key) => rows.delete(key)),
  };
  const open = (): SessionStore => createSessionStore({ path, clock: systemClock, log: silentLogger, pending, withLock: (_p, write) => write() });
  const store = open();
  await store.refresh();
  await run(store, path, open);
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
}

it("keeps entries under any key over a write and a new start", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { maxLength: 8 }), fc.string(), async (keys, label) => {
      await withStore(async (store, _path, reopen) => {
        const wanted = keys.map((key) => key.toLowerCase());
        for (const key of wanted) store.update(key, { sessionId: "s1", label });
        await store.flush();
        const again = reopen();
        await again.refresh();
        for (const key of wanted) expect(again.get(key)?.label).toBe(label);
      });
    }),
    { numRuns: 40 },
  );
});

it("a change that was not written yet survives a killed process", async () => {
  await withStore(async (store, _path, reopen) => {
    store.update("agent:main:main", { sessionId: "abc", label: "unsaved" });
    const after = reopen(); // the first one never wrote its file
    await after.refresh();
    expect(after.get("agent:main:main")?.label).toBe("unsaved");
  });
});

it("reads what another process wrote and keeps its own changes", async () => {
  await withStore(async (store, path) => {
    store.update("agent:main:a", { sessionId: "a" });
    await store.flush();
    await writeFile(path, JSON.stringify({ "agent:main:b": { sessionId: "b", updatedAt: 5 } }));
    store.update("agent:main:c", { sessionId: "c" });
    await store.refresh();
    expect(store.keys().toSorted()).toEqual(["agent:main:b", "agent:main:c"]);
  });
});

it("a damaged store is set aside and what can be read of it stays", async () => {
  await withStore(async (store, path, reopen) => {
    store.update("agent:main:main", { sessionId: "keep" });
    store.update("agent:main:other", { sessionId: "torn" });
    await store.flush();
    const text = await readFile(path, "utf8");
    await writeFile(path, text.slice(0, text.indexOf('"torn"')));
    const again = reopen();
    await again.refresh();
    expect(again.get("agent:main:main")?.sessionId).toBe("keep");
  });
});

it("accepts older field names and merges keys that differ by case or dm", async () => {
  await withStore(async (_store, path, reopen) => {
    await writeFile(path, JSON.stringify({
      "agent:main:Telegram:dm:7": { sessionId: "old", updatedAt: 1, provider: "telegram", lastProvider: "telegram", room: "r" },
      "agent:main:telegram:direct:7": { sessionId: "new", updatedAt: 2 },
    }));
    const store = reopen();
    await store.refresh();
    expect(store.keys()).toEqual(["agent:main:telegram:direct:7"]);
    expect(store.get("agent:main:telegram:direct:7")?.sessionId).toBe("new");
  });
});

it("splits objects like JSON.parse does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string().filter((key) => key !== "__proto__"), fc.jsonValue()), async (value) => {
      const members = await splitObjectMembers(JSON.stringify(value, null, 2), () => Promise.resolve());
      expect(Object.fromEntries(members.map(([key, text]) => [key, JSON.parse(text) as unknown]))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it("appends under the last entry, closes a torn line and reads backwards what it reads forwards", async () => {
  const dir = await mkdtemp(join(tmpdir(), "openclaw-transcript-"));
  const path = join(dir, "s.jsonl");
  const options = { path, sessionId: "s", cwd: dir, nowMs: 1_000_000 };
  const first = await appendTranscriptMessage(options, { role: "user", content: "one", timestamp: 1 });
  await writeFile(path, '{"type":"message","id":"torn', { flag: "a" });
  const second = await appendTranscriptMessage(options, { role: "assistant", content: "two ☃", timestamp: 2 });

  const { header, entries, damagedLines } = await loadTranscript(path);
  expect(header?.version).toBe(3);
  expect(entries.map((entry) => [entry.id, entry.parentId])).toEqual([[first, null], [second, first]]);
  expect(damagedLines).toBe(1);
  const backwards: string[] = [];
  for await (const line of readLinesBackwards(path)) backwards.unshift(line);
  expect(`${backwards.join("\n")}\n`).toBe(await readFile(path, "utf8"));
  expect((await readRecentMessages(path, { limit: 1, maxBytes: 1000 })).map((entry) => entry.id)).toEqual([second]);
  await rm(dir, { recursive: true, force: true, maxRetries: 5 });
});

it("never leaves the sessions folder, whatever a store says", () => {
  expect(resolveTranscriptPath("/s", "abc", "/elsewhere/x.jsonl")).toBe("/s/x.jsonl");
  expect(resolveTranscriptPath("/s", "abc", "../../etc/passwd")).toBe("/s/abc.jsonl");
  expect(resolveTranscriptPath("/s", "abc")).toBe("/s/abc.jsonl");
  expect(() => resolveTranscriptPath("/s", "../x")).toThrow(/not allowed/);
});

it("a session is stale after the daily hour, or after the idle time when that is set", () => {
  const now = new Date(2026, 10, 30, 9, 0).getTime();
  const boundary = lastDailyBoundaryMs(now, 4);
  expect(new Date(boundary).getHours()).toBe(4);
  const daily = resolveResetPolicy({}, "direct", "telegram");
  expect(sessionFreshness(boundary - 1, daily, now)).toEqual({ fresh: false, reason: "daily" });
  expect(sessionFreshness(boundary + 1, daily, now)).toEqual({ fresh: true });
  const idle = resolveResetPolicy({ session: { reset: { mode: "idle", idleMinutes: 10 } } }, "direct", "telegram");
  expect(sessionFreshness(now - 11 * 60_000, idle, now)).toEqual({ fresh: false, reason: "idle" });
});
