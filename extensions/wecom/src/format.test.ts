import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callbackSignature, decryptBytes, decryptCallback, encryptCallback } from "./callback-crypto.ts";
import { headOf, hideMediaLines, splitText, takeTemplateCard } from "./format.ts";
import { formatTarget, normalizeEntry, normalizeTarget, parseTarget } from "./targets.ts";
import { readXml } from "./xml.ts";

const KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG";

describe("callback encryption", () => {
  it("is the platform's", () => {
    const encrypted = "Q3stYC6hdFzMh9T8HCvyDHPgJBp1hNiGJRGfxoOyXGI=";
    expect(encryptCallback("hello", KEY, "wwcorp", Buffer.from("0123456789abcdef"))).toBe(encrypted);
    expect(decryptCallback(encrypted, KEY, "wwcorp")).toBe("hello");
    expect(callbackSignature("tok", "1700000000", "nonce", encrypted)).toBe("81834b2a090dd74e7ff3a07c317f0433ffb5bd3a");
    const file = decryptBytes(Buffer.from("acb99760ffa9c3ccf5bd68fb44a1ba642de2b9f349fd7cb38b0939a6d691b622", "hex"), Buffer.from("glTDKakoUPbVOd03b0gW7idkUX2l4CNVFK9DMWRIDXo=", "base64"));
    expect(file.toString()).toBe("file-bytes");
  });

  it("gives back what went in, and refuses other receivers, other keys and broken data", () => {
    fc.assert(fc.property(fc.string(), fc.string({ maxLength: 20 }), (message, receiver) => {
      const encrypted = encryptCallback(message, KEY, receiver);
      expect(decryptCallback(encrypted, KEY, "")).toBe(Buffer.from(message, "utf8").toString("utf8"));
      if (receiver !== "other") expect(() => decryptCallback(encrypted, KEY, "other")).toThrow();
      expect(() => decryptCallback(encrypted.slice(4), KEY, "")).toThrow();
      expect(() => decryptCallback(encrypted, KEY.toUpperCase().replace("A", "B"), receiver || "x")).toThrow();
    }));
    expect(() => decryptBytes(Buffer.alloc(32), Buffer.alloc(16))).toThrow("32");
  });
});

describe("XML of callbacks", () => {
  it("is read as texts", () => expect(readXml("<xml><A><![CDATA[a & <b>]]></A><MsgId>12345678901234567890</MsgId><C>x &amp; y</C><D><E>1</E></D></xml>")).toEqual({ A: "a & <b>", MsgId: "12345678901234567890", C: "x & y" }));
  it.each(["", "{}", "<xml><A>", "<a>b</a>", '<!DOCTYPE x [<!ENTITY a "b">]><xml><A>&a;</A></xml>'])("%j is refused", (text) => expect(() => readXml(text)).toThrow());
});

describe("addresses", () => {
  it.each([
    ["wecom:alice", "user:alice"], ["user:Alice", "user:Alice"], ["wrAbCdEf1", "group:wrAbCdEf1"], ["chat:x", "group:x"], ["group:wr1", "group:wr1"], ["42", "wecom-agent:party:42"], ["dept:7", "wecom-agent:party:7"],
    ["tag:9", "wecom-agent:tag:9"], ["wecom-agent:bob", "wecom-agent:user:bob"], ["qywx:user:bob", "user:bob"], ["", undefined], ["user:", undefined], ["a b", undefined], ["a|b", undefined],
  ])("%j is %s", (raw, address) => {
    const target = parseTarget(raw);
    expect(target && formatTarget(target)).toBe(address);
    expect(target && parseTarget(formatTarget(target))).toEqual(target);
  });
  it("are taken for WeCom's own only when they say so; ids compare without case", () => {
    expect([normalizeTarget("wecom:alice"), normalizeTarget("alice"), normalizeTarget("tag:1")]).toEqual(["user:alice", undefined, "wecom-agent:tag:1"]);
    expect(normalizeEntry(" WeCom:user:Alice ")).toBe("alice");
  });
});

describe("texts", () => {
  it("are cut at characters and lines, with whole fences, and nothing is lost", () => {
    fc.assert(fc.property(fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("```ts", "```", "长文字一二三四", "\n", " ")), { maxLength: 60 }), fc.integer({ min: 256, max: 400 }), (pieces, bytes) => {
      const text = pieces.join("\n");
      const parts = splitText(text, bytes);
      for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(bytes);
      const squeeze = (value: string): string => value.replace(/[`~\s]|ts/g, "");
      expect(squeeze(parts.join(""))).toBe(squeeze(Buffer.from(text, "utf8").toString("utf8")));
    }));
    expect(headOf("一二三", 4)).toBe("一");
    expect(() => splitText("x", 10)).toThrow("256");
  });
  it("may hold a template card", () => {
    const card = { card_type: "text_notice", main_title: { title: "T" } };
    expect(takeTemplateCard(JSON.stringify({ template_card: card }))).toEqual({ text: "", card });
    expect(takeTemplateCard(`before\n\`\`\`json\n${JSON.stringify({ template_card: card }, null, 2)}\n\`\`\`\nafter`)).toEqual({ text: "before\n\nafter", card });
    for (const text of ['{"template_card":{"card_type":"other"}}', '{"template_card":', "plain"]) expect(takeTemplateCard(text)).toEqual({ text, card: undefined });
  });
  it("show no file lines, also half-written ones", () => expect([hideMediaLines("a\nMEDIA:/x\nb"), hideMediaLines("a\nMED"), hideMediaLines("a\nMedal")]).toEqual(["a\n\nb", "a", "a\nMedal"]));
});
