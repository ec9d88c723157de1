import { constants } from "node:fs";
import { lstat, mkdir, open, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { isErrno } from "../infra/atomic-file.ts";

export interface CanvasFile {
  readonly bytes: Buffer;
  readonly type: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".ico": "image/x-icon", ".txt": "text/plain; charset=utf-8", ".md": "text/plain; charset=utf-8",
  ".woff2": "font/woff2", ".wasm": "application/wasm", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
};
const MAX_FILE_BYTES = 32 * 1024 * 1024;

const FIRST_PAGE = `<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Canvas</title>
<style>body{font:16px system-ui;margin:15vh auto;max-width:32rem;padding:0 1rem;color-scheme:light dark}</style>
<h1>Canvas</h1>
<p>The agent can show pages here: what it writes into this folder appears.</p>
`;

/** Makes the folder and a first page where there are none. */
export async function ensureCanvasRoot(root: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await writeFile(join(root, "index.html"), FIRST_PAGE, { flag: "wx", mode: 0o600 }).catch((err: unknown) => {
    if (!isErrno(err, "EEXIST")) throw err;
  });
}

/**
 * A file below the root; `path` is canonical and begins with "/". A folder means its index.html. Undefined for what is
 * not there, is a link or lies behind one, is no regular file, or is too large.
 */
export async function readCanvasFile(root: string, path: string): Promise<CanvasFile | undefined> {
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.some((part) => part === "." || part === ".." || part.includes("\\") || part.includes("\0"))) return undefined;
  let at = root;
  try {
    for (const part of parts) {
      at = join(at, part);
      if ((await lstat(at)).isSymbolicLink()) return undefined;
    }
    if (parts.length === 0 || (await lstat(at)).isDirectory()) at = join(at, "index.html");
    const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const info = await file.stat();
      if (!info.isFile() || info.size > MAX_FILE_BYTES) return undefined;
      return { bytes: await file.readFile(), type: TYPES[extname(at).toLowerCase()] ?? "application/octet-stream" };
    } finally {
      await file.close();
    }
  } catch (err) {
    if (isErrno(err, "ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EACCES", "ENXIO")) return undefined;
    throw err;
  }
}
