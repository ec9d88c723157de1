import { appendFile, open, type FileHandle } from "node:fs/promises";
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
