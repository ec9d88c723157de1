import fc from "fast-check";
import { expect, it } from "vitest";
import { diffConfig } from "./diff.ts";
import { editJson5 } from "./edit-text.ts";
import { parseJson5 } from "./json5-text.ts";
import { substituteEnv } from "./substitute.ts";

const scalar = fc.constantFrom(1, 2, "x", "${A}", "$${A}", true, null);
const item = fc.oneof(
  scalar,
  fc.record({ id: fc.constantFrom("a", "b", "c"), n: scalar }),
  fc.array(scalar, { maxLength: 3 }),
);
const config = fc.dictionary(
  fc.constantFrom("p", "q", "r"),
  fc.oneof(
    scalar,
    fc.array(item, { maxLength: 6 }),
    fc.dictionary(fc.constantFrom("s", "t"), fc.array(item, { maxLength: 4 })),
  ),
);

it("turns any configuration into any other, and leaves references to equal values alone", async () => {
  await fc.assert(
    fc.asyncProperty(config, config, fc.boolean(), async (source, wanted, multiLine) => {
      const raw = JSON.stringify(source, null, multiLine ? 2 : 0);
      const document = { file: "f", raw, value: source, includes: new Map() };
      const resolve = (value: unknown): unknown => substituteEnv(value, () => "secret").value;
      const resolved = resolve(source);
      // The target is given as a reader of the resolved values would write it.
      const target = resolve(wanted) as Record<string, unknown>;
      const edits = diffConfig(document, { source, resolved, effective: resolved }, target);
      const text = edits.reduce((current, { document: _document, ...edit }) => editJson5(current, [edit]), raw);
      const written = await parseJson5(text, "f");
      const left = diffConfig(
        { ...document, raw: text, value: written },
        { source: written, resolved: resolve(written), effective: {} },
        target,
      );
      expect(left).toEqual([]);
      if (JSON.stringify(wanted) === JSON.stringify(source)) expect(text).toBe(raw);
    }),
    { numRuns: 500 },
  );
});

it("keeps the reference of a list item that moved", () => {
  const source = { l: [{ id: "a", k: "${A}" }, { id: "b" }] };
  const resolved = { l: [{ id: "a", k: "v" }, { id: "b" }] };
  const document = { file: "f", raw: JSON.stringify(source), value: source, includes: new Map() };
  const edits = diffConfig(document, { source, resolved, effective: resolved }, { l: [resolved.l[1], resolved.l[0]] });
  const text = edits.reduce((current, { document: _document, ...edit }) => editJson5(current, [edit]), document.raw);
  expect(JSON.parse(text)).toEqual({ l: [{ id: "b" }, { id: "a", k: "${A}" }] });
});
