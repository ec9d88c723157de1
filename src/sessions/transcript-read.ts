import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { isErrno, writeFileAtomic } from "../infra/atomic-file.ts";
import { isTranscriptHeader, isTranscriptMessage, parseTranscriptLine, type TranscriptEntry, type TranscriptHeader } from "./transcript.ts";

const CHUNK_BYTES = 256 * 1024;
/** A longer line is damage: no message is that long, and it would not fit into memory several times over. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

/**
 * Lines of the file from the last to the first, without reading more than the consumer takes. Holds at most one line plus
 * 256 KiB; blank lines are left out, one above 32 MiB comes as an empty text.
 */
export async function* readLinesBackwards(path: string): AsyncGenerator<string> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (err) {
    if (isErrno(err, "ENOENT")) return;
    throw err;
  }
  try {
    let end = (await file.stat()).size;
    const line = createLineBuffer("front");
    while (end > 0) {
      const start = Math.max(0, end - CHUNK_BYTES);
      const chunk = Buffer.alloc(end - start);
      await file.read(chunk, 0, chunk.length, start);
      let lineEnd = chunk.length;
      for (let at = chunk.length - 1; at >= 0; at--) {
        if (chunk[at] !== 10) continue;
        line.add(chunk.subarray(at + 1, lineEnd));
        lineEnd = at;
        if (line.length() > 0) yield line.take();
      }
      line.add(chunk.subarray(0, lineEnd));
      end = start;
    }
    if (line.length() > 0) yield line.take();
  } finally {
    await file.close();
  }
}

/** The same from the first line to the last. */
export async function* readLinesForward(path: string): AsyncGenerator<string> {
  const line = createLineBuffer("back");
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      line.add(chunk.subarray(from, at));
      from = at + 1;
      if (line.length() > 0) yield line.take();
    }
    line.add(chunk.subarray(from));
  }
  if (line.length() > 0) yield line.take();
}

function createLineBuffer(side: "front" | "back"): { add(part: Buffer): void; length(): number; take(): string } {
  let parts: Buffer[] = [];
  let bytes = 0;
  return {
    add(part) {
      bytes += part.length;
      if (bytes > MAX_LINE_BYTES) parts = [];
      else if (part.length > 0) parts.push(part);
    },
    length: () => bytes,
    take() {
      const text = bytes > MAX_LINE_BYTES ? "" : Buffer.concat(side === "front" ? parts.reverse() : parts).toString("utf8");
      parts = [];
      bytes = 0;
      return text;
    },
  };
}

export interface LoadedTranscript {
  readonly header: TranscriptHeader | undefined;
  readonly entries: TranscriptEntry[];
  /** Lines that could not be parsed. */
  readonly damagedLines: number;
}

/** Every entry of the file, for exports and forks; turns read backwards instead. */
export async function loadTranscript(path: string): Promise<LoadedTranscript> {
  let header: TranscriptHeader | undefined;
  let damagedLines = 0;
  const entries: TranscriptEntry[] = [];
  try {
    for await (const line of readLinesForward(path)) {
      const parsed = parseTranscriptLine(line.trim());
      if (!parsed) damagedLines++;
      else if (isTranscriptHeader(parsed)) header ??= parsed;
      else if (typeof parsed.id === "string") entries.push(parsed);
      else damagedLines++;
    }
  } catch (err) {
    if (!isErrno(err, "ENOENT")) throw err;
  }
  return { header, entries, damagedLines };
}

/** Entries whose parent was in a damaged line hang on the entry before them. */
export function relinkEntries(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const parentOf = createRelinker();
  return entries.map((entry) => ({ ...entry, parentId: parentOf(entry) }));
}

function createRelinker(): (entry: Pick<TranscriptEntry, "id" | "parentId">) => string | null {
  const known = new Set<string>();
  let previous: string | null = null;
  return ({ id, parentId }) => {
    const parent = parentId === null || (parentId !== id && known.has(parentId)) ? parentId : previous;
    known.add(id);
    previous = id;
    return parent;
  };
}

/**
 * Writes the file anew of every line that can be parsed, under its own header or `fallback`, line by line: a large file is
 * never in memory as a whole.
 */
export async function rebuildTranscript(path: string, fallback: TranscriptHeader): Promise<{ readonly header: TranscriptHeader; readonly entries: number; readonly damagedLines: number }> {
  let header: TranscriptHeader | undefined;
  let entries = 0;
  let damagedLines = 0;
  for await (const line of readLinesForward(path)) {
    const parsed = parseTranscriptLine(line.trim());
    if (!isTranscriptHeader(parsed)) continue;
    header = parsed;
    break;
  }
  const kept = header ?? fallback;
  async function* lines(): AsyncGenerator<string> {
    yield `${JSON.stringify(kept)}\n`;
    const parentOf = createRelinker();
    for await (const line of readLinesForward(path)) {
      const parsed = parseTranscriptLine(line.trim());
      if (isTranscriptHeader(parsed)) continue;
      if (!parsed || typeof parsed.id !== "string") {
        damagedLines++;
        continue;
      }
      entries++;
      yield `${JSON.stringify({ ...parsed, parentId: parentOf(parsed) })}\n`;
    }
  }
  await writeFileAtomic(path, lines());
  return { header: kept, entries, damagedLines };
}

/**
 * The last `limit` messages on the active branch, oldest first. Reads from the end of the file; damaged lines are skipped.
 * `maxBytes` bounds what is kept in memory (the newest messages win).
 */
export async function readRecentMessages(
  path: string,
  options: { readonly limit: number; readonly maxBytes: number; readonly includeEntry?: (entry: TranscriptEntry) => boolean },
): Promise<TranscriptEntry[]> {
  const found = await walkBack(path, options);
  if (!found.isCut) return found.entries;
  // The parent of an entry stood in a damaged line: a look at all ids tells what comes before it.
  const parents = new Map<string, string | null>();
  const parentOf = createRelinker();
  for await (const line of readLinesForward(path)) {
    const entry = parseTranscriptLine(line.trim());
    if (entry && !isTranscriptHeader(entry) && typeof entry.id === "string") parents.set(entry.id, parentOf(entry));
  }
  return (await walkBack(path, options, parents)).entries;
}

async function walkBack(
  path: string,
  options: Parameters<typeof readRecentMessages>[1],
  parents?: ReadonlyMap<string, string | null>,
): Promise<{ readonly entries: TranscriptEntry[]; readonly isCut: boolean }> {
  const out: TranscriptEntry[] = [];
  let wanted: string | null | undefined;
  let bytes = 0;
  let sawDamage = false;
  let isEnded = false;
  for await (const line of readLinesBackwards(path)) {
    const entry = parseTranscriptLine(line);
    if (!entry) sawDamage = true;
    if (!entry || isTranscriptHeader(entry)) continue;
    if (wanted !== undefined && entry.id !== wanted) continue;
    wanted = parents?.get(entry.id) ?? (parents ? null : entry.parentId);
    if (isTranscriptMessage(entry) || entry.type === "compaction" || options.includeEntry?.(entry)) {
      bytes += line.length;
      isEnded = out.length > 0 && bytes > options.maxBytes;
      if (isEnded) break;
      out.push(entry);
      isEnded = out.length >= options.limit;
    }
    isEnded ||= wanted === null;
    if (isEnded) break;
  }
  return { entries: out.reverse(), isCut: sawDamage && !isEnded && typeof wanted === "string" };
}
