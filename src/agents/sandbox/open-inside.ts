import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, readlink, realpath, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { posix } from "node:path";
import { isErrno } from "../../infra/atomic-file.ts";

/** A folder of the host as it is seen inside. */
export interface Mount {
  readonly target: string;
  readonly source: string;
  readonly writable: boolean;
}

/** Where a path leads to after all links, which mean what they mean inside. */
export interface Place {
  /** The path as seen inside, free of links. */
  readonly path: string;
  readonly mount: Mount;
  /** The folder that holds `name`; the folder itself when there is no name. */
  readonly dir: Dir;
  readonly name: string | undefined;
  readonly parentMissing: boolean;
}

interface Dir {
  readonly path: string;
  readonly mount: Mount | undefined;
  readonly handle: FileHandle | undefined;
  readonly hostPath: string;
}

const MAX_LINKS = 40;
const OPEN_DIR = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const DIR_MODE = 0o755;
const FILE_MODE = 0o644;
/** Only there can a name be looked up in an open folder, whatever happens to the path that led to it. */
const HAS_FD_PATHS = process.platform === "linux";

export class OutsideSandboxError extends Error {
  override readonly name = "OutsideSandboxError";
}

/**
 * Walks `path` (absolute, as seen inside) from the mounts on, one component at a time: folders are opened without following
 * links, links are read and walked in the same way. Whatever runs inside can swap folders for links meanwhile: the walk then
 * fails or ends inside, never outside. `use` gets the place while its folder is open.
 * @throws OutsideSandboxError, ErrnoException
 */
export async function withPlace<T>(mounts: readonly Mount[], path: string, options: { readonly create: boolean }, use: (place: Place) => Promise<T>): Promise<T> {
  const stack: Dir[] = [{ path: "/", mount: undefined, handle: undefined, hostPath: "/" }];
  try {
    return await use(await walk(mounts, path, options.create, stack));
  } finally {
    for (const dir of stack) await dir.handle?.close();
  }
}

async function walk(mounts: readonly Mount[], path: string, create: boolean, stack: Dir[]): Promise<Place> {
  let pending = names(path);
  let links = 0;
  while (pending.length > 0) {
    const name = pending.shift() as string;
    const top = stack.at(-1) as Dir;
    if (name === "..") {
      if (stack.length > 1) await stack.pop()?.handle?.close();
      continue;
    }
    const next = posix.join(top.path, name);
    const mount = mounts.find((candidate) => candidate.target === next);
    if (mount) {
      stack.push({ path: next, mount, handle: await open(mount.source, OPEN_DIR & ~constants.O_NOFOLLOW), hostPath: mount.source });
      continue;
    }
    if (!top.mount) {
      if (!mounts.some((candidate) => candidate.target.startsWith(`${next}/`))) throw outside(path, mounts);
      stack.push({ path: next, mount: undefined, handle: undefined, hostPath: next });
      continue;
    }
    const kind = await lookUp(top, name);
    if (kind.link !== undefined) {
      if (++links > MAX_LINKS) throw new Error(`ELOOP: too many links in ${path}`);
      if (kind.link.startsWith("/")) for (const dir of stack.splice(1)) await dir.handle?.close();
      pending = [...names(kind.link), ...pending];
      continue;
    }
    if (pending.length === 0) return { path: next, mount: top.mount, dir: top, name, parentMissing: false };
    if (kind.missing) {
      if (pending.includes("..")) throw missing(path);
      if (!create) return { path: posix.join(next, ...pending), mount: top.mount, dir: top, name: undefined, parentMissing: true };
      if (!top.mount.writable) throw new OutsideSandboxError(`${top.path} is read-only in the sandbox.`);
      await mkdir(childPath(top, name), { mode: DIR_MODE }).catch((err: unknown) => {
        if (!isErrno(err, "EEXIST")) throw err;
      });
    }
    stack.push({ path: next, mount: top.mount, handle: await open(childPath(top, name), OPEN_DIR), hostPath: posix.join(top.hostPath, name) });
  }
  const top = stack.at(-1) as Dir;
  if (!top.mount) throw outside(path, mounts);
  return { path: top.path, mount: top.mount, dir: top, name: undefined, parentMissing: false };
}

