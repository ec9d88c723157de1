import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as sdk from "./index.ts";

describe("ids and parameters", () => {
  it.each([["Foo Bar", "foo-bar"], [" a_B-9 ", "a_b-9"], ["", "default"], ["__proto__", "default"], ["constructor", "default"], [undefined, "default"], ["--x--", "x"], ["é!", "default"]])("the account %j is called %j", (raw, id) => {
    expect(sdk.normalizeAccountId(raw)).toBe(id);
  });

  it("any account id has a form that stays what it is", () => {
    fc.assert(fc.property(fc.string(), (raw) => {
      const id = sdk.normalizeAccountId(raw);
      expect(id).toMatch(/^[a-z0-9_-]{1,64}$/);
      expect(sdk.normalizeAccountId(id)).toBe(id);
    }));
  });

  it("reads a tool's parameters, also in snake case, and says which one is missing", () => {
    expect(sdk.readStringParam({ chat_id: " 7 " }, "chatId")).toBe("7");
    expect(sdk.readStringParam({ a: 5 }, "a")).toBeUndefined();
    expect(sdk.readStringParam({ a: "" }, "a", { allowEmpty: true })).toBe("");
    expect(() => sdk.readStringParam({}, "to", { required: true, label: "target" })).toThrow("target required");
    expect(sdk.readNumberParam({ n: "12.7" }, "n", { integer: true })).toBe(12);
    expect(sdk.readNumberParam({ n: "x" }, "n")).toBeUndefined();
    expect(sdk.readReactionParams({ emoji: "" }, { removeErrorMessage: "no" })).toEqual({ emoji: "", remove: false, isEmpty: true });
    expect(() => sdk.readReactionParams({ emoji: "", remove: true }, { removeErrorMessage: "name it" })).toThrow("name it");
    expect(sdk.createActionGate({ a: false })("a")).toBe(false);
    expect(sdk.createActionGate<Record<string, boolean>>({})("b", false)).toBe(false);
    expect(sdk.jsonResult({ a: 1 })).toEqual({ content: [{ type: "text", text: '{\n  "a": 1\n}' }], details: { a: 1 } });
    expect(sdk.stringEnum(["a", "b"], { description: "d" })).toEqual({ type: "string", enum: ["a", "b"], description: "d" });
  });

  it("an empty plugin config is nothing or an object without keys", () => {
    const schema = sdk.emptyPluginConfigSchema();
    const message = (value: unknown): string | undefined => {
      const result = schema.safeParse(value);
      return result.success ? undefined : result.error.issues[0]?.message;
    };
    expect([undefined, {}, { a: 1 }, null, []].map(message)).toEqual([undefined, undefined, "config must be empty", "expected config object", "expected config object"]);
    expect(schema.jsonSchema).toEqual({ type: "object", additionalProperties: false, properties: {} });
  });
});
