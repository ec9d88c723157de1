import type { AgentMessage } from "@mariozechner/pi-agent-core";
import { describe, expect, it } from "vitest";
import { pruneHistory, resolvePruning, type PruningSettings } from "./context-pruning.ts";
import { answer, callTool, toolResult, user } from "./conversation-fixture.ts";

const MINUTE = 60_000;
const WINDOW = 10_000; // tokens: 40,000 characters
const anthropic = { provider: "anthropic", modelId: "claude-opus-4-6" };

function settings(more: object = {}): PruningSettings {
  const found = resolvePruning({ agents: { defaults: { contextPruning: { mode: "cache-ttl", minPrunableToolChars: 1, ...more } } } }, anthropic);
  if (!found) throw new Error("off");
  return found;
}

/** Turns of a question, a tool call with `chars` of output, and an answer, one minute apart. */
function turns(count: number, chars: number, startMs = 0): AgentMessage[] {
  return Array.from({ length: count }, (_, i) => {
    const timestamp = startMs + i * MINUTE;
    return [user(`q${i}`, { timestamp }), { ...callTool(`t${i}`), timestamp }, toolResult(`t${i}`, "o".repeat(chars), { timestamp }), answer(`a${i}`, { timestamp })];
  }).flat();
}
const outputs = (messages: AgentMessage[]): string[] => messages.flatMap((m) => (m.role === "toolResult" ? [m.content.map((block) => (block.type === "text" ? block.text : "image")).join("")] : []));

describe("context pruning", () => {
  it("leaves a conversation alone that the provider still has in its cache", () => {
    const messages = turns(6, 6000);
    expect(pruneHistory(messages, settings(), WINDOW)).toBe(messages);
  });

  it("trims old results when the cache has expired, and keeps what belongs to the last three answers", () => {
    const pruned = outputs(pruneHistory([...turns(5, 6000), user("back", { timestamp: 30 * MINUTE })], settings({ hardClear: { enabled: false } }), WINDOW));
    expect(pruned[0]).toMatch(/^o{1500}\n\.\.\.\no{1500}\n\n\[Tool result trimmed: kept first 1500 chars and last 1500 chars of 6000 chars\.\]$/);
    expect(pruned.map((text) => text.length < 4000)).toEqual([true, true, true, true, false]);
  });

  it("clears the oldest when trimming is not enough", () => {
    const pruned = outputs(pruneHistory([...turns(10, 3900), user("back", { timestamp: 60 * MINUTE })], settings(), WINDOW));
    expect(pruned.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => "[Old tool result content cleared]"));
    expect(pruned.at(-1)).toHaveLength(3900);
    expect(pruned.join("").length).toBeLessThan(20_500);
  });

  it("does nothing below the soft ratio, nor to what is denied or holds an image", () => {
    const rested = (messages: AgentMessage[]): AgentMessage[] => [...messages, user("back", { timestamp: 60 * MINUTE })];
    expect(outputs(pruneHistory(rested(turns(5, 500)), settings(), WINDOW)).every((text) => text.length === 500)).toBe(true);
    expect(outputs(pruneHistory(rested(turns(6, 6000)), settings({ tools: { deny: ["re*"] } }), WINDOW)).every((text) => text.length === 6000)).toBe(true);
    expect(outputs(pruneHistory(rested(turns(6, 6000)), settings({ tools: { allow: ["exec"] } }), WINDOW)).every((text) => text.length === 6000)).toBe(true);
    const image = turns(6, 6000).map((m) => (m.role === "toolResult" ? { ...m, content: [{ type: "text" as const, text: `[media attached: /a.png (image/png)]${"o".repeat(6000)}` }] } : m));
    expect(pruneHistory(rested(image), settings(), WINDOW)).toEqual(rested(image));
  });

  it("between two rests every request begins with the bytes of the one before", () => {
    let conversation = [...turns(10, 5000), user("back", { timestamp: 60 * MINUTE })];
    let before = pruneHistory(conversation, settings(), WINDOW);
    for (let i = 0; i < 8; i++) {
      conversation = [...conversation, ...turns(1, 5000, (61 + i) * MINUTE)];
      const now = pruneHistory(conversation, settings(), WINDOW);
      expect(JSON.stringify(now.slice(0, before.length))).toBe(JSON.stringify(before));
      before = now;
    }
    const rested = pruneHistory([...conversation, user("again", { timestamp: 200 * MINUTE })], settings(), WINDOW);
    expect(JSON.stringify(rested.slice(0, before.length))).not.toBe(JSON.stringify(before));
  });

  it("is on for providers with a prompt cache only, with the time of the configuration", () => {
    const cfg = { agents: { defaults: { contextPruning: { mode: "cache-ttl" as const, ttl: "1h" } } } };
    expect(resolvePruning(cfg, anthropic)?.ttlMs).toBe(3_600_000);
    expect(resolvePruning(cfg, { provider: "openrouter", modelId: "anthropic/claude" })).toBeDefined();
    expect(resolvePruning(cfg, { provider: "openrouter", modelId: "openai/gpt-5.2" })).toBeUndefined();
    expect(resolvePruning(cfg, { provider: "openai", modelId: "gpt-5.2" })).toBeUndefined();
    expect(resolvePruning({}, anthropic)).toBeUndefined();
    expect(resolvePruning({ agents: { defaults: { contextPruning: { mode: "off" } } } }, anthropic)).toBeUndefined();
  });
});
