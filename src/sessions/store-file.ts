import { statSync } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";
import { ifExists, isErrno } from "../infra/atomic-file.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { normalizeStoredKey } from "../routing/index.ts";
import { splitObjectMembers } from "./store-format.ts";
import type { SessionEntry } from "./types.ts";

/** sessions.json cannot be read or written for a reason that a person has to remove. */
export class SessionStoreError extends Error {
  override readonly name = "SessionStoreError";
  readonly fix: string;
  constructor(path: string, cause: unknown) {
    const isFolder = isErrno(cause, "EISDIR");
    super(`The session store ${path} ${isFolder ? "is a folder, not a file" : `cannot be used: ${errorText(cause)}`}. ${fixFor(isFolder)}`, { cause });
    this.fix = fixFor(isFolder);
  }
}

const fixFor = (isFolder: boolean): string =>
  isFolder ? "Move the folder away; the store is made anew with the next message." : "Check its permissions and the disk.";

export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
}

export function isSameStamp(a: FileStamp | undefined, b: FileStamp | undefined): boolean {
  return a?.size === b?.size && a?.mtimeMs === b?.mtimeMs && a?.ino === b?.ino;
}

/** Asked several times in every turn, so without a trip through the thread pool. undefined when there is no file. @throws SessionStoreError */
export function readStamp(path: string): FileStamp | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) throw Object.assign(new Error("EISDIR"), { code: "EISDIR" });
    return found && { size: found.size, mtimeMs: found.mtimeMs, ino: found.ino };
  } catch (err) {
    throw new SessionStoreError(path, err);
  }
}

const SLICE_MS = 8;

/** Gives the event loop a turn whenever the last one is `SLICE_MS` ago. */
export function createPauser(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}

/**
 * Reads the file; one that is no JSON is copied beside itself (`.corrupt.<ms>`) and every member that can still be
 * parsed is kept, so that the next write does not wipe what was there. @throws SessionStoreError
 */
export async function readEntries(path: string, log: Logger): Promise<Map<string, SessionEntry>> {
  const text = await readText(path);
  const entries = new Map<string, SessionEntry>();
  if (text.trim() === "") return entries;
  const pause = createPauser();
  let members: [string, string][];
  try {
    members = await splitObjectMembers(text, async () => pause());
  } catch (err) {
    const backup = `${path}.corrupt.${Date.now()}`;
    await copyFile(path, backup);
    members = salvageMembers(text);
    log.error("session store was damaged; a copy was kept", { path, backup, kept: members.length, reason: errorText(err) });
  }
  for (const [rawKey, json] of members) {
    await pause();
    const key = normalizeStoredKey(rawKey);
    const entry = parseMember(key, json);
    if (!entry) continue;
    const known = entries.get(key);
    if (!known || known.updatedAt <= entry.updatedAt) entries.set(key, entry);
  }
  return entries;
}

async function readText(path: string): Promise<string> {
  try {
    return (await ifExists(readFile(path, "utf8"))) ?? ""; // gone since it was looked at
  } catch (err) {
    throw new SessionStoreError(path, err);
  }
}

function parseMember(key: string, json: string): SessionEntry | undefined {
  try {
    return toEntry(key, JSON.parse(json));
  } catch {
    return undefined; // a damaged member; its text is in the copy
  }
}

/** Members of a torn file: everything up to the damage, found line by line at the two-space indent we write. */
function salvageMembers(text: string): [string, string][] {
  const members: [string, string][] = [];
  const starts = [...text.matchAll(/^ {2}("(?:[^"\\]|\\.)*"): \{$/gm)];
  for (const [index, start] of starts.entries()) {
    const from = start.index + start[0].length - 1;
    const until = starts[index + 1]?.index ?? text.length;
    const end = text.lastIndexOf("\n  }", until);
    if (end < from) continue;
    members.push([JSON.parse(start[1] as string) as string, text.slice(from, end + 4)]);
  }
  return members;
}

/** Accepts what the reference wrote, older field names included. The result and all in it are frozen: readers share it. */
export function toEntry(key: string, raw: unknown): SessionEntry | undefined {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return undefined;
  const entry: Record<string, unknown> = { ...raw };
  if (typeof entry["sessionId"] !== "string" || entry["sessionId"] === "") return undefined;
  renameField(entry, "provider", "channel");
  renameField(entry, "lastProvider", "lastChannel");
  renameField(entry, "room", "groupChannel");
  if (typeof entry["updatedAt"] !== "number") entry["updatedAt"] = 0;
  entry["sessionKey"] = key;
  return deepFreeze(entry) as unknown as SessionEntry;
}

function renameField(entry: Record<string, unknown>, from: string, to: string): void {
  if (typeof entry[from] !== "string") return;
  entry[to] ??= entry[from];
  delete entry[from];
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) deepFreeze(inner as object);
  return Object.freeze(value);
}
