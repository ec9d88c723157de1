import { realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { ensureDir, isErrno, writeFileAtomic } from "../../infra/atomic-file.ts";
import { readRegularFile } from "../../infra/regular-file.ts";
import { expandPath } from "../../routing/index.ts";

/** Files as a run may touch them: those of the machine, or those of its sandbox. */
export interface FileAccess {
  /** @throws Error when the path is outside what the run may touch */
  forRead(path: string): Promise<AccessibleFile>;
  forWrite(path: string): Promise<AccessibleFile>;
}

/** A file that may be touched; it need not exist. Failures are those of the file system (ENOENT, EISDIR). */
export interface AccessibleFile {
  /** Equal for two paths that mean one file. */
  readonly real: string;
  /** `real` is a path of this machine that may be opened again later. */
  readonly isOnHost: boolean;
  stat(): Promise<{ readonly size: number; readonly mode: number; readonly isDirectory: boolean }>;
  read(signal?: AbortSignal): Promise<Buffer>;
  /** In one step, parent folders included; without `mode`, that of the file before. */
  write(content: string | Uint8Array, mode?: number): Promise<void>;
  remove(): Promise<void>;
}

export interface FileAccessOptions {
  readonly workspaceDir: string;
  readonly stateDir: string;
  /** tools.fs.workspaceOnly */
  readonly workspaceOnly: boolean;
  /** Readable even then: skills, documentation, received media. */
  readonly readRoots: readonly string[];
}

/** Credentials and keys of the gateway itself are never shown to a model nor changed by it. */
const SECRET_STATE = [/^openclaw\.json/, /^\.env$/, /^credentials(\/|$)/, /^identity(\/|$)/, /^devices(\/|$)/, /^delivery(\/|$)/, /^exec-approvals\.json$/, /^agents\/[^/]+\/agent\/(auth|auth-profiles|models)\.json/];

/** Environment and memory of running programs, this one first, hold keys. */
const PROCESS_SECRETS = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem)$/;

export function createFileAccess(options: FileAccessOptions): FileAccess {
  const root = resolve(options.workspaceDir);

  async function check(path: string, write: boolean): Promise<string> {
    if (path.includes("\0")) throw new Error("A path must not contain NUL characters.");
    const full = isAbsolute(path) || path.startsWith("~") ? expandPath(path) : join(root, path);
    const real = await realpathOfNearest(full);
    const inState = relative(await realpathOfNearest(options.stateDir), real);
    if (isApprovalsFile(real) || (!inState.startsWith("..") && SECRET_STATE.some((pattern) => pattern.test(inState.replaceAll("\\", "/"))))) {
      throw new Error(`${path} belongs to the gateway's own secrets and settings and is not accessible to tools.`);
    }
    if (PROCESS_SECRETS.test(real)) throw new Error(`${path} holds secrets of a running program and is not accessible to tools.`);
    if (!options.workspaceOnly) return real;
    const roots = write ? [root] : [root, ...options.readRoots];
    for (const allowed of roots) if (isInside(await realpathOfNearest(allowed), real)) return real;
    throw new Error(`${path} is outside the workspace ${root}. tools.fs.workspaceOnly confines file tools to it.`);
  }

  return {
    forRead: async (path) => hostFile(await check(path, false)),
    forWrite: async (path) => hostFile(await check(path, true)),
  };
}

function hostFile(real: string): AccessibleFile {
  return {
    real,
    isOnHost: true,
    async stat() {
      const info = await stat(real);
      if (!info.isFile() && !info.isDirectory()) throw new Error(`${real} is no regular file, but a pipe, a socket or a device`);
      return { size: info.size, mode: info.mode & 0o777, isDirectory: info.isDirectory() };
    },
    read: (signal) => readRegularFile(real, { signal }),
    async write(content, mode) {
      await ensureDir(dirname(real));
      const kept = mode ?? (await stat(real).then((info) => info.mode & 0o777, () => undefined));
      await writeFileAtomic(real, content, kept === undefined ? {} : { mode: kept });
    },
    remove: () => rm(real),
  };
}

/** It follows the home directory, wherever the state directory lies. */
const isApprovalsFile = (path: string): boolean => path.replaceAll("\\", "/").toLowerCase().endsWith("/.openclaw/exec-approvals.json");

function isInside(root: string, path: string): boolean {
  const rel = relative(root, path);
  return rel === "" || (!rel.startsWith("..") && !isAbsolute(rel));
}

/** Resolves links of the part that exists, so that a new file below a link is judged by where it would really lie. */
async function realpathOfNearest(path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing);
    } catch (err) {
      if (!isErrno(err, "ENOENT", "ENOTDIR") || dirname(at) === at) throw err;
      missing.unshift(basename(at));
    }
  }
}