async function lookUp(dir: Dir, name: string): Promise<{ readonly link?: string | undefined; readonly missing?: boolean | undefined }> {
  try {
    return { link: await readlink(childPath(dir, name)) };
  } catch (err) {
    if (isErrno(err, "EINVAL")) return {};
    if (isErrno(err, "ENOENT")) return { missing: true };
    throw err;
  }
}

const names = (path: string): string[] => path.split("/").filter((name) => name !== "" && name !== ".");
const missing = (path: string): Error => Object.assign(new Error(`ENOENT: no such file or directory, '${path}'`), { code: "ENOENT" });
const childPath = (dir: Dir, name: string): string => (HAS_FD_PATHS && dir.handle ? `/proc/self/fd/${dir.handle.fd}/${name}` : posix.join(dir.hostPath, name));

function outside(path: string, mounts: readonly Mount[]): Error {
  return new OutsideSandboxError(`${path} is outside of what file tools reach in the sandbox (${mounts.map((mount) => mount.target).join(", ")}).`);
}

export async function statPlace(place: Place): Promise<{ readonly size: number; readonly mode: number; readonly isDirectory: boolean }> {
  if (place.parentMissing) throw missing(place.path);
  const info = place.name === undefined ? await place.dir.handle?.stat() : await lstat(childPath(place.dir, place.name));
  if (!info) throw missing(place.path);
  if (!info.isFile() && !info.isDirectory()) throw new Error(`${place.path} is neither a file nor a folder.`);
  return { size: info.size, mode: info.mode & 0o777, isDirectory: info.isDirectory() };
}

export async function readPlace(place: Place, signal: AbortSignal | undefined): Promise<Buffer> {
  if (place.parentMissing) throw missing(place.path);
  if (place.name === undefined) throw isDirectory(place.path);
  const file = await open(childPath(place.dir, place.name), OPEN_FILE);
  try {
    const info = await file.stat();
    if (info.isDirectory()) throw isDirectory(place.path);
    if (!info.isFile()) throw new Error(`${place.path} is not a regular file.`);
    const bytes = await file.readFile({ signal });
    await assertUnmoved(place.dir);
    return bytes;
  } finally {
    await file.close();
  }
}

/** Written beside, then renamed: what was a link or a second name of another file stays as it was. */
export async function writePlace(place: Place, content: string | Uint8Array, mode: number | undefined): Promise<void> {
  if (place.name === undefined) throw isDirectory(place.path);
  const target = childPath(place.dir, place.name);
  const before = await lstat(target).catch(() => undefined); // most often there is none
  if (before?.isDirectory()) throw isDirectory(place.path);
  const kept = mode ?? (before?.isFile() ? before.mode & 0o777 : FILE_MODE);
  const temp = childPath(place.dir, `.${place.name.slice(0, 100)}.${randomUUID()}.tmp`);
  await assertUnmoved(place.dir);
  try {
    const file = await open(temp, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, kept);
    try {
      await file.writeFile(content);
      await file.chmod(kept);
    } finally {
      await file.close();
    }
    await assertUnmoved(place.dir);
    await rename(temp, target);
  } catch (err) {
    await rm(temp, { force: true });
    throw err;
  }
}

export async function removePlace(place: Place): Promise<void> {
  if (place.parentMissing) throw missing(place.path);
  if (place.name === undefined) throw isDirectory(place.path);
  await assertUnmoved(place.dir);
  await rm(childPath(place.dir, place.name));
}

const isDirectory = (path: string): Error => Object.assign(new Error(`EISDIR: ${path} is a directory`), { code: "EISDIR" });

/** Where names are looked up by path, the path must still lead to the folder that was opened. */
async function assertUnmoved({ handle, hostPath, mount }: Dir): Promise<void> {
  if (HAS_FD_PATHS || !handle || !mount) return;
  const [opened, now, real, root] = await Promise.all([handle.stat(), stat(hostPath), realpath(hostPath), realpath(mount.source)]);
  if (opened.ino !== now.ino || opened.dev !== now.dev || (real !== root && !real.startsWith(`${root}/`))) throw new OutsideSandboxError(`${hostPath} was moved while it was in use.`);
}

