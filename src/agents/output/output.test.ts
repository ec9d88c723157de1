import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBlockCoalescer } from "./coalescer.ts";
import { parseReplyDirectives } from "./directives.ts";
import type { ReplyPayload } from "./payload.ts";
import { readGrowingReply, readReply } from "./reply-text.ts";
import { gateVisibleText, mayBecomeSilent } from "./silent.ts";
import { createBlockTagState, stripBlockTags, type StripBlockTagsOptions } from "./strip-tags.ts";

function strip(pieces: readonly string[], options: StripBlockTagsOptions = {}): string {
  const state = createBlockTagState();
  return pieces.map((piece) => stripBlockTags(piece, state, options)).join("") + stripBlockTags("", state, { ...options, flush: true });
}

const SNIPPETS = [
  "hello ", "a < b", "1 <2> ", "\n", "\n\n", "`code <think> span` ", "\n```html\n<think>kept</think>\n```\n", "\n~~~\n<final>kept</final>\n~~~\n",
  "<", "</", "`", "``", "<b>bold</b>", "😀", "<thing>", "< thinking of it", "a~~~b ",
];
const THOUGHTS = ["<think>SECRET</think>", "<thinking>SECRET `x` <b></thinking>", "< THOUGHT >SECRET\n\nSECRET</ thought >", "<antthinking>SECRET</antthinking>"];
const pieces = (text: string, sizes: readonly number[]): string[] => {
  const out: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] as number;
    out.push(text.slice(at, at + size));
    at += size;
  }
  return out;
};
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 });

describe("thinking and final tags", () => {
  it.each([
    ["<think>plan</think>Answer", "Answer"],
    ["A< Thinking >x</ thinking >B", "AB"],
    ["<final>Answer</final>", "Answer"],
    ["write `<think>` to think", "write `<think>` to think"],
    ["```\n<think>a</think>\n```", "```\n<think>a</think>\n```"],
    ["x < y and y > z", "x < y and y > z"],
    ["odd ` tick\n\n<think>plan</think>ok", "odd ` tick\n\nok"],
    ["never closed <think>plan", "never closed "],
  ])("shows %j as %j", (text, shown) => {
    expect(strip([text])).toBe(shown);
    expect(strip([...text])).toBe(shown);
  });

  it("shows only what stands in <final> for models that mark it", () => {
    expect(strip(["plan<fin", "al>Answer</final> more"], { enforceFinalTag: true })).toBe("Answer");
    expect(strip(["no tag at all"], { enforceFinalTag: true })).toBe("");
  });

  it("shows the same however the text arrives", () => {
    const text = fc.array(fc.constantFrom(...SNIPPETS, ...THOUGHTS), { maxLength: 14 }).map((list) => list.join(""));
    fc.assert(fc.property(text, sizes, fc.boolean(), (whole, cut, enforceFinalTag) => {
      expect(strip(pieces(whole, cut), { enforceFinalTag })).toBe(strip([whole], { enforceFinalTag }));
    }), { numRuns: 500 });
  });

  it("never shows a thought between ordinary words", () => {
    const text = fc.array(fc.constantFrom("word ", "a < b ", "`x` ", "\n", ...THOUGHTS), { maxLength: 12 }).map((list) => list.join(""));
    fc.assert(fc.property(text, sizes, (whole, cut) => {
      expect(strip(pieces(whole, cut))).not.toContain("SECRET");
    }), { numRuns: 300 });
  });

  it("leaves text without tags as it is", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 80 }).filter((value) => !/<\s*\/?\s*(think|thinking|thought|antthinking|final)\s*>/i.test(value));
    fc.assert(fc.property(text, sizes, (whole, cut) => {
      expect(strip(pieces(whole, cut))).toBe(whole);
    }));
  });
});

