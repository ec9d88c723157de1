import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import * as sdk from "./index.ts";

let dir: string;
beforeAll(async () => void (dir = await mkdtemp(join(tmpdir(), "sdk-"))));
afterAll(() => rm(dir, { recursive: true, force: true }));

describe("ids and parameters", () => {
  it.each([["Foo Bar", "foo-bar"], [" a_B-9 ", "a_b-9"], ["", "default"], ["__proto__", "default"], ["constructor", "default"], [undefined, "default"], ["--x--", "x"], ["é!", "default"]])("the account %j is called %j", (raw, id) => {
    expect(sdk.normalizeAccountId(raw)).toBe(id);
  });

  it("any account id has a form that stays what it is", () => {
    fc.assert(fc.property(fc.string(), (raw) => {
      const id = sdk.normalizeAccountId(raw);
      expect(id).toMatch(/^[a-z0-9_-]{1,64}$/);
      expect(sdk.normalizeAccountId(id)).toBe(id);
    }));
  });

  it("reads a tool's parameters, also in snake case, and says which one is missing", () => {
    expect(sdk.readStringParam({ chat_id: " 7 " }, "chatId")).toBe("7");
    expect(sdk.readStringParam({ a: 5 }, "a")).toBeUndefined();
    expect(sdk.readStringParam({ a: "" }, "a", { allowEmpty: true })).toBe("");
    expect(() => sdk.readStringParam({}, "to", { required: true, label: "target" })).toThrow("target required");
    expect(sdk.readNumberParam({ n: "12.7" }, "n", { integer: true })).toBe(12);
    expect(sdk.readNumberParam({ n: "x" }, "n")).toBeUndefined();
    expect(sdk.readReactionParams({ emoji: "" }, { removeErrorMessage: "no" })).toEqual({ emoji: "", remove: false, isEmpty: true });
    expect(() => sdk.readReactionParams({ emoji: "", remove: true }, { removeErrorMessage: "name it" })).toThrow("name it");
    expect(sdk.createActionGate({ a: false })("a")).toBe(false);
    expect(sdk.createActionGate<Record<string, boolean>>({})("b", false)).toBe(false);
    expect(sdk.jsonResult({ a: 1 })).toEqual({ content: [{ type: "text", text: '{\n  "a": 1\n}' }], details: { a: 1 } });
    expect(sdk.stringEnum(["a", "b"], { description: "d" })).toEqual({ type: "string", enum: ["a", "b"], description: "d" });
  });

  it("an empty plugin config is nothing or an object without keys", () => {
    const schema = sdk.emptyPluginConfigSchema();
    const message = (value: unknown): string | undefined => {
      const result = schema.safeParse(value);
      return result.success ? undefined : result.error.issues[0]?.message;
    };
    expect([undefined, {}, { a: 1 }, null, []].map(message)).toEqual([undefined, undefined, "config must be empty", "expected config object", "expected config object"]);
    expect(schema.jsonSchema).toEqual({ type: "object", additionalProperties: false, properties: {} });
  });
});

