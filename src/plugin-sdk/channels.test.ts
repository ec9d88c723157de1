import { describe, expect, it } from "vitest";
import * as sdk from "./index.ts";

describe("what config says of people and groups", () => {
  const cfg = {
    channels: {
      telegram: { allowFrom: ["tg:42", "ann", "*"], groups: { "-1": {}, "*": {} } },
      discord: { allowFrom: ["<@111111>"], guilds: { g: { users: ["222222"], channels: { "333333": {}, general: {}, "444444": { enabled: false } } } } },
      slack: { allowFrom: ["U1", "*"], channels: { C1: { users: ["U2"] }, "*": {} } },
      whatsapp: { allowFrom: ["+1 555", "1@g.us"], groups: { "9@g.us": {} } },
    },
  } as never;

  it("is what directories list", async () => {
    const ids = async (list: (query: { cfg: never; query?: string; limit?: number }) => Promise<{ id: string }[]>, query = {}) => (await list({ cfg, ...query })).map((entry) => entry.id);
    expect(await ids(sdk.listTelegramDirectoryPeersFromConfig)).toEqual(["42", "@ann"]);
    expect(await ids(sdk.listTelegramDirectoryGroupsFromConfig)).toEqual(["-1"]);
    expect(await ids(sdk.listDiscordDirectoryPeersFromConfig)).toEqual(["user:111111", "user:222222"]);
    expect(await ids(sdk.listDiscordDirectoryGroupsFromConfig, { limit: 1 })).toEqual(["channel:333333"]);
    expect(await ids(sdk.listSlackDirectoryPeersFromConfig, { query: "u2" })).toEqual(["user:u2"]);
    expect(await ids(sdk.listSlackDirectoryGroupsFromConfig)).toEqual(["channel:c1"]);
    expect(await ids(sdk.listWhatsAppDirectoryPeersFromConfig)).toEqual(["+1555"]);
    expect(await ids(sdk.listWhatsAppDirectoryGroupsFromConfig)).toEqual(["9@g.us"]);
  });

  it("is what audits and heartbeats go by", () => {
    expect(sdk.collectDiscordAuditChannelIds({ cfg })).toEqual({ channelIds: ["333333"], unresolvedChannels: 1 });
    expect(sdk.resolveWhatsAppHeartbeatRecipients(cfg)).toEqual({ recipients: ["+1555", "1@g.us"], source: "allowFrom" });
    expect(sdk.resolveWhatsAppHeartbeatRecipients(cfg, { to: "+2" })).toEqual({ recipients: ["+2"], source: "flag" });
  });
});

describe("status", () => {
  it("summaries hold what is known and null for the rest", () => {
    expect(sdk.buildTokenChannelStatusSummary({ configured: true, tokenSource: "env", mode: "polling" })).toEqual({ configured: true, running: false, lastStartAt: null, lastStopAt: null, lastError: null, tokenSource: "env", mode: "polling", probe: undefined, lastProbeAt: null });
    expect(sdk.buildBaseAccountStatusSnapshot({ account: { accountId: "a", enabled: true, configured: true }, runtime: { running: true, lastInboundAt: 5 } })).toMatchObject({ accountId: "a", running: true, lastInboundAt: 5, lastOutboundAt: null });
  });

  it("says what is wrong and what to do", () => {
    expect(sdk.collectStatusIssuesFromLastError("zap", [{ accountId: "a", lastError: "no net" }, { accountId: "b" }])).toEqual([{ channel: "zap", accountId: "a", kind: "runtime", message: "Channel error: no net" }]);
    const kinds = (issues: sdk.StatusIssue[]) => issues.map((issue) => issue.kind);
    expect(kinds(sdk.collectTelegramStatusIssues([{ accountId: "a", allowUnmentionedGroups: true, probe: { bot: { canReadAllGroupMessages: false } }, audit: { groups: [{ chatId: "-1", ok: false }] } }]))).toEqual(["config", "runtime"]);
    expect(kinds(sdk.collectDiscordStatusIssues([{ accountId: "a", application: { intents: { messageContent: "limited" } }, audit: { channels: [{ channelId: "1", ok: false, missing: ["SendMessages"] }] } }]))).toEqual(["intent", "permissions"]);
    expect(kinds(sdk.collectWhatsAppStatusIssues([{ accountId: "a", linked: false }, { accountId: "b", linked: true, running: true, connected: false }, { accountId: "c", enabled: false, linked: false }]))).toEqual(["auth", "runtime"]);
    expect(kinds(sdk.collectBlueBubblesStatusIssues([{ accountId: "a", configured: false }, { accountId: "b", probe: { ok: false } }]))).toEqual(["config", "runtime"]);
  });
});

