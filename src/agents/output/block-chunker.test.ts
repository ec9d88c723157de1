import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFenceSpans } from "../../infra/text/index.ts";
import { BlockChunker, type BlockChunkerOptions } from "./block-chunker.ts";

function chunk(pieces: readonly string[], options: BlockChunkerOptions, drainEach = true): string[] {
  const chunker = new BlockChunker(options);
  const blocks: string[] = [];
  for (const piece of pieces) {
    chunker.append(piece);
    if (drainEach) chunker.drain((block) => blocks.push(block));
  }
  chunker.drain((block) => blocks.push(block), true);
  return blocks;
}

const inTens = (text: string): string[] => text.match(/[\s\S]{1,10}/g) ?? [];
const CODE = "```js\nconst a = 1;\n\nconst b = 2;\n```";
const TEXT = `First paragraph has a few words.\n\nSecond one. It has two sentences.\n\n${CODE}\n\nEnd.`;

describe("blocks of a growing reply", () => {
  it("waits for the end when the reply is shorter than the least size", () => {
    expect(chunk(inTens(TEXT), { minChars: 800, maxChars: 1200, breakPreference: "paragraph" })).toEqual([TEXT]);
  });

  it("sends one block per paragraph and the code block whole in newline mode", () => {
    expect(chunk(inTens(TEXT), { minChars: 20, maxChars: 60, breakPreference: "paragraph", flushOnParagraph: true })).toEqual([
      "First paragraph has a few words.", "Second one. It has two sentences.", CODE, "End.",
    ]);
  });

  it("breaks at paragraphs and never at a mere blank before the greatest size", () => {
    const blocks = chunk(inTens(TEXT), { minChars: 20, maxChars: 60, breakPreference: "paragraph" });
    expect(blocks[0]).toBe("First paragraph has a few words.");
    expect(blocks.join("\n\n").replace(/\s+/g, " ")).toBe(TEXT.replace(/\s+/g, " "));
  });

  it("breaks after sentences", () => {
    const text = "One two three. Four five six seven eight nine ten.";
    expect(chunk([text], { minChars: 10, maxChars: 25, breakPreference: "sentence" })).toEqual(["One two three.", "Four five six seven eight", "nine ten."]);
  });

  it("cuts hard where there is no break", () => {
    expect(chunk(["abcdefghijklmnopqrstuvwxyz0123456789"], { minChars: 5, maxChars: 10, breakPreference: "paragraph" }).map((b) => b.length)).toEqual([10, 10, 10, 6]);
  });

  it("closes and reopens a code block that is longer than a block", () => {
    const code = `~~~~py\n${Array.from({ length: 12 }, (_, i) => `line number ${i}`).join("\n")}\n~~~~`;
    const blocks = chunk(inTens(code), { minChars: 20, maxChars: 60, breakPreference: "paragraph" });
    expect(blocks.length).toBeGreaterThan(3);
    for (const block of blocks) {
      expect(block.trim()).toMatch(/^~~~~py\n[\s\S]*\n~~~~$/);
      expect(block.length).toBeLessThanOrEqual(60);
    }
    expect(blocks.flatMap((block) => block.split("\n").filter((line) => line.startsWith("line")))).toEqual(code.split("\n").slice(1, -1));
  });
});

const word = fc.constantFrom("one", "two.", "three!", "vier?", "最後。", "😀", "👨‍👩‍👧", "e\u0301", "a_very_long_word_without_any_break_in_it", "`x`");
const gap = fc.constantFrom(" ", " ", "\n", "\n\n", "\n \n\n", "  ");
const prose = fc.array(fc.tuple(word, gap), { minLength: 1, maxLength: 40 }).map((list) => list.flat().join(""));
const fence = fc
  .tuple(fc.constantFrom("```", "~~~", "````"), fc.constantFrom("", "js"), fc.array(fc.constantFrom("const a = 1;", "", "  indented", "x".repeat(70), "😀😀😀"), { maxLength: 8 }))
  .map(([mark, info, lines]) => `${mark}${info}\n${lines.map((line) => `${line}\n`).join("")}${mark}\n`);
const document = fc.array(fc.oneof({ weight: 3, arbitrary: prose.map((text) => `${text}\n`) }, { weight: 1, arbitrary: fence }), { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
const options = fc
  .record({ minChars: fc.integer({ min: 1, max: 60 }), maxChars: fc.integer({ min: 30, max: 120 }), breakPreference: fc.constantFrom("paragraph" as const, "newline" as const, "sentence" as const) })
  .map((o) => ({ ...o, minChars: Math.min(o.minChars, o.maxChars) }));
const cutUp = fc.tuple(document, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 })).map(([text, sizes]) => {
  const pieces: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] as number;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return { text, pieces };
});

/** What must survive: no white space, no lines that open or close code blocks. */
const essence = (text: string): string =>
  text.split("\n").filter((line) => !/^ {0,3}(`{3,}|~{3,})/.test(line)).join("\n").replace(/\s+/g, "");

describe("every reply, however it is cut", () => {
  it("keeps blocks within the limit", () => {
    fc.assert(fc.property(cutUp, options, fc.boolean(), ({ pieces }, o, flushOnParagraph) => {
      for (const block of chunk(pieces, { ...o, flushOnParagraph })) expect(block.length).toBeLessThanOrEqual(o.maxChars);
    }), { numRuns: 400 });
  });

  it("loses nothing but white space and repeated fence lines", () => {
    fc.assert(fc.property(cutUp, options, fc.boolean(), ({ text, pieces }, o, flushOnParagraph) => {
      expect(essence(chunk(pieces, { ...o, flushOnParagraph }).join("\n"))).toBe(essence(text));
    }), { numRuns: 400 });
  });

  it("never emits a blank block nor half a character", () => {
    fc.assert(fc.property(cutUp, options, ({ text, pieces }, o) => {
      const blocks = chunk(pieces.map((piece) => piece), o);
      for (const block of blocks) {
        expect(block.trim()).not.toBe("");
        expect(block.isWellFormed()).toBe(true);
        expect(block).not.toMatch(/^[\u0301\u200D]/);
      }
      expect(text.isWellFormed()).toBe(true);
    }), { numRuns: 300 });
  });

  it("leaves no code block open", () => {
    fc.assert(fc.property(document, options, (text, o) => {
      for (const block of chunk([text], o)) for (const span of parseFenceSpans(block)) expect(span).toMatchObject({ closed: true });
    }), { numRuns: 300 });
  });

  it("does not depend on the deltas when it is drained only at the end", () => {
    fc.assert(fc.property(cutUp, options, ({ text, pieces }, o) => {
      expect(chunk(pieces, o, false)).toEqual(chunk([text], o, false));
    }));
  });
});
