import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { generateTypes } from "./generate-types.ts";
import { exportConfigSchema } from "./json-schema.ts";
import { nearestKey } from "./nearest.ts";
import { findUnusedKeys } from "./rooms.ts";
import { findNode, type KeyNode, keyTable, parseKeyTable } from "./table.ts";
import { validateValue } from "./validate.ts";

it("has committed types that match the key table", async () => {
  const committed = await readFile(new URL("../types.generated.ts", import.meta.url), "utf8");
  expect(committed).toBe(generateTypes());
});

it("knows every key, also the ones this product adds", () => {
  const count = (node: KeyNode): number =>
    [...node.children.values(), ...(node.rest ? [node.rest] : [])].reduce((sum, child) => sum + 1 + count(child), 0);
  expect(count(keyTable())).toBeGreaterThan(3300);
  for (const path of [
    "session.cache",
    "channels.telegram.apiRoot",
    "models.providers.x.failover",
    "mcp.servers.x.transport",
    "agents.list.0.heartbeat.enabled",
  ]) {
    expect(findNode(path.split(".")), path).toBeDefined();
  }
  expect(findNode(["gateway", "prot"])).toBeUndefined();
});

it("refuses a table line it cannot read, naming it", () => {
  expect(() => [...parseKeyTable("a str >=x").children]).toThrow('">=x" in line "a str >=x"');
});

const messages = (config: unknown): string[] =>
  validateValue(config, keyTable()).map((found) => `${found.path.join(".")}: ${found.message}`);

it.each([
  [{ gateway: { port: "1" } }, "gateway.port: Invalid input: expected int, received string"],
  [{ gateway: { port: 1.5 } }, "gateway.port: Invalid input: expected int, received number 1.5"],
  [{ logging: { level: "wran" } }, /Invalid option: expected one of "silent"\|.*did you mean "warn"/],
  [{ session: { reset: { atHour: 24 } } }, "session.reset.atHour: Too big: expected number to be <=23"],
  [{ ui: { seamColor: "red" } }, /ui.seamColor: Invalid string: must match pattern/],
  [
    { bindings: [{ agentId: "a" }] },
    "bindings.0.match: Invalid input: expected object, received undefined (the key is required)",
  ],
  [{ gateway: { auht: {} } }, 'gateway: Unrecognized key: "auht" (did you mean "auth"?)'],
  [{ channels: { telegram: { allowFrom: [true] } } }, /allowFrom.0: Invalid input: expected string or number/],
  [{ cron: { sessionRetention: true } }, /cron.sessionRetention: Invalid input/],
  [{ cron: { sessionRetention: "banana" } }, 'cron.sessionRetention: Invalid duration: write it like "30s", "5m", "1h30m" or "7d"'],
  [{ agents: { defaults: { heartbeat: { every: "1 fortnight" } } } }, /agents.defaults.heartbeat.every: Invalid duration/],
  [{ agents: { list: [{ id: "a", heartbeat: { every: "soon" } }] } }, /agents.list.0.heartbeat.every: Invalid duration/],
  [{ session: { maintenance: { pruneAfter: "1h30m" } } }, 'session.maintenance.pruneAfter: Invalid duration: write it like "12h", "30d" or "4w"'],
  [{ session: { maintenance: { rotateBytes: "ten" } } }, 'session.maintenance.rotateBytes: Invalid size: write it like "500kb", "10mb" or "2gb"'],
])("says what is wrong with %j", (config, message) => {
  expect(messages(config)).toEqual([typeof message === "string" ? message : expect.stringMatching(message)]);
});

it.each(["30m", "1h30m", "0m", "45", "1.5h", ""])("takes %j for a duration", (every) => {
  expect(messages({ agents: { defaults: { heartbeat: { every } } } })).toEqual([]);
});

