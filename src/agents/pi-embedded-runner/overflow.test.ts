import { writeFile } from "node:fs/promises";
import type { Context } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { expect, it } from "vitest";
import { answer, callTool, toolResult, user } from "./conversation-fixture.ts";
import { createRunWorld } from "./run-fixture.ts";

const isSummary = (context: Context): boolean => context.systemPrompt?.startsWith("You condense") === true;

it("whatever the conversation and however little the model takes: a message ends in an answer or one clear error, and a short one is answered", async () => {
  const turn = fc.record({ chars: fc.integer({ min: 0, max: 12_000 }), tools: fc.integer({ min: 0, max: 4 }), output: fc.integer({ min: 0, max: 30_000 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 12 }), fc.integer({ min: 6000, max: 60_000 }), fc.boolean(), async (turns, takes, canSummarise) => {
      await using world = await createRunWorld({
        reply: (context) => {
          if (JSON.stringify(context.messages).length > takes) return { error: "prompt is too long: 30000 tokens > 20000 maximum" };
          if (isSummary(context)) return canSummarise ? { text: "SUMMARY" } : { error: "401 invalid api key" };
          return { text: "done", totalTokens: 100 };
        },
      });
      const messages = turns.flatMap((t, n) => [
        user(`q${n} ${"x".repeat(t.chars)}`),
        ...Array.from({ length: t.tools }, (_, k) => [callTool(`t${n}_${k}`), toolResult(`t${n}_${k}`, "o".repeat(t.output))]).flat(),
        answer(`a${n}`),
      ]);
      const id = (n: number): string => String(n).padStart(8, "0");
      const lines = messages.map((message, n) => ({ type: "message", id: id(n), parentId: n === 0 ? null : id(n - 1), timestamp: "2026-01-01T00:00:00.000Z", message }));
      await writeFile(world.path, [{ type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: world.dir }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));

      const first = await world.say("next");
      expect(first.answeredWith).toHaveLength(1);
      if (first.answeredWith[0] !== "done") expect(first.answeredWith[0]).toMatch(/refuses the conversation as too long even after \d attempts/);
      expect((await world.say("short")).answeredWith).toEqual(["done"]);
      expect(world.requests.length).toBeLessThan(120);
    }),
    { numRuns: 25 },
  );
});
