import fc from "fast-check";
import JSON5 from "json5";
import { expect, it } from "vitest";
import { editJson5, type TextEdit } from "./edit-text.ts";
import { findMember, locateJson5, parseJson5, positionAt } from "./json5-text.ts";
import { setAtPath, unsetAtPath } from "./config-path.ts";

const set = (path: (string | number)[], value: unknown): TextEdit => ({ op: "set", path, value });
const unset = (path: (string | number)[]): TextEdit => ({ op: "unset", path });

const SAMPLE = `// my gateway
{
  // how to listen
  gateway: {
    port: 18789, // the usual
    /* who may */ auth: { mode: 'token', token: "\${TOK}" }
  },
  agents: {
    list: [{ id: "a" }, { id: "b" }],
  }, // last
}
`;

it("changes one value and nothing else", () => {
  expect(editJson5(SAMPLE, [set(["gateway", "port"], 1)])).toBe(SAMPLE.replace("18789", "1"));
  expect(editJson5(SAMPLE, [set(["agents", "list", 1, "id"], "c")])).toBe(SAMPLE.replace('"b"', '"c"'));
});

it("adds a key in the style of its neighbours, below the last one and its note", () => {
  expect(editJson5(SAMPLE, [set(["gateway", "bind"], "lan")])).toBe(
    SAMPLE.replace(`"\${TOK}" }\n`, `"\${TOK}" },\n    bind: "lan"\n`),
  );
  expect(editJson5(SAMPLE, [set(["meta", "a", "b"], 1)])).toBe(
    SAMPLE.replace("}, // last\n", "}, // last\n  meta: {\n    a: {\n      b: 1\n    }\n  },\n"),
  );
  expect(editJson5(SAMPLE, [{ op: "insert", path: ["agents", "list", 1], value: { id: "x" } }])).toBe(
    SAMPLE.replace('{ id: "b" }', '{ id: "x" }, { id: "b" }'),
  );
});

it("keeps a strict JSON file strict", () => {
  const text = '{\n  "a": 1,\n  "b": [\n    1,\n    2\n  ]\n}\n';
  const edited = editJson5(text, [unset(["b", 1]), set(["c"], { d: "x" }), unset(["b", 0]), unset(["a"])]);
  expect(JSON.parse(edited)).toEqual({ b: [], c: { d: "x" } });
  expect(editJson5("{}", [set(["a", "b"], [1])])).toBe('{"a": { "b": [1] }}');
  expect(editJson5("{\n}\n", [set(["a"], 1)])).toBe('{\n  "a": 1\n}\n');
});

it("removes a key with its line and leaves the notes", () => {
  expect(editJson5(SAMPLE, [unset(["agents"])])).not.toMatch(/agents/);
  expect(editJson5(SAMPLE, [unset(["agents"])])).toContain("// last");
  expect(editJson5("{\n  a: 1, // one\n  b: 2\n}\n", [unset(["b"])])).toBe("{\n  a: 1 // one\n}\n");
  expect(editJson5("{a: 1, a: 2, b: 3}", [unset(["a"])])).toBe("{b: 3}");
});

it("names the line and column of a value", () => {
  const member = findMember(locateJson5(SAMPLE), ["gateway", "auth", "token"]);
  expect(positionAt(SAMPLE, member?.start ?? 0)).toEqual({ line: 6, column: 42 });
});

const scalar = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.string({ maxLength: 8 }),
  fc.constantFrom("${A}", "it's", 'say "x"', "//no", "/* no */", "a\nb"),
);
const key = fc.constantFrom("a", "b", "c-d", "e.f", "$g", "h1", "ключ");
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(key, tie("any"), { maxKeys: 4 }),
  ),
})).any;

