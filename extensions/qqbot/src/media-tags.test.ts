import fc from "fast-check";
import { expect, it } from "vitest";
import { splitMediaTags } from "./media-tags.ts";

it.each<[string, readonly object[]]>([
  ["see <qqimg>/a/b.png</qqimg> now", [{ text: "see " }, { tag: "qqimg", source: "/a/b.png" }, { text: " now" }]],
  ["＜qqimg＞pic.jpg＜/qqimg＞", [{ tag: "qqimg", source: "pic.jpg" }]],
  ["<qqimg>pic.jpg<qqimg>", [{ tag: "qqimg", source: "pic.jpg" }]],
  ['<qqfile src="report.pdf"></qqfile>', [{ tag: "qqfile", source: "report.pdf" }]],
  ["<QQVoice> say.wav </QQVoice>", [{ tag: "qqvoice", source: "say.wav" }]],
  ["the tag <file> names a file", [{ text: "the tag <file> names a file" }]],
  ["```\n<qqimg>a.png</qqimg>\n```", [{ text: "```\n<qqimg>a.png</qqimg>\n```" }]],
])("%s", (text, pieces) => expect(splitMediaTags(text)).toEqual(pieces));

it("whatever a model writes, nothing throws, words stay and no piece is empty", () => {
  const bit = fc.oneof(fc.constantFrom("<qqimg>", "</qqimg>", "＜qqvoice＞", "<img src='a.png'>", "```", "`", "\n", "<", "</file>"), fc.string({ maxLength: 8 }));
  fc.assert(
    fc.property(fc.array(bit, { maxLength: 20 }), (bits) => {
      const text = bits.join("");
      const pieces = splitMediaTags(text);
      for (const piece of pieces) expect("text" in piece ? piece.text.trim() : piece.source).not.toBe("");
      if (!text.includes("<") && !text.includes("＜")) expect(pieces.map((piece) => ("text" in piece ? piece.text : "")).join("")).toBe(text.trim() === "" ? "" : text);
    }),
  );
});
