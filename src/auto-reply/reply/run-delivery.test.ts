import { describe, expect, it, vi } from "vitest";
import type { ChannelSink } from "./channel-sink.ts";
import { createRunDelivery, type RunDeliveryOptions, type RunEnding } from "./run-delivery.ts";
import { createTypingLoop } from "./typing.ts";

function setup(more: Partial<RunDeliveryOptions> = {}) {
  const log: string[] = [];
  const note = (word: string) => () => void log.push(word);
  const sink: ChannelSink = {
    typing: { start: note("typing"), touch: () => undefined, stop: note("quiet") },
    partial: (text) => void log.push(`preview ${text}`),
    notice: async (_, text) => void log.push(`notice ${text}`),
    block: async (payload) => void log.push(`block ${payload.text}`),
    finals: async (payloads) => (log.push(`final ${payloads.map((payload) => payload.text).join("|")}`), { done: Promise.resolve([]) }),
    discardPreview: async () => void log.push("discard"),
  };
  const status = { alive: () => undefined, thinking: note("🤔"), tool: (name: string) => void log.push(`🔥 ${name}`), end: (outcome: string) => void log.push(outcome), clear: note("clear") };
  return { log, delivery: createRunDelivery({ sink, typingMode: "instant", reasoning: "off", blockReply: undefined, status, ...more }) };
}

const runThrough = async ({ delivery }: ReturnType<typeof setup>, ending: RunEnding = "done"): Promise<void> => {
  await delivery.begin(["old session put away"]);
  delivery.callbacks.onReasoningStream?.("hm");
  delivery.callbacks.onPartialReply?.("Hel");
  await delivery.finish([{ text: "Hello" }], ending);
};
const typingAfter = (log: readonly string[]): string | undefined => log[log.indexOf("typing") - 1] ?? (log[0] === "typing" ? "begin" : undefined);

describe("what a chat sees of a run", () => {
  it.each([
    ["instant", "begin"], ["thinking", "🤔"], ["message", "🤔"], ["never", undefined],
  ] as const)("typing mode %s", async (typingMode, after) => {
    const run = setup({ typingMode });
    await runThrough(run);
    expect(typingAfter(run.log)).toBe(after);
    expect(run.log.slice(-3)).toEqual(["done", "final Hello", "quiet"]);
  });

  it("starts typing with the first tool, whatever the mode but never", async () => {
    const quiet = setup({ typingMode: "never" });
    quiet.delivery.callbacks.onToolStart?.("exec");
    const waiting = setup({ typingMode: "message" });
    waiting.delivery.callbacks.onToolStart?.("exec");
    expect([quiet.log, waiting.log]).toEqual([["🔥 exec"], ["🔥 exec", "typing"]]);
  });

  it("shows thoughts in the preview only when they are streamed, and only until the answer begins", async () => {
    const run = setup({ reasoning: "stream", typingMode: "never" });
    run.delivery.callbacks.onReasoningStream?.("one\ntwo");
    run.delivery.callbacks.onPartialReply?.("Answer");
    run.delivery.callbacks.onReasoningStream?.("one\ntwo\nthree");
    expect(run.log.filter((line) => line.startsWith("preview"))).toEqual(["preview Reasoning:\n_one_\n_two_", "preview Answer"]);
  });

  it.each([
    ["error", ["error", "final Hello", "quiet"]], ["stopped", ["done", "discard", "quiet"]], ["suspended", ["clear", "discard", "quiet"]],
  ] as const)("ends a run that is %s", async (ending, last) => {
    const run = setup();
    await runThrough(run, ending);
    expect(run.log.slice(-3)).toEqual(last);
  });
});

it("typing is repeated, and rests after two minutes without activity", () => {
  vi.useFakeTimers();
  try {
    let signals = 0;
    const loop = createTypingLoop(async () => void signals++, 6000, () => undefined);
    loop.start();
    vi.advanceTimersByTime(60_000);
    expect(signals).toBe(11);
    loop.touch();
    vi.advanceTimersByTime(600_000);
    expect(signals).toBe(31);
    loop.start();
    expect(signals).toBe(32);
    loop.stop();
    vi.advanceTimersByTime(60_000);
    expect(signals).toBe(32);
  } finally {
    vi.useRealTimers();
  }
});
