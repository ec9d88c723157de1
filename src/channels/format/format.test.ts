import { describe, expect, it } from "vitest";
import { alignTable, displayWidth, markdownToIR, markdownToText } from "./index.ts";

const signal = (text: string) => {
  const ir = markdownToIR(text, { headings: "bold", spoilers: true, tables: "bullets", quotePrefix: "> " });
  return [ir.text, ...ir.styles.map((s) => `${s.start}:${s.end - s.start}:${s.style}`)];
};

describe("Markdown as text and ranges", () => {
  it.each([
    ["**bold** *it* _it2_ ~~st~~ __b2__", ["bold it it2 st b2", "0:4:bold", "5:2:italic", "8:3:italic", "12:2:strikethrough", "15:2:bold"]],
    ["## Head\ntext", ["Head\n\ntext", "0:4:bold"]],
    ["`a<b` and\n\n```js\nif (a < b && c) {}\n```", ["a<b and\n\nif (a < b && c) {}\n", "0:3:code", "9:19:code_block"]],
    ["||hidden|| and a || b", ["hidden and a || b", "0:6:spoiler"]],
    ["> line1\n> line2\n\nafter", ["> line1\n> line2\n\nafter"]],
    ["> **a**\n> b", ["> a\n> b", "2:1:bold"]],
    ["| Name | Qty |\n|---|---|\n| Apple | 2 |\n| Kiwi | 10 |", ["Apple\n• Qty: 2\n\nKiwi\n• Qty: 10", "0:5:bold", "16:4:bold"]],
  ])("parses %j", (markdown, expected) => {
    expect(signal(markdown)).toEqual(expected);
  });

  it("leaves bars and bare addresses alone when told to", () => {
    expect(markdownToIR("||x|| https://ex.com", { linkify: false })).toEqual({ text: "||x|| https://ex.com", styles: [], links: [] });
  });

  it("keeps a table as it was written when tables are off", () => {
    expect(markdownToText("| a | b |\n|---|---|\n| 1 | 2 |", { tables: "off" })).toBe("| a | b |\n|---|---|\n| 1 | 2 |");
  });

  it("aligns Chinese columns by display width", () => {
    expect(displayWidth("你好a")).toBe(5);
    const cell = (text: string) => ({ text, styles: [], links: [] });
    expect(alignTable({ header: [cell("名称")], rows: [[cell("abcdef")]] })).toBe("| 名称   |\n| ------ |\n| abcdef |");
  });
});
