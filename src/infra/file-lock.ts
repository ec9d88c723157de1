import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { uptime } from "node:os";
import { dirname } from "node:path";
import { ensureDir, FILE_MODE, ifExists, isErrno } from "./atomic-file.ts";
import { sleep } from "./backoff.ts";

/** What a lock file says about its holder. `startTime` is field 22 of /proc/<pid>/stat, absent where there is no procfs. */
export interface LockOwner {
  readonly pid: number;
  readonly createdAt: string;
  readonly startTime?: number | undefined;
}

export interface FileLock {
  readonly path: string;
  /** Removes the lock file if it is still ours. Never throws for a file that is gone. */
  release(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface FileLockOptions {
  /** How long to wait for a living holder, ms; default 5000, 0 = one try. */
  readonly timeoutMs?: number;
  /** Pause between tries, ms; default 20. */
  readonly pollMs?: number;
  /** Further fields of the lock file, e.g. `{ configPath }`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
  /** Age, ms, at which a lock that does not say when its process started counts as left behind: its pid may be another's by now. */
  readonly vagueStaleMs?: number;
}

/** The lock is held by a living process. */
export class FileLockError extends Error {
  override readonly name = "FileLockError";
  readonly code = "locked";
  readonly owner: LockOwner | undefined;
  constructor(path: string, owner: LockOwner | undefined, timeoutMs: number) {
    const holder = owner ? `process ${owner.pid} (since ${owner.createdAt})` : "another process";
    super(`${path} is locked by ${holder}; gave up after ${timeoutMs} ms. Stop that process or try again.`);
    this.owner = owner;
  }
}

/** A lock file that cannot be read as one is taken for one being written, until it is this old. */
const UNREADABLE_GRACE_MS = 2000;

/**
 * Takes an exclusive lock between processes (and between callers of one process). A lock whose holder is dead, or whose pid
 * was reused, is taken over at once.
 * @throws FileLockError when a living holder keeps it longer than `timeoutMs`; ErrnoException when the disk refuses
 */
export async function acquireFileLock(path: string, options: FileLockOptions = {}): Promise<FileLock> {
  const timeoutMs = options.timeoutMs ?? 5000;
  const deadline = performance.now() + timeoutMs;
  const token = randomUUID();
  const owner = {
    pid: process.pid,
    createdAt: new Date().toISOString(),
    startTime: await processStartTime(process.pid),
  };
  const content = `${JSON.stringify({ ...options.details, ...owner, token })}\n`;
  await ensureDir(dirname(path));
  for (;;) {
    if (await tryCreate(path, content, token)) return lockHandle(path, content);
    const held = await readLock(path);
    if (held === undefined) continue;
    if (await isStale(path, held, options.vagueStaleMs)) {
      await takeAway(path, held.text, token);
      continue;
    }
    if (performance.now() >= deadline || options.signal?.aborted) throw new FileLockError(path, held.owner, timeoutMs);
    await sleep(options.pollMs ?? 20, options.signal);
  }
}

/** Who holds the lock now; undefined when free or when the file is no lock file. */
export async function readLockOwner(path: string): Promise<LockOwner | undefined> {
  return (await readLock(path))?.owner;
}

/** Whether the process of a lock file still runs: pid alive, and started when the lock says so. */
export async function isLockOwnerAlive(owner: LockOwner): Promise<boolean> {
  try {
    process.kill(owner.pid, 0);
  } catch (err) {
    if (!isErrno(err, "EPERM")) return false;
  }
  if (Date.parse(owner.createdAt) < Date.now() - uptime() * 1000 - 60_000) return false;
  if (owner.startTime === undefined) return true;
  const now = await processStartTime(owner.pid);
  return now === undefined || now === owner.startTime;
}

/** Start time of a process in clock ticks since boot (Linux), else undefined. */
export async function processStartTime(pid: number): Promise<number | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    // The command name (field 2) may hold spaces and parentheses: count from its last ")".
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[19]);
    return Number.isFinite(ticks) ? ticks : undefined;
  } catch {
    return undefined; // no procfs, or the process is gone
  }
}

/** Creates the file with its content in one step, by a hard link where the file system has them. */
async function tryCreate(path: string, content: string, token: string): Promise<boolean> {
  const temp = `${path}.${process.pid}.${token}.tmp`;
  try {
    await writeNew(temp, content);
    await link(temp, path);
    return true;
  } catch (err) {
    if (isErrno(err, "EEXIST")) return false;
    if (!isErrno(err, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK")) throw err;
  } finally {
    await rm(temp, { force: true });
  }
  try {
    await writeNew(path, content);
    return true;
  } catch (err) {
    if (isErrno(err, "EEXIST")) return false;
    throw err;
  }
}

async function writeNew(path: string, content: string): Promise<void> {
  const file = await open(path, "wx", FILE_MODE);
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

interface HeldLock {
  readonly text: string;
  readonly owner: LockOwner | undefined;
}

async function readLock(path: string): Promise<HeldLock | undefined> {
  const text = await ifExists(readFile(path, "utf8"));
  return text === undefined ? undefined : { text, owner: parseOwner(text) };
}

function parseOwner(text: string): LockOwner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const { pid, createdAt, startTime } = value as Record<string, unknown>;
    if (typeof pid !== "number" || !Number.isInteger(pid) || pid <= 0) return undefined;
    return {
      pid,
      createdAt: typeof createdAt === "string" ? createdAt : "",
      startTime: typeof startTime === "number" ? startTime : undefined,
    };
  } catch {
    return undefined; // half-written or foreign: judged by its age
  }
}

async function isStale(path: string, { owner, text }: HeldLock, vagueStaleMs: number | undefined): Promise<boolean> {
  if (owner !== undefined) return isVaguelyStale(owner, text, vagueStaleMs) || !(await isLockOwnerAlive(owner));
  const found = await ifExists(stat(path));
  return found !== undefined && Date.now() - found.mtimeMs > UNREADABLE_GRACE_MS;
}

/** The pid alone proves little: containers give the same one at every start. Locks of this code have a token. */
function isVaguelyStale(owner: LockOwner, text: string, staleMs: number | undefined): boolean {
  if (owner.startTime !== undefined || text.includes('"token"')) return false;
  if (owner.pid === process.pid) return true;
  const ageMs = Date.now() - Date.parse(owner.createdAt);
  return staleMs !== undefined && !(ageMs <= staleMs);
}

/** Removes a stale lock. If another process replaced it meanwhile, its lock is put back. */
async function takeAway(path: string, staleText: string, token: string): Promise<void> {
  const aside = `${path}.${token}.stale`;
  try {
    await rename(path, aside);
  } catch (err) {
    if (isErrno(err, "ENOENT")) return;
    throw err;
  }
  try {
    if ((await readFile(aside, "utf8")) !== staleText) await link(aside, path);
  } catch (err) {
    if (!isErrno(err, "EEXIST")) throw err;
  } finally {
    await rm(aside, { force: true });
  }
}

function lockHandle(path: string, content: string): FileLock {
  const release = async (): Promise<void> => {
    const held = await readLock(path);
    if (held?.text === content) await rm(path, { force: true });
  };
  return { path, release, [Symbol.asyncDispose]: release };
}
