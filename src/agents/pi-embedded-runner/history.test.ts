import type { AgentMessage } from "@mariozechner/pi-agent-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dropInjectedMessages, limitHistoryTurns } from "./history.ts";
import { INTERRUPTED_RESULT_TEXT, repairToolPairing } from "./tool-pairing.ts";
import { guardToolResults } from "./tool-result-guard.ts";

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const user = (text: string): AgentMessage => ({ role: "user", content: text, timestamp: 1 });
const result = (id: string, text = `result ${id}`): AgentMessage => ({ role: "toolResult", toolCallId: id, toolName: "read", content: [{ type: "text", text }], isError: false, timestamp: 1 });
const assistant = (text: string, calls: readonly string[] = [], more: Partial<Extract<AgentMessage, { role: "assistant" }>> = {}): AgentMessage => ({
  role: "assistant", api: "openai-completions", provider: "test", model: "m", usage, stopReason: calls.length > 0 ? "toolUse" : "stop", timestamp: 1,
  content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...calls.map((id) => ({ type: "toolCall" as const, id, name: "read", arguments: {} }))],
  ...more,
});

describe("tool calls and their results", () => {
  it("moves a late result behind its call, drops orphans and doubles, and fills gaps", () => {
    const repaired = repairToolPairing([result("orphan"), assistant("", ["a", "b"]), user("hi"), result("a"), result("a", "again")]);
    expect(repaired.map((m) => (m.role === "toolResult" ? m.toolCallId : m.role))).toEqual(["assistant", "a", "b", "user"]);
    expect(repaired[1]).toMatchObject({ content: [{ text: "result a" }] });
    expect(repaired[2]).toMatchObject({ isError: true, content: [{ text: INTERRUPTED_RESULT_TEXT }] });
  });

  it("keeps the text of a broken turn without its calls", () => {
    const repaired = repairToolPairing([assistant("half", ["x"], { stopReason: "aborted" }), assistant("", ["y"], { stopReason: "error" })]);
    expect(repaired).toHaveLength(1);
    expect(repaired[0]).toMatchObject({ content: [{ type: "text", text: "half" }] });
  });

  it("answers every call exactly once, right behind it, and changes nothing the second time", () => {
    const id = fc.constantFrom("a", "b", "c", "d");
    let n = 0;
    const message = fc.oneof(
      fc.constant(user("u")),
      id.map((value) => result(value)),
      fc.tuple(fc.constantFrom("", "text"), fc.uniqueArray(id, { maxLength: 3 }), fc.constantFrom("toolUse" as const, "stop" as const, "error" as const, "aborted" as const))
        .map(([text, calls, stopReason]) => assistant(text, calls, { stopReason })),
    );
    // Ids are unique over a conversation, as providers make them.
    const conversation = fc.array(message, { maxLength: 14 }).map((list) => {
      const seen = new Set<string>();
      return list.map((m) =>
        m.role !== "assistant" ? m : { ...m, content: m.content.map((block) => {
          if (block.type !== "toolCall") return block;
          const unique = seen.has(block.id) ? `${block.id}${++n}` : block.id;
          seen.add(unique);
          return { ...block, id: unique };
        }) },
      );
    });
    fc.assert(fc.property(conversation, (messages) => {
      const repaired = repairToolPairing(messages);
      const left: string[] = [];
      for (const m of repaired) {
        if (m.role === "toolResult") expect(left.shift()).toBe(m.toolCallId);
        else {
          expect(left).toEqual([]);
          if (m.role === "assistant") left.push(...m.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])));
        }
      }
      expect(left).toEqual([]);
      expect(repairToolPairing(repaired)).toEqual(repaired);
      expect(repaired.filter((m) => m.role === "user")).toEqual(messages.filter((m) => m.role === "user"));
    }), { numRuns: 300 });
  });
});

describe("history for the model", () => {
  it("keeps the last user turns with all that follows them", () => {
    const list = [user("1"), assistant("a"), user("2"), assistant("", ["t"]), result("t"), user("3")];
    expect(limitHistoryTurns(list, 2)).toEqual(list.slice(2));
    expect(limitHistoryTurns(list, 9)).toEqual(list);
    expect(limitHistoryTurns(list, 0)).toEqual(list);
  });

  it("leaves out command answers and mirrored sends", () => {
    const list = [user("1"), assistant("cmd", [], { provider: "openclaw", model: "gateway-injected" }), assistant("m", [], { provider: "openclaw", model: "delivery-mirror" }), assistant("real")];
    expect(dropInjectedMessages(list)).toEqual([list[0], list[3]]);
  });

  it("shortens one huge tool result to half of the window", () => {
    const [cut] = guardToolResults([result("a", "line of text\n".repeat(5000))], 10_000);
    const text = JSON.stringify(cut);
    expect(text).toContain("[truncated: output exceeded context limit]");
    expect(text.length).toBeLessThan(7000);
  });

  it("clears the oldest results first until all fit, and touches no message that fits", () => {
    const many = Array.from({ length: 20 }, (_, i) => result(`r${i}`, "x".repeat(4000)));
    const guarded = guardToolResults(many, 10_000);
    const cleared = guarded.map((m) => JSON.stringify(m).includes("[compacted:"));
    expect(cleared[0]).toBe(true);
    expect(cleared.at(-1)).toBe(false);
    expect(cleared.lastIndexOf(true)).toBeLessThan(cleared.indexOf(false));
    const few = [result("a"), user("b")];
    expect(guardToolResults(few, 10_000)).toBe(few);
  });
});
