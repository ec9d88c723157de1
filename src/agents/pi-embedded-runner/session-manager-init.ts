import { copyFile, readFile, stat } from "node:fs/promises";
import type { SessionManager } from "@mariozechner/pi-coding-agent";
import { isErrno, writeFileAtomic } from "../../infra/atomic-file.ts";
import type { Logger } from "../../infra/log.ts";
import {
  appendTranscriptLines,
  createHeader,
  emitSessionTranscriptUpdate,
  queueByPath,
  readTranscriptHeader,
  rebuildTranscript,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptHeader,
} from "../../sessions/index.ts";
import type { PiModules } from "../pi.ts";
import { readContextEntries } from "./transcript-window.ts";

/** A conversation in memory whose every new entry goes to disk through our own queue. */
export interface OpenTranscript {
  readonly manager: SessionManager;
  /** Size in characters of what is held, for the cache's bound. */
  readonly chars: () => number;
  /** Resolves once `message` (as the Agent emitted it) is on disk. */
  persisted(message: object): Promise<void>;
  /** Resolves when everything appended so far is on disk. @throws when the disk refuses */
  flush(): Promise<void>;
  /** What is appended from now on goes nowhere: a run that was given up must not write behind its successor. */
  abandon(): void;
  isAbandoned(): boolean;
}

interface ManagerInternals {
  sessionId: string;
  fileEntries: unknown[];
  leafId: string | null;
  _buildIndex(): void;
  _persist(entry: TranscriptEntry): void;
}

export interface OpenTranscriptOptions {
  readonly path: string;
  readonly sessionId: string;
  readonly cwd: string;
  /** Characters of history worth loading; older messages stay on disk only. */
  readonly budgetChars: number;
  readonly nowMs: number;
  readonly log: Logger;
  /** What is written instead of a message; undefined: nothing is. */
  beforeWrite?(message: TranscriptEntryMessage): TranscriptEntryMessage | undefined;
}

type TranscriptEntryMessage = Parameters<SessionManager["appendMessage"]>[0];

/**
 * Opens a transcript for a run: checks the header (a torn one is rebuilt from a copy, every parsable line kept), reads
 * backwards as far as the model can see, and takes over persistence. Source: spec decisions §3.1.
 */
export async function openTranscript(pi: PiModules, options: OpenTranscriptOptions): Promise<OpenTranscript> {
  const { path } = options;
  const { header, isNew } = await ensureHeader(pi, options);
  const entries = isNew ? [] : await readOrRepair(options);
  const manager = pi.codingAgent.SessionManager.inMemory(options.cwd);
  // The only place that touches Pi's private fields: it has no other way to fill a manager or to own its persistence.
  const internals = manager as unknown as ManagerInternals;
  internals.sessionId = header.id;
  internals.fileEntries = [header, ...entries];
  internals._buildIndex();

  let chars = entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
  let pending: string[] = isNew ? [JSON.stringify(header)] : [];
  let writing: Promise<void> = Promise.resolve();
  let scheduled = false;
  let appended = false;
  let abandoned = false;
  const written = new WeakMap<object, Promise<void>>();
  const waiting = new Map<object, (done: Promise<void>) => void>();

  function write(): Promise<void> {
    if (scheduled) return writing;
    scheduled = true;
    writing = queueByPath(path, async () => {
      scheduled = false;
      const lines = pending;
      pending = [];
      try {
        await appendTranscriptLines(path, lines, appended);
        appended = true;
      } catch (err) {
        appended = false;
        pending = [...lines, ...pending];
        throw err;
      }
      emitSessionTranscriptUpdate(path);
    });
    writing.catch((err: unknown) => options.log.error("transcript not written", { path, err }));
    return writing;
  }

  function append(line: string): Promise<void> {
    chars += line.length;
    pending.push(line);
    return write();
  }

  internals._persist = (entry) => {
    const done = abandoned ? Promise.resolve() : append(JSON.stringify(entry));
    if (!entry.message) return;
    written.set(entry.message, done);
    waiting.get(entry.message)?.(done);
    waiting.delete(entry.message);
  };

  const { beforeWrite } = options;
  if (beforeWrite) {
    const appendMessage = manager.appendMessage.bind(manager);
    const settle = (message: object, done: Promise<void>): void => {
      written.set(message, done);
      waiting.get(message)?.(done);
      waiting.delete(message);
    };
    manager.appendMessage = (message) => {
      const kept = beforeWrite(message);
      if (!kept) {
        settle(message, Promise.resolve());
        return manager.getLeafId() ?? "";
      }
      const id = appendMessage(kept);
      if (kept !== message) settle(message, written.get(kept) ?? Promise.resolve());
      return id;
    };
  }

  return {
    manager,
    chars: () => chars,
    persisted(message) {
      const done = written.get(message);
      if (done) return done;
      return new Promise((resolve, reject) => {
        waiting.set(message, (later) => void later.then(resolve, reject));
      });
    },
    async flush() {
      while (pending.length > 0 || scheduled) await write();
      await writing;
    },
    abandon() {
      abandoned = true;
    },
    isAbandoned: () => abandoned,
  };
}

