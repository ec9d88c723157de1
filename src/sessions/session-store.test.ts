import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../infra/log.ts";
import { isSessionStoreCacheEnabled, isSessionStoreCacheValid } from "./free-functions.ts";
import { resetEntry } from "./reset.ts";
import { resolveSendPolicy } from "./send-policy.ts";
import { createSessionStore, type SessionStore, type SessionStoreOptions } from "./session-store.ts";
import { SessionStoreError } from "./store-file.ts";
import type { SessionEntry } from "./types.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "openclaw-store-"));
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

const NOW = 1_000_000;
const path = (): string => join(dir, "sessions.json");
const open = (more: Partial<SessionStoreOptions> = {}): SessionStore => createSessionStore({ path: path(), clock: { now: () => NOW }, log: silentLogger, withLock: (_path, write) => write(), ...more });
const write = (entries: Record<string, Partial<SessionEntry>>): Promise<void> => writeFile(path(), JSON.stringify(entries));

describe("what a caller gets", () => {
  it("cannot be changed, nor through what was given", async () => {
    const store = open();
    await store.refresh();
    const origin = { label: "Ann" };
    const entry = store.update("agent:main:main", { sessionId: "s", origin });
    origin.label = "Eve";
    expect(entry.origin?.label).toBe("Ann");
    expect(() => Object.assign(entry.origin as object, { label: "Eve" })).toThrow(TypeError);
    expect(() => Object.assign(entry, { label: "x" })).toThrow(TypeError);
    await store.flush();
    const again = open();
    await again.refresh();
    expect(() => Object.assign(again.get("agent:main:main")?.origin as object, { label: "Eve" })).toThrow(TypeError);
  });

  it("is not read again because the file was just written", async () => {
    const store = open();
    await store.refresh();
    for (let i = 0; i < 2000; i++) store.update(`agent:main:${i}`, { sessionId: "s", label: "x".repeat(200) });
    const before = store.get("agent:main:0");
    let written = false;
    const flushed = store.flush().then(() => (written = true));
    while (!written) await Promise.all([store.refresh(), new Promise((resolve) => setImmediate(resolve))]);
    await flushed;
    expect(store.get("agent:main:0")).toBe(before);
  });

  it("has the change that was made while the file was read", async () => {
    await write({ "agent:main:main": { sessionId: "old", updatedAt: 1 } });
    const store = open();
    await store.refresh();
    await write({ "agent:main:main": { sessionId: "of another process", updatedAt: 2 }, "agent:main:b": { sessionId: "b", updatedAt: 2 } });
    const reading = store.refresh();
    store.update("agent:main:main", { label: "mine" });
    await reading;
    expect(store.get("agent:main:main")).toMatchObject({ label: "mine" });
    expect(store.get("agent:main:b")).toMatchObject({ sessionId: "b" });
    await store.flush();
  });

  it("is one entry for keys that differ by case or by the old name of direct chats; the newest wins", async () => {
    await write({ "agent:main:telegram:dm:Ann": { sessionId: "older", updatedAt: 1 }, "agent:main:telegram:direct:ann": { sessionId: "newer", updatedAt: 2 } });
    const store = open();
    await store.refresh();
    store.update("agent:main:main", { sessionId: "m" });
    await store.flush();
    expect(Object.entries(JSON.parse(await readFile(path(), "utf8")) as Record<string, SessionEntry>).map(([key, { sessionId }]) => [key, sessionId])).toEqual([
      ["agent:main:telegram:direct:ann", "newer"], ["agent:main:main", "m"],
    ]);
  });
});

describe("the cache", () => {
  it("can be switched off, and then a file that only seems unchanged is read again", async () => {
    const cached = open();
    const uncached = open({ cacheTtlMs: () => 0 });
    await write({ "agent:main:main": { sessionId: "one", updatedAt: 1 } });
    await utimes(path(), 5, 5);
    for (const store of [cached, uncached]) await store.refresh();
    await write({ "agent:main:main": { sessionId: "two", updatedAt: 1 } });
    await utimes(path(), 5, 5);
    for (const store of [cached, uncached]) await store.refresh();
    expect([cached, uncached].map((store) => store.get("agent:main:main")?.sessionId)).toEqual(["one", "two"]);
  });

  it("follows OPENCLAW_SESSION_CACHE_TTL_MS and session.cache", () => {
    expect(isSessionStoreCacheEnabled({}, {})).toBe(true);
    expect(isSessionStoreCacheEnabled({}, { OPENCLAW_SESSION_CACHE_TTL_MS: "0" })).toBe(false);
    expect(isSessionStoreCacheEnabled({ session: { cache: false } }, {})).toBe(false);
    expect([44_000, 46_000].map((age) => isSessionStoreCacheValid({ loadedAt: NOW - age }, NOW))).toEqual([true, false]);
  });
});

