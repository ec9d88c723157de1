import type { ConfigPath } from "./config-path.ts";
import { findMember, locateJson5, type MemberSpan, skipTrivia, type ValueSpan } from "./json5-text.ts";
import { isPlainObject } from "./json-value.ts";

/** One change of one text. `insert` puts an item before the index that ends its path. */
export interface TextEdit {
  readonly op: "set" | "unset" | "insert";
  readonly path: ConfigPath;
  readonly value?: unknown;
}

/**
 * Changes values of a JSON5 text and leaves every other character alone: comments, order, quotes, blank lines. New keys follow
 * the style of their neighbours. Comments outside of a removed value stay, also those on its line.
 * @throws Error when the path of an edit does not lead to an object or list
 */
export function editJson5(text: string, edits: readonly TextEdit[]): string {
  return edits.reduce(applyEdit, text);
}

function applyEdit(text: string, edit: TextEdit): string {
  const root = locateJson5(text);
  if (edit.path.length === 0)
    return text.slice(0, root.start) + serialise(edit.value, styleOf(text), "") + text.slice(root.end);
  if (edit.op === "unset") return unset(text, edit.path);
  const member = findMember(root, edit.path);
  if (member && edit.op === "set") {
    const indent = lineIndent(text, member.start);
    const isFlat = !text.slice(0, root.end).includes("\n");
    return splice(
      text,
      member.value.start,
      member.value.end,
      serialise(edit.value, styleOf(text), isFlat ? undefined : indent),
    );
  }
  return insert(text, root, edit);
}

/** Removes every member of that name (a repeated key stands more than once). */
function unset(text: string, path: ConfigPath): string {
  let current = text;
  for (;;) {
    const root = locateJson5(current);
    const parent = valueAt(root, path.slice(0, -1));
    const member = findMember(root, path);
    if (!parent || !member) return current;
    current = removeMember(current, parent, parent.members.indexOf(member));
    if (parent.kind === "array") return current;
  }
}

function removeMember(text: string, parent: ValueSpan, index: number): string {
  const member = parent.members[index];
  if (!member) return text;
  const cuts: (readonly [number, number])[] = [[member.start, member.value.end]];
  const previous = parent.members[index - 1];
  if (member.comma !== undefined) cuts.push([member.comma, member.comma + 1]);
  else if (previous?.comma !== undefined) cuts.push([previous.comma, previous.comma + 1]);
  cuts.sort((a, b) => b[0] - a[0]);
  let current = text;
  let start = member.start;
  for (const [from, to] of cuts) {
    current = current.slice(0, from) + current.slice(to);
    if (from < member.start) start -= to - from;
  }
  return dropBlankLine(current, start);
}

/** Removes the line at an offset when nothing but spaces is left on it; else the spaces before what follows. */
function dropBlankLine(text: string, offset: number): string {
  const lineStart = Math.max(text.lastIndexOf("\n", offset - 1), -1) + 1;
  const newline = text.indexOf("\n", offset);
  const lineEnd = newline < 0 ? text.length : newline + 1;
  if (text.slice(lineStart, lineEnd).trim() === "" && newline >= 0 && lineStart > 0)
    return text.slice(0, lineStart) + text.slice(lineEnd);
  const rest = /^[ \t]*/.exec(text.slice(offset, offset + 200))?.[0].length ?? 0;
  return text.slice(0, offset) + text.slice(offset + rest);
}

function insert(text: string, root: ValueSpan, edit: TextEdit): string {
  // Missing parents become part of the inserted value.
  let depth = edit.path.length - 1;
  while (depth > 0 && !findMember(root, edit.path.slice(0, depth))) depth--;
  const parent = valueAt(root, edit.path.slice(0, depth));
  const key = edit.path[depth];
  if (!parent || parent.kind === "scalar" || key === undefined)
    throw new Error(`No object at ${JSON.stringify(edit.path.slice(0, depth))}`);
  const value = edit.path
    .slice(depth + 1)
    .reduceRight<unknown>(
      (inner, segment) => (typeof segment === "number" ? [inner] : { [segment]: inner }),
      edit.value,
    );
  const index =
    parent.kind === "array" && edit.op === "insert"
      ? Math.min(Number(key), parent.members.length)
      : parent.members.length;
  return insertMember(text, parent, index, parent.kind === "array" ? undefined : String(key), value);
}

