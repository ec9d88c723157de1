import { posix } from "node:path";
import type { FilesToSend } from "../../media/index.ts";
import { expandPath } from "../../routing/index.ts";
import type { AccessibleFile, FileAccess } from "../tools/file-access.ts";
import { OutsideSandboxError, readPlace, removePlace, statPlace, withPlace, writePlace, type Mount, type Place } from "./open-inside.ts";

export interface SandboxFilesOptions {
  /** Known once the folders are there. */
  readonly mounts: () => Promise<readonly Mount[]>;
  /** Seen by file tools only, never by commands; read-only. */
  readonly readRoots: readonly string[];
  /** What relative paths start from, as seen inside. */
  readonly workdir: string;
}

/** File tools in a sandbox: paths mean what they mean inside, and end there. */
export function createSandboxFiles(options: SandboxFilesOptions): FileAccess {
  async function reach(path: string, write: boolean): Promise<AccessibleFile> {
    if (path.includes("\0")) throw new Error("A path must not contain NUL characters.");
    const shared = await options.mounts();
    const mounts = write ? shared : [...shared, ...options.readRoots.map((root) => ({ target: root, source: root, writable: false }))];
    const inside = toInside(path, mounts, options.workdir);
    const place = <T>(use: (place: Place) => Promise<T>, create = false): Promise<T> =>
      withPlace(mounts, inside, { create }, (found) => {
        if (write && !found.mount.writable) throw new OutsideSandboxError(`${path} is read-only in the sandbox.`);
        return use(found);
      });
    return {
      real: await place((found) => Promise.resolve(found.path)),
      isOnHost: false,
      stat: () => place(statPlace),
      read: (signal) => place((found) => readPlace(found, signal)),
      write: (content, mode) => place((found) => writePlace(found, content, mode), true),
      remove: () => place(removePlace),
    };
  }
  return { forRead: (path) => reach(path, false), forWrite: (path) => reach(path, true) };
}

/** A session in a sandbox sends files of the sandbox, and none of the workspace behind it. */
export function filesToSend(sandbox: { readonly files: FileAccess } | undefined, workspaceDir: string): FilesToSend {
  return sandbox ? { readInside: async (path) => (await sandbox.files.forRead(path)).read() } : { workspaceDir };
}

/** A path of the host that is mounted is taken for where it is seen inside. */
export function toInside(path: string, mounts: readonly Mount[], workdir: string): string {
  if (!posix.isAbsolute(path) && !path.startsWith("~/")) return posix.join(workdir, path);
  const plain = posix.normalize(expandPath(path));
  const isBelow = (root: string): boolean => plain === root || plain.startsWith(`${root}/`);
  if (mounts.some((mount) => isBelow(mount.target))) return path;
  const host = mounts.toSorted((a, b) => b.source.length - a.source.length).find((mount) => isBelow(mount.source));
  return host ? posix.join(host.target, plain.slice(host.source.length)) : path;
}
