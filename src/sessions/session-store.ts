import { writeFileAtomic } from "../infra/atomic-file.ts";
import type { Clock } from "../infra/clock.ts";
import type { Logger } from "../infra/log.ts";
import { createPauser, isSameStamp, readEntries, readStamp, SessionStoreError, toEntry, type FileStamp } from "./store-file.ts";
import { serializeEntry, serializeStore } from "./store-format.ts";
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
  /** How long the map in memory counts without a new reading of the file that seems unchanged, ms; default: as long as it seems so. 0: not at all. */
  readonly cacheTtlMs?: (() => number | undefined) | undefined;
  readonly hooks?: SessionStoreHooks | undefined;
}

/** Care for the file around a write; failures are logged and change nothing. */
export interface SessionStoreHooks {
  /** The file is about to be replaced. */
  beforeWrite(path: string, sizeBytes: number): Promise<void>;
  afterWrite(store: SessionStore): Promise<void>;
}

interface Slot {
  readonly json: string;
  entry: Readonly<SessionEntry> | undefined;
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
  /** Call before a unit of work: picks up what another process wrote. A damaged file is set aside. @throws SessionStoreError */
  refresh(): Promise<void>;
  /** Frozen, with all that is in it. */
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
  let loadedAt = 0;
  let problem: string | undefined;
  /** The file is being replaced by ours: what it looks like meanwhile says nothing. */
  let replacing = false;

  const parse = (key: string, slot: Slot): Readonly<SessionEntry> | undefined => {
    if (slot.entry) return slot.entry;
    const entry = toEntry(key, JSON.parse(valueText(key, slot.json)));
    slot.entry = entry;
    return entry;
  };

  async function load(): Promise<void> {
    if (replacing) return;
    const found = readStamp(path);
    if (loaded && isSameStamp(found, stamp) && clock.now() - loadedAt < (options.cacheTtlMs?.() ?? Number.POSITIVE_INFINITY)) return;
    if (loaded && found === undefined && stamp === undefined) return;
    const entries = found ? await readEntries(path, log) : new Map<string, SessionEntry>();
    const pause = createPauser();
    const fresh = new Map<string, Slot>();
    for (const [key, entry] of entries) {
      fresh.set(key, { json: serializeEntry(key, entry), entry });
      await pause();
    }
    adopt(fresh);
    stamp = found;
    loadedAt = clock.now();
    loaded = true;
  }

  /** In one step: readers never see a part of the file, and changes made while it was read stay. */
  function adopt(fresh: ReadonlyMap<string, Slot>): void {
    const changed = new Map([...dirty].map((key) => [key, slots.get(key)] as const));
    slots.clear();
    for (const [key, slot] of fresh) slots.set(key, slot);
    for (const [key, slot] of changed) {
      if (slot) slots.set(key, slot);
      else slots.delete(key);
    }
    if (!loaded) adoptPending(changed);
  }

  function adoptPending(changed: ReadonlyMap<string, unknown>): void {
    for (const { key, entryJson } of pending?.load(path) ?? []) {
      if (changed.has(key)) continue;
      const entry = entryJson === null ? undefined : toEntry(key, JSON.parse(entryJson));
      if (entry) slots.set(key, { json: serializeEntry(key, entry), entry });
      else slots.delete(key);
      dirty.add(key);
    }
    if (dirty.size > 0) schedule();
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
      if (stamp) await options.hooks?.beforeWrite(path, stamp.size);
      replacing = true;
      try {
        await writeFileAtomic(path, serializeStore(parts));
        stamp = readStamp(path);
      } catch (err) {
        for (const key of keys) dirty.add(key);
        throw err;
      } finally {
        replacing = false;
      }
      lastWriteAt = Date.now();
      loadedAt = clock.now();
      pending?.clear(
        path,
        keys.filter((key) => !dirty.has(key)),
      );
    });
    await options.hooks?.afterWrite(store);
  }

  function put(key: string, entry: SessionEntry): Readonly<SessionEntry> {
    const json = serializeEntry(key, entry);
    const text = valueText(key, json);
    // Read back from its text: what the caller goes on changing is not what others see.
    const frozen = toEntry(key, JSON.parse(text));
    if (!frozen) throw new TypeError(`The entry of session ${key} has no sessionId`);
    slots.set(key, { json, entry: frozen });
    changed(key, text);
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

  const store: SessionStore = {
    path,
    refresh() {
      loading ??= load()
        .then(
          () => void (problem = undefined),
          (err: unknown) => {
            const failure = err instanceof SessionStoreError ? err : new SessionStoreError(path, err);
            if (failure.message !== problem) log.error("session store not readable", { path, err: failure });
            problem = failure.message; // said once, not with every message
            throw failure;
          },
        )
        .finally(() => (loading = undefined));
      return loading;
    },
    get,
    keys: () => [...slots.keys()],
    async entries() {
      const out: (readonly [string, Readonly<SessionEntry>])[] = [];
      const pause = createPauser();
      for (const key of [...slots.keys()]) {
        const entry = get(key);
        if (entry) out.push([key, entry]);
        const turn = pause();
        if (turn) await turn;
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
  return store;
}

/** The entry's own JSON within its line of the file, `  "<key>": {…}`. */
function valueText(key: string, memberText: string): string {
  return memberText.slice(2 + JSON.stringify(key).length + 2);
}
