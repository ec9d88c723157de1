import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { createLarkPlugin } from "./index.ts";
import { normalizeTarget, parseTarget } from "./targets.ts";

const APP = { appId: "cli_a1b2c3d4e5f60718", appSecret: "s" };
const plugin = createLarkPlugin({ env: {} });
const account = (section: object, id = "default", env: Record<string, string> = {}) => createLarkPlugin({ env }).config.resolveAccount({ channels: { feishu: section } } as OpenClawConfig, id);
const access = (section: object, chat: { id: string; type: "direct" | "group" }) => plugin.security?.resolveAccess(account(section), {}, chat);

describe("the configuration of Feishu", () => {
  it.each([
    [APP, undefined, "https://open.feishu.cn"],
    [{ ...APP, domain: "lark" }, undefined, "https://open.larksuite.com"],
    [{ ...APP, domain: "https://feishu.example.com/" }, undefined, "https://feishu.example.com"],
    [{ ...APP, domain: "http://127.0.0.1:1" }, /domain must be feishu, lark or an https/, undefined],
    [{ ...APP, appId: "abc" }, /is no App ID/, undefined],
    [{ appId: APP.appId }, /No App Secret: set channels.feishu.appSecret/, undefined],
    [{}, /No App ID/, undefined],
    [{ ...APP, connectionMode: "webhook" }, /needs channels.feishu.verificationToken/, undefined],
  ])("%j: problem %s", (section, problem, root) => {
    const found = account(section);
    if (problem === undefined) expect([found.problem, found.apiRoot]).toEqual([undefined, root]);
    else expect(found.problem).toMatch(problem);
  });

  it("takes plain http for the override on this machine only", () => {
    expect(account(APP, "default", { OPENCLAW_FEISHU_API_ROOT: "http://127.0.0.1:9" })).toMatchObject({ apiRoot: "http://127.0.0.1:9", problem: undefined });
    expect(account(APP, "default", { OPENCLAW_FEISHU_API_ROOT: "http://ex.com" }).problem).toContain("OPENCLAW_FEISHU_API_ROOT");
  });

  it("gives each account the top level's keys under its own, and refuses a second connection of one app", () => {
    const section = { ...APP, renderMode: "card", accounts: { Work: { appId: "cli_b1b2c3d4e5f60718", appSecret: "w", renderMode: "raw" }, twin: {} } };
    const cfg = { channels: { feishu: section } } as OpenClawConfig;
    expect(plugin.config.listAccountIds(cfg)).toEqual(["twin", "work"]);
    expect(account(section, "work")).toMatchObject({ appId: "cli_b1b2c3d4e5f60718", config: { renderMode: "raw" }, configPath: "channels.feishu.accounts.Work" });
    expect(account(section, "twin")).toMatchObject({ appId: APP.appId, config: { renderMode: "card" } });
    const both = { channels: { feishu: { accounts: { a: APP, b: APP } } } } as OpenClawConfig;
    expect(plugin.config.unconfiguredReason(plugin.config.resolveAccount(both, "b"), both)).toContain('already used by account "a"');
    expect(plugin.config.defaultAccountId({ channels: { feishu: { defaultAccount: "work", ...section } } } as OpenClawConfig)).toBe("work");
  });

  it("is written by `channels add`", () => {
    const { setup } = plugin;
    expect(setup?.validateInput({ token: "abc" })).toContain("<App ID>:<App Secret>");
    expect(setup?.validateInput({ token: "cli_abc:def" })).toBeUndefined();
    expect(setup?.applyAccountConfig({}, "default", { token: "cli_abc:def" })).toEqual({ channels: { feishu: { enabled: true, appId: "cli_abc", appSecret: "def" } } });
    expect(setup?.applyAccountConfig({}, "Work", { useEnv: true, name: "W" })).toEqual({ channels: { feishu: { enabled: true, accounts: { work: { enabled: true, name: "W", appId: "${FEISHU_APP_ID}", appSecret: "${FEISHU_APP_SECRET}" } } } } });
  });
});

describe("who may talk to the bot", () => {
  const oc = { id: "oc_1", type: "group" } as const;
  it("is nobody at first: people pair, groups must be listed, and the line to add is told", () => {
    expect(access(APP, { id: "ou_x", type: "direct" })).toMatchObject({ dmPolicy: "pairing", allowFrom: [] });
    expect(access(APP, oc)).toMatchObject({ groupListed: false, requireMention: true, groupConfigHint: 'channels.feishu.groups["oc_1"] = { requireMention: true }' });
  });

  it.each([
    [{ groupAllowFrom: ["oc_1"] }, { groupListed: true, groupPolicy: "open" }],
    [{ groupAllowFrom: ["oc_2"] }, { groupListed: false }],
    [{ groupAllowFrom: ["ou_boss"] }, { groupListed: true, groupPolicy: "allowlist", groupAllowFrom: ["ou_boss"] }],
    [{ groups: { oc_1: { allowFrom: ["feishu:ou_a"], requireMention: false } } }, { groupListed: true, groupPolicy: "allowlist", groupAllowFrom: ["ou_a"], requireMention: false }],
    [{ groups: { "*": {}, oc_1: { enabled: false } } }, { groupListed: true, groupEnabled: false }],
    [{ groupPolicy: "open", requireMention: false }, { groupListed: true, groupPolicy: "open", requireMention: false }],
    [{ groupPolicy: "disabled", groups: { oc_1: {} } }, { groupPolicy: "disabled" }],
  ])("with %j", (section, expected) => {
    expect(access({ ...APP, ...section }, oc)).toMatchObject(expected);
  });

  it("and what tools they have there, by sender, then by group", () => {
    const cfg = { channels: { feishu: { ...APP, groups: { oc_1: { tools: { deny: ["exec"] }, toolsBySender: { "id:ou_a": { allow: ["exec"] } } } } } } } as OpenClawConfig;
    const policy = (senderId: string) => plugin.groups?.resolveToolPolicy?.({ cfg, accountId: "default", groupId: "oc_1", senderId });
    expect([policy("ou_a"), policy("ou_b")]).toEqual([{ allow: ["exec"] }, { deny: ["exec"] }]);
  });
});

it.each([
  ["oc_abc", { type: "chat_id", id: "oc_abc" }], ["feishu:chat:oc_abc", { type: "chat_id", id: "oc_abc" }], ["user:ou_x", { type: "open_id", id: "ou_x" }], ["open_id:ou_x", { type: "open_id", id: "ou_x" }], ["on_x", { type: "union_id", id: "on_x" }],
  ["user:7cg1abc", { type: "user_id", id: "7cg1abc" }], ["lark:项目群", { type: "name", id: "项目群" }], ["chat:My Team", { type: "name", id: "My Team" }], ["", undefined], ["open_id:xx", undefined],
])("the address %s is %j", (raw, target) => {
  expect(parseTarget(raw)).toEqual(target);
});

it("only what looks like Feishu's is taken for an address of Feishu", () => {
  expect(["oc_1", "feishu:ou_1", "123456", "@name"].map(normalizeTarget)).toEqual(["chat:oc_1", "user:ou_1", undefined, undefined]);
});
