import { isUnsafeKey } from "./config-path.ts";
import { isPlainObject } from "./json-value.ts";

/** 1-based. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** The text of a file is not JSON5. The message names file, line and column. */
export class ConfigSyntaxError extends Error {
  override readonly name = "ConfigSyntaxError";
  readonly code = "syntax";
  readonly file: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
  constructor(file: string, problem: string, at: TextPosition | undefined) {
    super(`${file}${at ? `:${at.line}:${at.column}` : ""}: ${problem}`);
    this.file = file;
    this.line = at?.line;
    this.column = at?.column;
  }
}

/**
 * Parses JSON5. Keys that reach into prototypes are dropped.
 * @throws ConfigSyntaxError with the place of the fault
 */
export async function parseJson5(text: string, file: string): Promise<unknown> {
  const body = text.startsWith("\uFEFF") ? text.slice(1) : text;
  try {
    return dropUnsafe(JSON.parse(body));
  } catch {
    // Not strict JSON: the tolerant (and slower to load) parser decides.
  }
  const { default: JSON5 } = await import("json5");
  try {
    return dropUnsafe(JSON5.parse(body));
  } catch (err) {
    throw toSyntaxError(err, body, file);
  }
}

function toSyntaxError(err: unknown, text: string, file: string): ConfigSyntaxError {
  const { lineNumber, columnNumber, message } = err as { lineNumber?: number; columnNumber?: number; message?: string };
  if (lineNumber === undefined || columnNumber === undefined)
    return new ConfigSyntaxError(file, "the text is not JSON5", undefined);
  if (message?.includes("end of input")) {
    const why =
      text.trim() === ""
        ? "the file is empty; write {} for an empty configuration"
        : "the text ends too early; a }, ] or quote is missing";
    return new ConfigSyntaxError(file, why, { line: lineNumber, column: Math.max(1, columnNumber) });
  }
  // json5 counts the column of the character it has just read.
  const at = { line: lineNumber, column: Math.max(1, columnNumber) };
  const char = text.split(/\r\n|[\n\r\u2028\u2029]/)[at.line - 1]?.charAt(at.column - 1) ?? "";
  const what =
    char === ""
      ? "the line ends too early; a quote or a value is missing"
      : `unexpected ${JSON.stringify(char)}; expected a key, a value, a comma or a closing bracket`;
  return new ConfigSyntaxError(file, what, at);
}

function dropUnsafe(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (const item of value) dropUnsafe(item);
  } else if (isPlainObject(value)) {
    for (const key of Object.keys(value)) {
      if (isUnsafeKey(key)) delete value[key];
      else dropUnsafe(value[key]);
    }
  }
  return value;
}

/** A value in a JSON5 text; offsets are UTF-16 code units, `end` is exclusive. */
export interface ValueSpan {
  readonly start: number;
  readonly end: number;
  readonly kind: "object" | "array" | "scalar";
  readonly members: readonly MemberSpan[];
}

/** A property (with key) or an item (without) of an object or array. */
export interface MemberSpan {
  readonly key: string | undefined;
  /** Start of the key, or of the value where there is no key. */
  readonly start: number;
  readonly value: ValueSpan;
  /** Offset of the comma after the value; undefined after the last one without. */
  readonly comma: number | undefined;
}

/** The places of all values of a text that parseJson5 accepted. @throws Error on other text */
export function locateJson5(text: string): ValueSpan {
  const scanner = new Scanner(text, text.startsWith("\uFEFF") ? 1 : 0);
  return scanner.value();
}

/** The member a path leads to; of repeated keys the last one, as in parsing. */
export function findMember(root: ValueSpan, path: readonly (string | number)[]): MemberSpan | undefined {
  let member: MemberSpan | undefined;
  let value = root;
  for (const segment of path) {
    member =
      value.kind === "array"
        ? value.members[Number(segment)]
        : value.members.findLast((candidate) => candidate.key === String(segment));
    if (member === undefined) return undefined;
    value = member.value;
  }
  return member;
}

export function positionAt(text: string, offset: number): TextPosition {
  const lines = text.slice(0, offset).split(/\r\n|[\n\r\u2028\u2029]/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** Offset after spaces and comments from `from` on. */
export function skipTrivia(text: string, from: number): number {
  let i = from;
  for (;;) {
    while (i < text.length && /[\s\uFEFF]/.test(text.charAt(i))) i++;
    if (text.startsWith("//", i)) i += matchAt(/[^\n\r\u2028\u2029]*/y, text, i).length;
    else if (text.startsWith("/*", i)) {
      const end = text.indexOf("*/", i + 2);
      i = end < 0 ? text.length : end + 2;
    } else return i;
  }
}

/** What a sticky pattern matches at an offset; "" for nothing. */
function matchAt(pattern: RegExp, text: string, offset: number): string {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0] ?? "";
}

class Scanner {
  readonly #text: string;
  #at: number;
  constructor(text: string, from: number) {
    this.#text = text;
    this.#at = from;
  }

  value(): ValueSpan {
    this.#at = this.#skip(this.#at);
    const start = this.#at;
    const char = this.#text[start];
    if (char === "{" || char === "[") return this.#collection(start, char === "{" ? "object" : "array");
    if (char === '"' || char === "'") this.#string();
    else {
      const word = matchAt(/[^\s,\]}/]+/y, this.#text, start);
      if (word === "") throw new Error(`No JSON5 value at offset ${start}`);
      this.#at += word.length;
    }
    return { start, end: this.#at, kind: "scalar", members: [] };
  }

  #collection(start: number, kind: "object" | "array"): ValueSpan {
    const close = kind === "object" ? "}" : "]";
    const members: MemberSpan[] = [];
    this.#at = this.#skip(start + 1);
    while (this.#text[this.#at] !== close) {
      if (this.#at >= this.#text.length) throw new Error("JSON5 text ends inside a value");
      const from = this.#at;
      const key = kind === "object" ? this.#key() : undefined;
      const value = this.value();
      const after = this.#skip(this.#at);
      const comma = this.#text[after] === "," ? after : undefined;
      members.push({ key, start: from, value, comma });
      this.#at = comma === undefined ? after : this.#skip(comma + 1);
    }
    this.#at++;
    return { start, end: this.#at, kind, members };
  }

  #key(): string {
    const quote = this.#text[this.#at];
    let key: string;
    if (quote === '"' || quote === "'") {
      const start = this.#at;
      this.#string();
      key = unquote(this.#text.slice(start + 1, this.#at - 1));
    } else {
      const word = matchAt(/[^\s:/]+/y, this.#text, this.#at);
      this.#at += word.length;
      key = unquote(word);
    }
    this.#at = this.#skip(this.#at);
    if (this.#text[this.#at] !== ":") throw new Error(`No colon at offset ${this.#at}`);
    this.#at++;
    return key;
  }

  #string(): void {
    const quote = this.#text[this.#at++];
    while (this.#at < this.#text.length && this.#text[this.#at] !== quote)
      this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    this.#at++;
  }

  #skip(from: number): number {
    return skipTrivia(this.#text, from);
  }
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "0": "\0",
};

function unquote(body: string): string {
  if (!body.includes("\\")) return body;
  return body.replace(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|\r\n|([\s\S]))/g,
    (_, u: string | undefined, x: string | undefined, c: string | undefined) => {
      const hex = u ?? x;
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (c === undefined || /[\n\r\u2028\u2029]/.test(c)) return "";
      return SIMPLE_ESCAPES[c] ?? c;
    },
  );
}
