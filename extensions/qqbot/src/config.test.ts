import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import manifest from "../openclaw.plugin.json" with { type: "json" };
import { collectWarnings, isCommandAllowed, resolveAccess } from "./access.ts";
import { defaultAccountId, listAccountIds, resolveAccount } from "./config.ts";
import { setup } from "./setup.ts";

const config = (qqbot: object) => ({ channels: { qqbot } });

it("keys that do nothing here are told with what replaces them, in accounts and groups as well", () => {
  const cfg = config({ appId: 1, clientSecret: "s", stt: { enabled: true }, execApprovals: {}, streaming: { mode: "off", speed: 9 }, audioFormatPolicy: { volume: 1 }, groups: { "*": { colour: "red" } }, accounts: { b: { appId: 2, upgradeMode: "doc" } } });
  expect(collectWarnings(resolveAccount(cfg, "default", {}), cfg)).toEqual([
    "channels.qqbot.stt has no effect: recordings are put into words by tools.media.audio.",
    "channels.qqbot.execApprovals has no effect: approvals of commands are set in approvals.exec.",
    "channels.qqbot.streaming.speed has no effect: this key is not known.",
    "channels.qqbot.audioFormatPolicy.volume has no effect: this key is not known.",
    'channels.qqbot.groups["*"].colour has no effect: this key is not known.',
  ]);
  expect(collectWarnings(resolveAccount(cfg, "b", {}), cfg)).toContain("channels.qqbot.accounts.b.upgradeMode has no effect: the gateway is updated with `openclaw update`.");
});

it("every key of the manifest is known, those that the gateway reads for all channels among them", () => {
  const keys = Object.keys(manifest.configSchema.properties).filter((key) => key !== "accounts");
  const known = config(Object.fromEntries(keys.map((key) => [key, undefined])));
  expect(collectWarnings(resolveAccount(known, "default", {}), known)).toEqual([]);
  expect(Object.keys(manifest.configSchema.properties.accounts.additionalProperties.properties)).toEqual(keys.filter((key) => key !== "defaultAccount"));
  const shared = { responsePrefix: "[bot]", dmHistoryLimit: 5, dms: { A: { historyLimit: 1 } }, heartbeat: { showOk: false }, defaultTo: "qqbot:c2c:A", blockStreaming: false };
  const cfg = config({ appId: 1, clientSecret: "s", ...shared, stt: {} });
  expect(collectWarnings(resolveAccount(cfg, "default", {}), cfg)).toHaveLength(1);
});

it("the secret comes from the config, a file or the environment; only the default account reads QQBOT_*", async () => {
  const dir = await mkdtemp(join(tmpdir(), "qqbot-"));
  try {
    const path = join(dir, "secret");
    await writeFile(path, "from file\n");
    const secret = (keys: object, id = "default") => {
      const { clientSecret, tokenSource, problem } = resolveAccount(config(keys), id, { QQBOT_APP_ID: "9", QQBOT_CLIENT_SECRET: "from env", OTHER: "other env" });
      return [clientSecret, tokenSource, problem];
    };
    expect(secret({ appId: 1, clientSecret: "own", clientSecretFile: path })).toEqual(["own", "config", undefined]);
    expect(secret({ clientSecretFile: path })).toEqual(["from file", "file", undefined]);
    expect(secret({})).toEqual(["from env", "env", undefined]);
    expect(secret({ clientSecret: { source: "env", id: "OTHER" } })).toEqual(["other env", "env", undefined]);
    expect(secret({ clientSecret: { source: "file", provider: "x", id: path } })).toEqual(["from file", "file", undefined]);
    expect(secret({ clientSecret: { source: "env", id: "NONE" } })).toEqual([undefined, "none", "clientSecret.id: the environment has no NONE."]);
    expect(secret({ clientSecret: { source: "exec", id: "x" } })[2]).toContain("channels.qqbot.clientSecret");
    expect(secret({ clientSecretFile: join(dir, "none") })[2]).toContain("cannot be read");
    expect(secret({ accounts: { b: { appId: 2 } } }, "b").slice(0, 2)).toEqual([undefined, "none"]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

it("accounts are those with an AppID; the default one can be named", () => {
  const cfg = config({ accounts: { Work: { appId: 2 }, none: {} }, defaultAccount: "WORK" });
  expect([listAccountIds(cfg, {}), listAccountIds(cfg, { QQBOT_APP_ID: "1" }), defaultAccountId(cfg, {})]).toEqual([["work"], ["default", "work"], "work"]);
  expect(defaultAccountId(config({ appId: 1, defaultAccount: "gone" }), {})).toBe("default");
});

it("what is unset means pairing for people and an allow list for groups; a group's keys win over the star's", () => {
  const rules = (qqbot: object, id = "group:G") => resolveAccess(resolveAccount(config(qqbot), "default", {}), config(qqbot), { id, type: "group" });
  expect(rules({})).toMatchObject({ dmPolicy: "pairing", groupPolicy: "allowlist", groupListed: false, requireMention: true, groupConfigHint: expect.stringContaining('channels.qqbot.groups["G"]') as string });
  expect(rules({ groupAllowFrom: ["qqbot:abc"] })).toMatchObject({ groupListed: true, groupAllowFrom: ["ABC"] });
  const groups = { "*": { requireMention: false, historyLimit: 5 }, "group:g": { historyLimit: 0 } };
  expect(rules({ groups, historyLimit: 9 })).toMatchObject({ requireMention: false, historyLimit: 0, groupListed: true });
  expect(rules({ groups: { "5001": {} }, historyLimit: 9, defaultRequireMention: false }, "channel:5001")).toMatchObject({ groupListed: true, historyLimit: 9, requireMention: false });
});

it.each([
  [undefined, ["/config", "/stop", "hi"]],
  ["all", ["/config", "/stop", "hi"]],
  ["safety", ["/stop", "hi"]],
  ["strict", ["/stop", "hi"]],
] as const)("at the level %s a group may say %j", (commandLevel, allowed) => {
  expect(["/config", "/stop", "hi"].filter((text) => isCommandAllowed({ commandLevel }, text))).toEqual(allowed);
  expect(isCommandAllowed({ commandLevel }, "/status")).toBe(commandLevel !== "strict");
});

it("`channels add` takes AppID:AppSecret", () => {
  expect(setup.validateInput({ token: "1:s" })).toBeUndefined();
  expect(setup.validateInput({ token: "1" })).toContain("<AppID>:<AppSecret>");
  expect(setup.validateInput({ useEnv: true })).toBeUndefined();
  expect(setup.applyAccountConfig({}, "Work", { token: "1:s", name: "W" })).toEqual({ channels: { qqbot: { enabled: true, accounts: { work: { enabled: true, name: "W", appId: "1", clientSecret: "s" } } } } });
});
