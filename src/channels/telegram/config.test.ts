import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { resolveAccess, resolveToolPolicy } from "./access.ts";
import { listAccountIds, resolveAccount, tokenRemoval, unconfiguredReason } from "./config.ts";
import { setup } from "./setup.ts";
import { collectStatusIssues, describeAccount } from "./status.ts";
import { normalizeTarget, parseTarget } from "./targets.ts";

type Telegram = NonNullable<NonNullable<OpenClawConfig["channels"]>["telegram"]>;
const cfgOf = (telegram: Telegram): OpenClawConfig => ({ channels: { telegram } });

describe("accounts and tokens", () => {
  const tokenFile = join(mkdtempSync(join(tmpdir(), "tg-")), "token");
  writeFileSync(tokenFile, "1:file\n");

  it.each<[string, Telegram, string, Record<string, string>, string | undefined, string]>([
    ["the account's file first", { botToken: "1:base", accounts: { default: { tokenFile, botToken: "1:own" } } }, "default", {}, "1:file", "tokenFile"],
    ["the account's own token", { tokenFile, accounts: { default: { botToken: "1:own" } } }, "default", {}, "1:own", "config"],
    ["the alias token", { token: "1:alias" }, "default", {}, "1:alias", "config"],
    ["the environment last", {}, "default", { TELEGRAM_BOT_TOKEN: "1:env" }, "1:env", "env"],
    ["no fall-through from a missing file", { tokenFile: "/nowhere/token", botToken: "1:base" }, "default", { TELEGRAM_BOT_TOKEN: "1:env" }, undefined, "none"],
    ["base and environment serve the default account only", { botToken: "1:base", accounts: { work: {} } }, "work", { TELEGRAM_BOT_TOKEN: "1:env" }, undefined, "none"],
  ])("%s", (_name, telegram, id, env, token, source) => {
    expect(resolveAccount(cfgOf(telegram), id, env)).toMatchObject({ token, tokenSource: source });
  });

  it("lists accounts of config and bindings, and overlays whole objects", () => {
    const cfg: OpenClawConfig = {
      channels: { telegram: { dmPolicy: "open", groups: { "-1": {} }, accounts: { Work: { botToken: "2:w", groups: { "-2": {} } } } } },
      bindings: [{ agentId: "main", match: { channel: "telegram", accountId: "home" } }],
    };
    expect(listAccountIds(cfg)).toEqual(["home", "work"]);
    expect(resolveAccount(cfg, "work", {}).config).toMatchObject({ dmPolicy: "open", groups: { "-2": {} } });
    expect(resolveAccount(cfg, "work", {}).config.groups?.["-1"]).toBeUndefined();
  });

  it("forgets an account's tokens at a logout, and no other's", () => {
    const cfg = cfgOf({ botToken: "1:base", accounts: { Work: { botToken: "2:w", tokenFile: "/t" }, default: { token: "1:own" } } });
    expect(tokenRemoval(cfg, "work")).toEqual({ channels: { telegram: { accounts: { Work: { botToken: null, tokenFile: null } } } } });
    expect(tokenRemoval(cfg, "default")).toEqual({ channels: { telegram: { botToken: null, accounts: { default: { token: null } } } } });
    expect(tokenRemoval(cfgOf({}), "default")).toBeUndefined();
  });

  it("refuses a second account with the same token, naming the first", () => {
    const cfg = cfgOf({ accounts: { a: { botToken: "1:same" }, b: { botToken: "1:same" } } });
    expect(unconfiguredReason(resolveAccount(cfg, "a", {}), cfg, {})).toBeUndefined();
    expect(unconfiguredReason(resolveAccount(cfg, "b", {}), cfg, {})).toContain('account "a"');
  });

  it("takes plain http for this machine only", () => {
    const root = (apiRoot: string) => resolveAccount(cfgOf({ botToken: "1:x", apiRoot }), "default", {}).problem;
    expect(root("http://127.0.0.1:8081/")).toBeUndefined();
    expect(root("https://api.example.com")).toBeUndefined();
    expect(root("http://api.example.com")).toContain("https");
    expect(resolveAccount(cfgOf({}), "default", { OPENCLAW_TELEGRAM_API_ROOT: "http://localhost:1/" }).apiRoot).toBe("http://localhost:1");
  });
});

