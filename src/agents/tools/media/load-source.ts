import { fileURLToPath } from "node:url";
import { isErrno } from "../../../infra/atomic-file.ts";
import { GuardedFetchError, type GuardedFetch } from "../../../infra/guarded-fetch.ts";
import type { FileAccess } from "../file-access.ts";

export interface SourceLoader {
  readonly access: FileAccess;
  readonly fetch: GuardedFetch;
}

const FETCH_TIMEOUT_MS = 30_000;

/** The bytes of a file of the workspace, a `data:` URL, or a page of the public web. @throws Error naming the source */
export async function loadSource({ access, fetch }: SourceLoader, source: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  const tooLarge = (size: number | string): Error => new Error(`${shown(source)} has ${size} bytes; at most ${maxBytes} are possible.`);
  if (source.startsWith("data:")) {
    const match = /^data:[^,]{0,200};base64,([A-Za-z0-9+/=\s]+)$/.exec(source);
    if (!match?.[1]) throw new Error("A data: URL must hold base64.");
    const bytes = Buffer.from(match[1], "base64");
    if (bytes.length > maxBytes) throw tooLarge(bytes.length);
    return bytes;
  }
  if (/^https?:\/\//i.test(source)) {
    try {
      const response = await fetch(source, { signal, maxBytes, timeoutMs: FETCH_TIMEOUT_MS });
      if (!response.ok) throw new Error(`${shown(source)} answered ${response.status}.`);
      return response.body;
    } catch (err) {
      if (err instanceof GuardedFetchError) throw err.code === "too-large" ? tooLarge("too many") : new Error(`${shown(source)} was not fetched: ${err.message}`, { cause: err });
      throw err;
    }
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(source) && !source.startsWith("file:")) throw new Error(`${shown(source)} is no file, http(s) URL or data: URL.`);
  const file = await access.forRead(source.startsWith("file:") ? fileURLToPath(source) : source);
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw tooLarge(size);
    return await file.read(signal);
  } catch (err) {
    if (isErrno(err, "ENOENT")) throw new Error(`File not found: ${shown(source)}`, { cause: err });
    if (isErrno(err, "EISDIR")) throw new Error(`${shown(source)} is a directory.`, { cause: err });
    throw err;
  }
}

const shown = (source: string): string => (source.length > 200 ? `${source.slice(0, 199)}…` : source);
