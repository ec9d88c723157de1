import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMethodRouter, defineMethod, EVENTS, eventRule, formatIssues, isWebchatClient, parseConnectParams, parseWith, scopeOfMethod, toErrorShape } from "./index.ts";
import type { Caller, MethodCall } from "./index.ts";

const details = (schema: z.ZodType, input: unknown): string => {
  const parsed = parseWith(schema, input);
  return parsed.ok ? "" : parsed.details;
};

describe("a validation failure is told", () => {
  const schema = z.strictObject({
    s: z.string().min(2).max(3).optional(),
    n: z.number().max(1000).min(1).optional(),
    i: z.int().optional(),
    e: z.enum(["x", "y"]).optional(),
    l: z.literal("q").optional(),
    u: z.union([z.string(), z.null()]).optional(),
    a: z.array(z.string()).max(1).optional(),
    r: z.record(z.string().min(1), z.boolean()).optional(),
    o: z.strictObject({ in: z.string() }).optional(),
    p: z.string().regex(/^a/).optional(),
  });
  it.each<[string, unknown, string]>([
    ["a missing property", [z.object({ x: z.string() }), {}], "must have required property 'x'"],
    ["a missing enum", [z.object({ x: z.enum(["a", "b"]) }), {}], "must have required property 'x'"],
    ["a nested missing property", [schema, { o: {} }], "at /o: must have required property 'in'"],
    ["a wrong root", [schema, null], "must be object"],
    ["a wrong type", [schema, { o: { in: 1 } }], "at /o/in: must be string"],
    ["a fraction", [schema, { i: 1.5 }], "at /i: must be integer"],
    ["too much", [schema, { n: 1001 }], "at /n: must be <= 1000"],
    ["too little", [schema, { n: 0 }], "at /n: must be >= 1"],
    ["a short string", [schema, { s: "a" }], "at /s: must NOT have fewer than 2 characters"],
    ["a long list", [schema, { a: ["1", "2"] }], "at /a: must NOT have more than 1 items"],
    ["an unknown choice", [schema, { e: "z" }], "at /e: must be equal to constant; at /e: must match a schema in anyOf"],
    ["a wrong constant", [schema, { l: "z" }], "at /l: must be equal to constant"],
    ["no branch of a union", [schema, { u: 1 }], "at /u: must be string; at /u: must be null; at /u: must match a schema in anyOf"],
    ["a bad key", [schema, { r: { "": true } }], "at /r: property name must be valid"],
    ["a bad record value", [schema, { r: { k: 1 } }], "at /r/k: must be boolean"],
    ["a pattern", [schema, { p: "b" }], 'at /p: must match pattern "^a"'],
    ["unknown properties", [schema, { zzz: 1, o: { in: "", q: 1 } }], "at /o: unexpected property 'q'; at root: unexpected property 'zzz'"],
    ["a pointer that needs escapes", [z.record(z.string(), z.boolean()), { "a/b~c": 1 }], "at /a~1b~0c: must be boolean"],
  ])("for %s", (_name, pair, expected) => {
    const [s, input] = pair as [z.ZodType, unknown];
    expect(details(s, input)).toBe(expected);
  });

  it("in few words and plain characters, whatever was sent", () => {
    const flood = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`\u001b[2K\u202e${i}${"x".repeat(1000)}`, 1]));
    const text = details(schema, flood);
    expect(text.length).toBeLessThan(10_000);
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (input) => {
        for (const shape of [schema, z.strictObject({ a: z.strictObject({ b: z.array(z.int()) }) })]) {
          const parsed = shape.safeParse(input);
          if (parsed.success) continue;
          for (const part of formatIssues(parsed.error.issues, input).split("; ")) expect(part).toMatch(/must |unexpected property|more$|'/);
        }
        parseConnectParams(input);
      }),
    );
  });
});

describe("methods", () => {
  const call = (caller: Partial<Caller>): MethodCall => ({
    requestId: "1",
    caller: { connId: "c", role: "operator", scopes: [], isOwner: false, caps: [], client: { id: "test", mode: "test", version: "1", platform: "x" }, ...caller },
    signal: new AbortController().signal,
    respond: () => undefined,
    afterResponse: () => undefined,
  });

  it("are classified as in the reference; what is unknown needs admin", () => {
    expect(["health", "status", "agent", "exec.approval.resolve", "device.pair.list", "node.event", "config.get", "config.set", "exec.approvals.get", "wizard.x", "nope"].map(scopeOfMethod)).toEqual([
      "none", "operator.read", "operator.write", "operator.approvals", "operator.pairing", "node", "operator.read", "operator.admin", "operator.admin", "operator.admin", "operator.admin",
    ]);
    expect(EVENTS.map((e) => eventRule(e).scope)).toContain("operator.read");
    expect(eventRule("constructor").scope).toBe("operator.read");
  });

  it("of plugins can be added and removed, but not shadow others", async () => {
    const own = defineMethod({ name: "x.y", scope: "operator.admin", params: z.unknown(), handle: (_p, ctx: { n: number }) => ctx.n });
    const router = createMethodRouter([own], { n: 1 });
    expect(() => router.register(own, { n: 2 })).toThrow("already registered");
    const off = router.register({ ...own, name: "x.z" }, { n: 3 });
    expect(router.advertised()).toEqual(["x.y", "x.z"]);
    const admin = call({ scopes: ["operator.admin"] });
    expect(await router.call("x.z", undefined, admin)).toBe(3);
    off();
    await expect(router.call("x.z", {}, admin)).rejects.toThrow("unknown method: x.z");
    await expect(router.call("x.y", {}, call({ role: "node" }))).rejects.toThrow("unauthorized role: node");
  });

  it("that throw become UNAVAILABLE", () => {
    expect(toErrorShape(new TypeError("x"))).toEqual({ code: "UNAVAILABLE", message: "TypeError: x" });
    expect(toErrorShape("x").code).toBe("UNAVAILABLE");
  });

  it("know a webchat client, which the Control UI is not", () => {
    expect(isWebchatClient({ id: "webchat", mode: "webchat" })).toBe(true);
    expect(isWebchatClient({ id: "openclaw-control-ui", mode: "webchat" })).toBe(false);
  });
});