describe("the message tool on Slack", () => {
  const call = (action: string, params: Record<string, unknown>) =>
    sdk.handleSlackMessageAction({ providerId: "slack", ctx: { action, cfg: {}, params, accountId: "a" }, invoke: async (request) => request });

  it("speaks to Slack in its own terms", async () => {
    expect(await call("send", { to: "C1", message: "hi", threadId: "1.2" })).toMatchObject({ action: "sendMessage", to: "C1", content: "hi", threadTs: "1.2", accountId: "a" });
    expect(await call("react", { to: "C1", messageId: "1.2", emoji: "x", remove: true })).toMatchObject({ action: "react", channelId: "C1", remove: true });
    expect(await call("read", { channelId: "C2", limit: "5" })).toMatchObject({ action: "readMessages", channelId: "C2", limit: 5 });
    await expect(call("send", { message: "hi" })).rejects.toThrow("to required");
    await expect(call("dance", {})).rejects.toThrow("Action dance is not supported for provider slack.");
  });

  it("offers what some account allows", () => {
    expect(sdk.listSlackMessageActions({})).toEqual([]);
    const actions = sdk.listSlackMessageActions({ channels: { slack: { botToken: "x", actions: { pins: false } } } });
    expect(actions).toContain("react");
    expect(actions).not.toContain("pin");
  });

  it("answers in the thread as configured for that kind of chat", () => {
    const cfg = { channels: { slack: { replyToMode: "first", replyToModeByChatType: { direct: "all" } } } } as never;
    expect(sdk.buildSlackThreadingToolContext({ cfg, context: { To: "channel:C1", ChatType: "channel", MessageThreadId: "1.2" } })).toMatchObject({ currentChannelId: "C1", currentThreadTs: "1.2", replyToMode: "first" });
    expect(sdk.buildSlackThreadingToolContext({ cfg, context: { ChatType: "direct" } }).replyToMode).toBe("all");
    expect(sdk.buildSlackThreadingToolContext({ cfg, context: { ChatType: "channel", ThreadLabel: "t" } }).replyToMode).toBe("all");
    expect(sdk.extractSlackToolSend({ action: "sendMessage", to: " C1 ", accountId: "a" })).toEqual({ to: "C1", accountId: "a" });
    expect(sdk.extractToolSend({ action: "react", to: "C1" })).toBeNull();
  });
});

describe("addresses with a service or a chat in front", () => {
  const prefixes = { chatIdPrefixes: ["chat_id:"], chatGuidPrefixes: ["chat_guid:"], chatIdentifierPrefixes: ["chat_identifier:"] };
  const query = (text: string) => ({ trimmed: text, lower: text.toLowerCase(), ...prefixes });

  it("are read, or refused with the reason", () => {
    expect(sdk.parseChatTargetPrefixesOrThrow(query("chat_id:12"))).toEqual({ kind: "chat_id", chatId: 12 });
    expect(sdk.parseChatTargetPrefixesOrThrow(query("+1555"))).toBeNull();
    expect(() => sdk.parseChatTargetPrefixesOrThrow(query("chat_id:x"))).toThrow("Invalid chat_id: x");
    expect(sdk.parseChatAllowTargetPrefixes(query("chat_id:x"))).toBeNull();
    const services = { servicePrefixes: [{ prefix: "sms:", service: "sms" }], isChatTarget: (rest: string) => rest.startsWith("chat_id:"), parseTarget: (rest: string) => ({ rest }) };
    expect(sdk.resolveServicePrefixedTarget({ ...query("sms:+1"), ...services })).toEqual({ kind: "handle", to: "+1", service: "sms" });
    expect(sdk.resolveServicePrefixedTarget({ ...query("sms:chat_id:1"), ...services })).toEqual({ rest: "chat_id:1" });
    expect(() => sdk.resolveServicePrefixedTarget({ ...query("sms: "), ...services })).toThrow("sms: target is required");
  });

  it("a chat on the list admits everybody in it, an empty list nobody", () => {
    const parseAllowTarget = (entry: string) => sdk.parseChatAllowTargetPrefixes(query(entry)) ?? { kind: "handle" as const, handle: entry };
    const ask = (allowFrom: string[], chatId?: number) => sdk.isAllowedParsedChatSender({ allowFrom, sender: "A@b.c", chatId, normalizeSender: (sender) => sender.toLowerCase(), parseAllowTarget });
    expect([ask([]), ask(["*"]), ask(["a@B.c"]), ask(["chat_id:7"], 7), ask(["chat_id:7"], 8)]).toEqual([false, true, true, true, false]);
  });
});

