import { mkdtemp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { silentLogger } from "../../infra/log.ts";
import { createAuthProfiles, type AuthProfiles, type AuthProfilesOptions, type AuthProfileStore } from "./index.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface World extends AsyncDisposable {
  readonly profiles: AuthProfiles;
  readonly clock: { nowMs: number };
  readonly path: (agentId?: string) => string;
  stored(agentId?: string): Promise<AuthProfileStore>;
  order(provider: string, modelId?: string): Promise<string[]>;
  restMinutes(id: string, modelId?: string): Promise<number>;
}

async function world(store: unknown, config: OpenClawConfig = {}, fetchFn: typeof fetch = fetch, oauth?: AuthProfilesOptions["oauth"]): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), "profiles-"));
  const path = (agentId = "main"): string => join(root, agentId, "auth-profiles.json");
  await mkdir(join(root, "main"), { recursive: true });
  await writeFile(path(), typeof store === "string" ? store : JSON.stringify(store));
  const clock = { nowMs: 1_000_000_000_000 };
  const profiles = createAuthProfiles({ config: () => config, agentDir: (id) => join(root, id), normalizeProvider: (id) => id.toLowerCase(), clock: { now: () => clock.nowMs }, log: silentLogger, fetch: fetchFn, oauth });
  return {
    profiles, clock, path,
    stored: async (agentId) => JSON.parse(await readFile(path(agentId), "utf8")) as AuthProfileStore,
    order: async (provider, modelId = "m") => (await profiles.candidates("main", provider, modelId)).map(({ id }) => id),
    restMinutes: async (id, modelId = "m") => {
      const until = (await profiles.candidates("main", "p", modelId)).find((candidate) => candidate.id === id)?.restsUntil ?? 0;
      return until === 0 ? 0 : (until - clock.nowMs) / MINUTE;
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

const key = (provider = "p", secret = "k"): object => ({ type: "api_key", provider, key: secret });
const store = (profiles: Record<string, object>, more: object = {}): object => ({ version: 1, profiles, ...more });

describe("the order of profiles", () => {
  it("is oauth, token, key, and the least recently used first", async () => {
    const usageStats = { a: { lastUsed: 20 }, b: { lastUsed: 10 } };
    await using w = await world(store({ a: key(), b: key(), t: { type: "token", provider: "p", token: "x" }, o: { type: "oauth", provider: "p", access: "x", refresh: "y" } }, { usageStats }));
    expect(await w.order("p")).toEqual(["o", "t", "b", "a"]);
    await w.profiles.reportSuccess("main", "b", "m");
    expect(await w.order("p")).toEqual(["o", "t", "a", "b"]);
  });

  it("is the written one where there is one, that of the file before that of the config", async () => {
    await using both = await world(store({ a: key(), b: key() }, { order: { p: ["b", "gone"] } }), { auth: { order: { p: ["a", "b"] } } });
    expect(await both.order("p")).toEqual(["b"]);
    await using config = await world(store({ a: key(), b: key() }), { auth: { order: { p: ["b", "a"] } } });
    expect(await config.order("p")).toEqual(["b", "a"]);
  });

  it("leaves out empty, expired and foreign profiles", async () => {
    await using w = await world(store({ empty: key("p", " "), old: { type: "token", provider: "p", token: "x", expires: 5 }, other: key("q"), good: key("P") }));
    expect(await w.order("p")).toEqual(["good"]);
  });

  it("falls back to the main agent's profiles", async () => {
    await using w = await world(store({ a: key() }));
    expect((await w.profiles.candidates("work", "p", "m")).map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("pauses", () => {
  it("after a rate limit grow 1, 5, 25, 60 minutes, for that model only, and end with success", async () => {
    await using w = await world(store({ a: key() }));
    for (const minutes of [1, 5, 25, 60, 60]) {
      await w.profiles.reportFailure("main", "a", "m", "rate_limit");
      expect(await w.restMinutes("a")).toBe(minutes);
      expect(await w.restMinutes("a", "other")).toBe(0);
      w.clock.nowMs += minutes * MINUTE;
    }
    await w.profiles.reportSuccess("main", "a", "m");
    await w.profiles.reportFailure("main", "a", "m", "rate_limit");
    expect(await w.restMinutes("a")).toBe(1);
  });

  it("are not made longer by failures of runs that were already under way", async () => {
    await using w = await world(store({ a: key() }));
    await Promise.all(Array.from({ length: 4 }, () => w.profiles.reportFailure("main", "a", "m", "rate_limit")));
    expect(await w.restMinutes("a")).toBe(1);
  });

  it("for an unpaid bill are hours, as configured, and hold for all models", async () => {
    await using w = await world(store({ a: key() }), { auth: { cooldowns: { billingBackoffHoursByProvider: { p: 2 }, billingMaxHours: 3 } } });
    await w.profiles.reportFailure("main", "a", "m", "billing");
    expect(await w.restMinutes("a", "other")).toBe(120);
    expect((await w.stored()).usageStats?.["a"]).toMatchObject({ disabledReason: "billing" });
    w.clock.nowMs += 2 * HOUR;
    await w.profiles.reportFailure("main", "a", "m", "billing");
    expect(await w.restMinutes("a")).toBe(180);
  });

  it("put a profile behind the others, the soonest free first", async () => {
    await using w = await world(store({ a: key(), b: key(), c: key() }));
    await w.profiles.reportFailure("main", "a", "m", "billing");
    await w.profiles.reportFailure("main", "b", "m", "auth");
    expect(await w.order("p")).toEqual(["c", "b", "a"]);
  });

  it("never hold for openrouter", async () => {
    await using w = await world(store({ a: key("openrouter") }));
    await w.profiles.reportFailure("main", "a", "m", "rate_limit");
    expect((await w.profiles.candidates("main", "openrouter", "m"))[0]?.restsUntil).toBe(0);
  });
});

describe("the file", () => {
  it("keeps what it does not know, stays private, and survives many writers", async () => {
    await using w = await world(store({ a: { ...key(), note: "mine" }, b: key() }, { future: { x: 1 } }));
    await Promise.all([..."abababab"].map((id, index) => w.profiles.reportFailure("main", id, `m${index}`, "rate_limit")));
    const after = await w.stored();
    expect(after).toMatchObject({ future: { x: 1 }, profiles: { a: { note: "mine" } } });
    expect(Object.keys({ ...after.usageStats?.["a"]?.models, ...after.usageStats?.["b"]?.models })).toHaveLength(8);
    expect((await stat(w.path())).mode & 0o777).toBe(0o600);
  });

  it("that is damaged is neither used nor overwritten", async () => {
    await using w = await world("{ broken");
    expect(await w.order("p")).toEqual([]);
    await w.profiles.reportFailure("main", "a", "m", "auth");
    expect(await readFile(w.path(), "utf8")).toBe("{ broken");
  });

  it("is read again when a person changes it", async () => {
    await using w = await world(store({ a: key() }));
    expect(await w.order("p")).toEqual(["a"]);
    await writeFile(w.path(), JSON.stringify(store({ a: key(), new: key() })));
    expect(await w.order("p")).toEqual(["a", "new"]);
  });
});

it("a new login replaces the old one and its pauses, and the order can be set and cleared", async () => {
  await using w = await world(store({ a: key(), b: key() }));
  await w.profiles.reportFailure("main", "a", "m", "billing");
  await w.profiles.save("main", "a", { type: "api_key", provider: "p", key: "fresh" });
  expect(await w.restMinutes("a")).toBe(0);
  expect((await w.profiles.credential("main", "a")).key).toBe("fresh");
  await w.profiles.setOrder("main", "p", ["b"]);
  expect(await w.order("p")).toEqual(["b"]);
  await w.profiles.setOrder("main", "p", undefined);
  await w.profiles.save("main", "b", undefined);
  expect(await w.order("p")).toEqual(["a"]);
  expect((await w.profiles.read("main")).profiles).not.toHaveProperty("b");
});

describe("an expired login", () => {
  const expired = { type: "oauth", provider: "qwen-portal", access: "old", refresh: "r1", expires: 5, email: "me@x" };

  it("of a provider that a plugin brings is renewed and made into a key by the plugin", async () => {
    const refresh = async ({ refresh: token }: { refresh?: string | undefined }) => ({ access: `new-by-${token}`, refresh: "r2", expires: 2_000_000_000_000 });
    await using w = await world(store({ q: { ...expired, provider: "moon" } }), {}, fetch, (provider) => (provider === "moon" ? { refresh, formatKey: ({ access }) => `moon:${access}` } : undefined));
    expect((await w.profiles.credential("main", "q")).key).toBe("moon:new-by-r1");
    expect((await w.stored()).profiles["q"]).toEqual({ ...expired, provider: "moon", access: "new-by-r1", refresh: "r2", expires: 2_000_000_000_000 });
  });

  it("is renewed once, even by two runs at the same time, and stored", async () => {
    let calls = 0;
    const fetchFn: typeof fetch = async (_url, init) => {
      calls++;
      expect(String(init?.body)).toContain("refresh_token=r1");
      return Response.json({ access_token: "new", refresh_token: "r2", expires_in: 3600 });
    };
    await using w = await world(store({ q: expired }), {}, fetchFn);
    const [first, second] = await Promise.all([w.profiles.credential("main", "q"), w.profiles.credential("main", "q")]);
    expect([first.key, second.key, calls]).toEqual(["new", "new", 1]);
    expect((await w.stored()).profiles["q"]).toMatchObject({ access: "new", refresh: "r2", email: "me@x", expires: w.clock.nowMs + HOUR });
  });

  it("says so when the provider refuses", async () => {
    await using w = await world(store({ q: expired }), {}, async () => new Response("no", { status: 400 }));
    await expect(w.profiles.credential("main", "q")).rejects.toThrow("qwen-portal refused to renew the login (HTTP 400).");
  });
});
