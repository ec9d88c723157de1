import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { SessionManager } from "@mariozechner/pi-coding-agent";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { loadPi, type PiModules } from "../pi.ts";
import { repairPairingOnDisk, rewriteBranch } from "./branch-rewrite.ts";
import { answer, callTool, toolResult, user } from "./conversation-fixture.ts";
import { repairStoredPairing } from "./tool-pairing.ts";

let pi: PiModules;
beforeAll(async () => {
  pi = await loadPi();
}, 60_000);

type Step = "user" | "answer" | "call" | "result" | "orphan" | "marker" | "compaction" | "model";

/** A conversation of any shape; results answer the newest open call, if there is one. */
function build(steps: readonly Step[]): SessionManager {
  const manager = pi.codingAgent.SessionManager.inMemory("/tmp");
  const open: string[] = [];
  for (const [n, step] of steps.entries()) {
    switch (step) {
      case "user":
        manager.appendMessage(user(`u${n}`));
        break;
      case "answer":
        manager.appendMessage(answer(`a${n}`));
        break;
      case "call":
        open.push(`t${n}`);
        manager.appendMessage(callTool(`t${n}`));
        break;
      case "result":
        manager.appendMessage(toolResult(open.pop() ?? `none${n}`));
        break;
      case "orphan":
        manager.appendMessage(toolResult(`orphan${n}`));
        break;
      case "marker":
        manager.appendCustomEntry("marker", { n });
        break;
      case "model":
        manager.appendModelChange("p", `m${n}`);
        break;
      case "compaction": {
        const kept = manager.getBranch().findLast((entry) => entry.type === "message" && entry.message.role === "user");
        if (kept) manager.appendCompaction(`summary ${n}`, kept.id, 1);
        break;
      }
    }
  }
  return manager;
}
const messagesOf = (manager: SessionManager): AgentMessage[] => manager.buildSessionContext().messages;
const markersOf = (manager: SessionManager): unknown[] => manager.getBranch().flatMap((entry) => (entry.type === "custom" ? [entry.data] : []));

it("a repaired conversation is the one that every request would have been made of, with its summary, and needs no second repair", () => {
  const step = fc.constantFrom<Step>("user", "answer", "call", "result", "result", "orphan", "marker", "compaction", "model");
  fc.assert(fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
    const manager = build(["user", ...steps]);
    const before = messagesOf(manager);
    const summary = before[0]?.role === "compactionSummary" ? before[0] : undefined;
    const expected = repairStoredPairing(before);
    const lines = manager.getEntries().length;
    const changed = repairPairingOnDisk(manager);
    const after = messagesOf(manager);
    expect(after.filter((m) => m.role !== "compactionSummary")).toEqual(expected.filter((m) => m.role !== "compactionSummary"));
    if (summary) expect(after[0]).toMatchObject({ role: "compactionSummary", summary: summary.summary });
    expect(repairPairingOnDisk(manager)).toBe(false);
    if (!changed) expect(manager.getEntries()).toHaveLength(lines);
  }), { numRuns: 300 });
});

it("keeps what stands between the messages, and the old branch in the file", () => {
  const manager = build(["user", "call", "marker", "user", "marker", "model", "answer"]);
  const old = manager.getLeafId() as string;
  expect(repairPairingOnDisk(manager)).toBe(true);
  expect(markersOf(manager)).toEqual([{ n: 2 }, { n: 4 }]);
  expect(manager.getBranch().some((entry) => entry.type === "model_change")).toBe(true);
  expect(manager.getEntry(old)).toBeDefined();
  expect(manager.getBranch().some((entry) => entry.id === old)).toBe(false);
});

it("appends only what changed", () => {
  const manager = build(["user", "answer", "user", "answer"]);
  const before = manager.getEntries().length;
  expect(rewriteBranch(manager, (messages) => messages)).toBe(false);
  expect(rewriteBranch(manager, (messages) => messages.map((m, i) => (i === 3 ? answer("new") : m)))).toBe(true);
  expect(manager.getEntries()).toHaveLength(before + 1);
  expect(rewriteBranch(manager, (messages) => messages.slice(0, -1))).toBe(true);
  expect(messagesOf(manager)).toHaveLength(3);
});