describe("lists of who may write", () => {
  it("keeps entries as trimmed texts", () => {
    expect(sdk.addWildcardAllowFrom([" b ", 1])).toEqual(["b", "1", "*"]);
    expect(sdk.addWildcardAllowFrom(["*"])).toEqual(["*"]);
    expect(sdk.mergeAllowFromEntries([" a", 1], ["1", "", "c"])).toEqual(["a", "1", "c"]);
    expect(sdk.mergeAllowlist({ existing: ["Ann"], additions: ["ann", "Bo"] })).toEqual(["Ann", "Bo"]);
  });

  it("an empty list admits nobody, a star everybody, case does not matter", () => {
    expect(sdk.isNormalizedSenderAllowed({ senderId: "A", allowFrom: [] })).toBe(false);
    expect(sdk.isNormalizedSenderAllowed({ senderId: "A", allowFrom: ["*"] })).toBe(true);
    expect(sdk.isNormalizedSenderAllowed({ senderId: "Zalo:A", allowFrom: ["zalo:a"], stripPrefixRe: /^zalo:/i })).toBe(true);
  });

  it("names count only where they were allowed to", () => {
    expect(sdk.resolveAllowlistMatchSimple({ allowFrom: ["ann"], senderId: "1", senderName: "Ann" })).toEqual({ allowed: false });
    expect(sdk.resolveAllowlistMatchSimple({ allowFrom: ["ann"], senderId: "1", senderName: "Ann", allowNameMatching: true })).toEqual({ allowed: true, matchKey: "ann", matchSource: "name" });
  });

  it("a stranger may ask for pairing, unless a policy says no", () => {
    const ask = (dmPolicy: string, storeAllowFrom: string[] = []) => sdk.resolveDmGroupAccessWithLists({ isGroup: false, dmPolicy, allowFrom: ["me"], storeAllowFrom, isSenderAllowed: (list) => list.includes("you") });
    expect(ask("pairing")).toMatchObject({ decision: "pairing", reason: "dmPolicy=pairing (not allowlisted)" });
    expect(ask("pairing", ["you"])).toMatchObject({ decision: "allow" });
    expect(ask("allowlist", ["you"])).toMatchObject({ decision: "block" });
    expect(ask("disabled")).toMatchObject({ decision: "block", reason: "dmPolicy=disabled" });
    expect(ask("open")).toMatchObject({ decision: "allow", reason: "dmPolicy=open" });
  });

  it("those who were paired in direct chats are not admitted to groups by it", () => {
    const group = sdk.resolveDmGroupAccessWithLists({ isGroup: true, groupPolicy: "allowlist", storeAllowFrom: ["you"], isSenderAllowed: (list) => list.includes("you") });
    expect(group).toMatchObject({ decision: "block", reason: "groupPolicy=allowlist (empty allowlist)", effectiveAllowFrom: ["you"], effectiveGroupAllowFrom: [] });
  });

  it("a channel without a section blocks groups and says so", () => {
    expect(sdk.resolveAllowlistProviderRuntimeGroupPolicy({ providerConfigPresent: false, defaultGroupPolicy: "open" })).toEqual({ groupPolicy: "allowlist", providerMissingFallbackApplied: true });
    expect(sdk.resolveOpenProviderRuntimeGroupPolicy({ providerConfigPresent: true })).toEqual({ groupPolicy: "open", providerMissingFallbackApplied: false });
    expect(sdk.resolveAllowlistProviderRuntimeGroupPolicy({ providerConfigPresent: true, defaultGroupPolicy: "disabled" })).toEqual({ groupPolicy: "disabled", providerMissingFallbackApplied: false });
  });

  it("a command of somebody without the right to it is blocked", () => {
    const gate = (allowed: boolean) => sdk.resolveControlCommandGate({ useAccessGroups: true, authorizers: [{ configured: true, allowed }], allowTextCommands: true, hasControlCommand: true });
    expect(gate(false)).toEqual({ commandAuthorized: false, shouldBlock: true });
    expect(gate(true)).toEqual({ commandAuthorized: true, shouldBlock: false });
  });
});

