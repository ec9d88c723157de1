import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isErrno } from "../../infra/atomic-file.ts";
import { expandPath } from "../../routing/index.ts";

export interface FileAccess {
  /** The real path to read. @throws Error when it is outside what the run may touch */
  forRead(path: string): Promise<string>;
  forWrite(path: string): Promise<string>;
  display(path: string): string;
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

export function createFileAccess(options: FileAccessOptions): FileAccess {
  const root = resolve(options.workspaceDir);

  async function check(path: string, write: boolean): Promise<string> {
    if (path.includes("\0")) throw new Error("A path must not contain NUL characters.");
    const full = isAbsolute(path) || path.startsWith("~") ? expandPath(path) : join(root, path);
    const real = await realpathOfNearest(full);
    const inState = relative(await realpathOfNearest(options.stateDir), real);
    if (!inState.startsWith("..") && SECRET_STATE.some((pattern) => pattern.test(inState.replaceAll("\\", "/")))) {
      throw new Error(`${path} belongs to the gateway's own secrets and settings and is not accessible to tools.`);
    }
    if (!options.workspaceOnly) return real;
    const roots = write ? [root] : [root, ...options.readRoots];
    for (const allowed of roots) if (isInside(await realpathOfNearest(allowed), real)) return real;
    throw new Error(`${path} is outside the workspace ${root}. tools.fs.workspaceOnly confines file tools to it.`);
  }

  return {
    forRead: (path) => check(path, false),
    forWrite: (path) => check(path, true),
    display: (path) => path,
  };
}

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
