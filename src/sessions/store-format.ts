import type { SessionEntry } from "./types.ts";

/** `sessionKey` is derived from the map key and not written (spec decisions §3.2). */
export function serializeEntry(key: string, entry: SessionEntry): string {
  const { sessionKey: _derived, ...stored } = entry;
  return JSON.stringify({ [key]: stored }, null, 2).slice(2, -2);
}

const SLICE_CHARS = 256 * 1024;

/** The file's text in slices, so that a write of many megabytes yields between them. */
export function* serializeStore(parts: Iterable<string>): Generator<string> {
  let slice = "{\n";
  let first = true;
  for (const part of parts) {
    slice += first ? part : `,\n${part}`;
    first = false;
    if (slice.length >= SLICE_CHARS) {
      yield slice;
      slice = "";
    }
  }
  yield first ? "{}\n" : `${slice}\n}\n`;
}

/**
 * Cuts the text of one JSON object into its members without parsing their values. Yields to the event loop now and
 * then through `pause`. @throws SyntaxError when the text is not one object
 */
export async function splitObjectMembers(text: string, pause: () => Promise<void>): Promise<[string, string][]> {
  const members: [string, string][] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== "{") throw new SyntaxError("expected an object");
  at = skipSpace(text, at + 1);
  let sincePause = at;
  while (text[at] !== "}") {
    const keyEnd = stringEnd(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    at = skipSpace(text, keyEnd);
    if (text[at] !== ":" || typeof key !== "string") throw new SyntaxError(`expected ":" at offset ${at}`);
    const start = skipSpace(text, at + 1);
    const end = valueEnd(text, start);
    members.push([key, text.slice(start, end)]);
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
    else if (text[at] !== "}") throw new SyntaxError(`expected "," or "}" at offset ${at}`);
    if (at - sincePause > 512 * 1024) {
      sincePause = at;
      await pause();
    }
  }
  return members;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \n\r\t".includes(text[at] as string)) at++;
  return at;
}

function stringEnd(text: string, from: number): number {
  if (text[from] !== '"') throw new SyntaxError(`expected a string at offset ${from}`);
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 92) at++;
    else if (code === 34) return at + 1;
  }
  throw new SyntaxError("unterminated string");
}

function valueEnd(text: string, from: number): number {
  const open = text[from];
  if (open === '"') return stringEnd(text, from);
  if (open !== "{" && open !== "[") {
    let at = from;
    while (at < text.length && !",}] \n\r\t".includes(text[at] as string)) at++;
    if (at === from) throw new SyntaxError(`expected a value at offset ${from}`);
    return at;
  }
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at) - 1;
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) return at + 1;
  }
  throw new SyntaxError("unterminated value");
}