describe("a channel's section of the config", () => {
  const cfg = { channels: { zap: { name: "Base", token: "t", accounts: { Work: { token: "w" } } } } } as never;
  const section = (next: unknown): unknown => (next as { channels?: { zap?: unknown } }).channels?.zap;

  it("switches an account on where it stands", () => {
    expect(section(sdk.setAccountEnabledInConfigSection({ cfg: {}, sectionKey: "zap", accountId: "default", enabled: true, allowTopLevel: true }))).toEqual({ enabled: true });
    expect(section(sdk.setAccountEnabledInConfigSection({ cfg, sectionKey: "zap", accountId: "work", enabled: false, allowTopLevel: true }))).toMatchObject({ accounts: { Work: { token: "w", enabled: false } } });
    expect(section(sdk.setAccountEnabledInConfigSection({ cfg: {}, sectionKey: "zap", accountId: "default", enabled: true }))).toEqual({ accounts: { default: { enabled: true } } });
  });

  it("deletes an account and what is empty then", () => {
    expect(section(sdk.deleteAccountFromConfigSection({ cfg, sectionKey: "zap", accountId: "work" }))).toEqual({ name: "Base", token: "t" });
    expect(sdk.deleteAccountFromConfigSection({ cfg: { channels: { zap: { token: "t" } } } as never, sectionKey: "zap", accountId: "default", clearBaseFields: ["token"] })).toEqual({});
  });

  it("names accounts, and moves the name of the first when a second comes", () => {
    expect(section(sdk.applyAccountNameToChannelSection({ cfg: {}, channelKey: "zap", accountId: "default", name: " Ann " }))).toEqual({ name: "Ann" });
    const moved = sdk.migrateBaseNameToDefaultAccount({ cfg, channelKey: "zap" });
    expect(section(moved)).toMatchObject({ token: "t", accounts: { default: { name: "Base" }, Work: { token: "w" } } });
    expect(section(moved)).not.toHaveProperty("name");
    expect(section(sdk.applyAccountNameToChannelSection({ cfg, channelKey: "zap", accountId: "work", name: "W" }))).toMatchObject({ name: "Base", accounts: { Work: { name: "W" } } });
  });

  it("lists accounts sorted, and the default one first to be chosen", () => {
    const list = sdk.createAccountListHelpers("zap");
    expect(list.listAccountIds({})).toEqual(["default"]);
    expect(list.listAccountIds({ channels: { zap: { accounts: { b: {}, A: {} } } } } as never)).toEqual(["a", "b"]);
    expect(list.resolveDefaultAccountId({ channels: { zap: { accounts: { b: {}, A: {} } } } } as never)).toBe("a");
  });

  it("the environment serves the default account only", () => {
    const both = { channels: { discord: { accounts: { default: {}, two: {} } } } } as never;
    const env = { DISCORD_BOT_TOKEN: "Bot abc" };
    expect(sdk.resolveDiscordAccount({ cfg: both, env })).toMatchObject({ accountId: "default", token: "abc", tokenSource: "env", enabled: true });
    expect(sdk.resolveDiscordAccount({ cfg: both, accountId: "two", env })).toMatchObject({ token: "", tokenSource: "none", configured: false });
    expect(sdk.resolveTelegramAccount({ cfg: { channels: { telegram: { token: "1:a", accounts: { x: {} } } } } as never, accountId: "x", env: {} })).toMatchObject({ token: "", configured: false });
    expect(sdk.resolveTelegramAccount({ cfg: { channels: { telegram: { botToken: "1:a", accounts: { x: { botToken: "2:b", name: "X" } } } } }, accountId: "X", env: {} })).toMatchObject({ accountId: "x", token: "2:b", name: "X", tokenSource: "config" });
  });
});

describe("group rules", () => {
  const cfg = {
    channels: {
      telegram: { groups: { "-1": { requireMention: false, tools: { deny: ["exec"] }, toolsBySender: { "id:7": { allow: ["exec"] } }, topics: { "9": { requireMention: true } } } } },
      discord: { guilds: { g1: { requireMention: false, channels: { general: { requireMention: true, tools: { allow: ["read"] } } } } } },
      slack: { requireMention: false, channels: { "#ops": { requireMention: true } } },
    },
  } as never;

  it("a topic's rule goes before its group's, a person's before all others'", () => {
    expect(sdk.resolveTelegramGroupRequireMention({ cfg, groupId: "-1" })).toBe(false);
    expect(sdk.resolveTelegramGroupRequireMention({ cfg, groupId: "-1:topic:9" })).toBe(true);
    expect(sdk.resolveTelegramGroupRequireMention({ cfg, groupId: "-2" })).toBe(true);
    expect(sdk.resolveTelegramGroupToolPolicy({ cfg, groupId: "-1", senderId: "7" })).toEqual({ allow: ["exec"] });
    expect(sdk.resolveTelegramGroupToolPolicy({ cfg, groupId: "-1", senderId: "8" })).toEqual({ deny: ["exec"] });
  });

  it("finds rooms of servers by name", () => {
    expect(sdk.resolveDiscordGroupRequireMention({ cfg, groupSpace: "g1", groupChannel: "#General" })).toBe(true);
    expect(sdk.resolveDiscordGroupRequireMention({ cfg, groupSpace: "g1", groupChannel: "#other" })).toBe(false);
    expect(sdk.resolveDiscordGroupToolPolicy({ cfg, groupSpace: "g1", groupChannel: "general" })).toEqual({ allow: ["read"] });
    expect(sdk.resolveSlackGroupRequireMention({ cfg, groupId: "C1", groupChannel: "ops" })).toBe(true);
    expect(sdk.resolveSlackGroupRequireMention({ cfg, groupId: "C1", groupChannel: "x" })).toBe(false);
  });
});

