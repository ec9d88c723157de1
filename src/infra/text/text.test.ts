import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkMarkdownText, chunkPlainText, parseFenceSpans, safeCutIndex, splitMarkdown, truncateText } from "./index.ts";

const family = "👨‍👩‍👧‍👦";
const piece = fc.oneof(
  fc.constantFrom("\n", "\n\n", " ", "(", ")", "```\n", "```js\n", "~~~\n", "word", "a.b", family, "🇩🇪", "e\u0301", "❤️", "你好", "😀"),
  fc.string({ maxLength: 12 }),
);
const markdown = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""));
const bare = (text: string): string => text.replace(/\s+/g, "");

describe("cutting between characters", () => {
  it.each([
    ["a😀b", 2, 1],
    [`x${family}y`, 5, 1],
    ["🇩🇪🇫🇷", 6, 4],
    ["xe\u0301", 2, 1],
    ["x❤️y", 2, 1],
    ["plain", 3, 3],
    ["a\r\nb", 2, 1],
  ])("cuts %j at or before %i: %i", (text, index, expected) => {
    expect(safeCutIndex(text, index)).toBe(expected);
  });

  it("never tears a surrogate pair, wherever it is asked to cut", () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 1, max: 200 }), (text, index) => {
        const cut = safeCutIndex(text, index);
        expect(text.slice(0, cut).isWellFormed()).toBe(text.isWellFormed() || text.slice(0, cut).isWellFormed());
        expect(cut).toBeLessThanOrEqual(Math.max(text.length, index + 1));
      }),
    );
    expect(truncateText("ab😀", 3)).toBe("ab");
  });
});

describe("fenced blocks", () => {
  it("knows opening, longer closing, tilde and unclosed blocks", () => {
    const text = "a\n````js\nx\n```\n`````\n~~~\ny";
    const spans = parseFenceSpans(text);
    expect(spans.map((s) => [s.openLine, s.closed])).toEqual([["````js", true], ["~~~", false]]);
    expect(spans[1]?.end).toBe(text.length);
  });
  it("takes a line with a backtick in its info for inline code", () => {
    expect(parseFenceSpans("``` a`b\nx")).toEqual([]);
  });
});

describe("splitting messages", () => {
  it.each([
    ["hello world", 8, ["hello", "world"]],
    ["😀😀", 3, ["😀", "😀"]],
    ["one\ntwo three", 9, ["one", "two three"]],
    ["see (a b c d) end", 10, ["see", "(a b c d)", "end"]],
  ])("splits %j at %i", (text, limit, parts) => {
    expect(chunkMarkdownText(text, limit)).toEqual(parts);
  });

  it("sends one message per paragraph in newline mode", () => {
    expect(chunkMarkdownText("a\nb\n\nc\n\n\nd", 100, "newline")).toEqual(["a\nb", "c", "d"]);
    expect(chunkMarkdownText("x\n\n```\na\n\nb\n```\n\ny", 100, "newline")).toEqual(["x", "```\na\n\nb\n```", "y"]);
  });

  it("closes and reopens a code block with its language", () => {
    const parts = chunkMarkdownText("Intro\n```js\nline one;\nline two;\nline three;\n```\nEnd", 32);
    expect(parts[0]).toBe("Intro");
    for (const part of parts.slice(1, -1)) {
      expect(part.startsWith("```js\n")).toBe(true);
      expect(part.includes("\n```")).toBe(true);
    }
    expect(parts.join("\n")).toContain("line three;");
    expect(parts.at(-1)).toContain("End");
  });

  it("never cuts a closing line, and leaves no empty block behind", () => {
    const text = `\`\`\`\n${"x".repeat(20)}\n\`\`\``;
    for (let limit = 16; limit < text.length; limit++) {
      for (const part of chunkMarkdownText(text, limit)) {
        expect(part.length).toBeLessThanOrEqual(limit);
        expect(part).toMatch(/^```\nx+\n```$/);
      }
    }
  });

  it("loses nothing but blanks at cuts and keeps every piece within the limit", () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 2, max: 80 }), fc.constantFrom("length" as const, "newline" as const), (text, limit, mode) => {
        const pieces = splitMarkdown(text, limit, mode);
        let at = 0;
        for (const p of pieces) {
          const gap = text.slice(at, p.start);
          // Between pieces lie blanks, or the closing line that the piece before already wrote.
          expect(gap.trim() === "" || /^\s*(`{3,}|~{3,})\s*$/.test(gap)).toBe(true);
          expect(p.prefix.length + (p.end - p.start) + p.suffix.length).toBeLessThanOrEqual(limit);
          at = p.end;
        }
        expect(text.slice(at).trim().replace(/^(`{3,}|~{3,})/, "").trim()).toBe("");
      }),
      { numRuns: 3000 },
    );
  });

  it("keeps blocks balanced in every piece that has room for it", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("word ", "x\n", "\n", "你好", "y;\n"), { maxLength: 80 }), fc.integer({ min: 30, max: 60 }), (parts, limit) => {
        const text = `before\n\`\`\`ts\n${parts.join("")}\n\`\`\`\nafter`;
        for (const part of chunkMarkdownText(text, limit)) expect(parseFenceSpans(part).every((s) => s.closed)).toBe(true);
      }),
    );
  });

  it("splits plain text without losing a visible character", () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 2, max: 50 }), (text, limit) => {
        expect(bare(chunkPlainText(text, limit).join(""))).toBe(bare(text));
      }),
    );
  });
});
