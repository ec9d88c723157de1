import { expect, it } from "vitest";
import manifest from "../openclaw.plugin.json" with { type: "json" };
import { collectWarnings, normalizeEntry, resolveAccess, resolveToolPolicy } from "./access.ts";
import { addressProblem, defaultAccountId, listAccountIds, resolveAccount, unconfiguredReason } from "./config.ts";
import { reconnectPolicy } from "./stream.ts";

const cfg = (dingtalk: object): { channels: Record<string, unknown> } => ({ channels: { dingtalk } });
const account = (section: object, id = "default", env = {}) => resolveAccount(cfg({ clientId: "a", clientSecret: "s", ...section }), id, env);
const access = (section: object, chat: { id: string; type: "direct" | "group" } = { id: "cidA", type: "group" }) => resolveAccess(account(section), cfg(section), chat);

it("takes every key of the manifest, of both plugins of old, and says which key is wrong", () => {
  const old = { clientId: 7, clientSecret: { source: "env", id: "X" }, agentId: 1, corpId: "c", robotCode: "r", showThinkingStream: true, asyncMode: true, connectionMode: "stream", enableAICard: true, historyLimit: 5, bypassProxyForSend: true };
  expect(account(old, "default", { X: "from env" })).toMatchObject({ clientId: "7", clientSecret: "from env", tokenSource: "env", problem: undefined });
  expect(account({ cardStreamInterval: 100, groups: { "*": { requireMentoin: true } } }).problem).toMatch(/dingtalk\.groups\.\*: .*dingtalk\.cardStreamInterval: /);
  for (const key of Object.keys(manifest.configSchema.properties)) expect(account({ [key]: Symbol.iterator }).problem ?? "", key).not.toContain("Unrecognized");
  expect(collectWarnings(account({ robotCode: "r", asyncMode: true, requireMention: true }))).toEqual(["channels.dingtalk.robotCode has no effect: the robot's code is clientId.", "channels.dingtalk.asyncMode has no effect: every message is acknowledged at once."]);
  expect(account({ nonsense: 1 }).problem).toContain("nonsense");
});

it("lays accounts over the top level, but leaves each its own credentials", () => {
  const section = { clientId: "a", clientSecret: "s", dmPolicy: "open", defaultAccount: "Work", accounts: { Work: { clientId: "b", dmPolicy: "disabled" }, twin: { clientId: "a", clientSecret: "s" } } };
  expect(listAccountIds(cfg(section), {})).toEqual(["default", "twin", "work"]);
  expect(defaultAccountId(cfg(section), {})).toBe("work");
  expect(account(section, "work")).toMatchObject({ clientId: "b", clientSecret: "", config: { dmPolicy: "disabled" }, problem: expect.stringContaining("accounts.Work.clientSecret") as string });
  expect(unconfiguredReason(account(section, "twin"), cfg(section), {})).toContain('already used by account "default"');
  expect(resolveAccount({}, "default", { DINGTALK_CLIENT_ID: "e", DINGTALK_CLIENT_SECRET: "f" })).toMatchObject({ clientId: "e", clientSecret: "f", problem: undefined });
});

it("speaks plain http and ws with this machine only", () => {
  expect(["http://127.0.0.1:1", "ws://localhost:2", "https://api.dingtalk.com"].map(addressProblem)).toEqual([undefined, undefined, undefined]);
  expect(account({}, "default", { OPENCLAW_DINGTALK_API_ROOT: "http://10.0.0.1" }).problem).toContain("loopback");
});

it.each([
  ["nothing set: pairing, and no group", {}, { dmPolicy: "pairing", groupPolicy: "allowlist", groupListed: false, requireMention: true }],
  ["a listed group", { groups: { cidA: { requireMention: false } } }, { groupListed: true, requireMention: false }],
  ["every group", { groups: { "*": { groupAllowFrom: ["dd:Bob"] } } }, { groupListed: true, groupAllowFrom: ["Bob"] }],
  ["a group's own list before that of all", { groupAllowFrom: ["x"], groups: { "*": { groupAllowFrom: ["y"] }, cidA: { groupAllowFrom: [] } } }, { groupAllowFrom: [] }],
  ["an open group with a list", { groupPolicy: "open", groups: { cidA: { groupAllowFrom: [] } } }, { groupPolicy: "allowlist", groupAllowFrom: [] }],
  ["an open group", { groupPolicy: "open" }, { groupPolicy: "open", groupListed: true }],
  ["a group among the people, as of old", { allowFrom: ["group:cidA"] }, { groupListed: true }],
  ["a mention by the key of the other plugin", { groupPolicy: "open", requireMention: false }, { requireMention: false }],
  ["another group only", { groups: { cidB: {} } }, { groupListed: false, groupConfigHint: expect.stringContaining('groups["cidA"]') as string }],
])("access: %s", (_name, section, rules) => expect(access(section)).toMatchObject(rules));

it("compares ids with their case, without prefixes, and finds tools by sender", () => {
  expect(["dingtalk:Abc", " ding:user:Abc ", "dd:$:LWCP_v1:xY"].map(normalizeEntry)).toEqual(["Abc", "Abc", "$:LWCP_v1:xY"]);
  const section = { groups: { cidA: { tools: { deny: ["exec"] }, toolsBySender: { "id:Bob": { allow: ["read"] } } } } };
  const policy = (senderId: string) => resolveToolPolicy(account(section), { cfg: {}, accountId: "default", groupId: "cidA", senderId });
  expect([policy("Bob"), policy("bob")]).toEqual([{ allow: ["read"] }, { deny: ["exec"] }]);
});

it("pauses between connections as configured", () => {
  const policy = reconnectPolicy(account({ initialReconnectDelay: 100, maxReconnectDelay: 1000, reconnectJitter: 0.5 }), () => 1);
  expect([1, 2, 3, 9].map((attempt) => policy.delayMs(attempt))).toEqual([150, 300, 600, 1000]);
  expect(reconnectPolicy(account({}), () => 0).delayMs(1)).toBe(700);
  const endless = reconnectPolicy(account({ useConnectionManager: false, initialReconnectDelay: 30 }));
  expect([endless.delayMs(8), endless.attempts]).toEqual([30, Number.POSITIVE_INFINITY]);
});
