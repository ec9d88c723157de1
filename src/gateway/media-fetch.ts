import type { GuardedFetch } from "../infra/guarded-fetch.ts";

/** Downloads a public URL for sending. @throws GuardedFetchError, or Error for a status that is no success */
export async function fetchMedia(fetch: GuardedFetch, url: string, maxBytes: number): Promise<{ bytes: Uint8Array; mimeType: string }> {
  const response = await fetch(url, { maxBytes, timeoutMs: 30_000 });
  if (!response.ok) throw new Error(`HTTP ${response.status} from ${new URL(url).host}`);
  return { bytes: response.body, mimeType: response.headers.get("content-type")?.split(";")[0]?.trim() ?? "application/octet-stream" };
}
