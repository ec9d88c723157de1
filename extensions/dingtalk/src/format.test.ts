import fc from "fast-check";
import { expect, it } from "vitest";
import { MAX_PARAM_BYTES } from "./api.ts";
import { convertTables, isMarkdown, splitMarkdown, toTextParts } from "./format.ts";

const options = { limit: 3800, convertTables: true };
const line = fc.oneof(fc.string({ unit: "grapheme", maxLength: 60 }), fc.constantFrom("```js", "```", "~~~", "", "# 标题", "| a | b |", "|---|---|", "x".repeat(400), "😀".repeat(120)));
const document = fc.array(line, { maxLength: 60 }).map((lines) => lines.join("\n"));

it("loses no word, keeps to the limit and to whole characters", () => {
  fc.assert(
    fc.property(document, fc.integer({ min: 64, max: 900 }), (text, limit) => {
      const parts = splitMarkdown(text, limit);
      expect(parts.every((part) => part.length <= limit && part.isWellFormed())).toBe(true);
      const bare = (some: string): string => some.replace(/^\s{0,3}(?:`{3,}|~{3,}).*$/gm, "").replace(/[\s`~]/g, "");
      if (!/[`~]{3}/.test(text)) expect(bare(parts.join("\n"))).toBe(bare(text));
    }),
    { numRuns: 200 },
  );
});

it("keeps every message under DingTalk's limit of bytes", () => {
  fc.assert(
    fc.property(fc.constantFrom("汉", "\u0001", '"', "😀", "a"), fc.integer({ min: 1, max: 9000 }), (char, count) => {
      const parts = toTextParts(char.repeat(count), options);
      expect(parts.every(({ title, text }) => Buffer.byteLength(JSON.stringify({ title, text })) <= MAX_PARAM_BYTES)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

it("says what is Markdown, and titles by the first words", () => {
  expect(["plain words", "# a", "- a", "a *b*", "a\nb", "[x](y)"].map(isMarkdown)).toEqual([false, true, true, true, true, true]);
  expect(toTextParts("## A heading that is much longer than twenty characters\n\ntext", options)[0]?.title).toBe("A heading that is mu");
  expect(toTextParts("```\ncode\n```", options)[0]?.title).toBe("code");
});

it.each([
  ["a table", "a\n\n| N | Q |\n|:--|--:|\n| x | 1 |\n| y \\| z | 2 |\n\nb", "a\n\n**N: x**\n- Q: 1\n\n**N: y | z**\n- Q: 2\n\n\nb"],
  ["a table in a fence", "```\n| a | b |\n|---|---|\n```", "```\n| a | b |\n|---|---|\n```"],
  ["a pipe in words", "a | b\nc", "a | b\nc"],
])("writes %s so that DingTalk shows it", (_name, given, expected) => expect(convertTables(given)).toBe(expected));