function insertMember(text: string, parent: ValueSpan, index: number, key: string | undefined, value: unknown): string {
  const style = styleOf(text);
  const [first] = parent.members;
  const isFlat = !text.trim().includes("\n");
  if (!first) return insertIntoEmpty(text, parent, key, value, isFlat ? undefined : style);
  const isMultiLine = text.slice(parent.start, first.start).includes("\n");
  const indent = isMultiLine ? lineIndent(text, first.start) : undefined;
  const unquoted =
    parent.kind === "object" ? /^[^"']/.test(text.slice(first.start, first.start + 1)) : style.unquotedKeys;
  const entry = memberText(key, value, { ...style, unquotedKeys: unquoted }, indent);
  const next = parent.members[index];
  if (next)
    return splice(text, next.start, next.start, `${entry},${indent === undefined ? " " : `${style.eol}${indent}`}`);
  const last = parent.members.at(-1) ?? first;
  if (indent === undefined) {
    return last.comma === undefined
      ? splice(text, last.value.end, last.value.end, `, ${entry}`)
      : splice(text, last.comma + 1, last.comma + 1, ` ${entry},`);
  }
  // The new line goes below what stands behind the last member on its line, which is a note on that member.
  const at = endOfLineTrivia(text, last.comma === undefined ? last.value.end : last.comma + 1, parent.end - 1);
  const withEntry = splice(
    text,
    at,
    at,
    `${style.eol}${indent}${entry}${last.comma === undefined ? "" : ","}${/[\r\n]/.test(text[at] ?? "") ? "" : `${style.eol}${lineIndent(text, parent.start)}`}`,
  );
  return last.comma === undefined ? splice(withEntry, last.value.end, last.value.end, ",") : withEntry;
}

function insertIntoEmpty(
  text: string,
  parent: ValueSpan,
  key: string | undefined,
  value: unknown,
  style: Style | undefined,
): string {
  const inner = text.slice(parent.start + 1, parent.end - 1);
  if (style === undefined) {
    const entry = memberText(key, value, styleOf(text), undefined);
    return splice(text, parent.end - 1, parent.end - 1, inner.trim() === "" ? entry : ` ${entry} `);
  }
  const outer = lineIndent(text, parent.start);
  const indent = outer + style.unit;
  const entry = `${style.eol}${indent}${memberText(key, value, style, indent)}${style.eol}${outer}`;
  const keep = inner.trimEnd();
  return splice(text, parent.start + 1, parent.end - 1, keep.trim() === "" ? entry : keep + entry);
}

/** Offset behind spaces and comments that begin and end on the line of `from`. */
function endOfLineTrivia(text: string, from: number, limit: number): number {
  let at = from;
  for (;;) {
    const spaces = /^[ \t]*/.exec(text.slice(at, at + 1000))?.[0].length ?? 0;
    const next = at + spaces;
    if (!text.startsWith("//", next) && !text.startsWith("/*", next)) return at;
    const line = /[\r\n]/.exec(text.slice(next));
    const lineEnd = line ? next + line.index : text.length;
    if (text.startsWith("//", next)) return Math.min(lineEnd, limit);
    const end = text.indexOf("*/", next) + 2;
    if (end > lineEnd) return at;
    at = end;
  }
}

interface Style {
  readonly quote: '"' | "'";
  readonly unquotedKeys: boolean;
  readonly unit: string;
  readonly eol: string;
}

/** The habits of a text, read from its first lines. */
function styleOf(text: string): Style {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /\n([ \t]+)[^\s/*]/.exec(text)?.[1] ?? "  ";
  const first = text.charAt(skipTrivia(text, text.indexOf("{") + 1));
  return {
    quote: !text.includes('"') && text.includes("'") ? "'" : '"',
    unquotedKeys: /[A-Za-z_$]/.test(first) && text.includes("{"),
    unit,
    eol,
  };
}

function memberText(key: string | undefined, value: unknown, style: Style, indent: string | undefined): string {
  const body = serialise(value, style, indent);
  return key === undefined ? body : `${keyText(key, style)}: ${body}`;
}

const keyText = (key: string, style: Style): string =>
  style.unquotedKeys && /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key, style);

function quote(text: string, style: Style): string {
  const json = JSON.stringify(text).replace(/[\u2028\u2029]/g, (c) => (c === "\u2028" ? "\\u2028" : "\\u2029"));
  return style.quote === '"' ? json : `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** The text of a value; over several lines when `indent` (that of the line it begins on) is given. */
function serialise(value: unknown, style: Style, indent: string | undefined): string {
  if (typeof value === "string") return quote(value, style);
  const isList = Array.isArray(value);
  if (!isList && !isPlainObject(value)) return JSON.stringify(value) ?? "null";
  const inner = indent === undefined ? undefined : indent + style.unit;
  const parts = isList
    ? value.map((item: unknown) => serialise(item, style, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => memberText(key, item, style, inner));
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return open + close;
  const isShortList =
    isList && value.every((item) => typeof item !== "object" || item === null) && parts.join(", ").length <= 80;
  if (indent === undefined || isShortList) return isList ? `[${parts.join(", ")}]` : `{ ${parts.join(", ")} }`;
  return `${open}${style.eol}${parts.map((part) => `${inner ?? ""}${part}`).join(`,${style.eol}`)}${style.eol}${indent}${close}`;
}

const splice = (text: string, from: number, to: number, by: string): string =>
  text.slice(0, from) + by + text.slice(to);

const lineIndent = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset + 1))?.[0] ?? "";

function valueAt(root: ValueSpan, path: ConfigPath): ValueSpan | undefined {
  return path.length === 0 ? root : (findMember(root, path) as MemberSpan | undefined)?.value;
}
