import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { chunkByNewline, chunkMarkdownTextWithMode, chunkText, chunkTextWithMode, convertMarkdownTables, resolveChunkMode, resolveMarkdownTableMode, resolveTextChunkLimit } from "./channel-text.ts";
import { resolveCommandAuthorizedFromAuthorizers } from "./command-rights.ts";
import { createCommandTexts } from "./commands.ts";
import { createInboundDebouncer, resolveInboundDebounceMs } from "./debounce.ts";
import { resolveGroupPolicy, resolveRequireMention } from "./group-rules.ts";
import { buildMentionRegexes, matchesMentionWithExplicit } from "./mentions.ts";
import { removeAckReactionAfterReply, shouldAckReaction } from "./reactions.ts";
import { createReplyPrefixContext, fillResponsePrefix, resolveAckReaction, resolveEffectiveMessagesConfig } from "./reply-prefix.ts";

describe("texts of a channel", () => {
  it("cuts by length, by paragraph, by line", () => {
    expect(chunkTextWithMode("a\nb\n\nc\n\n\nd", 100, "newline")).toEqual(["a\nb", "c", "d"]);
    expect(chunkMarkdownTextWithMode("a\nb\n\nc", 0, "newline")).toEqual(["a\nb", "c"]);
    expect(chunkByNewline("a\n\nb\nc", 100)).toEqual(["a", "\nb", "c"]);
    expect(chunkText("abc", 0)).toEqual(["abc"]);
    expect(chunkText("", 10)).toEqual([]);
  });

  it("no piece is longer than the limit and nothing but blanks is lost", () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), fc.integer({ min: 2, max: 40 }), (text, limit) => {
      const pieces = chunkText(text, limit);
      expect(pieces.every((piece) => piece.length <= limit)).toBe(true);
      expect(pieces.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    }));
  });

  it("settings of the account go before those of the channel", () => {
    const cfg = { channels: { zap: { textChunkLimit: 10, chunkMode: "newline", markdown: { tables: "bullets" }, accounts: { Two: { textChunkLimit: 5 } } } } } as never;
    expect([resolveTextChunkLimit(cfg, "zap", "two"), resolveTextChunkLimit(cfg, "zap"), resolveTextChunkLimit({}, "zap", null, { fallbackLimit: 7 }), resolveTextChunkLimit({}, "zap")]).toEqual([5, 10, 7, 4000]);
    expect([resolveChunkMode(cfg, "zap"), resolveChunkMode({}, "zap")]).toEqual(["newline", "length"]);
    expect([resolveMarkdownTableMode({ cfg, channel: "zap" }), resolveMarkdownTableMode({ cfg: {}, channel: "signal" }), resolveMarkdownTableMode({ cfg: {}, channel: "x" })]).toEqual(["bullets", "bullets", "code"]);
  });

  const table = "before\n\n| Name | Qty |\n|---|---|\n| **Apple** | 2 |\n| Kiwi | 10 |\n\nafter *x*";
  it("rewrites tables and leaves the rest alone", () => {
    expect(convertMarkdownTables(table, "code")).toBe("before\n\n```\n| Name  | Qty |\n| ----- | --- |\n| Apple | 2   |\n| Kiwi  | 10  |\n```\n\nafter *x*");
    expect(convertMarkdownTables(table, "bullets")).toBe("before\n\n**Apple**\n• Qty: 2\n\n**Kiwi**\n• Qty: 10\n\nafter *x*");
    expect(convertMarkdownTables(table, "off")).toBe(table);
    const fenced = `\`\`\`\n${table}\n\`\`\``;
    expect(convertMarkdownTables(fenced, "code")).toBe(fenced);
  });

  it("a text without a table stays as it is", () => {
    fc.assert(fc.property(fc.string().filter((text) => !text.includes("|") || !text.includes("-")), (text) => {
      expect(convertMarkdownTables(text, "code")).toBe(text);
    }));
  });
});

describe("groups", () => {
  const cfg = (zap: object) => ({ channels: { zap } }) as never;
  it.each([
    [{}, { allowed: true, allowlistEnabled: false }],
    [{ groupPolicy: "disabled", groups: { g: {} } }, { allowed: false }],
    [{ groups: { other: {} } }, { allowed: false, allowlistEnabled: true }],
    [{ groups: { "*": { requireMention: false } } }, { allowed: true }],
    [{ groupPolicy: "allowlist" }, { allowed: false }],
  ])("with %j the group g is %j", (section, result) => {
    expect(resolveGroupPolicy({ cfg: cfg(section), channel: "zap", groupId: "g" })).toMatchObject(result);
  });
  it("a list of senders admits any group when none is named", () => {
    expect(resolveGroupPolicy({ cfg: cfg({ groupPolicy: "allowlist" }), channel: "zap", groupId: "g", hasGroupAllowFrom: true }).allowed).toBe(true);
  });
  it("needs a mention unless told otherwise", () => {
    const groups = { g: {}, "*": { requireMention: false } };
    expect(resolveRequireMention({ cfg: {}, channel: "zap", groupId: "g" })).toBe(true);
    expect(resolveRequireMention({ cfg: cfg({ groups }), channel: "zap", groupId: "g" })).toBe(false);
    expect(resolveRequireMention({ cfg: cfg({ groups }), channel: "zap", groupId: "g", requireMentionOverride: true })).toBe(false);
    expect(resolveRequireMention({ cfg: cfg({ groups }), channel: "zap", groupId: "g", requireMentionOverride: true, overrideOrder: "before-config" })).toBe(true);
  });
});