describe("rights in groups", () => {
  it("a mention is needed, except for a command of somebody with the right to it", () => {
    const base = { isGroup: true, requireMention: true, canDetectMention: true, wasMentioned: false, allowTextCommands: true, hasControlCommand: true };
    expect(sdk.resolveMentionGatingWithBypass({ ...base, commandAuthorized: true })).toEqual({ effectiveWasMentioned: true, shouldSkip: false, shouldBypassMention: true });
    expect(sdk.resolveMentionGatingWithBypass({ ...base, commandAuthorized: true, hasAnyMention: true }).shouldSkip).toBe(true);
    expect(sdk.resolveMentionGatingWithBypass({ ...base, commandAuthorized: false }).shouldSkip).toBe(true);
  });

  it("says why somebody may not speak", () => {
    const ask = (configuredGroupPolicy: "open" | "allowlist" | "disabled", groupAllowFrom: string[]) =>
      sdk.evaluateSenderGroupAccess({ providerConfigPresent: true, configuredGroupPolicy, groupAllowFrom, senderId: "a", isSenderAllowed: (id, list) => list.includes(id) }).reason;
    expect([ask("open", []), ask("disabled", ["a"]), ask("allowlist", []), ask("allowlist", ["b"]), ask("allowlist", ["a"])]).toEqual(["allowed", "disabled", "empty_allowlist", "sender_not_allowlisted", "allowed"]);
  });

  it("a sender's commands go by both lists, and those who were paired count in direct chats", async () => {
    const ask = (isGroup: boolean, rawBody = "/status") =>
      sdk.resolveSenderCommandAuthorization({
        cfg: {}, rawBody, isGroup, dmPolicy: "pairing", configuredAllowFrom: [], senderId: "7", isSenderAllowed: (id, list) => list.includes(id), readAllowFromStore: async () => ["7"],
        shouldComputeCommandAuthorized: (body) => body.startsWith("/"), resolveCommandAuthorizedFromAuthorizers: ({ authorizers }) => authorizers.some((list) => list.configured && list.allowed),
      });
    expect(await ask(false)).toMatchObject({ shouldComputeAuth: true, senderAllowedForCommands: true, commandAuthorized: true, effectiveAllowFrom: ["7"] });
    expect(await ask(true)).toMatchObject({ commandAuthorized: false, senderAllowedForCommands: false });
    expect((await ask(false, "hi")).commandAuthorized).toBeUndefined();
  });

  it("a chat's settings, else its parent's, else those for all", () => {
    const entries = { General: 1, parent: 2, "*": 3 };
    const ask = (...keys: string[]) => sdk.resolveChannelEntryMatchWithFallback({ entries, keys, parentKeys: keys.includes("thread") ? ["parent"] : [], wildcardKey: "*", normalizeKey: sdk.normalizeChannelSlug });
    expect(ask("#general")).toMatchObject({ entry: 1, matchKey: "General", matchSource: "direct" });
    expect(ask("thread")).toMatchObject({ entry: 2, matchSource: "parent" });
    expect(ask("other")).toMatchObject({ entry: 3, matchSource: "wildcard" });
  });
});

describe("the machine", () => {
  it("finds its name in the tailnet", async () => {
    const run = (stdout: string, code = 0) => sdk.resolveTailnetHostWithRunner(async () => ({ code, stdout }));
    expect(await run('warning\n{"Self":{"DNSName":"box.ts.net.","TailscaleIPs":["100.1.1.1"]}}')).toBe("box.ts.net");
    expect(await run('{"Self":{"TailscaleIPs":["100.1.1.1"]}}')).toBe("100.1.1.1");
    expect(await run("not json")).toBeNull();
    expect(await sdk.resolveTailnetHostWithRunner()).toBeNull();
  });

  it("knows the address for other devices", () => {
    const ask = (bind: string | undefined, lan: string | null = "10.0.0.2") => sdk.resolveGatewayBindUrl({ bind, scheme: "ws", port: 1, pickTailnetHost: () => null, pickLanHost: () => lan });
    expect([ask(undefined), ask("lan"), ask("lan", null), ask("tailnet"), ask("custom")]).toEqual([
      null, { url: "ws://10.0.0.2:1", source: "gateway.bind=lan" }, { error: expect.stringContaining("lan") }, { error: expect.stringContaining("tailnet") }, { error: expect.stringContaining("customBindHost") },
    ]);
  });

  it("a provider's login becomes a profile", () => {
    expect(sdk.buildOauthProviderAuthResult({ providerId: "p", defaultModel: "p/m", access: "A", refresh: "R", expires: 5, email: "a@b.c" })).toEqual({
      profiles: [{ profileId: "p:a@b.c", credential: { type: "oauth", provider: "p", access: "A", refresh: "R", expires: 5, email: "a@b.c" } }],
      configPatch: { agents: { defaults: { models: { "p/m": {} } } } }, defaultModel: "p/m",
    });
  });

  it("a plugin may not end the process", () => {
    const lines: string[] = [];
    const runtime = sdk.createLoggerBackedRuntime({ logger: { info: (line) => lines.push(line), error: (line) => lines.push(line) } });
    runtime.log("a", 1, { b: 2 });
    expect(lines).toEqual(['a 1 {"b":2}']);
    expect(() => runtime.exit(3)).toThrow("exit 3");
  });
});
