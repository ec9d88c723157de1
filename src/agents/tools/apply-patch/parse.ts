/** One file that a patch concerns. Source: spec tools-and-automation §1.2. */
export type PatchHunk =
  | { readonly kind: "add"; readonly path: string; readonly content: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "update"; readonly path: string; readonly moveTo: string | undefined; readonly chunks: readonly PatchChunk[] };

export interface PatchChunk {
  /** A line that comes before, to find the place. */
  readonly context: string | undefined;
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
  readonly atEnd: boolean;
}

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const ADD = "*** Add File: ";
const DELETE = "*** Delete File: ";
const UPDATE = "*** Update File: ";
const MOVE = "*** Move to: ";
const END_OF_FILE = "*** End of File";

/** @throws Error that names the line */
export function parsePatch(input: string): PatchHunk[] {
  const lines = unwrapHeredoc(input.replaceAll("\r\n", "\n").trim().split("\n"));
  if (lines.length === 0 || (lines.length === 1 && lines[0]?.trim() === "")) throw new Error("Provide a patch input.");
  if (lines[0]?.trim() !== BEGIN) throw new Error(`The first line of the patch must be '${BEGIN}'`);
  if (lines.at(-1)?.trim() !== END) throw new Error(`The last line of the patch must be '${END}'`);
  const hunks: PatchHunk[] = [];
  let at = 1;
  const last = lines.length - 1;
  while (at < last) {
    const line = (lines[at] as string).trim();
    if (line === "") {
      at++;
      continue;
    }
    const [hunk, next] = parseHunk(lines, at, last);
    hunks.push(hunk);
    at = next;
  }
  if (hunks.length === 0) throw new Error("No files were modified.");
  return hunks;
}

/** `<<EOF … EOF` around the patch, as shells want it. */
function unwrapHeredoc(lines: string[]): string[] {
  const match = /^<<(['"]?)EOF\1$/.exec(lines[0]?.trim() ?? "");
  return match && lines.at(-1)?.trim() === "EOF" && lines.length >= 2 ? lines.slice(1, -1) : lines;
}

function parseHunk(lines: readonly string[], start: number, end: number): [PatchHunk, number] {
  const head = (lines[start] as string).trim();
  if (head.startsWith(ADD)) {
    const content: string[] = [];
    let at = start + 1;
    for (; at < end && (lines[at] as string).startsWith("+"); at++) content.push((lines[at] as string).slice(1));
    return [{ kind: "add", path: pathOf(head, ADD, start), content: content.map((line) => `${line}\n`).join("") }, at];
  }
  if (head.startsWith(DELETE)) return [{ kind: "delete", path: pathOf(head, DELETE, start) }, start + 1];
  if (!head.startsWith(UPDATE)) throw invalid(start, `"${head.slice(0, 80)}" is no hunk header. Use ${ADD.trim()}, ${DELETE.trim()} or ${UPDATE.trim()}`);
  let at = start + 1;
  let moveTo: string | undefined;
  if (at < end && (lines[at] as string).trim().startsWith(MOVE)) moveTo = pathOf((lines[at++] as string).trim(), MOVE, at - 1);
  const chunks: PatchChunk[] = [];
  while (at < end && !isHeader(lines[at] as string)) {
    if ((lines[at] as string).trim() === "") {
      at++;
      continue;
    }
    const [chunk, next] = parseChunk(lines, at, end, chunks.length === 0);
    chunks.push(chunk);
    at = next;
  }
  if (chunks.length === 0 && moveTo === undefined) throw invalid(start, "the update has no lines");
  return [{ kind: "update", path: pathOf(head, UPDATE, start), moveTo, chunks }, at];
}

function parseChunk(lines: readonly string[], start: number, end: number, mayOmitContext: boolean): [PatchChunk, number] {
  const head = lines[start] as string;
  let context: string | undefined;
  let at = start;
  if (head === "@@" || head.startsWith("@@ ")) {
    context = head.slice(3).trimEnd() || undefined;
    at++;
  } else if (!mayOmitContext) throw invalid(start, "expected @@ before the lines of a further chunk");
  const oldLines: string[] = [];
  const newLines: string[] = [];
  const from = at;
  let atEnd = false;
  for (; at < end; at++) {
    const line = lines[at] as string;
    if (line.trim() === END_OF_FILE) {
      atEnd = true;
      at++;
      break;
    }
    if (isHeader(line) || line === "@@" || line.startsWith("@@ ")) break;
    const mark = line[0];
    if (mark === undefined || mark === " ") {
      oldLines.push(line.slice(1));
      newLines.push(line.slice(1));
    } else if (mark === "+") newLines.push(line.slice(1));
    else if (mark === "-") oldLines.push(line.slice(1));
    else if (at === from) throw invalid(at, `lines begin with a blank, + or -, not "${line.slice(0, 40)}"`);
    else break;
  }
  if (oldLines.length === 0 && newLines.length === 0) throw invalid(start, "the chunk has no lines");
  return [{ context, oldLines, newLines, atEnd }, at];
}

const isHeader = (line: string): boolean => [ADD, DELETE, UPDATE].some((mark) => line.trim().startsWith(mark));

function pathOf(line: string, mark: string, at: number): string {
  const path = line.slice(mark.length).trim();
  if (path === "") throw invalid(at, "the path is missing");
  return path;
}

const invalid = (index: number, problem: string): Error => new Error(`Invalid patch hunk at line ${index + 1}: ${problem}`);