describe("addresses", () => {
  it.each([
    [sdk.normalizeTelegramMessagingTarget, "https://t.me/Ann_1", "telegram:@ann_1"],
    [sdk.normalizeTelegramMessagingTarget, "tg:-100:topic:7", "telegram:-100:topic:7"],
    [sdk.normalizeDiscordMessagingTarget, "<@!123456>", "user:123456"],
    [sdk.normalizeDiscordMessagingTarget, "123456", "channel:123456"],
    [sdk.normalizeSlackMessagingTarget, "slack:U123", "user:u123"],
    [sdk.normalizeSlackMessagingTarget, "#general", "channel:general"],
    [sdk.normalizeSignalMessagingTarget, "signal:group:AbC=", "group:AbC="],
    [sdk.normalizeSignalMessagingTarget, "u:Ann.01", "username:ann.01"],
    [sdk.normalizeIMessageMessagingTarget, "imessage:A@B.c", "imessage:a@b.c"],
    [sdk.normalizeIMessageMessagingTarget, "ChatId:12", "chat_id:12"],
    [sdk.normalizeWhatsAppMessagingTarget, "whatsapp:4915@s.whatsapp.net", "+4915"],
    [sdk.normalizeWhatsAppMessagingTarget, "120-3@G.us", "120-3@g.us"],
    [sdk.normalizeWhatsAppMessagingTarget, "x@lid", undefined],
  ])("%o reads %j as %j", (normalize, raw, wanted) => {
    expect(normalize(raw)).toBe(wanted);
  });

  it("a WhatsApp message to somebody outside of the list is refused, to a group not", () => {
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "+1", allowFrom: ["+2"] })).toMatchObject({ ok: false });
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "+1", allowFrom: ["*", "+2"] })).toEqual({ ok: true, to: "+1" });
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "1@g.us", allowFrom: ["+2"] })).toEqual({ ok: true, to: "1@g.us" });
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "", allowFrom: ["+2"], mode: "implicit" })).toEqual({ ok: true, to: "+2" });
    expect(sdk.resolveWhatsAppOutboundTarget({ to: "", allowFrom: [] })).toMatchObject({ ok: false });
  });

  it("no text makes a normaliser fail", () => {
    fc.assert(fc.property(fc.string(), (raw) => {
      for (const normalize of [sdk.normalizeTelegramMessagingTarget, sdk.normalizeDiscordMessagingTarget, sdk.normalizeSlackMessagingTarget, sdk.normalizeSignalMessagingTarget, sdk.normalizeIMessageMessagingTarget, sdk.normalizeWhatsAppMessagingTarget]) {
        const target = normalize(raw);
        expect(target === undefined || (typeof target === "string" && target !== "")).toBe(true);
      }
    }));
  });
});

