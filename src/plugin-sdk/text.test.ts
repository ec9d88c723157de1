import { describe, expect, it, vi } from "vitest";
import * as sdk from "./index.ts";

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
