import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "@mariozechner/pi-ai";
import { describe, expect, it } from "vitest";
import { Type } from "typebox";
import { toolText, type AgentTool } from "../tools/contract.ts";
import { answer, callTool, toolResult, user } from "./conversation-fixture.ts";
import { createRunWorld, spoken, type RunWorld, type ScriptedTurn } from "./run-fixture.ts";
import { INTERRUPTED_RESULT_TEXT } from "./tool-pairing.ts";

const tool = (name: string, run: () => string): AgentTool => ({
  name, label: name, summary: name, description: name, parameters: Type.Object({ path: Type.Optional(Type.String()) }), execute: async () => toolText(run()),
});
const WRITE = tool("write", () => "written");
const READ = tool("read", () => "r");
const isSummary = (context: Context): boolean => context.systemPrompt?.startsWith("You condense") === true;
const lastText = (context: Context): string => spoken(context).at(-1) ?? "";
const charsOf = (context: Context): number => JSON.stringify(context.messages).length;
const OVERFLOW = "prompt is too long: 30000 tokens > 20000 maximum";

/** A conversation in the file, as earlier runs (or another program) left it. */
async function seed(world: RunWorld, messages: readonly object[]): Promise<void> {
  const header = { type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: world.dir };
  const entries = messages.map((message, i) => ({ type: "message", id: `0000${String(i).padStart(4, "0")}`, parentId: i === 0 ? null : `0000${String(i - 1).padStart(4, "0")}`, timestamp: "2026-01-01T00:00:00.000Z", message }));
  await writeFile(world.path, [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(""));
}

const LONG = Array.from({ length: 10 }, (_, i) => [user(`q${i} ${"x".repeat(3000)}`), answer("a")]).flat();

describe("a full conversation", () => {
  it("is compacted after the answer is out, once, and goes on with the summary", async () => {
    let answered = false;
    await using world = await createRunWorld({
      reply: (context) => {
        if (isSummary(context)) {
          answered = true;
          return { text: "GOAL: go on" };
        }
        return { text: `ok ${"y".repeat(12_000)}`, totalTokens: spoken(context).length > 5 ? 12_000 : 100 };
      },
      config: { agents: { defaults: { compaction: { memoryFlush: { enabled: false } } } } },
    });
    await writeFile(join(world.dir, "AGENTS.md"), "## Red Lines\nnever lie\n");
    for (const text of ["one", "two"]) await world.say(text);
    expect(answered).toBe(false);
    await world.say("three");
    expect(answered).toBe(false);
    await world.say("four");
    expect(world.entry.compactionCount).toBe(1);
    expect(world.compactedTexts).toEqual([expect.stringContaining("never lie")]);
    expect(world.events.filter((event) => event.stream === "compaction").map((event) => event.data)).toEqual([
      { phase: "start", trigger: "threshold", attempt: 0 },
      { phase: "end", willRetry: false, outcome: "compacted" },
    ]);
    const order = world.events.map((event) => `${event.stream}:${String(event.data["phase"] ?? "")}`);
    expect(order.lastIndexOf("lifecycle:end")).toBeLessThan(order.indexOf("compaction:start"));
    await world.say("five");
    const request = spoken(world.requests.at(-1) as Context);
    expect(request[0]).toContain("GOAL: go on");
    expect(request.join()).not.toContain("user: one");
    expect(request.at(-1)).toBe("user: five");
  });

  it("is estimated where the provider counts no tokens", async () => {
    await using world = await createRunWorld({ reply: (context) => (isSummary(context) ? { text: "S" } : { text: "x".repeat(30_000) }), config: { agents: { defaults: { compaction: { memoryFlush: { enabled: false } } } } } });
    for (const text of ["one", "two", "three"]) await world.say(text);
    expect(world.entry.compactionCount).toBeGreaterThan(0);
  });

  it("saves memories once before, silently, and the turn leaves no trace in the conversation", async () => {
    const flush = /Before the conversation is shortened/;
    await using world = await createRunWorld({
      tools: [WRITE],
      config: { agents: { defaults: { userTimezone: "Asia/Shanghai" } } },
      reply: (context) => {
        if (isSummary(context)) return { text: "S" };
        if (lastText(context).startsWith("toolResult")) return { text: "NO_REPLY" };
        if (flush.test(lastText(context))) return { calls: [{ id: "w", name: "write", arguments: { path: "memory/x.md" } }] };
        return { text: "ok", totalTokens: lastText(context).startsWith("user: three") ? 9000 : 500 };
      },
    });
    await world.say(`one ${"x".repeat(20_000)}`);
    await world.say("two");
    expect(world.requests).toHaveLength(2);
    const blocks: string[] = [];
    const result = await world.say(`three ${"x".repeat(20_000)}`, { onPartialReply: (text) => blocks.push(text) });
    expect(result.answeredWith).toEqual(["ok"]);
    expect(blocks.join()).toBe("ok");
    const asked = world.requests.map(lastText).filter((text) => flush.test(text));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/memory\/\d{4}-\d\d-\d\d\.md/);
    expect(asked[0]).toMatch(/NO_REPLY[\s\S]*\nCurrent time: .*\(Asia\/Shanghai\)$/);
    expect(world.entry).toMatchObject({ memoryFlushCompactionCount: 0, memoryFlushAt: expect.any(Number) });
    expect(world.requests[3]?.systemPrompt).toBe(world.requests[2]?.systemPrompt);
    expect(spoken(world.requests[3] as Context).slice(0, 5)).toEqual(spoken(world.requests[2] as Context));
    world.restart();
    await world.say("four");
    expect(spoken(world.requests.at(-1) as Context)).toEqual([
      expect.stringMatching(/^user: one/), "assistant: ok", "user: two", "assistant: ok", expect.stringMatching(/^user: three/), "assistant: ok", "user: four",
    ]);
    await world.say("three again");
    expect(world.requests.map(lastText).filter((text) => flush.test(text))).toHaveLength(1);
  });

  it("asks again after the next turn when a person stops the flush", async () => {
    const stop = new AbortController();
    await using world = await createRunWorld({
      tools: [WRITE],
      reply: (context, call) => {
        if (call === 2) stop.abort();
        return { text: "NO_REPLY ok", totalTokens: 9000, ...(call === 2 ? { error: "aborted" } : {}) };
      },
    });
    await seed(world, LONG);
    await world.say("one", { signal: stop.signal });
    expect(world.entry.memoryFlushCompactionCount).toBeUndefined();
    await world.say("two");
    expect(world.entry.memoryFlushCompactionCount).toBe(0);
    expect(world.requests).toHaveLength(4);
  });

  it.each<[string, Parameters<RunWorld["say"]>[1], Parameters<typeof createRunWorld>[0]["config"]]>([
    ["it is switched off", {}, { agents: { defaults: { compaction: { memoryFlush: { enabled: false } } } } }],
    ["the run is a heartbeat", { heartbeat: { discard: () => false, hideToolErrors: false } }, {}],
    ["the run may not write", { tools: [] }, {}],
  ])("saves no memories when %s", async (_name, more, config) => {
    await using world = await createRunWorld({ tools: [WRITE], config: config ?? {}, reply: () => ({ text: "ok", totalTokens: 9000 }) });
    await seed(world, LONG);
    await world.say("one", more);
    expect(world.requests).toHaveLength(1);
  });

  it("in a window that the prompt nearly fills by itself is left alone", async () => {
    await using world = await createRunWorld({ tools: [WRITE], reply: () => ({ text: "ok", totalTokens: 15_000 }) });
    await world.say("hi");
    await world.say("hi again");
    expect(world.requests).toHaveLength(2);
    expect(world.events.some((event) => event.stream === "compaction")).toBe(false);
  });

  it("takes the flush's own texts and threshold from the configuration", async () => {
    await using world = await createRunWorld({
      tools: [WRITE], reply: () => ({ text: "NO_REPLY ok", totalTokens: 6500 }),
      config: { agents: { defaults: { compaction: { memoryFlush: { prompt: "Save to YYYY-MM-DD, then NO_REPLY.", systemPrompt: "Quick.", softThresholdTokens: 4000 } } } } },
    });
    await seed(world, LONG);
    await world.say("one");
    expect(lastText(world.requests[1] as Context)).toMatch(/^user: Quick\.\n\nSave to \d{4}-\d\d-\d\d, then NO_REPLY\.\nCurrent time: /);
  });
});

