import { createHash } from "node:crypto";
import { sleep } from "openclaw/plugin-sdk";
import { z } from "zod";
import { WecomError } from "../errors.ts";
import type { PreparedFile } from "../media.ts";
import type { BotLink } from "./link.ts";

const CHUNK_BYTES = 512 * 1024;
const MAX_CHUNKS = 100;
const RETRIES = 2;
const RETRY_MS = 500;
const FINISH_MS = 30_000;

const begun = z.looseObject({ upload_id: z.string().min(1) });
const finished = z.looseObject({ media_id: z.string().min(1) });

/** Puts a file up in chunks; its media_id. Source: spec channels-cn §2.2 (aibot_upload_media_*). @throws WecomError */
export async function uploadByLink(link: BotLink, { type, fileName, bytes }: PreparedFile, signal: AbortSignal): Promise<string> {
  const total = Math.ceil(bytes.byteLength / CHUNK_BYTES);
  if (total > MAX_CHUNKS) throw new WecomError("refused", `it is larger than ${(MAX_CHUNKS * CHUNK_BYTES) / 1024 / 1024} MB`);
  const what = `take the file ${fileName}`;
  const { upload_id: uploadId } = read(begun, await link.request("aibot_upload_media_init", { type, filename: fileName, total_size: bytes.byteLength, total_chunks: total, md5: createHash("md5").update(bytes).digest("hex") }, { what }));
  const queue = Array.from({ length: total }, (_, index) => index);
  const width = total <= 4 ? total : total <= 10 ? 3 : 2;
  await Promise.all(Array.from({ length: width }, async () => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) await sendChunk(link, { uploadId, index, data: bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES), what }, signal);
  }));
  return read(finished, await link.request("aibot_upload_media_finish", { upload_id: uploadId }, { what, timeoutMs: FINISH_MS })).media_id;
}

async function sendChunk(link: BotLink, { uploadId, index, data, what }: { readonly uploadId: string; readonly index: number; readonly data: Buffer; readonly what: string }, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    if (signal.aborted) throw new WecomError("retry", "sending was stopped");
    try {
      await link.request("aibot_upload_media_chunk", { upload_id: uploadId, chunk_index: index, base64_data: data.toString("base64") }, { what, timeoutMs: FINISH_MS });
      return;
    } catch (err) {
      if (attempt >= RETRIES) throw err;
      await sleep(RETRY_MS * (attempt + 1), signal);
    }
  }
}

/** @throws WecomError `uncertain` for an answer of another shape */
function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new WecomError("refused", "WeCom's answer to an upload has an unknown form");
  return parsed.data;
}