describe("texts", () => {
  it.each([["NO_REPLY", true], ["NO_REPLY ok", true], ["ok NO_REPLY", true], ["ok NO_REPLY.", true], ["NO_REPLYING", false], ["say NO_REPLY now", false], ["", false]])("%j is silent: %j", (text, silent) => {
    expect(sdk.isSilentReplyText(text)).toBe(silent);
  });

  it("tells a group's earlier lines before the current one, and forgets them after", () => {
    const historyMap = new Map<string, { sender: string; body: string }[]>();
    const place = { historyMap, historyKey: "g", limit: sdk.DEFAULT_GROUP_HISTORY_LIMIT };
    sdk.recordPendingHistoryEntryIfEnabled({ ...place, entry: { sender: "a", body: "hi" } });
    sdk.recordPendingHistoryEntryIfEnabled({ ...place, entry: { sender: "b", body: "yo" } });
    const build = () => sdk.buildPendingHistoryContextFromMap({ ...place, currentMessage: "cur", formatEntry: (entry) => `${entry.sender}: ${entry.body}` });
    expect(build()).toBe("[Chat messages since your last reply - for context]\na: hi\nb: yo\n\n[Current message - respond to this]\ncur");
    sdk.clearHistoryEntriesIfEnabled(place);
    expect(build()).toBe("cur");
  });

  it("keeps no more lines than the limit, and no more chats than it can", () => {
    const historyMap = new Map<string, { sender: string; body: string }[]>();
    for (let i = 0; i < 5; i++) sdk.recordPendingHistoryEntry({ historyMap, historyKey: "g", limit: 2, entry: { sender: "a", body: String(i) } });
    expect(historyMap.get("g")?.map((line) => line.body)).toEqual(["3", "4"]);
    for (let i = 0; i < 1005; i++) sdk.recordPendingHistoryEntry({ historyMap, historyKey: `k${i}`, limit: 1, entry: { sender: "a", body: "x" } });
    expect(historyMap.size).toBe(1000);
  });

  it("names places, docs and media", () => {
    expect(sdk.formatLocationText({ latitude: 48.8584, longitude: 2.2945, accuracy: 12.4 })).toBe("📍 48.858400, 2.294500 ±12m");
    expect(sdk.formatLocationText({ latitude: 1, longitude: 2, name: "Tower", address: "Paris", caption: "here" })).toBe("📍 Tower — Paris (1.000000, 2.000000)\nhere");
    expect(sdk.formatDocsLink("/channels/x", "x", { force: false })).toBe("https://docs.openclaw.ai/channels/x");
    expect(sdk.buildAgentMediaPayload([])).toEqual({});
    expect(sdk.buildAgentMediaPayload([{ path: "/a", contentType: "image/png" }, { path: "/b" }])).toEqual({ MediaPath: "/a", MediaType: "image/png", MediaUrl: "/a", MediaPaths: ["/a", "/b"], MediaUrls: ["/a", "/b"], MediaTypes: ["image/png"] });
    expect(sdk.formatPairingApproveHint("zap")).toBe("Approve via: openclaw pairing list zap / openclaw pairing approve zap <code>");
    expect(sdk.createDefaultChannelRuntimeState("a", { mode: "poll" })).toEqual({ accountId: "a", running: false, lastStartAt: null, lastStopAt: null, lastError: null, mode: "poll" });
    expect(sdk.resolveThreadSessionKeys({ baseSessionKey: "agent:main:x", threadId: "T1", parentSessionKey: "p" })).toEqual({ sessionKey: "agent:main:x:thread:t1", parentSessionKey: "p" });
    expect(sdk.resolveThreadSessionKeys({ baseSessionKey: "b" })).toEqual({ sessionKey: "b", parentSessionKey: undefined });
    expect(sdk.PAIRING_APPROVED_MESSAGE).toMatch(/Send a message to start chatting\.$/);
  });

  it("LINE gets tables and code as cards, the rest without marks", () => {
    const { text, flexMessages } = sdk.processLineMessage("**Hi** [site](https://e.com)\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n```js\nx()\n```\n");
    expect(text).toBe("Hi site");
    expect(flexMessages.map((message) => message.altText)).toEqual(["Table: A, B", "Code (js)"]);
    expect(sdk.hasMarkdownToConvert("plain text 5 * 3")).toBe(false);
    expect(sdk.hasMarkdownToConvert("**b**")).toBe(true);
  });
});

