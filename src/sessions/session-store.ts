import { copyFile, readFile, stat } from "node:fs/promises";
import { isErrno, writeFileAtomic } from "../infra/atomic-file.ts";
import type { Clock } from "../infra/clock.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { serializeEntry, serializeStore, splitObjectMembers } from "./store-format.ts";
import type { SessionEntry, SessionPatch } from "./types.ts";

/** Keeps changes that are not in the file yet, so that a killed process does not lose them. */
export interface PendingSessionLog {
  save(storePath: string, key: string, entryJson: string | null): void;
  load(storePath: string): { key: string; entryJson: string | null }[];
  clear(storePath: string, keys: readonly string[]): void;
}

export interface SessionStoreOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pending?: PendingSessionLog | undefined;
  /** Runs `write` while no other process writes the file. */
  readonly withLock: <T>(path: string, write: () => Promise<T>) => Promise<T>;
  /** `session.cache !== false`; off means the file is read again whenever it may have changed. */
  readonly cacheEnabled?: (() => boolean) | undefined;
}

interface Slot {
  readonly json: string;
  entry: Readonly<SessionEntry> | undefined;
}

interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
}

const WRITE_INTERVAL_MS = 1000;
/** After a write that failed. */
const RETRY_MS = 5000;

/**
 * sessions.json of one agent. The map in memory is authoritative while the file is the one we last wrote or read;
 * entries are frozen and keep their text, so a write never serialises what did not change.
 * Source: spec decisions §3.2.
 */
export interface SessionStore {
  readonly path: string;
  /** Call before a unit of work: picks up what another process wrote. @throws never; a bad file is set aside */
  refresh(): Promise<void>;
  get(key: string): Readonly<SessionEntry> | undefined;
  keys(): string[];
  /** All entries, parsed in slices. */
  entries(): Promise<(readonly [string, Readonly<SessionEntry>])[]>;
  readonly size: number;
  /** Merges into the entry (null deletes a field) and stamps `updatedAt` unless the patch says otherwise. */
  update(key: string, patch: SessionPatch): Readonly<SessionEntry>;
  set(key: string, entry: SessionEntry): Readonly<SessionEntry>;
  delete(key: string): boolean;
  /** Resolves when everything changed before the call is in the file. @throws when the disk refuses */
  flush(): Promise<void>;
}

export function createSessionStore(options: SessionStoreOptions): SessionStore {
  const { path, clock, log, pending } = options;
  const slots = new Map<string, Slot>();
  const dirty = new Set<string>();
  let stamp: FileStamp | undefined;
  let loaded = false;
  let loading: Promise<void> | undefined;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastWriteAt = 0;

  const parse = (key: string, slot: Slot): Readonly<SessionEntry> | undefined => {
    if (slot.entry) return slot.entry;
    const entry = toEntry(key, JSON.parse(valueText(key, slot.json)));
    slot.entry = entry;
    return entry;
  };

  async function readStamp(): Promise<FileStamp | undefined> {
    try {
      const { size, mtimeMs, ino } = await stat(path);
      return { size, mtimeMs, ino };
    } catch (err) {
      if (isErrno(err, "ENOENT")) return undefined;
      throw err;
    }
  }

  async function load(): Promise<void> {
    const found = await readStamp();
    if (loaded && sameStamp(found, stamp) && options.cacheEnabled?.() !== false) return;
    if (loaded && found === undefined && stamp === undefined) return;
    const kept = new Map([...dirty].map((key) => [key, slots.get(key)] as const));
    slots.clear();
    if (found) {
      for (const [key, entry] of await readEntries(path, log)) slots.set(key, { json: serializeEntry(key, entry), entry });
    }
    for (const [key, slot] of kept) {
      if (slot) slots.set(key, slot);
      else slots.delete(key);
    }
    if (!loaded) {
      for (const { key, entryJson } of pending?.load(path) ?? []) {
        const entry = entryJson === null ? undefined : toEntry(key, JSON.parse(entryJson));
        if (entry) slots.set(key, { json: serializeEntry(key, entry), entry });
        else slots.delete(key);
        dirty.add(key);
      }
      if (dirty.size > 0) schedule();
    }
    stamp = found;
    loaded = true;
  }

  function schedule(): void {
    if (timer || writing) return;
    const wait = Math.max(0, lastWriteAt + WRITE_INTERVAL_MS - Date.now());
    timer = setTimeout(() => {
      timer = undefined;
      write().catch((err: unknown) => log.error("session store not written", { path, err }));
    }, wait);
    timer.unref();
  }

  function write(): Promise<void> {
    writing ??= writeNow().catch((err: unknown) => {
      lastWriteAt = Date.now() + RETRY_MS - WRITE_INTERVAL_MS; // a full disk is not asked again at once
      throw err;
    }).finally(() => {
      writing = undefined;
      if (dirty.size > 0) schedule();
    });
    return writing;
  }

  async function writeNow(): Promise<void> {
    await options.withLock(path, async () => {
      await load();
      const keys = [...dirty];
      const parts = [...slots.values()].map((slot) => slot.json);
      dirty.clear();
      try {
        await writeFileAtomic(path, serializeStore(parts));
      } catch (err) {
        for (const key of keys) dirty.add(key);
        throw err;
      }
      lastWriteAt = Date.now();
      stamp = await readStamp();
      pending?.clear(
        path,
        keys.filter((key) => !dirty.has(key)),
      );
    });
  }

  function put(key: string, entry: SessionEntry): Readonly<SessionEntry> {
    const frozen = Object.freeze({ ...stripUndefined(entry), sessionKey: key });
    const json = serializeEntry(key, frozen);
    slots.set(key, { json, entry: frozen });
    changed(key, valueText(key, json));
    return frozen;
  }

  function changed(key: string, entryJson: string | null): void {
    dirty.add(key);
    pending?.save(path, key, entryJson);
    schedule();
  }

  const get = (key: string): Readonly<SessionEntry> | undefined => {
    const slot = slots.get(key);
    return slot && parse(key, slot);
  };

  return {
    path,
    refresh() {
      loading ??= load()
        .catch((err: unknown) => {
          log.error("session store not readable", { path, err });
          throw err;
        })
        .finally(() => (loading = undefined));
      return loading;
    },
    get,
    keys: () => [...slots.keys()],
    async entries() {
      const out: (readonly [string, Readonly<SessionEntry>])[] = [];
      let since = performance.now();
      for (const key of [...slots.keys()]) {
        const entry = get(key);
        if (entry) out.push([key, entry]);
        if (performance.now() - since > 8) {
          await nextTick();
          since = performance.now();
        }
      }
      return out;
    },
    get size() {
      return slots.size;
    },
    update(key, patch) {
      const current = get(key);
      const next: Record<string, unknown> = { ...current };
      for (const [field, value] of Object.entries(patch)) {
        if (value === null || value === undefined) delete next[field];
        else next[field] = value;
      }
      return put(key, { ...(next as unknown as SessionEntry), updatedAt: patch.updatedAt ?? clock.now() });
    },
    set: put,
    delete(key) {
      if (!slots.delete(key)) return false;
      changed(key, null);
      return true;
    },
    async flush() {
      while (dirty.size > 0 || writing) {
        clearTimeout(timer);
        timer = undefined;
        await write();
      }
    },
  };
}

