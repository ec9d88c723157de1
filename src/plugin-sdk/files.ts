import { randomUUID } from "node:crypto";
import { mkdtempSync, existsSync, lstatSync, mkdirSync, accessSync, constants } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { isErrno, readJsonFile, writeFileAtomic } from "../infra/atomic-file.ts";
import { acquireFileLock as acquire } from "../infra/file-lock.ts";
import { runCommand } from "../plugins/runtime/helpers/index.ts";

/** Files of a plugin. Source: spec plugin-sdk §14. */

export interface FileLockOptions {
  /** `retries` tries after the first, the pauses growing from `minTimeout` to `maxTimeout` ms. */
  readonly retries: { readonly retries: number; readonly factor: number; readonly minTimeout: number; readonly maxTimeout: number; readonly randomize?: boolean | undefined };
  /** Age in ms at which a lock of an unknown holder counts as left behind. */
  readonly stale: number;
}

export interface FileLockHandle {
  readonly lockPath: string;
  release(): Promise<void>;
}

/** Between processes; `<path>.lock` beside the file. @throws Error when a living holder keeps it */
export async function acquireFileLock(path: string, options: FileLockOptions): Promise<FileLockHandle> {
  const { retries, factor, minTimeout, maxTimeout } = options.retries;
  const pauses = Array.from({ length: Math.min(retries, 1000) }, (_, i) => Math.min(maxTimeout, minTimeout * factor ** i));
  const lockPath = `${path}.lock`;
  const lock = await acquire(lockPath, { timeoutMs: pauses.reduce((sum, pause) => sum + pause, 0), pollMs: Math.max(1, Math.min(minTimeout, 100)), vagueStaleMs: options.stale });
  return { lockPath, release: () => lock.release() };
}

export async function withFileLock<T>(path: string, options: FileLockOptions, task: () => Promise<T>): Promise<T> {
  const lock = await acquireFileLock(path, options);
  try {
    return await task();
  } finally {
    await lock.release();
  }
}

/** A file that is absent or no JSON gives `fallback`. @throws what else the disk says */
export async function readJsonFileWithFallback<T>(path: string, fallback: T): Promise<{ value: T; exists: boolean }> {
  try {
    const value = await readJsonFile(path);
    return value === undefined ? { value: fallback, exists: false } : { value: value as T, exists: true };
  } catch (err) {
    if (err instanceof SyntaxError) return { value: fallback, exists: true };
    throw err;
  }
}

export const writeJsonFileAtomically = (path: string, value: unknown): Promise<void> => writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);

const SHARED_TMP = "/tmp/openclaw";

/** `/tmp/openclaw` when it is ours, else a folder of this user below the system's. Made when absent, 0700. */
export function resolvePreferredOpenClawTmpDir(): string {
  const uid = process.getuid?.();
  if (process.platform !== "win32" && isOurDir(SHARED_TMP, uid)) return SHARED_TMP;
  const own = join(tmpdir(), uid === undefined ? "openclaw" : `openclaw-${uid}`);
  return isOurDir(own, uid) ? own : mkdtempSync(join(tmpdir(), "openclaw-"));
}

function isOurDir(dir: string, uid: number | undefined): boolean {
  try {
    if (!existsSync(dir)) mkdirSync(dir, { recursive: true, mode: 0o700 });
    const stat = lstatSync(dir);
    accessSync(dir, constants.W_OK | constants.X_OK);
    return stat.isDirectory() && (uid === undefined || (stat.uid === uid && (stat.mode & 0o022) === 0));
  } catch {
    return false; // somebody else's, or not writable
  }
}

const safePart = (text: string): string => basename(text).replace(/[^a-zA-Z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "");

/** `<tmp>/<prefix>-<ms>-<uuid><.ext>`; nothing is made. */
export function buildRandomTempFilePath(options: { readonly prefix: string; readonly extension?: string | undefined; readonly tmpDir?: string | undefined; readonly now?: number | undefined; readonly uuid?: string | undefined }): string {
  const extension = safePart(options.extension ?? "");
  const now = Math.trunc(options.now ?? Date.now());
  return join(options.tmpDir ?? resolvePreferredOpenClawTmpDir(), `${safePart(options.prefix) || "tmp"}-${now}-${options.uuid ?? randomUUID()}${extension === "" ? "" : `.${extension}`}`);
}

/** A path in a folder of its own, which is removed with all in it when the task is over. */
export async function withTempDownloadPath<T>(options: { readonly prefix: string; readonly fileName?: string | undefined; readonly tmpDir?: string | undefined }, task: (path: string) => Promise<T>): Promise<T> {
  const root = options.tmpDir ?? resolvePreferredOpenClawTmpDir();
  await mkdir(root, { recursive: true, mode: 0o700 });
  const dir = await mkdtemp(join(root, `${safePart(options.prefix) || "tmp"}-`));
  try {
    return await task(join(dir, safePart(options.fileName ?? "") || "download.bin"));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** `.png` for `a/b.PNG` and for URLs; undefined without one. */
export function getFileExtension(path?: string | null): string | undefined {
  if (!path) return undefined;
  const plain = /^https?:\/\//i.test(path) ? (URL.parse(path)?.pathname ?? "") : path;
  return extname(plain).toLowerCase() || undefined;
}

/** The sender's name of a stored file: `report---<uuid>.pdf` → `report.pdf`. */
export function extractOriginalFilename(path: string): string {
  const name = basename(path);
  if (name === "") return "file.bin";
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  const original = /^(.+)---[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.exec(stem)?.[1];
  return original === undefined ? name : `${original}${extension}`;
}

/** A program with its output; the end by the time limit is told in `stderr` and by code 124. Rejects only for no program. */
export async function runPluginCommandWithTimeout(options: { readonly argv: readonly string[]; readonly timeoutMs: number; readonly cwd?: string | undefined; readonly env?: Readonly<Record<string, string | undefined>> | undefined }): Promise<{ code: number; stdout: string; stderr: string }> {
  if (!options.argv[0]) return { code: 1, stdout: "", stderr: "command is required" };
  try {
    const done = await runCommand(options.argv, { timeoutMs: options.timeoutMs, cwd: options.cwd, env: options.env });
    if (done.termination === "timeout") return { code: 124, stdout: done.stdout, stderr: `${done.stderr}\ncommand timed out after ${options.timeoutMs}ms`.trim() };
    return { code: done.code ?? 1, stdout: done.stdout, stderr: done.stderr };
  } catch (err) {
    if (isErrno(err, "ENOENT", "EACCES")) return { code: 1, stdout: "", stderr: (err as Error).message };
    throw err;
  }
}
