import { constants } from "node:fs";
import { open } from "node:fs/promises";

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/**
 * The whole content of a file. A pipe, socket or device under the name is refused and never waited for: reading one blocks
 * a thread of the pool until somebody writes, and four of them stop every file operation of the process.
 * @throws the file system's errors (ENOENT, EISDIR, …), or Error for what is no regular file or has more than `maxBytes`
 */
export async function readRegularFile(path: string, options: { readonly maxBytes?: number | undefined; readonly signal?: AbortSignal | undefined } = {}): Promise<Buffer> {
  const { maxBytes = DEFAULT_MAX_BYTES, signal } = options;
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const info = await file.stat();
    if (info.isDirectory()) throw Object.assign(new Error(`EISDIR: illegal operation on a directory, read '${path}'`), { code: "EISDIR" });
    if (!info.isFile()) throw new Error(`${path} is no regular file, but a pipe, a socket or a device`);
    // Files of /proc have content beyond their size, a growing file too: what is read is counted.
    const chunks: Buffer[] = [];
    for (let total = 0; ; ) {
      signal?.throwIfAborted();
      if (info.size > maxBytes || total > maxBytes) throw new Error(`${path} has more than ${maxBytes} bytes`);
      const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK_BYTES, info.size > total ? info.size - total : CHUNK_BYTES)));
      const { bytesRead } = await file.read(chunk, 0, chunk.length);
      if (bytesRead === 0) return Buffer.concat(chunks, total);
      chunks.push(chunk.subarray(0, bytesRead));
      total += bytesRead;
    }
  } finally {
    await file.close();
  }
}
