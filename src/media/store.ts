import { randomUUID } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { ensureDir, writeFileAtomic } from "../infra/atomic-file.ts";
import { readRegularFile } from "../infra/regular-file.ts";
import { extensionOf } from "./mime.ts";

export function inboundMediaDir(stateDir: string): string {
  return join(stateDir, "media", "inbound");
}

/** Saves bytes as `<name>---<uuid>.<ext>` under `<state>/media/<bucket>` (a plain folder name) and returns the path. Source: spec channels §2.5. */
export async function saveMedia(stateDir: string, bucket: string, bytes: Uint8Array, mimeType: string, fileName?: string): Promise<string> {
  const dir = join(stateDir, "media", bucket);
  await ensureDir(dir);
  const stem = (fileName ?? "").replace(/\.[^.]*$/, "").normalize("NFC").replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+/, "").slice(0, 60);
  const path = join(dir, `${stem === "" ? "" : `${stem}---`}${randomUUID()}.${extensionOf(mimeType)}`);
  await writeFileAtomic(path, bytes);
  return path;
}

/** Whether a path, which anybody may have written, names something in the store of media. */
export function isStoredMediaPath(stateDir: string, path: string): boolean {
  return isBelow(resolve(stateDir, "media"), resolve(path));
}

/** Size of a stored file, and its bytes when they are at most `maxBytes`; undefined when it is gone or lies elsewhere. */
export async function readStoredMedia(stateDir: string, path: string, maxBytes: number): Promise<{ readonly size: number; readonly bytes: Buffer | undefined } | undefined> {
  try {
    const [root, real] = await Promise.all([realpath(join(stateDir, "media")), realpath(path)]);
    if (!isBelow(root, real)) return undefined;
    const { size } = await stat(real);
    return { size, bytes: size <= maxBytes ? await readRegularFile(real, { maxBytes }) : undefined };
  } catch {
    return undefined; // gone, or unreadable: it cannot be shown either way
  }
}

function isBelow(root: string, path: string): boolean {
  const rel = relative(root, path);
  return rel !== "" && rel !== ".." && !rel.startsWith(`..${sep}`) && resolve(root, rel) === path;
}