describe("a conversation that the provider refuses as too long", () => {
  it("first loses the middle of huge tool results, on a new branch, and the message is answered", async () => {
    await using world = await createRunWorld({ tools: [READ], reply: (context) => (charsOf(context) > 90_000 ? { error: OVERFLOW } : { text: "done" }), contextTokens: 200_000 });
    await seed(world, [user("q"), callTool("t"), toolResult("t", "line\n".repeat(60_000)), answer("a")]);
    const { meta, answeredWith } = await world.say("next");
    expect([answeredWith, meta.compactionCount, meta.compactionAttempts]).toEqual([["done"], 0, 1]);
    world.restart();
    await world.say("and again");
    expect(world.requests).toHaveLength(3);
    expect(spoken(world.requests[2] as Context)[2]).toMatch(/\[truncated: output exceeded context limit\]$/);
  });

  it("is summarised, and the message is answered in the same run", async () => {
    await using world = await createRunWorld({ reply: (context) => (isSummary(context) ? { text: "S" } : charsOf(context) > 30_000 ? { error: OVERFLOW } : { text: "done" }) });
    await seed(world, Array.from({ length: 20 }, (_, i) => [user(`q${i} ${"x".repeat(1500)}`), answer(`a${i} ${"y".repeat(1500)}`)]).flat());
    const result = await world.say("next");
    expect(result.answeredWith).toEqual(["done"]);
    expect(result.meta).toMatchObject({ compactionCount: 1, error: undefined });
    expect(lastText(world.requests.at(-1) as Context)).toBe("user: next");
    world.restart();
    expect((await world.say("more")).answeredWith).toEqual(["done"]);
  });

  it.each<[string, ScriptedTurn]>([
    ["in words that only Pi knows", { error: "prompt token count of 30000 exceeds the limit of 20000" }],
    ["by an answer that ends before it begins", { stopReason: "length", totalTokens: 19_990 }],
  ])("is noticed %s", async (_name, refusal) => {
    await using world = await createRunWorld({ reply: (context) => (isSummary(context) ? { text: "S" } : charsOf(context) > 30_000 ? refusal : { text: "done" }) });
    await seed(world, Array.from({ length: 20 }, (_, i) => [user(`q${i} ${"x".repeat(1500)}`), answer(`a${i}`)]).flat());
    const result = await world.say("next");
    expect(result.answeredWith).toEqual(["done"]);
    expect(result.meta.compactionCount).toBe(1);
  });

  it("is cut when no summary can be had, and says in context what is missing", async () => {
    await using world = await createRunWorld({ reply: (context) => (isSummary(context) || charsOf(context) > 20_000 ? { error: OVERFLOW } : { text: "done" }) });
    await seed(world, Array.from({ length: 20 }, (_, i) => [user(`q${i} ${"x".repeat(1500)}`), answer(`a${i} ${"y".repeat(1500)}`)]).flat());
    const result = await world.say("next");
    expect(result.answeredWith).toEqual(["done"]);
    expect(spoken(world.requests.at(-1) as Context)[0]).toContain("removed from context without a summary");
    expect(lastText(world.requests.at(-1) as Context)).toBe("user: next");
  });

  it("ends with one clear message that names the attempts when even the newest message does not fit; the next run is not stuck", async () => {
    let refuse = true;
    await using world = await createRunWorld({ reply: () => (refuse ? { error: OVERFLOW } : { text: "fine" }) });
    await seed(world, [user("q"), answer("a")]);
    const result = await world.say("x".repeat(90_000));
    expect(result.meta.error?.kind).toBe("context_overflow");
    expect(result.answeredWith).toEqual([expect.stringMatching(/^⚠️ test\/m refuses the conversation as too long even after \d attempts to shorten/)]);
    expect(world.requests.length).toBeLessThan(12);
    refuse = false;
    expect((await world.say("short")).answeredWith).toEqual(["fine"]);
    expect(spoken(world.requests.at(-1) as Context).join().length).toBeLessThan(2000);
  });

  it("goes on in the middle of a run whose blocks are already out", async () => {
    const big = tool("read", () => "r".repeat(30_000));
    await using world = await createRunWorld({
      tools: [big],
      reply: (context) => {
        if (isSummary(context)) return { text: "S" };
        if (charsOf(context) > 30_000) return { error: OVERFLOW };
        return lastText(context).startsWith("user: go") ? { text: "I look first.", calls: [{ id: "c", name: "read", arguments: {} }] } : { text: "finished" };
      },
    });
    await seed(world, Array.from({ length: 6 }, (_, i) => [user(`q${i} ${"x".repeat(1500)}`), answer("a")]).flat());
    const blocks: string[] = [];
    await world.say("go", {
      onBlockReply: async (payload) => void blocks.push(payload.text ?? ""),
      blockReply: { breakAt: "text_end", chunk: { minChars: 1, maxChars: 1000, breakPreference: "paragraph", flushOnParagraph: false }, coalesce: undefined },
    });
    expect(blocks).toEqual(["I look first.", "finished"]);
  });
});