describe("a path that is no file", () => {
  it("is refused in words, also when something is to be written", async () => {
    const store = open();
    await store.refresh();
    store.update("agent:main:main", { sessionId: "kept" });
    await mkdir(path());
    await expect(store.refresh()).rejects.toThrow(/is a folder, not a file. Move the folder away/);
    await expect(store.flush()).rejects.toBeInstanceOf(SessionStoreError);
    await rm(path(), { recursive: true });
    await store.flush();
    expect(await readFile(path(), "utf8")).toContain("kept");
  });
});

it("a reset keeps the person's settings and the place, and nothing that belongs to the old conversation", () => {
  const settings = {
    thinkingLevel: "high", verboseLevel: "on", reasoningLevel: "on", elevatedLevel: "on", ttsAuto: "always", execHost: "gateway", execSecurity: "deny", execAsk: "always", execNode: "n",
    responseUsage: "full", providerOverride: "p", modelOverride: "m", authProfileOverride: "a", authProfileOverrideSource: "user", groupActivation: "always", sendPolicy: "allow",
    queueMode: "steer", queueDebounceMs: 1, queueCap: 2, queueDrop: "old", label: "l", displayName: "d", spawnedBy: "s", spawnDepth: 1, forkedFromParent: true,
    chatType: "group", channel: "telegram", groupId: "g", origin: { label: "o" }, deliveryContext: { to: "t" }, lastChannel: "telegram", lastTo: "t",
  } as const;
  const gone = {
    inputTokens: 1, outputTokens: 1, totalTokens: 1, totalTokensFresh: true, cacheRead: 1, cacheWrite: 1, contextTokens: 1, memoryFlushAt: 1, memoryFlushCompactionCount: 1,
    cliSessionIds: { x: "y" }, skillsSnapshot: { prompt: "", skills: [] }, systemPromptReport: {}, modelProvider: "p", model: "m", fallbackNoticeReason: "r", lastHeartbeatText: "h",
  };
  const next = resetEntry({ sessionId: "old", updatedAt: 1, systemSent: true, abortedLastRun: true, compactionCount: 3, ...settings, ...gone }, { sessionId: "new", sessionFile: "/s/new.jsonl", nowMs: NOW });
  expect(next).toEqual({ sessionId: "new", sessionFile: "/s/new.jsonl", updatedAt: NOW, systemSent: false, abortedLastRun: false, compactionCount: 0, ...settings });
});

describe("whether a session may speak", () => {
  const rules = (list: readonly unknown[], standard?: "allow" | "deny") => ({ session: { sendPolicy: { ...(standard ? { default: standard } : {}), rules: list as never } } });
  it.each([
    [rules([{ action: "deny", match: { channel: "Telegram" } }]), "agent:main:telegram:group:1", undefined, "deny"],
    [rules([{ action: "deny", match: { chatType: "dm" } }]), "agent:main:telegram:direct:1", undefined, "deny"],
    [rules([{ action: "deny", match: { chatType: "group" } }]), "agent:main:main", { chatType: "group" as const }, "deny"],
    [rules([{ action: "allow", match: { keyPrefix: "telegram:" } }], "deny"), "agent:main:telegram:group:1", undefined, "allow"],
    [rules([{ action: "allow", match: { keyPrefix: "agent:main:telegram:" } }], "deny"), "agent:main:telegram:group:1", undefined, "allow"],
    [rules([{ action: "allow", match: { rawKeyPrefix: "telegram:" } }], "deny"), "agent:main:telegram:group:1", undefined, "deny"],
    [rules([{ action: "allow", match: { channel: "telegram" } }, { action: "deny", match: { chatType: "group" } }]), "agent:main:telegram:group:1", undefined, "deny"],
    [rules([{ action: "deny", match: { channel: "telegram" } }]), "agent:main:telegram:group:1", { sendPolicy: "allow" as const }, "allow"],
    [{}, "agent:main:main", undefined, "allow"],
  ])("by %j for %s and %j: %s", (cfg, key, entry, verdict) => {
    expect(resolveSendPolicy(cfg, key, entry)).toBe(verdict);
  });
});
