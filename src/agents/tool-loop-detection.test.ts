import { describe, expect, it } from "vitest";
import { createLoopDetector, type LoopDetectionSettings, type LoopVerdict } from "./tool-loop-detection.ts";

const read = { path: "a" };

/** Makes the calls and gives what the detector said before each. */
function play(settings: LoopDetectionSettings, calls: readonly [tool: string, args: Record<string, unknown>, result: string][]): LoopVerdict[] {
  const detector = createLoopDetector(settings);
  return calls.map(([tool, args, result]) => {
    const verdict = detector.check(tool, args);
    if (verdict.kind !== "block") detector.record(tool, args, result);
    return verdict;
  });
}
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const kinds = (verdicts: readonly LoopVerdict[]): string => verdicts.map((verdict) => (verdict.kind === "block" ? (verdict.ends ? "E" : "B") : verdict.kind === "warn" ? "w" : ".")).join("");

it("the same call with the same result is blocked at the 31st time, and the third block ends the run", () => {
  const verdicts = play({}, times(34, () => ["read", read, "same"]));
  expect(kinds(verdicts)).toBe(`${".".repeat(30)}BBEE`);
  expect(verdicts[30]).toMatchObject({ text: expect.stringMatching(/^CRITICAL: read was called 30 times/) });
});

it("calls that get other results, other arguments, or come between do not count", () => {
  expect(kinds(play({}, times(100, (i) => ["read", read, `line ${i}`])))).not.toMatch(/[BE]/);
  expect(kinds(play({}, times(100, (i) => ["read", { path: String(i) }, "same"])))).not.toMatch(/[BE]/);
  expect(kinds(play({}, [...times(29, () => ["read", read, "same"] as [string, Record<string, unknown>, string]), ["read", read, "new"], ...times(20, () => ["read", read, "same"] as [string, Record<string, unknown>, string])]))).not.toMatch(/[BE]/);
});

it("a clock in the result is no progress", () => {
  const detector = createLoopDetector({});
  for (let i = 0; i < 30; i++) detector.record("session_status", {}, `🕒 Tue 2026-12-01 05:${10 + i} UTC, updated ${i}s ago, at 2026-12-01T05:00:${10 + i}.123Z\n"tookMs": ${i}`);
  expect(detector.check("session_status", {})).toMatchObject({ kind: "block" });
});

it("the order of arguments does not matter", () => {
  expect(kinds(play({ globalCircuitBreakerThreshold: 4, criticalThreshold: 3, warningThreshold: 2 }, times(5, (i) => ["x", i % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 }, "r"])))).toBe("....B");
});

it("two hundred calls of one tool are enough, whatever they are", () => {
  expect(kinds(play({}, times(204, (i) => ["exec", { command: String(i) }, String(i)])))).toBe(`${".".repeat(200)}BBEE`);
});

describe("switched on", () => {
  const on: LoopDetectionSettings = { enabled: true, warningThreshold: 3, criticalThreshold: 5, globalCircuitBreakerThreshold: 8 };

  it("polling without progress is warned of, then blocked; progress starts anew", () => {
    expect(kinds(play(on, times(8, () => ["process", { action: "poll", sessionId: "a" }, "running"])))).toBe("...wwBBE");
    expect(kinds(play(on, times(12, (i) => ["process", { action: "poll", sessionId: "a" }, `running ${i >> 1}`])))).toBe("............");
  });

  it("two calls that take turns are warned of, then blocked", () => {
    const calls = times(9, (i): [string, Record<string, unknown>, string] => (i % 2 ? ["write", { path: "a" }, "ok"] : ["read", { path: "a" }, "text"]));
    expect(kinds(play(on, calls)).slice(0, 6)).toBe("...wwB");
  });

  it("a repeated call is only warned of, in words for the model", () => {
    const verdicts = play(on, times(6, () => ["web_fetch", { url: "u" }, String(Math.random())]));
    expect(kinds(verdicts)).toBe("...www");
    expect(verdicts[3]).toMatchObject({ text: "WARNING: web_fetch was called 3 times with the same arguments. If that does not help, try another way." });
  });

  it("single detectors can be switched off", () => {
    const calls = times(7, (): [string, Record<string, unknown>, string] => ["process", { action: "log", sessionId: "a" }, "x"]);
    expect(kinds(play({ ...on, detectors: { knownPollNoProgress: false } }, calls))).toBe(".......");
  });
});