describe("a transcript whose tool calls and results do not match", () => {
  it.each<[string, readonly object[]]>([
    ["a call without result", [user("q"), callTool("t1"), user("are you there?"), answer("yes")]],
    ["a result without call", [user("q"), toolResult("ghost"), answer("a")]],
    ["a result far from its call", [user("q"), callTool("t1"), user("hm"), toolResult("t1"), answer("a")]],
    ["two results for one call", [user("q"), callTool("t1"), toolResult("t1"), toolResult("t1"), answer("a")]],
    ["a call without name", [user("q"), answer("", { stopReason: "toolUse", content: [{ type: "toolCall", id: "t", name: "", arguments: {} }] }), answer("a")]],
    ["a call at the very end", [user("q"), callTool("t1")]],
  ])("%s: the next message works, and the file is whole afterwards", async (_name, messages) => {
    await using world = await createRunWorld({ tools: [READ], reply: () => ({ text: "ok" }) });
    await seed(world, messages);
    expect((await world.say("next")).answeredWith).toEqual(["ok"]);
    const open: string[] = [];
    for (const message of world.requests[0]?.messages ?? []) {
      if (message.role === "toolResult") expect(open.shift()).toBe(message.toolCallId);
      else expect(open).toEqual([]);
      if (message.role === "assistant") open.push(...message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])));
    }
    world.restart();
    const before = (await world.lines()).length;
    await world.say("again");
    expect(spoken(world.requests[1] as Context).slice(0, world.requests[0]?.messages.length)).toEqual(spoken(world.requests[0] as Context));
    expect((await world.lines()).slice(before).filter((line) => line["type"] === "message")).toHaveLength(2);
  });

  it("a run without tools gets the conversation without calls and results, which stay in the file", async () => {
    await using world = await createRunWorld({ reply: () => ({ text: "ok" }) });
    await seed(world, [user("q"), callTool("t1"), toolResult("t1"), answer("a")]);
    await world.say("next");
    expect(spoken(world.requests[0] as Context)).toEqual(["user: q", "assistant: a", "user: next"]);
    await world.say("and with tools", { tools: [READ] });
    expect(spoken(world.requests[1] as Context)).toHaveLength(7);
  });

  it("keeps compaction and run marks in place on the new branch", async () => {
    await using world = await createRunWorld({ tools: [READ], reply: () => ({ text: "ok" }) });
    await seed(world, [user("old"), answer("old answer"), user("kept"), callTool("t1"), user("after"), answer("a")]);
    const lines = (await world.lines()).map((line) => JSON.stringify(line));
    lines.push(JSON.stringify({ type: "compaction", id: "c0000000", parentId: "00000005", timestamp: "2026-01-01T00:00:00.000Z", summary: "SUM", firstKeptEntryId: "00000002", tokensBefore: 9 }));
    await writeFile(world.path, `${lines.join("\n")}\n`);
    await world.say("next");
    const request = spoken(world.requests[0] as Context);
    expect(request[0]).toMatch(/SUM[\s\S]*kept$/);
    expect(request.slice(1)).toEqual(["assistant: →read", `toolResult: ${INTERRUPTED_RESULT_TEXT}`, "user: after", "assistant: a", "user: next"]);
    world.restart();
    await world.say("again");
    expect(spoken(world.requests[1] as Context).slice(0, 6)).toEqual(request);
  });

  it("a command answered while a tool ran is no damage", async () => {
    await using world = await createRunWorld({ reply: () => ({ text: "ok" }) });
    await seed(world, [user("q"), callTool("t1"), answer("STATUS", { provider: "openclaw", model: "gateway-injected" }), toolResult("t1"), answer("a")]);
    await world.say("next");
    expect((await world.lines()).filter((line) => line["type"] === "message")).toHaveLength(7);
    expect(spoken(world.requests[0] as Context).join()).not.toContain("STATUS");
  });
});

it.runIf(process.platform === "linux")("a conversation of 20 MB: the first turn reads the end of the file, the next ones next to nothing", async () => {
  await using world = await createRunWorld({ reply: () => ({ text: "ok", totalTokens: 100 }), contextTokens: 200_000 });
  await seed(world, Array.from({ length: 1000 }, (_, i) => (i % 2 ? answer("a".repeat(20_000)) : user(`q${i} ${"x".repeat(20_000)}`))));
  const read = async (): Promise<number> => Number(/rchar: (\d+)/.exec(await readFile("/proc/self/io", "utf8"))?.[1]);
  const costs: number[] = [];
  for (const text of ["one", "two", "three"]) {
    const before = await read();
    await world.say(text);
    costs.push((await read()) - before);
  }
  expect(costs[0]).toBeLessThan(4_000_000);
  expect(costs[1]).toBeLessThan(300_000);
  expect(costs[2]).toBeLessThan(300_000);
});
