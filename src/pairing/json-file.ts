import { copyFileSync, readFileSync, statSync } from "node:fs";
import { isErrno, writeFileAtomic } from "../infra/atomic-file.ts";
import { acquireFileLock } from "../infra/file-lock.ts";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import type { Logger } from "../infra/log.ts";

/** Runs `task` while no other holder of the same path runs; across processes when the lock is a file. */
export type PathLock = <T>(path: string, task: () => Promise<T>) => Promise<T>;

export interface JsonFile<T> {
  /** What the file holds now; cheap while its size, time and inode are unchanged. A broken file keeps the last good content. */
  read(): T;
  /**
   * Under the lock: takes the newest content, lets `change` derive the next (the same object means: nothing to write),
   * and replaces the file. @throws what the disk or `change` throws; the old content then stands
   */
  update(change: (current: T) => T): Promise<T>;
}

export interface JsonFileOptions<T> {
  readonly path: string;
  readonly empty: T;
  /** @throws when the content is not of the expected form */
  readonly parse: (value: unknown) => T;
  /** The file's form of the content; default: as it is. */
  readonly serialize?: ((content: T) => unknown) | undefined;
  readonly lock: PathLock;
  readonly log: Logger;
}

/** A small JSON file that other processes may write too. Reading is synchronous, so that gates can decide at once. */
export function createJsonFile<T>(options: JsonFileOptions<T>): JsonFile<T> {
  const { path } = options;
  let content = options.empty;
  let signature = "absent";
  let broken = false;

  const signatureNow = (): string => {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
    return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : "absent";
  };
  const read = (): T => {
    const seen = signatureNow();
    if (seen === signature) return content;
    signature = seen;
    if (seen === "absent") {
      broken = false;
      return (content = options.empty);
    }
    try {
      content = options.parse(JSON.parse(readFileSync(path, "utf8")));
      broken = false;
    } catch (err) {
      if (isErrno(err, "ENOENT")) return (content = options.empty);
      broken = true;
      options.log.error("file is not readable; keeping what was known before", { path, err });
    }
    return content;
  };
  return {
    read,
    update: (change) =>
      options.lock(path, async () => {
        const current = read();
        const next = change(current);
        if (next === current) return current;
        if (broken) copyFileSync(path, `${path}.corrupt-${Date.now()}`);
        await writeFileAtomic(path, `${JSON.stringify(options.serialize ? options.serialize(next) : next, null, 2)}\n`);
        content = next;
        broken = false;
        signature = signatureNow();
        return next;
      }),
  };
}

/** Serialises by path: callers of this process queue up, other processes are kept out by `<path>.lock`. */
export function createPathLock(): PathLock {
  const underFileLock = async <T>(path: string, task: () => Promise<T>): Promise<T> => {
    await using _lock = await acquireFileLock(`${path}.lock`);
    return await task();
  };
  const inOrder = createKeyedQueue();
  return (path, task) => inOrder(path, () => underFileLock(path, task));
}
