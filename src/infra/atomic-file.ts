import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Every file the gateway writes is readable by its owner only. */
export const FILE_MODE = 0o600;
export const DIR_MODE = 0o700;

/** Creates the directory (and parents) with mode 0700 where it does not exist yet. */
export async function ensureDir(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: DIR_MODE });
}

export interface WriteFileAtomicOptions {
  /** fsync before the rename; default false (survives a killed process, not a power cut). */
  readonly sync?: boolean;
  readonly mode?: number;
}

/**
 * Replaces `path` in one step: readers see the old or the new text, never a part of it.
 * `data` may be given in slices, written one after the other, so that a large file never blocks the loop.
 * @throws NodeJS.ErrnoException when the disk refuses; the old file is then untouched
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array | Iterable<string> | AsyncIterable<string>,
  options: WriteFileAtomicOptions = {},
): Promise<void> {
  await ensureDir(dirname(path));
  const mode = options.mode ?? FILE_MODE;
  const temp = `${path}.${process.pid}.${randomUUID()}.tmp`;
  try {
    const file = await open(temp, "w", mode);
    try {
      if (typeof data === "string" || data instanceof Uint8Array) await file.writeFile(data);
      else for await (const part of data) await file.write(part);
      if (options.sync) await file.sync();
    } finally {
      await file.close();
    }
    await chmod(temp, mode);
    await rename(temp, path);
  } catch (err) {
    await rm(temp, { force: true });
    throw err;
  }
}

/** The parsed JSON file, or undefined when it does not exist. @throws SyntaxError on bad JSON, ErrnoException otherwise */
export async function readJsonFile(path: string): Promise<unknown> {
  const text = await ifExists(readFile(path, "utf8"));
  return text === undefined ? undefined : JSON.parse(text);
}

/** What a file operation gives, or undefined when there is no such file (ENOENT). Other failures reject. */
export async function ifExists<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (err) {
    if (isErrno(err, "ENOENT")) return undefined;
    throw err;
  }
}

export function isErrno(err: unknown, ...codes: string[]): boolean {
  return err instanceof Error && "code" in err && codes.includes(String(err.code));
}
