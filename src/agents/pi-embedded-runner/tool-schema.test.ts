import fc from "fast-check";
import { expect, it } from "vitest";
import { toolSchema } from "./tool-schema.ts";

const openai = { api: "openai-completions", provider: "openai" };
const google = { api: "google-generative-ai", provider: "google" };

it("leaves an ordinary object as it is, and merges variants at the top for every provider", () => {
  const plain = { type: "object", properties: { a: { type: "string", minLength: 1 } }, required: ["a"] };
  expect(toolSchema(plain, openai)).toBe(plain);
  expect(toolSchema({
    anyOf: [
      { type: "object", properties: { kind: { const: "a" }, x: { type: "number" }, id: { type: "string" } }, required: ["kind", "id"] },
      { type: "object", properties: { kind: { enum: ["b", "c"] }, y: { type: "string" }, id: { type: "string" } }, required: ["kind", "id", "y"] },
    ],
  }, openai)).toEqual({
    type: "object", properties: { kind: { enum: ["a", "b", "c"] }, x: { type: "number" }, id: { type: "string" }, y: { type: "string" } }, required: ["kind", "id"], additionalProperties: true,
  });
});

it("gives Gemini only what it takes", () => {
  expect(toolSchema({
    $schema: "http://json-schema.org/draft-07/schema#", type: "object", additionalProperties: false, required: ["when"],
    $defs: { day: { type: "string", pattern: "^\\d+$", enum: ["mon", "tue"] }, node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
    properties: {
      when: { $ref: "#/$defs/day", description: "the day" }, mode: { anyOf: [{ const: "a" }, { const: "b" }, { type: "null" }] }, size: { type: ["number", "null"], minimum: 1 }, one: { const: "only" },
      place: { oneOf: [{ type: "string", format: "uri" }, { type: "object", properties: {} }] }, tags: { type: "array", minItems: 1, items: { type: "string", maxLength: 3 } }, tree: { $ref: "#/$defs/node" }, lost: { $ref: "https://x/y" },
      pattern: { type: "string" },
    },
  }, google)).toMatchObject({
    type: "object", required: ["when"],
    properties: {
      when: { type: "string", enum: ["mon", "tue"], description: "the day" }, mode: { type: "string", enum: ["a", "b"] }, size: { type: "number" }, one: { type: "string", enum: ["only"] }, place: { type: "string" },
      tags: { type: "array", items: { type: "string" } }, tree: { type: "object" }, lost: { type: "object" }, pattern: { type: "string" },
    },
  });
});

it("ends on any schema, and never keeps a refused word", () => {
  const leaf = fc.constantFrom<object>({ type: "string", pattern: "x" }, { $ref: "#" }, { $ref: "#/properties/a" }, { const: 1 }, { type: "null" }, { format: "date", type: "string" });
  const schema = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, leaf, fc.record({ anyOf: fc.array(tie("any"), { maxLength: 3 }) }), fc.record({ allOf: fc.array(tie("any"), { maxLength: 3 }) }), fc.record({ type: fc.constant("array"), items: tie("any") }),
      fc.record({ type: fc.constant("object"), additionalProperties: fc.boolean(), properties: fc.dictionary(fc.constantFrom("a", "b"), tie("any"), { maxKeys: 2 }) })),
  })).any;
  fc.assert(fc.property(schema, (input) => {
    const text = JSON.stringify(toolSchema(input as object, google));
    expect(text.length).toBeLessThan(1_000_000);
    expect(text).not.toMatch(/"(?:\$ref|anyOf|oneOf|const|additionalProperties|format)":/);
  }), { numRuns: 300 });
});