async function readOrRepair(options: OpenTranscriptOptions): Promise<TranscriptEntry[]> {
  const entries = await readContextEntries(options.path, options.budgetChars);
  if (entries) return entries;
  await repair(options, "a line in the middle was damaged");
  return (await readContextEntries(options.path, options.budgetChars)) ?? [];
}

async function ensureHeader(pi: PiModules, options: OpenTranscriptOptions): Promise<{ header: TranscriptHeader; isNew: boolean }> {
  const { path } = options;
  const known = await readTranscriptHeader(path);
  if (known && (known.version ?? 1) >= TRANSCRIPT_VERSION) return { header: known, isNew: false };
  if (known) return { header: await migrate(pi, options), isNew: false };
  const fresh = createHeader(options.sessionId, options.cwd, options.nowMs);
  if (await isEmptyOrMissing(path)) return { header: fresh, isNew: true };
  return { header: await repair(options, "its header was damaged"), isNew: false };
}

/** Rebuilds the file of every line that can be parsed; a copy of the old one stays beside it. */
async function repair(options: OpenTranscriptOptions, reason: string): Promise<TranscriptHeader> {
  const { path } = options;
  return queueByPath(path, async () => {
    const backup = await keepCopy(options);
    const { header, ...found } = await rebuildTranscript(path, createHeader(options.sessionId, options.cwd, options.nowMs));
    options.log.warn("transcript has been rebuilt", { path, reason, backup, ...found });
    return header;
  });
}

/** Formats 1 (no ids) and 2 become format 3, as Pi does it; a copy of the old file stays beside it. */
async function migrate(pi: PiModules, options: OpenTranscriptOptions): Promise<TranscriptHeader> {
  const { path } = options;
  return queueByPath(path, async () => {
    const backup = await keepCopy(options);
    const entries = pi.codingAgent.parseSessionEntries(await readFile(path, "utf8"));
    pi.codingAgent.migrateSessionEntries(entries);
    await writeFileAtomic(path, entries.map((entry) => `${JSON.stringify(entry)}\n`));
    options.log.info("transcript of an older format has been converted", { path, backup, entries: entries.length });
    const header = await readTranscriptHeader(path);
    if (!header) throw new Error(`Transcript ${path} could not be converted; the old file is ${backup}`);
    return header;
  });
}

async function keepCopy({ path, nowMs }: OpenTranscriptOptions): Promise<string> {
  const backup = `${path}.bak-${process.pid}-${nowMs}`;
  await copyFile(path, backup);
  return backup;
}

async function isEmptyOrMissing(path: string): Promise<boolean> {
  try {
    return (await stat(path)).size === 0;
  } catch (err) {
    if (isErrno(err, "ENOENT")) return true;
    throw err;
  }
}
