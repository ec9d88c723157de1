import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { ensureDir, FILE_MODE } from "../../infra/atomic-file.ts";
import { extensionOf, mimeTypeOf } from "../../media/index.ts";
import { ChannelError, type DownloadedMedia, type InboundMediaRef, type OutboundMedia } from "../contract/index.ts";
import { type LarkApi, read } from "./api.ts";
import type { LarkConfig } from "./config.ts";
import { parseMediaRef } from "./content.ts";
import { LarkError } from "./errors.ts";

/** Hosts of the platform that may stand behind a fake-IP proxy. Source: decisions §6. */
export const PLATFORM_HOSTS: readonly string[] = ["feishu.cn", "larksuite.com", "larksuitecdn.com", "feishucdn.com"];
const MB = 1024 * 1024;
/** Source: spec channels-cn §4.5 (limits). */
const MAX_IMAGE_BYTES = 10 * MB;
const MAX_FILE_BYTES = 30 * MB;
const MIME_BY_KIND: Readonly<Record<string, string>> = { image: "image/jpeg", voice: "audio/ogg", audio: "audio/ogg", video: "video/mp4" };

interface DownloadOptions {
  readonly dir: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** @throws ChannelError with a text for the sender */
export async function downloadMedia(api: LarkApi, media: InboundMediaRef, options: DownloadOptions): Promise<DownloadedMedia> {
  const ref = parseMediaRef(media.ref);
  if (!ref) throw new ChannelError("rejected", "The message names a file in a way that is not understood", "Send the file again.");
  try {
    const { messageId, type, key } = ref;
    const response = await api.download(`/im/v1/messages/${encodeURIComponent(messageId)}/resources/${encodeURIComponent(key)}`, { what: "give out a file", query: { type }, signal: options.signal, patient: true });
    if (Number(response.headers.get("content-length") ?? "0") > options.maxBytes) {
      await response.body?.cancel();
      throw tooLarge(options.maxBytes);
    }
    return await save(response, media, options);
  } catch (err) {
    if (err instanceof ChannelError) throw err;
    const fix = err instanceof LarkError ? err.message : "Check the connection to Feishu.";
    throw new ChannelError("unreachable", "⚠️ Failed to download media. Please try again.", fix, { cause: err });
  }
}

const tooLarge = (maxBytes: number): ChannelError =>
  new ChannelError("too-large", `⚠️ File too large. Maximum size is ${Math.max(1, Math.floor(maxBytes / MB))}MB.`, "Raise channels.feishu.mediaMaxMb.");

async function save(response: Response, media: InboundMediaRef, { dir, maxBytes, signal }: DownloadOptions): Promise<DownloadedMedia> {
  const said = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const byName = media.fileName === undefined ? undefined : mimeTypeOf(media.fileName);
  const known = said === undefined || said === "" || said === "application/octet-stream" ? undefined : said;
  const mimeType = known ?? (byName === "application/octet-stream" ? undefined : byName) ?? MIME_BY_KIND[media.kind] ?? "application/octet-stream";
  const extension = (extname(media.fileName ?? "") || `.${extensionOf(mimeType)}`).toLowerCase().replace(/[^.a-z0-9]/g, "").slice(0, 12);
  const stem = basename(media.fileName ?? "", extname(media.fileName ?? "")).replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60).replace(/^\.+/, "");
  const path = join(dir, `${stem === "" ? "" : `${stem}---`}${randomUUID()}${extension}`);
  await ensureDir(dir);
  let sizeBytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) done(tooLarge(maxBytes));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(Readable.fromWeb(response.body ?? new Blob([]).stream()), meter, createWriteStream(path, { mode: FILE_MODE, flags: "wx" }), { signal });
  } catch (err) {
    await rm(path, { force: true });
    throw err;
  }
  return { path, mimeType, fileName: media.fileName, sizeBytes };
}

/** A file that the platform has, as a message carries it. */
export interface UploadedMedia {
  readonly msgType: "image" | "file" | "audio" | "media";
  readonly content: string;
}

const imageAnswer = z.looseObject({ image_key: z.string().min(1) });
const fileAnswer = z.looseObject({ file_key: z.string().min(1) });

/** An upload shows nothing to anybody, so that it may be repeated. @throws LarkError, also for a file that is missing or too large */
export async function uploadMedia(api: LarkApi, config: LarkConfig, media: OutboundMedia, signal: AbortSignal): Promise<UploadedMedia> {
  const bytes = await readWithin(media.path, Math.min(MAX_FILE_BYTES, (config.mediaMaxMb ?? Number.POSITIVE_INFINITY) * MB));
  const blob = new Blob([bytes], { type: media.mimeType });
  if (/^image\/(?:png|jpe?g|gif|webp|bmp|tiff|x-icon)$/i.test(media.mimeType) && bytes.length <= MAX_IMAGE_BYTES) {
    const form = new FormData();
    form.set("image_type", "message");
    form.set("image", blob, media.fileName);
    const { image_key } = read(imageAnswer, await api.call("POST", "/im/v1/images", { what: `take the picture ${media.fileName}`, body: form, signal, patient: true }), "image_key");
    return { msgType: "image", content: JSON.stringify({ image_key }) };
  }
  const type = fileType(media);
  const durationMs = type === "opus" ? oggDurationMs(bytes) : undefined;
  const form = new FormData();
  form.set("file_type", type);
  form.set("file_name", media.fileName);
  if (durationMs !== undefined) form.set("duration", String(durationMs));
  form.set("file", blob, media.fileName);
  const { file_key } = read(fileAnswer, await api.call("POST", "/im/v1/files", { what: `take the file ${media.fileName}`, body: form, signal, patient: true }), "file_key");
  return { msgType: type === "opus" ? "audio" : type === "mp4" ? "media" : "file", content: JSON.stringify({ file_key }) };
}

async function readWithin(path: string, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes) throw new LarkError("refused", `it has ${(size / MB).toFixed(1)} MB, the limit is ${Math.floor(maxBytes / MB)} MB`);
    if (size === 0) throw new LarkError("refused", "it is empty");
    return await readFile(path);
  } catch (err) {
    if (err instanceof LarkError) throw err;
    // The error of the file system would show the path to the chat.
    throw new LarkError("refused", "the file cannot be read", { cause: err });
  }
}

const FILE_TYPES: Readonly<Record<string, string>> = { ".opus": "opus", ".ogg": "opus", ".oga": "opus", ".mp4": "mp4", ".pdf": "pdf", ".doc": "doc", ".docx": "doc", ".xls": "xls", ".xlsx": "xls", ".ppt": "ppt", ".pptx": "ppt" };

function fileType({ fileName, mimeType }: OutboundMedia): string {
  if (/^audio\/(?:ogg|opus)/i.test(mimeType)) return "opus";
  return mimeType.toLowerCase() === "video/mp4" ? "mp4" : (FILE_TYPES[extname(fileName).toLowerCase()] ?? "stream");
}

/** By the position of the last page, at 48 kHz. */
function oggDurationMs(bytes: Buffer): number | undefined {
  const page = bytes.lastIndexOf("OggS");
  if (page < 0 || page + 14 > bytes.length) return undefined;
  const durationMs = Math.round(Number(bytes.readBigInt64LE(page + 6)) / 48);
  return durationMs > 0 ? durationMs : undefined;
}