/** The entry's own JSON within its line of the file, `  "<key>": {…}`. */
function valueText(key: string, memberText: string): string {
  return memberText.slice(2 + JSON.stringify(key).length + 2);
}

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function sameStamp(a: FileStamp | undefined, b: FileStamp | undefined): boolean {
  return a?.size === b?.size && a?.mtimeMs === b?.mtimeMs && a?.ino === b?.ino;
}

function stripUndefined(entry: SessionEntry): SessionEntry {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as unknown as SessionEntry;
}

/**
 * Reads the file; one that is no JSON is copied beside itself (`.corrupt.<ms>`) and every member that can still be
 * parsed is kept, so that the next write does not wipe what was there.
 */
async function readEntries(path: string, log: Logger): Promise<[string, SessionEntry][]> {
  const text = await readFile(path, "utf8");
  if (text.trim() === "") return [];
  let members: [string, string][];
  try {
    members = await splitObjectMembers(text, nextTick);
  } catch (err) {
    const backup = `${path}.corrupt.${Date.now()}`;
    await copyFile(path, backup);
    members = salvageMembers(text);
    log.error("session store was damaged; a copy was kept", { path, backup, kept: members.length, reason: errorText(err) });
  }
  const entries = new Map<string, SessionEntry>();
  for (const [rawKey, json] of members) {
    const key = rawKey.toLowerCase().replace(/^(agent:[^:]+:(?:.*:)?)dm:/, "$1direct:");
    const entry = parseMember(key, json);
    if (!entry) continue;
    const known = entries.get(key);
    if (!known || known.updatedAt <= entry.updatedAt) entries.set(key, entry);
  }
  return [...entries];
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

/** Accepts what the reference wrote, older field names included. */
function toEntry(key: string, raw: unknown): SessionEntry | undefined {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return undefined;
  const entry: Record<string, unknown> = { ...raw };
  if (typeof entry["sessionId"] !== "string" || entry["sessionId"] === "") return undefined;
  renameField(entry, "provider", "channel");
  renameField(entry, "lastProvider", "lastChannel");
  renameField(entry, "room", "groupChannel");
  if (typeof entry["updatedAt"] !== "number") entry["updatedAt"] = 0;
  entry["sessionKey"] = key;
  return Object.freeze(entry) as unknown as SessionEntry;
}

function renameField(entry: Record<string, unknown>, from: string, to: string): void {
  if (typeof entry[from] !== "string") return;
  entry[to] ??= entry[from];
  delete entry[from];
}