describe("typing", () => {
  it("repeats while an answer is written and never starts after it", async () => {
    vi.useFakeTimers();
    try {
      let starts = 0;
      let stops = 0;
      const typing = sdk.createTypingCallbacks({ start: async () => void starts++, stop: async () => void stops++, onStartError: () => undefined });
      await typing.onReplyStart();
      await vi.advanceTimersByTimeAsync(6500);
      expect(starts).toBe(3);
      typing.onIdle?.();
      typing.onCleanup?.();
      await typing.onReplyStart();
      await vi.advanceTimersByTimeAsync(60_000);
      expect([starts, stops]).toEqual([3, 1]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("files", () => {
  it("remembers messages over a restart", async () => {
    const options = { ttlMs: 60_000, memoryMaxSize: 100, fileMaxEntries: 2, resolveFilePath: (name: string) => join(dir, `seen-${name}.json`) };
    const first = sdk.createPersistentDedupe(options);
    expect(await Promise.all([first.checkAndRecord("a", { now: 1 }), first.checkAndRecord("a", { now: 1 })])).toEqual([true, false]);
    const later = sdk.createPersistentDedupe(options);
    expect(await later.checkAndRecord("a", { now: 2 })).toBe(false);
    expect(await later.checkAndRecord("a", { now: 70_000 })).toBe(true);
    for (const key of ["b", "c"]) await later.checkAndRecord(key, { now: 70_001 });
    expect(Object.keys(JSON.parse(await readFile(join(dir, "seen-global.json"), "utf8")) as object)).toEqual(["b", "c"]);
  });

  it("a disk that fails leaves the memory to decide", async () => {
    const errors: unknown[] = [];
    await sdk.writeJsonFileAtomically(join(dir, "file"), 1);
    const dedupe = sdk.createPersistentDedupe({ ttlMs: 1000, memoryMaxSize: 10, fileMaxEntries: 10, resolveFilePath: () => join(dir, "file", "x.json"), onDiskError: (err) => errors.push(err) });
    expect([await dedupe.checkAndRecord("a"), await dedupe.checkAndRecord("a")]).toEqual([true, false]);
    expect(errors).toHaveLength(1);
  });

  it("forgets keys that are old or too many", () => {
    const cache = sdk.createDedupeCache({ ttlMs: 100, maxSize: 2 });
    expect([cache.check("a", 0), cache.check("a", 50), cache.check("a", 200)]).toEqual([false, true, false]);
    cache.check("b", 200);
    cache.check("c", 200);
    expect([cache.size(), cache.check("a", 201)]).toEqual([2, false]);
  });

  it("writes JSON whole and private, and falls back where there is none", async () => {
    const path = join(dir, "sub", "a.json");
    expect(await sdk.readJsonFileWithFallback(path, { x: 1 })).toEqual({ value: { x: 1 }, exists: false });
    await sdk.writeJsonFileAtomically(path, { y: 2 });
    expect(await sdk.readJsonFileWithFallback(path, {})).toEqual({ value: { y: 2 }, exists: true });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("one holder of a lock at a time", async () => {
    const options = { retries: { retries: 20, factor: 1.1, minTimeout: 5, maxTimeout: 50 }, stale: 1000 };
    let inside = 0;
    await Promise.all(Array.from({ length: 4 }, () => sdk.withFileLock(join(dir, "l"), options, async () => {
      expect(++inside).toBe(1);
      await sdk.sleep(1);
      inside--;
    })));
  });

  it("runs programs with a limit", async () => {
    expect(await sdk.runPluginCommandWithTimeout({ argv: [process.execPath, "-e", "console.log('hi')"], timeoutMs: 10_000 })).toEqual({ code: 0, stdout: "hi\n", stderr: "" });
    expect(await sdk.runPluginCommandWithTimeout({ argv: [process.execPath, "-e", "setInterval(()=>{},1000)"], timeoutMs: 100 })).toMatchObject({ code: 124 });
    expect(await sdk.runPluginCommandWithTimeout({ argv: ["no-such-program-x"], timeoutMs: 1000 })).toMatchObject({ code: 1 });
  });

  it("names temporary and stored files", async () => {
    expect(sdk.buildRandomTempFilePath({ prefix: "../a b", extension: ".png", tmpDir: "/t", now: 5, uuid: "u" })).toBe("/t/a-b-5-u.png");
    expect(sdk.extractOriginalFilename("/m/report---123e4567-e89b-12d3-a456-426614174000.pdf")).toBe("report.pdf");
    expect(sdk.getFileExtension("https://e.com/a.PNG?x=1")).toBe(".png");
    const path = await sdk.withTempDownloadPath({ prefix: "x", fileName: "a.txt", tmpDir: dir }, async (temp) => temp);
    await expect(stat(path)).rejects.toThrow("ENOENT");
  });
});

describe("addresses that are not fetched", () => {
  it.each(["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "10.1.2.3", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1%eth0", "169.254.169.254", "[fd00::1]"])("%s is private", (address) => {
    expect(sdk.isPrivateIpAddress(address)).toBe(true);
  });
  it.each(["8.8.8.8", "2606:4700::1111", "example.com", ""])("%j is not", (address) => expect(sdk.isPrivateIpAddress(address)).toBe(false));
  it.each(["localhost", "LOCALHOST.", "a.local", "x.internal", "sub.localhost"])("%s is blocked", (name) => expect(sdk.isBlockedHostname(name)).toBe(true));
  it("example.com is not blocked", () => expect(sdk.isBlockedHostnameOrIp("example.com")).toBe(false));
});