describe("who may speak where", () => {
  const group = { id: "-100", type: "group" as const };
  const rules = (telegram: Telegram, chat: { id: string; type: "group" | "direct"; threadId?: string } = group, defaults?: "open") =>
    resolveAccess(resolveAccount(cfgOf(telegram), "default", {}), defaults ? { channels: { defaults: { groupPolicy: defaults } } } : {}, chat);

  it("is closed when nothing is set", () => {
    expect(rules({})).toMatchObject({ dmPolicy: "pairing", allowFrom: [], groupPolicy: "allowlist", groupListed: false, requireMention: true });
  });
  it("keeps numeric ids only", () => {
    expect(rules({ allowFrom: ["tg:42", 7, "@alice", "bob"], groupAllowFrom: ["alice"] })).toMatchObject({ allowFrom: ["42", "7"], groupAllowFrom: [] });
  });
  it("orders topic, group, account and defaults", () => {
    const telegram: Telegram = { groupPolicy: "allowlist", groupAllowFrom: [1], groups: { "-100": { allowFrom: [2], groupPolicy: "open", topics: { "7": { allowFrom: [3], groupPolicy: "disabled", requireMention: false } } } } };
    expect(rules(telegram)).toMatchObject({ groupPolicy: "open", groupAllowFrom: ["2"], requireMention: true, groupListed: true });
    expect(rules(telegram, { ...group, threadId: "7" })).toMatchObject({ groupPolicy: "disabled", groupAllowFrom: ["3"], requireMention: false });
    expect(rules({}, group, "open")).toMatchObject({ groupPolicy: "open", groupListed: true });
  });
  it("needs the group listed, unless a group list names people and no groups are named", () => {
    expect(rules({ groupAllowFrom: [1] }).groupListed).toBe(true);
    expect(rules({ groupAllowFrom: [1], groups: { "-5": {} } }).groupListed).toBe(false);
    expect(rules({ groups: { "*": { requireMention: false } } })).toMatchObject({ groupListed: true, requireMention: false });
    expect(rules({ groups: { "-100": { enabled: false } } }).groupEnabled).toBe(false);
  });
  it("names the config line that would admit the group", () => {
    expect(rules({ allowFrom: [42] }).groupConfigHint).toBe('channels.telegram.groups["-100"] = { requireMention: true }');
    expect(rules({}).groupConfigHint).toContain("groupAllowFrom");
  });
  it("gives tools by sender before tools of the group", () => {
    const account = resolveAccount(cfgOf({ groups: { "-100": { tools: { deny: ["exec"] }, toolsBySender: { "id:42": { allow: ["exec"] } } } } }), "default", {});
    const ctx = { cfg: {}, accountId: "default", groupId: "-100" };
    expect(resolveToolPolicy(account, { ...ctx, senderId: "42" })).toEqual({ allow: ["exec"] });
    expect(resolveToolPolicy(account, { ...ctx, senderId: "7" })).toEqual({ deny: ["exec"] });
  });
});

describe("status issues", () => {
  it("tells that privacy mode hides messages of a group that needs no mention", () => {
    const account = resolveAccount(cfgOf({ botToken: "1:x", groups: { "-1": { requireMention: false } } }), "default", {});
    const snapshot = describeAccount(account, undefined);
    expect(collectStatusIssues([{ ...snapshot, bot: { canReadAllGroupMessages: true } }])).toEqual([]);
    expect(collectStatusIssues([{ ...snapshot, bot: { canReadAllGroupMessages: false } }])[0]?.fix).toContain("/setprivacy");
  });
});

describe("addresses", () => {
  it.each([
    ["42", "telegram:42"],
    ["tg:42", "telegram:42"],
    ["telegram:group:-100200:topic:7", "telegram:-100200:topic:7"],
    ["-100200:7", "telegram:-100200:topic:7"],
    ["@durov", "telegram:@durov"],
    ["https://t.me/durov", "telegram:@durov"],
    ["t.me/durov", "telegram:@durov"],
    ["discord:42", undefined],
    ["hello world", undefined],
  ])("%s is %s", (raw, expected) => expect(normalizeTarget(raw)).toBe(expected));
  it("reads topics", () => expect(parseTarget("telegram:-1:topic:7")).toEqual({ chatId: "-1", threadId: 7 }));
});

describe("channels add", () => {
  it("writes a token, a file, or only enables the environment's", () => {
    expect(setup.validateInput({})).toContain("--token");
    expect(setup.validateInput({ token: "nonsense" })).toContain("@BotFather");
    expect(setup.validateInput({ token: "123456:ABCDEFGHIJKL" })).toBeUndefined();
    expect(setup.applyAccountConfig({}, "default", { token: "1:x" })).toEqual({ channels: { telegram: { enabled: true, botToken: "1:x", tokenFile: null } } });
    expect(setup.applyAccountConfig({}, "default", { useEnv: true })).toEqual({ channels: { telegram: { enabled: true } } });
    expect(setup.applyAccountConfig(cfgOf({ botToken: "1:x" }), "Work", { tokenFile: "/t" })).toEqual({
      channels: { telegram: { enabled: true, accounts: { default: {}, work: { enabled: true, tokenFile: "/t", botToken: null } } } },
    });
  });
});

it("describes itself without loading the SDK", () => {
  const script = `
    const { createTelegramPlugin } = await import(${JSON.stringify(join(import.meta.dirname, "index.ts"))});
    const plugin = createTelegramPlugin({ env: {} });
    plugin.config.listAccountIds({});
    const { createRequire } = await import("node:module");
    console.log(Object.keys(createRequire("/").cache).filter((path) => /grammy|bottleneck/.test(path)).length);`;
  expect(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }).trim()).toBe("0");
});
