import type { PatchChunk } from "./parse.ts";

/**
 * The text of a file after its chunks. Lines are looked for exactly, then without blanks at the end, then at both ends,
 * then with dashes, quotes and blanks of one kind. @throws Error naming what was not found
 */
export function applyChunks(text: string, chunks: readonly PatchChunk[], path: string): string {
  const crlf = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
  const plain = crlf ? text.replaceAll("\r\n", "\n") : text;
  const hadEnd = plain === "" || plain.endsWith("\n");
  const lines = plain.split("\n");
  if (hadEnd) lines.pop();
  let at = 0;
  for (const chunk of chunks) {
    if (chunk.context !== undefined) {
      const found = find(lines, [chunk.context], at, false);
      if (found === undefined) throw new Error(`Failed to find context '${chunk.context}' in ${path}`);
      at = found + 1;
    }
    if (chunk.oldLines.length === 0) {
      const place = chunk.context === undefined || chunk.atEnd ? lines.length : at;
      lines.splice(place, 0, ...chunk.newLines);
      at = place + chunk.newLines.length;
      continue;
    }
    const place = locate(lines, chunk, at);
    if (!place) throw new Error(`Failed to find expected lines in ${path}:\n${chunk.oldLines.join("\n")}`);
    lines.splice(place.at, place.length, ...keepUnchanged(lines.slice(place.at, place.at + place.length), chunk));
    at = place.at + chunk.newLines.length;
  }
  const joined = lines.join("\n") + (hadEnd && lines.length > 0 ? "\n" : "");
  return crlf ? joined.replaceAll("\n", "\r\n") : joined;
}

/** A blank last line of the chunk may stand for the end of the file. */
function locate(lines: readonly string[], { oldLines, atEnd }: PatchChunk, from: number): { at: number; length: number } | undefined {
  const at = find(lines, oldLines, from, atEnd);
  if (at !== undefined) return { at, length: oldLines.length };
  if (oldLines.at(-1) !== "" || oldLines.length < 2) return undefined;
  const shorter = find(lines, oldLines.slice(0, -1), from, atEnd);
  return shorter === undefined ? undefined : { at: shorter, length: oldLines.length - 1 };
}

/** Context lines stay as the file has them, also when they were found only by likeness. */
function keepUnchanged(found: readonly string[], { oldLines, newLines }: PatchChunk): string[] {
  let next = 0;
  return newLines.map((line) => {
    const index = oldLines.indexOf(line, next);
    if (index < 0 || found[index] === undefined) return line;
    next = index + 1;
    return found[index];
  });
}

const FORMS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => line.trim().replace(/[\u2010-\u2015\u2212]/g, "-").replace(/[\u2018\u2019\u201A\u201B]/g, "'").replace(/[\u201C\u201D\u201E\u201F]/g, '"').replace(/[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g, " "),
];

function find(lines: readonly string[], wanted: readonly string[], from: number, atEnd: boolean): number | undefined {
  const last = lines.length - wanted.length;
  for (const form of FORMS) {
    const target = wanted.map(form);
    const fits = (start: number): boolean => target.every((line, i) => form(lines[start + i] as string) === line);
    if (atEnd && last >= from && fits(last)) return last;
    for (let start = from; start <= last; start++) if (fits(start)) return start;
  }
  return undefined;
}
