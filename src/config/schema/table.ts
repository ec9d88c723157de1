import { KEYS } from "./keys.ts";

export type AltKind = "str" | "int" | "num" | "bool" | "any" | "enum" | "false" | "obj" | "map" | "open" | "id";

/** One alternative of a key's type; `array` marks a list of it. `id` is a string or a number and occurs in lists only. */
export interface TypeAlt {
  readonly kind: AltKind;
  readonly array: boolean;
  readonly values: readonly string[];
}

export interface Constraints {
  readonly min?: number;
  readonly max?: number;
  readonly above?: number;
  readonly below?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly uri?: boolean;
  /** What a text must be; a number has the unit of its key. */
  readonly duration?: boolean;
  readonly age?: boolean;
  readonly bytes?: boolean;
}

/** A key of the configuration. Children are parsed at first use. */
export interface KeyNode {
  readonly name: string;
  readonly types: readonly TypeAlt[];
  readonly required: boolean;
  readonly secret: boolean;
  readonly constraints: Constraints;
  /** Schema default, applied when the parent object is present. */
  readonly defaultValue: unknown;
  /** Named keys, in table order (without `*`). */
  readonly children: ReadonlyMap<string, KeyNode>;
  /** The value of any other key (`*` of the table). */
  readonly rest: KeyNode | undefined;
}

const CONTAINERS: ReadonlySet<AltKind> = new Set(["obj", "map", "open"]);

export const isContainer = (alt: TypeAlt): boolean => CONTAINERS.has(alt.kind);

/** The root of a key table in the notation of keys.ts. @throws Error on a line that does not follow it */
export function parseKeyTable(text: string): KeyNode {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return {
    name: "",
    types: [{ kind: "obj", array: false, values: [] }],
    required: false,
    secret: false,
    constraints: {},
    defaultValue: undefined,
    children: childrenOf(lines, 0, -1).named,
    rest: undefined,
  };
}

/** The table of keys.ts; parsed once, in part, and never changed. */
export const keyTable: () => KeyNode = once(() => parseKeyTable(KEYS));

/** The node a path leads to: map keys match by name or `*`, list items are skipped (`agents.list.0.id`). */
export function findNode(path: readonly (string | number)[], root: KeyNode = keyTable()): KeyNode | undefined {
  let node: KeyNode | undefined = root;
  for (const segment of path) {
    if (node === undefined) return undefined;
    if (/^\d+$/.test(String(segment)) && node.types.some((alt) => alt.array)) continue;
    node = node.children.get(String(segment)) ?? node.rest;
  }
  return node;
}

const indentOf = (line: string): number => {
  let count = 0;
  while (line.charCodeAt(count) === 32) count++;
  return count / 2;
};

interface Children {
  readonly named: ReadonlyMap<string, KeyNode>;
  readonly rest: KeyNode | undefined;
}

function childrenOf(lines: readonly string[], from: number, depth: number): Children {
  const named = new Map<string, KeyNode>();
  let rest: KeyNode | undefined;
  for (let i = from; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const indent = indentOf(line);
    if (indent <= depth) break;
    if (indent !== depth + 1) continue;
    const node = parseLine(lines, i, depth + 1);
    if (node.name === "*") rest = node;
    else named.set(node.name, node);
  }
  return { named, rest };
}

function parseLine(lines: readonly string[], index: number, depth: number): KeyNode {
  const line = lines[index] ?? "";
  const [name = "", types = "", ...words] = line.trim().split(" ");
  const children = once(() => childrenOf(lines, index + 1, depth));
  const constraints: Record<string, unknown> = {};
  let required = false;
  let secret = false;
  let defaultValue: unknown;
  for (const word of words) {
    if (word === "!") required = true;
    else if (word === "secret") secret = true;
    else if (word.startsWith("=")) defaultValue = JSON.parse(word.slice(1));
    else parseConstraint(word, constraints, line);
  }
  return {
    name,
    types: parseTypes(types, line),
    required,
    secret,
    constraints: constraints as Constraints,
    defaultValue,
    get children() {
      return children().named;
    },
    get rest() {
      return children().rest;
    },
  };
}

const NUMBER_WORDS: readonly (readonly [string, keyof Constraints])[] = [
  ["len>=", "minLength"],
  ["len<=", "maxLength"],
  [">=", "min"],
  ["<=", "max"],
  [">", "above"],
  ["<", "below"],
];

function parseConstraint(word: string, into: Record<string, unknown>, line: string): void {
  if (word.startsWith("~")) into["pattern"] = word.slice(1);
  else if (/^@(?:uri|duration|age|bytes)$/.test(word)) into[word.slice(1)] = true;
  else {
    const found = NUMBER_WORDS.find(([prefix]) => word.startsWith(prefix));
    const value = found ? Number(word.slice(found[0].length)) : Number.NaN;
    if (!found || Number.isNaN(value)) throw new Error(`Key table: cannot read "${word}" in line "${line.trim()}"`);
    into[found[1]] = value;
  }
}

function parseTypes(text: string, line: string): TypeAlt[] {
  const alts: TypeAlt[] = [];
  for (const match of text.matchAll(/(enum)\(([^)]*)\)(\[\])?|([a-z]+)(\[\])?/g)) {
    const kind = (match[1] ?? match[4] ?? "") as AltKind;
    alts.push({ kind, array: (match[3] ?? match[5]) !== undefined, values: match[2] ? match[2].split("|") : [] });
  }
  if (alts.length === 0) throw new Error(`Key table: no type in line "${line.trim()}"`);
  return alts;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
