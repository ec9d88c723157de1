import { createHash } from "node:crypto";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { ifExists, readJsonFile, writeFileAtomic } from "../infra/atomic-file.ts";
import { isInside } from "./discovery.ts";

/** Which plugins of workspaces may run, in the state they were seen in. Source: spec decisions §9.3. */
export interface PluginTrust {
  /** Same place, same content as when it was trusted. */
  isTrusted(path: string): Promise<boolean>;
  /** Returns the real path. @throws Error when there is nothing */
  trust(path: string): Promise<string>;
}

interface TrustFile {
  readonly version: 1;
  readonly trusted: Readonly<Record<string, { readonly hash: string; readonly at: string }>>;
}

/** A plugin with more is refused rather than read for minutes. */
const MAX_FILES = 20_000;

export function createPluginTrust(stateDir: string, now: () => number): PluginTrust {
  const file = join(stateDir, "plugins", "trust.json");
  const read = async (): Promise<TrustFile> => {
    const value = (await ifExists(readJsonFile(file))) as Partial<TrustFile> | undefined;
    return { version: 1, trusted: typeof value?.trusted === "object" ? value.trusted : {} };
  };
  return {
    async isTrusted(path) {
      const real = await ifExists(realpath(path));
      if (real === undefined) return false;
      const entry = (await read()).trusted[real];
      return entry !== undefined && entry.hash === (await hashTree(real));
    },
    async trust(path) {
      const real = await realpath(path);
      const known = await read();
      const entry = { hash: await hashTree(real), at: new Date(now()).toISOString() };
      await writeFileAtomic(file, `${JSON.stringify({ version: 1, trusted: { ...known.trusted, [real]: entry } }, null, 2)}\n`);
      return real;
    },
  };
}

/**
 * sha256 over names, sizes and contents, dependencies included: code that is added later is not trusted, nor what a link brings
 * in from elsewhere.
 * @throws Error saying why the folder cannot be trusted
 */
async function hashTree(root: string): Promise<string> {
  const hash = createHash("sha256");
  const info = await stat(root);
  const entries = info.isFile() ? [] : (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory());
  if (entries.length > MAX_FILES) throw new Error(`${root} has more than ${MAX_FILES} files; a plugin of a workspace may not be that large.`);
  for (const entry of entries.filter((item) => item.isSymbolicLink())) await refuseLinkOut(root, join(entry.parentPath, entry.name));
  const files = info.isFile() ? [root] : entries.map((entry) => join(entry.parentPath, entry.name)).toSorted();
  for (const path of files) {
    // A link to a folder inside has nothing of its own to read.
    const content = await readFile(path).catch(() => Buffer.from("unreadable"));
    hash.update(`${relative(root, path)}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

async function refuseLinkOut(root: string, link: string): Promise<void> {
  const target = await ifExists(realpath(link));
  if (target !== undefined && !isInside(target, root)) throw new Error(`${relative(root, link)} is a link that leads out of the plugin`);
}
