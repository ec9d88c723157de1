import { describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../../../src/config/index.ts";
import { dmRules, resolveAccess } from "./access.ts";
import { defaultAccountId, listAccountIds, resolveAccount, unconfiguredReason } from "./config.ts";

const KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG";
const cfgOf = (wecom: object): OpenClawConfig => ({ channels: { wecom } }) as OpenClawConfig;
const account = (wecom: object, id = "default", env: Record<string, string> = {}) => resolveAccount(cfgOf(wecom), id, env);

describe("the two dialects", () => {
  it("nested: a bot and an app beside it", () => {
    const read = account({ bot: { connectionMode: "websocket", botId: 42, secret: "s", welcomeText: "hi", dm: { policy: "allowlist", allowFrom: ["Alice"] } }, agent: { corpId: "ww", corpSecret: { source: "env", id: "S" }, agentId: 1, token: "t", encodingAESKey: KEY }, media: { maxBytes: 5 } }, "default", { S: "from env" });
    expect(read).toMatchObject({ problem: undefined, maxBytes: 5, bot: { mode: "websocket", botId: "42", secret: "s", welcomeText: "hi", websocketUrl: "wss://openws.work.weixin.qq.com" }, app: { corpId: "ww", corpSecret: "from env", agentId: "1", callback: { token: "t", receiveId: "ww" } } });
    expect(dmRules(read)).toEqual({ policy: "allowlist", allowFrom: ["alice"] });
  });
  it("flat: botId and secret, or token and key", () => {
    expect(account({ botId: "b", secret: "s" })).toMatchObject({ problem: undefined, bot: { mode: "websocket", placeholder: "1", showsThinking: true }, app: undefined });
    expect(account({ token: "t", encodingAESKey: KEY })).toMatchObject({ problem: undefined, bot: { mode: "webhook", callback: { receiveId: "" } } });
  });
  it("where bot and app differ the stricter policy holds; unset is pairing for people and a list for groups", () => {
    expect(dmRules(account({ bot: { botId: "b", secret: "s", dm: { policy: "open" } }, agent: { corpId: "c", corpSecret: "s", dmPolicy: "allowlist", allowFrom: ["x"] } }))).toEqual({ policy: "allowlist", allowFrom: ["x"] });
    const plain = account({ botId: "b", secret: "s" });
    expect(resolveAccess(plain, {}, { id: "wrG", type: "group" })).toMatchObject({ dmPolicy: "pairing", groupPolicy: "allowlist", groupListed: false, groupConfigHint: 'channels.wecom.groups["wrG"] = {} and channels.wecom.groupAllowFrom = ["<userid of who may speak, or *>"]' });
    expect(resolveAccess(account({ botId: "b", secret: "s", groups: { wrG: { allowFrom: ["Bob"] } } }), {}, { id: "WRG", type: "group" })).toMatchObject({ groupListed: true, groupAllowFrom: ["bob"] });
  });
});

describe("accounts", () => {
  const two = { botId: "b1", secret: "s1", dmPolicy: "open", allowFrom: ["*"], accounts: { Work: { botId: "b2", secret: "s2" }, half: { botId: "b3" }, twin: { botId: "b1", secret: "s1" } }, defaultAccount: "work" };
  it("inherit settings, never credentials", () => {
    expect(listAccountIds(cfgOf(two))).toEqual(["default", "half", "twin", "work"]);
    expect(defaultAccountId(cfgOf(two))).toBe("work");
    expect(account(two, "work")).toMatchObject({ bot: { botId: "b2", secret: "s2" }, config: { dmPolicy: "open" } });
    expect(account(two, "half").problem).toContain("botId and secret");
    expect(unconfiguredReason(account(two, "twin"), cfgOf(two), {})).toContain('already used by account "default"');
  });
});

it.each<[object, string]>([
  [{}, "Neither a bot nor an app"], [{ botId: "b" }, "needs botId and secret"], [{ botId: "b", secret: "s", connectionMode: "webhook" }, "needs token and encodingAESKey"], [{ agent: { corpId: "c" } }, "corpSecret"],
  [{ botId: "b", secret: "s", colour: 1 }, "colour"], [{ token: "t", encodingAESKey: "short" }, "channels.wecom.encodingAESKey: an EncodingAESKey has 43"], [{ botId: "b", secret: "s", websocketUrl: "ws://example.com" }, "plain http and ws"],
])("%j is told: %s", (section, problem) => expect(account(section).problem).toContain(problem));

it("the proxy is that of the configuration, then of the environment, in order", () => {
  const env = { HTTPS_PROXY: "http://b", WECOM_EGRESS_PROXY_URL: "http://a" };
  expect([account({ network: { egressProxyUrl: "http://c" } }, "default", env).proxyUrl, account({}, "default", env).proxyUrl, account({}, "default", { HTTP_PROXY: "http://d" }).proxyUrl]).toEqual(["http://c", "http://a", "http://d"]);
});
