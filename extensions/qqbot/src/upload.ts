import { createHash } from "node:crypto";
import { z } from "zod";
import { sleep } from "openclaw/plugin-sdk";
import type { QQApi } from "./api.ts";
import { rootProblem } from "./config.ts";
import { decide, QQApiError } from "./errors.ts";
import type { SendAs } from "./media-tags.ts";
import { filesBase, type QQTarget } from "./targets.ts";

const MB = 1024 * 1024;
const FILE_TYPE: Readonly<Record<SendAs, number>> = { image: 1, video: 2, voice: 3, file: 4 };
const LIMIT_MB: Readonly<Record<SendAs, number>> = { image: 30, video: 100, voice: 20, file: 100 };
const FIRST_BYTES_HASHED = 10_002_432;
const UPLOAD_TIMEOUT_MS = 120_000;
const PART_TIMEOUT_MS = 300_000;
const PART_PENDING = 40_093_001;
const MAX_CACHED = 500;
const RETRIES = 2;

const uploaded = z.object({ file_info: z.string(), ttl: z.number().optional() });
const prepared = z.object({ upload_id: z.string(), block_size: z.coerce.number().int().positive(), parts: z.array(z.object({ index: z.number(), presigned_url: z.string() })).min(1) });

export type UploadSource = { readonly bytes: Buffer; readonly fileName: string } | { readonly url: string };

export interface Uploader {
  /** The `file_info` to send. @throws QQApiError, Error for a file that is too large */
  upload(target: QQTarget, as: SendAs, source: UploadSource, signal: AbortSignal): Promise<string>;
}

/** Files of one bot; what is still valid is not uploaded again. Source: spec channels-cn §1.6. */
export function createUploader(options: { readonly api: QQApi; readonly now: () => number; readonly retryMs: number; readonly oneShotBytes?: number | undefined }): Uploader {
  const { api, now } = options;
  const known = new Map<string, { readonly fileInfo: string; readonly untilMs: number }>();

  async function retried<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work();
      } catch (err) {
        const again = err instanceof QQApiError && (["retry", "send-bytes"].includes(decide(err)) || err.code === PART_PENDING);
        if (!again || attempt >= (err.code === PART_PENDING ? 120 : RETRIES)) throw err;
        await sleep(err.code === PART_PENDING ? options.retryMs : options.retryMs * 2 ** attempt, signal);
      }
    }
  }

  async function inParts(base: string, as: SendAs, bytes: Buffer, fileName: string, signal: AbortSignal): Promise<unknown> {
    const plan = prepared.parse(
      await api.call("POST", `${base}/upload_prepare`, {
        file_type: FILE_TYPE[as], file_name: fileName, file_size: bytes.length,
        md5: hash("md5", bytes), sha1: hash("sha1", bytes), md5_10m: hash("md5", bytes.subarray(0, FIRST_BYTES_HASHED)),
      }, { signal }),
    );
    for (const { index, presigned_url: url } of plan.parts.toSorted((a, b) => a.index - b.index)) {
      const part = bytes.subarray((index - 1) * plan.block_size, index * plan.block_size);
      await retried(() => putPart(url, part, signal), signal);
      const finished = { upload_id: plan.upload_id, part_index: index, block_size: part.length, md5: hash("md5", part) };
      await retried(() => api.call("POST", `${base}/upload_part_finish`, finished, { signal }), signal);
    }
    return api.call("POST", `${base}/files`, { upload_id: plan.upload_id }, { signal, timeoutMs: UPLOAD_TIMEOUT_MS });
  }

  async function send(base: string, as: SendAs, source: UploadSource, signal: AbortSignal): Promise<unknown> {
    if ("bytes" in source && source.bytes.length > (options.oneShotBytes ?? 20 * MB)) return inParts(base, as, source.bytes, source.fileName, signal);
    const content = "url" in source ? { url: source.url } : { file_data: source.bytes.toString("base64"), ...(as === "file" ? { file_name: source.fileName } : {}) };
    return retried(() => api.call("POST", `${base}/files`, { file_type: FILE_TYPE[as], srv_send_msg: false, ...content }, { signal, timeoutMs: UPLOAD_TIMEOUT_MS }), signal);
  }

  return {
    async upload(target, as, source, signal) {
      const base = filesBase(target);
      if (base === undefined) throw new Error("QQ guilds take no files from bots; send a public link");
      if ("bytes" in source && source.bytes.length > LIMIT_MB[as] * MB) throw new Error(`the file is larger than the ${LIMIT_MB[as]} MB that QQ takes`);
      const key = `${"url" in source ? source.url : hash("md5", source.bytes)}:${base}:${FILE_TYPE[as]}`;
      const found = known.get(key);
      if (found && now() < found.untilMs) return found.fileInfo;
      const { file_info: fileInfo, ttl = 0 } = uploaded.parse(await send(base, as, source, signal));
      known.delete(key);
      known.set(key, { fileInfo, untilMs: ttl === 0 ? Number.POSITIVE_INFINITY : now() + ttl * 900 });
      const oldest = known.keys().next().value;
      if (known.size > MAX_CACHED && oldest !== undefined) known.delete(oldest);
      return fileInfo;
    },
  };
}

async function putPart(url: string, part: Buffer, signal: AbortSignal): Promise<void> {
  if (rootProblem(url) !== undefined) throw new Error("QQ named an upload address that is not https");
  let response: Response;
  try {
    response = await fetch(url, { method: "PUT", body: new Uint8Array(part), redirect: "error", signal: AbortSignal.any([signal, AbortSignal.timeout(PART_TIMEOUT_MS)]) });
  } catch (err) {
    throw new QQApiError("a part of the file could not be uploaded", { status: 504 }, { cause: err });
  }
  if (!response.ok) throw new QQApiError(`a part of the file was refused (HTTP ${response.status})`, { status: response.status });
}

const hash = (name: "md5" | "sha1", bytes: Uint8Array): string => createHash(name).update(bytes).digest("hex");