/** Writes a value as JSON5 with a numbered comment at every place that allows one. */
function write(root: unknown, pick: (n: number) => number): { text: string; notes: string[] } {
  const notes: string[] = [];
  const note = (): string => {
    if (pick(3) > 0) return pick(2) ? " " : "\n  ";
    const name = `note${notes.length}#`;
    notes.push(name);
    return pick(2) ? ` /* ${name} */ ` : ` // ${name}\n`;
  };
  const go = (node: unknown): string => {
    if (typeof node === "string")
      return pick(2)
        ? JSON.stringify(node)
        : `'${JSON.stringify(node).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
    if (typeof node !== "object" || node === null) return JSON.stringify(node);
    const parts = Array.isArray(node)
      ? node.map((item) => note() + go(item) + note())
      : Object.entries(node).map(
          ([k, item]) =>
            `${note()}${pick(2) && /^[A-Za-z$]\w*$/.test(k) ? k : JSON.stringify(k)}${note()}:${note()}${go(item)}${note()}`,
        );
    const tail = parts.length > 0 && pick(2) ? `,${note()}` : parts.length === 0 ? note() : "";
    return Array.isArray(node) ? `[${parts.join(",")}${tail}]` : `{${parts.join(",")}${tail}}`;
  };
  const text = note() + go(root) + note();
  return { text, notes };
}

function pathsIn(node: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof node !== "object" || node === null) return [path];
  const own = Array.isArray(node) ? node.map((item, i) => [i, item] as const) : Object.entries(node);
  return [path, ...own.flatMap(([k, item]) => pathsIn(item, [...path, k]))];
}

it("gives the edited value and keeps every comment outside of what it replaced, whatever the file looks like", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(key, value, { maxKeys: 5 }),
      fc.infiniteStream(fc.nat(1000)),
      fc.array(fc.tuple(fc.nat(), fc.nat(2), scalar, key), { minLength: 1, maxLength: 5 }),
      async (root, stream, steps) => {
        const pick = (n: number): number => stream.next().value % n;
        const { text, notes } = write(root, pick);
        expect(JSON5.parse(text)).toEqual(root);
        let expected: unknown = root;
        let current = text;
        let lost: string[] = [];
        for (const [which, op, newValue, newKey] of steps) {
          const paths = pathsIn(expected).filter((path) => path.length > 0);
          const path = paths[which % Math.max(1, paths.length)];
          if (op === 2 || path === undefined) {
            const parents = pathsIn(expected).filter((p) => isObject(at(expected, p)));
            const full = [...(parents[which % parents.length] ?? []), newKey];
            if (at(expected, full) !== undefined) lost = lost.concat(notesIn(current, full, notes));
            current = editJson5(current, [set(full, newValue)]);
            expected = setAtPath(expected, full, newValue);
          } else {
            lost = lost.concat(notesIn(current, path, notes));
            current = editJson5(current, [op === 0 ? set(path, newValue) : unset(path)]);
            expected = op === 0 ? setAtPath(expected, path, newValue) : removeAt(expected, path);
          }
          expect(await parseJson5(current, "f")).toEqual(expected);
        }
        for (const name of notes) if (!lost.includes(name)) expect(current).toContain(name);
      },
    ),
    { numRuns: 300 },
  );
});

const isObject = (node: unknown): boolean => typeof node === "object" && node !== null && !Array.isArray(node);
const at = (node: unknown, path: (string | number)[]): unknown =>
  path.reduce<unknown>((n, k) => (n as Record<string | number, unknown> | undefined)?.[k], node);

function removeAt(root: unknown, path: (string | number)[]): unknown {
  return at(root, path) === null
    ? JSON.parse(JSON.stringify(unsetAtPath(setAtPath(root, path, 0), path)))
    : unsetAtPath(root, path);
}

/** Comments between a key and the end of its value: they go with it. */
function notesIn(text: string, path: (string | number)[], notes: readonly string[]): string[] {
  const member = findMember(locateJson5(text), path);
  return member ? notes.filter((name) => text.slice(member.start, member.value.end).includes(name)) : [];
}
