import { createHash } from "node:crypto";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DIR_MODE, ensureDir } from "./atomic-file.ts";
import { sleep } from "./backoff.ts";
import { acquireFileLock, FileLockError } from "./file-lock.ts";
import type { FileLock, LockOwner } from "./file-lock.ts";
import { isPortAnswering } from "./port-owner.ts";

const WAIT_MS = 5_000;
const POLL_MS = 100;

/** Another gateway serves this config. */
export class InstanceLockError extends Error {
  override readonly name = "InstanceLockError";
  readonly owner: LockOwner | undefined;
  constructor(message: string, owner: LockOwner | undefined, cause: unknown) {
    super(message, { cause });
    this.owner = owner;
  }
}

export interface InstanceLockOptions {
  readonly configPath: string;
  readonly port: number;
  /** Default: the system's temp directory. */
  readonly tempDir?: string | undefined;
  /** How long to wait for an owner that does not serve (it is starting or ending); default 5 s. */
  readonly waitMs?: number | undefined;
}

/** `<tmp>/openclaw-<uid>/gateway.<hash of the config path>.lock` (spec: cli-and-ui §7.1). */
export function instanceLockPath(configPath: string, tempDir: string = tmpdir()): string {
  const hash = createHash("sha256").update(resolve(configPath)).digest("hex").slice(0, 8);
  const uid = process.getuid?.();
  return join(tempDir, uid === undefined ? "openclaw" : `openclaw-${uid}`, `gateway.${hash}.lock`);
}

/**
 * One gateway per config file. A lock left by a dead process is taken over; an owner that answers on the port is
 * refused at once, one that does not is given time to end.
 * @throws InstanceLockError naming the owner's pid
 */
export async function acquireInstanceLock(options: InstanceLockOptions): Promise<FileLock> {
  const path = instanceLockPath(options.configPath, options.tempDir);
  await ensureDir(join(path, ".."));
  await chmod(join(path, ".."), DIR_MODE);
  const waitMs = options.waitMs ?? WAIT_MS;
  const details = { configPath: resolve(options.configPath), port: options.port };
  for (const deadline = Date.now() + waitMs; ; ) {
    try {
      return await acquireFileLock(path, { timeoutMs: 0, details });
    } catch (err) {
      if (!(err instanceof FileLockError)) throw err;
      const who = err.owner ? `pid ${err.owner.pid}` : "owner unknown";
      if (await isPortAnswering(options.port)) {
        throw new InstanceLockError(`gateway already running (${who}); it answers on port ${options.port}`, err.owner, err);
      }
      if (Date.now() >= deadline) {
        throw new InstanceLockError(`gateway already running (${who}); lock timeout after ${waitMs}ms`, err.owner, err);
      }
      await sleep(Math.min(POLL_MS, Math.max(1, deadline - Date.now())));
    }
  }
}
