import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import type { BlockReplyConfig } from "../pi-embedded-runner/run/params.ts";
import { createBlockStream, type BlockStreamOptions } from "./block-stream.ts";
import type { ReplyPayload } from "./payload.ts";
import { readGrowingReply, readReply } from "./reply-text.ts";

const config: BlockReplyConfig = {
  breakAt: "text_end", chunk: { minChars: 5, maxChars: 40, breakPreference: "paragraph", flushOnParagraph: true }, coalesce: undefined,
};

function setup(more: Partial<BlockStreamOptions> = {}) {
  const sent: ReplyPayload[] = [];
  const blocks = createBlockStream({
    config, log: silentLogger, signal: new AbortController().signal, withoutSent: (payload) => payload,
    send: async (payload) => void sent.push(payload), ...more,
  });
  const write = (text: string, step = 7): void => {
    blocks.begin();
    for (let end = step; end < text.length; end += step) blocks.feed(readGrowingReply(text.slice(0, end)));
    blocks.end(readReply(text));
  };
  return { sent, blocks, write };
}

describe("a reply in blocks", () => {
  it("is the whole reply, in order, with files where they stood and without tokens", async () => {
    const { sent, blocks, write } = setup();
    write("[[reply_to:9]] First paragraph.\n\nSecond one, with a picture.\nMEDIA:./a.png ./b.png\n\nThird one.\n\nHEARTBEAT_OK");
    write("Another message.");
    await blocks.drain();
    expect(sent.map((payload) => [payload.text, payload.mediaUrls])).toEqual([
      ["First paragraph.", undefined], ["Second one, with a picture.", undefined], [undefined, ["./a.png", "./b.png"]], ["Third one.", undefined], ["Another message.", undefined],
    ]);
    expect(sent[0]).toMatchObject({ replyToId: "9" });
    expect(blocks.sent).toBe(5);
  });

  it("says nothing for a silent reply and the same block once", async () => {
    const { sent, blocks, write } = setup();
    write("NO_REPLY");
    write("Same text here.");
    write("Same text here.");
    await blocks.drain();
    expect(sent.map((payload) => payload.text)).toEqual(["Same text here."]);
  });

  it("loses no word, however it arrives", async () => {
    const paragraph = fc.array(fc.stringMatching(/^[a-zé😀]{1,12}$/u), { minLength: 1, maxLength: 8 }).map((words) => words.join(" "));
    await fc.assert(fc.asyncProperty(fc.uniqueArray(paragraph, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 30 }), async (paragraphs, step) => {
      const { sent, blocks, write } = setup({ config: { ...config, coalesce: { minChars: 1, maxChars: 80, idleMs: 60_000 } } });
      const text = paragraphs.join("\n\n");
      write(text, step);
      await blocks.drain();
      const words = (value: string): string[] => value.split(/\s+/).filter(Boolean);
      expect(words(sent.map((payload) => payload.text).join(" ")).join("")).toBe(words(text).join(""));
      for (const payload of sent) expect((payload.text ?? "").isWellFormed()).toBe(true);
    }), { numRuns: 200 });
  });

  it("leaves the whole answer to the end when a block fails or takes too long", async () => {
    const failing = setup({ send: () => Promise.reject(new Error("disk full")) });
    failing.write("One paragraph.\n\nAnother paragraph.");
    await failing.blocks.drain();
    expect(failing.blocks.sent).toBe(0);

    const taken: ReplyPayload[] = [];
    const stalled = setup({ timeoutMs: 5, send: (payload) => (taken.push(payload), new Promise<void>(() => undefined)) });
    stalled.write("One paragraph.\n\nAnother paragraph.");
    await stalled.blocks.drain();
    expect([stalled.blocks.sent, taken.length]).toEqual([0, 1]);
  });

  it("pauses before every block but the first", async () => {
    const times: number[] = [];
    const slow = setup({ config: { ...config, humanDelay: { minMs: 20, maxMs: 30 } }, random: () => 0.5, send: async () => void times.push(performance.now()) });
    const from = performance.now();
    slow.write("One paragraph.\n\nTwo paragraphs.\n\nThree paragraphs.");
    await slow.blocks.drain();
    expect(times).toHaveLength(3);
    expect((times[0] ?? 0) - from).toBeLessThan(20);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(48);
  });
});