describe("reply directives", () => {
  it.each([
    ["Look\nMEDIA:./a.png\n\nbye", { text: "Look\n\nbye", mediaUrls: ["./a.png"] }],
    ["text MEDIA:./no.png", { text: "text MEDIA:./no.png", mediaUrls: [] }],
    ["```\nMEDIA:./no.png\n```", { text: "```\nMEDIA:./no.png\n```", mediaUrls: [] }],
    ["[[ reply_to: 42 ]] x", { text: "x", replyToId: "42" }],
    ["[[reply_to_current]]hello", { text: "hello", replyToCurrent: true }],
    ["[[audio_as_voice]]\nMEDIA:`/tmp/a b.ogg`", { text: "", mediaUrls: ["/tmp/a b.ogg"], audioAsVoice: true }],
    ["MEDIA: https://x.test/a.png ./b.jpg", { text: "", mediaUrls: ["https://x.test/a.png", "./b.jpg"] }],
    ["MEDIA: is a word", { text: "MEDIA: is a word", mediaUrls: [] }],
    ["[[reply_to:1]] a [[reply_to:2]] b", { text: "a b", replyToId: "2" }],
  ])("reads %j", (raw, expected) => {
    expect(parseReplyDirectives(raw)).toMatchObject(expected);
  });

  it("keeps the indentation of code beside a tag", () => {
    const code = "```py\ndef f():\n    return  [1,  2]\n\n\n```";
    expect(parseReplyDirectives(`[[reply_to_current]]\n${code}`).text).toBe(code);
    expect(parseReplyDirectives(`${code}\nMEDIA:./plot.png`).text).toBe(code);
  });

  it("does not touch tags inside a code block", () => {
    const code = "```\n[[reply_to_current]] [[audio_as_voice]]\n```";
    expect(parseReplyDirectives(code)).toEqual({ text: code, mediaUrls: [], mediaAt: [], replyToId: undefined, replyToCurrent: false, audioAsVoice: false });
  });

  it("gives text without directives back byte for byte", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 120 }).filter((value) => !value.includes("[[") && !value.includes("MEDIA:"));
    const noise = fc.array(fc.oneof(text, fc.constantFrom("[[", "]]", "[[x]]", "  ", "\n\n\n", "\t", "```", " MEDIA")), { maxLength: 8 }).map((list) => list.join(""));
    fc.assert(fc.property(noise.filter((value) => !/MEDIA:|\[\[\s*(reply_to|audio|voice|media)/i.test(value)), (value) => {
      expect(parseReplyDirectives(value)).toMatchObject({ text: value, mediaUrls: [], replyToCurrent: false, audioAsVoice: false });
    }));
  });

  it("leaves everything around directives byte for byte", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 30 }).filter((value) => !/[[\]`~]|MEDIA|^\s|\s$/.test(value) && value !== ""),
      fc.constantFrom("  indented  twice", "```py\ndef f():\n    return  1\n\n\n```", "a\n\n\nb", "\ttab"),
    );
    const tag = fc.constantFrom("[[reply_to_current]]", "[[ reply_to: 42 ]]", "[[audio_as_voice]]");
    fc.assert(fc.property(piece, tag, piece, (before, mark, after) => {
      expect(parseReplyDirectives(`${mark}\n${before}\n${after}`).text).toBe(`${before}\n${after}`);
      expect(parseReplyDirectives(`${before}\n${after}\n${mark}`).text).toBe(`${before}\n${after}\n`);
      expect(parseReplyDirectives(`${before}\nMEDIA:./a.png\n${after}`).text).toBe(`${before}\n${after.trimEnd()}`);
    }), { numRuns: 300 });
  });
});

describe("silent and heartbeat tokens", () => {
  it.each([
    ["NO_REPLY", { silent: true }],
    ["  **NO_REPLY**.\n", { silent: true }],
    ["<b>NO_REPLY</b>", { silent: true }],
    ["HEARTBEAT_OK", { silent: true }],
    ["`HEARTBEAT_OK`!", { silent: true }],
    ["", { silent: true }],
    ["done NO_REPLY.", { silent: false, text: "done NO_REPLY." }],
    ["Here it is.\n\nNO_REPLY", { silent: false, text: "Here it is." }],
    ["NO_REPLY means silence", { silent: false, text: "NO_REPLY means silence" }],
    ["NO_REPLYING", { silent: false, text: "NO_REPLYING" }],
    ["HEARTBEAT_OK all quiet", { silent: false, text: "all quiet" }],
    ["line one\n  line two\nHEARTBEAT_OK", { silent: false, text: "line one\n  line two" }],
    ["use HEARTBEAT_OK in the middle", { silent: false, text: "use HEARTBEAT_OK in the middle" }],
    ["HEARTBEAT_OKAY", { silent: false, text: "HEARTBEAT_OKAY" }],
  ])("treats %j as it is meant", (raw, expected) => {
    expect(gateVisibleText(raw)).toMatchObject(expected);
  });

  it("never changes text without a token", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 200 }).filter((value) => value.trim() !== "" && !/NO_REPLY|HEARTBEAT_OK/.test(value)), (text) => {
      expect(gateVisibleText(text)).toEqual({ text, silent: false });
    }));
  });

  it("withholds every beginning of a token and shows other text at once", () => {
    for (const token of ["NO_REPLY", "HEARTBEAT_OK"]) {
      for (let n = 0; n <= token.length; n++) expect(mayBecomeSilent(token.slice(0, n))).toBe(true);
    }
    expect(mayBecomeSilent("Now")).toBe(false);
  });
});

describe("a reply while it is being written", () => {
  const texts = fc.array(
    fc.constantFrom(
      "NO_REPLY", "HEARTBEAT_OK", "**NO_REPLY**", "<b>HEARTBEAT_OK</b>", "word", "NOTE", "HE", "[[reply_to_current]]", "[[ reply_to: 42 ]]", "[[not a tag]]", "[", "\nMEDIA:./a.png\n",
      "MEDIA", "\n```\nMEDIA:./no.png\n```\n", " ", "\n", "\n\n", ".", "!", "😀", "all quiet", "_", "  x",
    ),
    { maxLength: 12 },
  ).map((list) => list.join(""));

  it("only grows, and ends as what the whole says", () => {
    fc.assert(fc.property(texts, sizes, (whole, cut) => {
      let raw = "";
      let shown = "";
      for (const piece of pieces(whole, cut)) {
        raw += piece;
        const { text } = readGrowingReply(raw);
        expect(text.startsWith(shown) || shown.startsWith(text)).toBe(true);
        if (text.length > shown.length) shown = text;
      }
      const final = readReply(whole);
      expect(final.silent ? "" : final.text).toSatisfy((text: string) => text.startsWith(shown) || shown.trim() === "" || text.trimEnd() === shown.trimEnd());
    }), { numRuns: 2000 });
  });

  it.each([
    ["NO_REPLY", []],
    ["HEARTBEAT_OK all quiet", ["all"]],
    ["<b>NO_REPLY</b>", []],
    ["Here you are.\n\nNO_REPLY", ["Here you are."]],
    ["It is fine. HEARTBEAT_OK", ["It is fine."]],
    ["Look\nMEDIA:./a.png", ["Look"]],
    ["[[reply_to_current]]NO_REPLY", []],
  ])("never shows a piece of a token or directive: %j", (whole, seen) => {
    const shown = [...whole].map((_, index) => readGrowingReply(whole.slice(0, index + 1)).text.trim());
    for (const text of shown) expect(text).not.toMatch(/NO_|NO$|HEART|HEA$|MEDIA|\[\[|\b[NH]$/);
    for (const text of seen) expect(shown).toContain(text);
  });
});

describe("joining of blocks", () => {
  const setup = (options = {}) => {
    const sent: ReplyPayload[] = [];
    const coalescer = createBlockCoalescer({ minChars: 1, maxChars: 20, idleMs: 60_000, joiner: "\n\n", ...options }, (payload) => sent.push(payload));
    return { sent, coalescer };
  };

  it("joins until the greatest size and sends the rest at the end", () => {
    const { sent, coalescer } = setup();
    for (const text of ["aaaa", "bbbb", "cccccccccc", "dd"]) coalescer.push({ text });
    coalescer.flush();
    coalescer.flush();
    expect(sent.map((payload) => payload.text)).toEqual(["aaaa\n\nbbbb", "cccccccccc\n\ndd"]);
  });

  it("does not join across media or another reply target", () => {
    const { sent, coalescer } = setup();
    coalescer.push({ text: "a" });
    coalescer.push({ text: "pic", mediaUrls: ["./x.png"] });
    coalescer.push({ text: "b", replyToId: "1" });
    coalescer.push({ text: "c", replyToId: "2" });
    coalescer.flush();
    expect(sent.map((payload) => payload.text)).toEqual(["a", "pic", "b", "c"]);
  });

  it("sends after an idle while", async () => {
    const { promise, resolve } = Promise.withResolvers<ReplyPayload>();
    createBlockCoalescer({ minChars: 1, maxChars: 20, idleMs: 5, joiner: " " }, resolve).push({ text: "late" });
    expect((await promise).text).toBe("late");
  });
});
