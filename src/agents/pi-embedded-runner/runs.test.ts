import { expect, it } from "vitest";
import { createRunRegistry } from "./runs.ts";

it("who waits for a run is told when it has answered, while the session stays busy until its conversation is in order", async () => {
  let nowMs = 1000;
  const runs = createRunRegistry(() => nowMs);
  runs.begin("r", "agent:main:main");
  const waiting = runs.wait("r", 5000);
  runs.answered("r", { status: "ok" });
  expect(await waiting).toMatchObject({ status: "ok", startedAt: 1000, endedAt: 1000 });
  expect(runs.bySession("agent:main:main")).toHaveLength(1);
  nowMs = 2000;
  const idle = runs.waitIdle("agent:main:main", 5000);
  runs.end("r", { status: "error", error: "compaction stopped" });
  expect(await idle).toBe(true);
  expect(await runs.wait("r", 0)).toMatchObject({ status: "ok", endedAt: 1000 });
  runs.begin("r", "agent:main:main");
  runs.end("r", { status: "timeout" });
  expect(await runs.wait("r", 0)).toMatchObject({ status: "timeout" });
});
