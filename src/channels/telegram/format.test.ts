import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTelegramHtml } from "../../../test/support/telegram-api/index.ts";
import { toTelegramHtml, toTelegramTexts } from "./format.ts";

describe("Markdown on Telegram", () => {
  it.each([
    ["**bold** *it* _it2_ ~~st~~ __b2__", "<b>bold</b> <i>it</i> <i>it2</i> <s>st</s> <b>b2</b>"],
    ["## Head\ntext", "Head\n\ntext"],
    ["- a\n- b\n  - c\n\n1. x\n2. y", "• a\n• b\n  • c\n\n1. x\n2. y"],
    ["`a<b` and\n\n```\nif (a < b && c) {}\n```", "<code>a&lt;b</code> and\n\n<pre><code>if (a &lt; b &amp;&amp; c) {}\n</code></pre>"],
    ["```js\nx\n```", '<pre><code class="language-js">x\n</code></pre>'],
    ['[site](https://ex.com/?a=1&b="2")', '<a href="https://ex.com/?a=1&amp;b=%222%22">site</a>'],
    ["https://ex.com", '<a href="https://ex.com">https://ex.com</a>'],
    ["me@ex.com", '<a href="mailto:me@ex.com">me@ex.com</a>'],
    ["foo.md see utils.py", "<code>foo.md</code> see <code>utils.py</code>"],
    ['5 < 6 & 7 > 3 "q" <b>raw</b>', '5 &lt; 6 &amp; 7 &gt; 3 "q" &lt;b&gt;raw&lt;/b&gt;'],
    ["> line1\n> line2\n\nafter", "<blockquote>line1\nline2\n\n</blockquote>after"],
    ["||hidden|| and a || b", "<tg-spoiler>hidden</tg-spoiler> and a || b"],
    [
      "| Name | Qty |\n|---|---|\n| Apple | 2 |\n| Kiwi | 10 |",
      "<pre><code>| Name  | Qty |\n| ----- | --- |\n| Apple | 2   |\n| Kiwi  | 10  |\n</code></pre>",
    ],
    ["> > deep", "<blockquote>deep</blockquote>"],
    ["![alt text](https://ex.com/x.png)", "alt text"],
    ["a\n\n---\n\nb", "a\n\n───\n\nb"],
    ["[x](javascript:alert(1))", "[x](javascript:alert(1))"],
  ])("renders %j", (markdown, html) => {
    expect(toTelegramHtml(markdown)).toBe(html);
  });

  it("keeps tags balanced where a long bold text is cut", () => {
    const parts = toTelegramTexts(`**${"word ".repeat(12).trim()}**`, { limit: 30 });
    expect(parts).toHaveLength(2);
    for (const part of parts) expect(part.html).toMatch(/^<b>[^<]+<\/b>$/);
  });

  it("splits a long code block into blocks, each with its language", () => {
    const code = Array.from({ length: 300 }, (_, i) => `const line${i} = ${i};`).join("\n");
    const parts = toTelegramTexts(`Intro\n\n\`\`\`ts\n${code}\n\`\`\`\n\nOutro`, { limit: 4000 });
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.every((p) => p.plain.length <= 4000)).toBe(true);
    expect(parts.filter((p) => p.html.includes('<pre><code class="language-ts">')).length).toBeGreaterThan(1);
    expect(parts.map((p) => p.plain).join("\n")).toContain("const line299 = 299;");
  });

  it("writes HTML that Telegram accepts, within the limit, for any text, losing only blanks", () => {
    const token = fc.constantFrom("**", "*", "_", "~~", "||", "`", "```\n", "\n", "\n\n", "> ", "- ", "1. ", " ", "word", "你好", "👨‍👩‍👧", "<b>", "&", "[l](http://a.b)", "| a | b |\n|---|---|\n| 1 | 2 |\n", "x.md");
    fc.assert(
      fc.property(fc.array(token, { maxLength: 50 }), fc.integer({ min: 2, max: 60 }), (tokens, limit) => {
        const markdown = tokens.join("");
        const [whole] = toTelegramTexts(markdown);
        const parts = toTelegramTexts(markdown, { limit });
        for (const part of parts) {
          expect(part.plain.length).toBeLessThanOrEqual(limit);
          // What Telegram would show is exactly the plain text.
          expect(parseTelegramHtml(part.html)).toMatchObject({ ok: true, text: part.plain });
        }
        expect(parts.map((p) => p.plain).join("").replace(/\s/g, "")).toBe((whole?.plain ?? "").replace(/\s/g, ""));
      }),
      { numRuns: 3000 },
    );
  });
});