describe("mentions, reactions and prefixes", () => {
  const cfg = { agents: { list: [{ id: "main", identity: { name: "Molty", emoji: "🦞" } }] }, messages: { responsePrefix: "auto" }, channels: { zap: { responsePrefix: "[{provider}/{model} {nope}]" } } } as never;

  it("knows its name and native mentions", () => {
    const mentionRegexes = buildMentionRegexes(cfg, "main");
    const ask = (text: string, explicit?: { isExplicitlyMentioned: boolean }) =>
      matchesMentionWithExplicit({ text, mentionRegexes, ...(explicit ? { explicit: { hasAnyMention: true, canResolveExplicit: true, ...explicit } } : {}) });
    expect([ask("hey molty!"), ask("moltyness"), ask("x", { isExplicitlyMentioned: true }), ask("x", { isExplicitlyMentioned: false })]).toEqual([true, false, true, false]);
  });

  it("fills the prefix when the model is known", () => {
    const context = createReplyPrefixContext({ cfg, agentId: "main", channel: "zap" });
    context.onModelSelected({ provider: "openai", model: "gpt-x-20260101" });
    expect(fillResponsePrefix(context.responsePrefix, context.responsePrefixContextProvider())).toBe("[openai/gpt-x {nope}]");
    expect(resolveEffectiveMessagesConfig(cfg, "main")).toEqual({ messagePrefix: "[Molty]", responsePrefix: "[Molty]" });
    expect(resolveEffectiveMessagesConfig({}, "main", { hasAllowFrom: true })).toEqual({ messagePrefix: "", responsePrefix: undefined });
    expect(resolveAckReaction(cfg, "main")).toBe("🦞");
    expect(resolveAckReaction({}, "main")).toBe("👀");
  });

  it("acknowledges by scope, and takes it back when it was set", async () => {
    const base = { isDirect: false, isGroup: true, isMentionableGroup: true, requireMention: true, canDetectMention: true, effectiveWasMentioned: true };
    expect([shouldAckReaction({ ...base, scope: undefined }), shouldAckReaction({ ...base, scope: "direct" }), shouldAckReaction({ ...base, scope: "off" }), shouldAckReaction({ ...base, scope: "group-mentions", effectiveWasMentioned: false })]).toEqual([true, false, false, false]);
    const removed = await new Promise((resolve) => removeAckReactionAfterReply({ removeAfterReply: true, ackReactionPromise: Promise.resolve(true), ackReactionValue: "👀", remove: async () => resolve("removed") }));
    expect(removed).toBe("removed");
  });
});

describe("commands", () => {
  const texts = createCommandTexts({ isCommand: (text) => text === "/status", hasNativeCommands: (channel) => channel === "telegram" });
  it("knows commands alone and inside of text", () => {
    expect(["/status", "see /status", "stop", "hi"].map((text) => texts.isControlCommandMessage(text))).toEqual([true, false, true, false]);
    expect(["/status", "see /status", "hi", "1/2"].map((text) => texts.shouldComputeCommandAuthorized(text))).toEqual([true, true, false, false]);
    expect(texts.shouldHandleTextCommands({ cfg: { commands: { text: false } }, surface: "telegram" })).toBe(false);
    expect(texts.shouldHandleTextCommands({ cfg: { commands: { text: false } }, surface: "zap" })).toBe(true);
  });
  it("without groups of access everybody may, unless the mode says no", () => {
    const ask = (useAccessGroups: boolean, modeWhenAccessGroupsOff?: "allow" | "deny" | "configured", configured = true) =>
      resolveCommandAuthorizedFromAuthorizers({ useAccessGroups, authorizers: [{ configured, allowed: false }], modeWhenAccessGroupsOff });
    expect([ask(true), ask(false), ask(false, "deny"), ask(false, "configured"), ask(false, "configured", false)]).toEqual([false, true, false, false, true]);
  });
});

describe("what is said in one breath", () => {
  it("comes together, and what may not wait sends it on first", async () => {
    vi.useFakeTimers();
    try {
      const flushed: string[][] = [];
      const debouncer = createInboundDebouncer<{ id: string; text: string }>({ debounceMs: 50, buildKey: (item) => item.id, shouldDebounce: (item) => !item.text.startsWith("/"), onFlush: (items) => void flushed.push(items.map((item) => item.text)) });
      await debouncer.enqueue({ id: "a", text: "1" });
      await debouncer.enqueue({ id: "a", text: "2" });
      await vi.advanceTimersByTimeAsync(50);
      await debouncer.enqueue({ id: "a", text: "3" });
      await debouncer.enqueue({ id: "a", text: "/stop" });
      expect(flushed).toEqual([["1", "2"], ["3"], ["/stop"]]);
    } finally {
      vi.useRealTimers();
    }
  });
  it("waits as long as the config says", () => {
    const cfg = { messages: { inbound: { debounceMs: 10, byChannel: { zap: 20 } } } } as never;
    expect([resolveInboundDebounceMs({ cfg, channel: "zap" }), resolveInboundDebounceMs({ cfg, channel: "x" }), resolveInboundDebounceMs({ cfg, channel: "x", overrideMs: 1 })]).toEqual([20, 10, 1]);
  });
});