it("accepts unions, maps, lists of ids and open objects", () => {
  expect(
    messages({
      env: { FOO: "x", vars: { A: "b" }, shellEnv: { enabled: true } },
      agents: {
        defaults: { model: "a/b", models: { "a/b": { params: { anything: [1] } } } },
        list: [{ id: "x", model: { primary: "a/b" } }],
      },
      channels: { telegram: { allowFrom: [1, "a"], streaming: "partial" }, newchannel: { whatever: 1 } },
      broadcast: { strategy: "parallel", "123": ["a"] },
      cron: { sessionRetention: false },
    }),
  ).toEqual([]);
});

it("tells unknown keys that could open a door from the others", () => {
  const relevant = (config: unknown): unknown[] =>
    validateValue(config, keyTable()).map((found) => found.isSecurityRelevant);
  expect(relevant({ gateway: { x1: 1 } })).toEqual([true]);
  expect(relevant({ agents: { list: [{ id: "a", tools: { denny: [] } }] } })).toEqual([true]);
  expect(relevant({ channels: { telegram: { groups: { "1": { tools: { denny: [] } } } } } })).toEqual([true]);
  expect(relevant({ channels: { telegram: { x1: 1 } }, logging: { y: 1 }, z: 1 })).toEqual([false, false, false]);
});

it("never throws on any value", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("gateway", "channels", "agents", "bindings", "env", "tools"),
      fc.jsonValue(),
      (key, value) => {
        validateValue({ [key]: value }, keyTable());
      },
    ),
  );
});

it("exports draft-07 with hints that mark secrets", () => {
  const { schema, uiHints } = exportConfigSchema({ version: "1", channelIds: new Set(["telegram"]) });
  expect(schema["title"]).toBe("OpenClawConfig");
  const channels = (schema["properties"] as Record<string, { properties: object }>)["channels"];
  expect(Object.keys(channels?.properties ?? {}).toSorted()).toEqual(["defaults", "modelByChannel", "telegram"]);
  expect(uiHints["channels.telegram.botToken"]?.sensitive).toBe(true);
  expect(uiHints["models.providers.*.apiKey"]?.sensitive).toBe(true);
  expect(uiHints["agents.list[].id"]?.label).toBe("Id");
  expect(uiHints["channels.discord.token"]).toBeUndefined();
  expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
});

it("lists the topmost keys that nothing honours", () => {
  const set = {
    agents: { defaults: { subagents: { announceTimeoutMs: 1, maxConcurrent: 2 }, models: { "p/m": { alias: "m", streaming: false } } } }, browser: { remoteCdpTimeoutMs: 1, headless: true },
    gateway: { remote: { url: "ws://x", transport: "ssh", sshTarget: "me@x", sshIdentity: "k" }, tls: { enabled: true, autoGenerate: true, caPath: "c" }, http: { endpoints: { responses: { enabled: true, maxUrlParts: 1, files: { allowUrl: true }, images: {} } } } },
    channels: { telegram: { retry: { attempts: 1 }, accounts: { a: { draftChunk: { minChars: 1 }, historyLimit: 5 } } } },
  };
  expect(findUnusedKeys(set).map((keys) => keys.join("."))).toEqual([
    "agents.defaults.subagents.announceTimeoutMs", "agents.defaults.models.p/m.streaming", "browser.remoteCdpTimeoutMs", "gateway.remote.transport", "gateway.remote.sshTarget", "gateway.remote.sshIdentity", "gateway.tls.autoGenerate", "gateway.tls.caPath",
    "gateway.http.endpoints.responses.maxUrlParts", "gateway.http.endpoints.responses.files", "gateway.http.endpoints.responses.images", "channels.telegram.retry", "channels.telegram.accounts.a.draftChunk",
  ]);
  expect(findUnusedKeys({ a: { b: 1, c: { d: 1, e: 2 } }, f: 1 }, new Set(), ["a.b", "a.c.d"])).toEqual([["a", "c", "e"], ["f"]]);
});

it("finds the key that was meant", () => {
  expect(nearestKey("dmPolciy", ["dmPolicy", "groupPolicy"])).toBe("dmPolicy");
  expect(nearestKey("zzz", ["dmPolicy"])).toBeUndefined();
});
