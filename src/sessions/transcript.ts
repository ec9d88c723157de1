import { appendFile, open, readFile, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { ensureDir, FILE_MODE, isErrno } from "../infra/atomic-file.ts";

/**
 * Transcripts are JSON Lines, version 3: a header, then entries forming a tree by `parentId`.
 * Source: spec agent-pipeline §3.4.
 */
export interface TranscriptHeader {
  readonly type: "session";
  readonly version: number;
  readonly id: string;
  readonly timestamp: string;
  readonly cwd: string;
  readonly parentSession?: string | undefined;
}

export interface TranscriptEntry {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  readonly message?: TranscriptMessageBody | undefined;
  readonly [field: string]: unknown;
}

export interface TranscriptMessageBody {
  readonly role: string;
  readonly content?: unknown;
  readonly timestamp?: number | undefined;
  readonly [field: string]: unknown;
}

/** A `message` entry. */
export type TranscriptMessage = TranscriptEntry & { readonly type: "message"; readonly message: TranscriptMessageBody };

export const TRANSCRIPT_VERSION = 3;

export function isTranscriptMessage(entry: TranscriptEntry): entry is TranscriptMessage {
  return entry.type === "message" && typeof entry.message === "object" && entry.message !== null;
}

export function createHeader(sessionId: string, cwd: string, nowMs: number): TranscriptHeader {
  return { type: "session", version: TRANSCRIPT_VERSION, id: sessionId, timestamp: new Date(nowMs).toISOString(), cwd };
}

/** 8 hex digits, as the reference's entry ids. */
export function newEntryId(random: () => number = Math.random): string {
  return Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
}

/** undefined when the line is no entry (torn, foreign). */
export function parseTranscriptLine(line: string): TranscriptHeader | TranscriptEntry | undefined {
  if (line === "" || line[0] !== "{") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || !("type" in value) || typeof value.type !== "string") return undefined;
    return value as TranscriptHeader | TranscriptEntry;
  } catch {
    return undefined;
  }
}

export function isTranscriptHeader(value: TranscriptHeader | TranscriptEntry | undefined): value is TranscriptHeader {
  return value?.type === "session";
}

/**
 * Appends whole lines in one write; a torn last line of a killed process is closed first. `knownGood`: this process has
 * appended to the file before, so neither its folder nor its end need a look.
 */
export async function appendTranscriptLines(path: string, lines: readonly string[], knownGood = false): Promise<void> {
  if (lines.length === 0) return;
  if (!knownGood) await ensureDir(dirname(path));
  const lead = knownGood || (await endsWithNewline(path)) ? "" : "\n";
  await appendFile(path, `${lead}${lines.join("\n")}\n`, { mode: FILE_MODE });
}

async function endsWithNewline(path: string): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (err) {
    if (isErrno(err, "ENOENT")) return true;
    throw err;
  }
  try {
    const { size } = await file.stat();
    if (size === 0) return true;
    const last = Buffer.alloc(1);
    await file.read(last, 0, 1, size - 1);
    return last[0] === 10;
  } finally {
    await file.close();
  }
}

/** The header of the file, or undefined when there is no file or its first line is damaged. */
export async function readTranscriptHeader(path: string): Promise<TranscriptHeader | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (err) {
    if (isErrno(err, "ENOENT")) return undefined;
    throw err;
  }
  try {
    const head = Buffer.alloc(64 * 1024);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const text = head.toString("utf8", 0, bytesRead);
    const end = text.indexOf("\n");
    const first = parseTranscriptLine(end < 0 ? text : text.slice(0, end));
    return isTranscriptHeader(first) ? first : undefined;
  } finally {
    await file.close();
  }
}

const BACKWARD_CHUNK_BYTES = 256 * 1024;

/**
 * Lines of the file from the last to the first, without reading more than the consumer takes.
 * Holds at most one line plus 256 KiB.
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
    let tail: Buffer[] = [];
    while (end > 0) {
      const start = Math.max(0, end - BACKWARD_CHUNK_BYTES);
      const chunk = Buffer.alloc(end - start);
      await file.read(chunk, 0, chunk.length, start);
      let lineEnd = chunk.length;
      for (let at = chunk.length - 1; at >= 0; at--) {
        if (chunk[at] !== 10) continue;
        const line = Buffer.concat([chunk.subarray(at + 1, lineEnd), ...tail]);
        tail = [];
        lineEnd = at;
        if (line.length > 0) yield line.toString("utf8");
      }
      tail = [chunk.subarray(0, lineEnd), ...tail];
      end = start;
    }
    const first = Buffer.concat(tail);
    if (first.length > 0) yield first.toString("utf8");
  } finally {
    await file.close();
  }
}

export interface LoadedTranscript {
  readonly header: TranscriptHeader | undefined;
  readonly entries: TranscriptEntry[];
  /** Lines that could not be parsed. */
  readonly damagedLines: number;
}

/** The whole file. For exports and repairs; turns read backwards instead. */
export async function loadTranscript(path: string): Promise<LoadedTranscript> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (err) {
    if (isErrno(err, "ENOENT")) return { header: undefined, entries: [], damagedLines: 0 };
    throw err;
  }
  let header: TranscriptHeader | undefined;
  let damagedLines = 0;
  const entries: TranscriptEntry[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const parsed = parseTranscriptLine(line.trim());
    if (!parsed) damagedLines++;
    else if (isTranscriptHeader(parsed)) header ??= parsed;
    else if (typeof parsed.id === "string") entries.push(parsed);
  }
  return { header, entries, damagedLines };
}

/** Entries whose parent was in a damaged line hang on the entry before them. */
export function relinkEntries(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const known = new Set<string>();
  let previous: string | null = null;
  return entries.map((entry) => {
    const parentId: string | null = entry.parentId === null || known.has(entry.parentId) ? entry.parentId : previous;
    known.add(entry.id);
    previous = entry.id;
    return { ...entry, parentId };
  });
}

/**
 * The last `limit` messages on the active branch, oldest first. Reads from the end of the file; damaged lines are skipped.
 * `maxBytes` bounds what is kept in memory (the newest messages win).
 */
export async function readRecentMessages(
  path: string,
  options: { readonly limit: number; readonly maxBytes: number; readonly includeEntry?: (entry: TranscriptEntry) => boolean },
): Promise<TranscriptEntry[]> {
  const found = await walkBack(readLinesBackwards(path), options);
  if (!found.isCut) return found.entries;
  // The parent of an entry stood in a damaged line: the whole file tells what comes before it.
  const linked = relinkEntries((await loadTranscript(path)).entries);
  return (await walkBack(linked.toReversed().map((entry) => JSON.stringify(entry)), options)).entries;
}

async function walkBack(
  lines: AsyncIterable<string> | Iterable<string>,
  options: Parameters<typeof readRecentMessages>[1],
): Promise<{ readonly entries: TranscriptEntry[]; readonly isCut: boolean }> {
  const out: TranscriptEntry[] = [];
  let wanted: string | null | undefined;
  let bytes = 0;
  let sawDamage = false;
  let isEnded = false;
  for await (const line of lines) {
    const entry = parseTranscriptLine(line);
    if (!entry) sawDamage = true;
    if (!entry || isTranscriptHeader(entry)) continue;
    if (wanted !== undefined && entry.id !== wanted) continue;
    wanted = entry.parentId;
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
