import { randomUUID } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { ChannelError, createGuardedFetch, type DownloadedMedia, GuardedFetchError, type InboundMediaRef, type OutboundMedia } from "openclaw/plugin-sdk";
import { z } from "zod";
import type { DingTalkApi, UploadType } from "./api.ts";
import type { DingTalkAccount } from "./config.ts";
import { DingTalkError } from "./errors.ts";

/** Hosts of the platform that may stand behind a fake-IP proxy. Source: decisions §6. */
export const PLATFORM_HOSTS: readonly string[] = ["dingtalk.com", "dingtalkapps.com", "aliyuncs.com"];
const MB = 1024 * 1024;
/** Source: spec channels-cn §3.5 (upload). */
const MAX_UPLOAD_BYTES = { image: 20 * MB, voice: 2 * MB, video: 20 * MB, file: 20 * MB } as const satisfies Record<UploadType, number>;
const MIME_BY_EXTENSION: Readonly<Record<string, string>> = {
  ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp", ".mp4": "video/mp4", ".mov": "video/quicktime",
  ".amr": "audio/amr", ".ogg": "audio/ogg", ".opus": "audio/ogg", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/markdown", ".json": "application/json",
};
const EXTENSION_BY_KIND: Readonly<Record<string, string>> = { image: ".jpg", voice: ".amr", video: ".mp4" };

const downloadAnswer = z.object({ downloadUrl: z.string().min(1) });

/** @throws ChannelError with a text for the sender */
export async function downloadMedia(
  account: DingTalkAccount, api: DingTalkApi, media: InboundMediaRef, options: { readonly dir: string; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<DownloadedMedia> {
  try {
    const answer = await api.call("POST", "/v1.0/robot/messageFiles/download", { downloadCode: media.ref, robotCode: account.clientId }, { what: "give out a file", signal: options.signal });
    const { downloadUrl } = downloadAnswer.parse(answer);
    const guardedFetch = createGuardedFetch({ allowOrigins: rootsOnLoopback(account), fakeIpHosts: PLATFORM_HOSTS });
    const response = await guardedFetch(downloadUrl, { maxBytes: options.maxBytes, signal: options.signal, timeoutMs: 60_000 });
    if (!response.ok) throw new ChannelError("unreachable", "⚠️ Failed to download media. Please try again.", `The file host answered HTTP ${response.status}.`);
    const said = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    const fromType = Object.entries(MIME_BY_EXTENSION).find(([, mime]) => mime === said)?.[0];
    const extension = (extname(media.fileName ?? "") || fromType || EXTENSION_BY_KIND[media.kind] || "").toLowerCase().replace(/[^.a-z0-9]/g, "").slice(0, 12);
    const stem = basename(media.fileName ?? "", extname(media.fileName ?? "")).replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60).replace(/^\.+/, "");
    const path = join(options.dir, `${stem === "" ? "" : `${stem}---`}${randomUUID()}${extension}`);
    await mkdir(options.dir, { recursive: true, mode: 0o700 });
    await writeFile(path, response.body, { mode: 0o600, flag: "wx" });
    const known = said === undefined || said === "application/octet-stream" ? MIME_BY_EXTENSION[extension] : said;
    return { path, mimeType: media.mimeType ?? known ?? "application/octet-stream", fileName: media.fileName, sizeBytes: response.body.byteLength };
  } catch (err) {
    throw toDownloadError(err, options.maxBytes);
  }
}

function toDownloadError(err: unknown, maxBytes: number): ChannelError {
  if (err instanceof ChannelError) return err;
  if (err instanceof GuardedFetchError && err.code === "too-large") {
    return new ChannelError("too-large", `⚠️ File too large. Maximum size is ${Math.max(1, Math.floor(maxBytes / MB))}MB.`, "Raise channels.dingtalk.mediaMaxMb.");
  }
  const fix = err instanceof DingTalkError ? err.message : "Check the connection to DingTalk's file hosts.";
  return new ChannelError("unreachable", "⚠️ Failed to download media. Please try again.", fix, { cause: err });
}

/** Files of an emulator or a relay on this machine come from the same origin as the API. */
function rootsOnLoopback({ apiRoot, oapiRoot }: DingTalkAccount): string[] {
  return [apiRoot, oapiRoot].map((root) => new URL(root)).filter((url) => url.protocol === "http:").map((url) => url.origin);
}

export interface PreparedMedia {
  readonly msgKey: "sampleImageMsg" | "sampleAudio" | "sampleFile";
  readonly param: Readonly<Record<string, string>>;
  readonly mediaId: string;
}

/** Uploads a file and says how a robot sends it. @throws DingTalkError, also for a file that is missing or too large */
export async function uploadMedia(account: DingTalkAccount, api: DingTalkApi, media: OutboundMedia, signal: AbortSignal): Promise<PreparedMedia> {
  const type = uploadType(media);
  let bytes: Buffer<ArrayBuffer>;
  try {
    const { size } = await stat(media.path);
    const maxBytes = Math.min(MAX_UPLOAD_BYTES[type], (account.config.mediaMaxMb ?? Number.POSITIVE_INFINITY) * MB);
    if (type === "voice" && size > maxBytes) return await uploadMedia(account, api, { ...media, mimeType: "application/octet-stream", asVoice: false }, signal);
    if (size > maxBytes) throw new DingTalkError("refused", `it has ${(size / MB).toFixed(1)} MB, DingTalk takes at most ${Math.floor(maxBytes / MB)} MB`);
    bytes = await readFile(media.path);
  } catch (err) {
    if (err instanceof DingTalkError) throw err;
    // The error of the file system would show the path to the chat.
    throw new DingTalkError("refused", "the file cannot be read", { cause: err });
  }
  const mediaId = await api.upload(type, { bytes, fileName: media.fileName, mimeType: media.mimeType }, signal);
  if (type === "image") return { msgKey: "sampleImageMsg", param: { photoURL: mediaId }, mediaId };
  if (type === "voice") return { msgKey: "sampleAudio", param: { mediaId, duration: String(audioDurationMs(bytes)) }, mediaId };
  return { msgKey: "sampleFile", param: { mediaId, fileName: media.fileName, fileType: extname(media.fileName).slice(1).toLowerCase() || "bin" }, mediaId };
}

function uploadType({ mimeType, fileName }: OutboundMedia): UploadType {
  const type = mimeType.toLowerCase();
  if (/^image\/(?:jpe?g|png|gif|bmp)$/.test(type)) return "image";
  if (/^audio\/(?:amr|ogg|opus)/.test(type) || (type.startsWith("audio/") && /\.(?:amr|ogg|opus)$/i.test(fileName))) return "voice";
  return type.startsWith("video/") ? "video" : "file";
}

/** Of Ogg (position of the last page at 48 kHz) and AMR (frames of 20 ms); for anything else one second. */
export function audioDurationMs(bytes: Buffer): number {
  const page = bytes.lastIndexOf("OggS");
  if (page >= 0 && page + 14 <= bytes.length) return Math.max(1, Math.round(Number(bytes.readBigInt64LE(page + 6)) / 48));
  if (!bytes.subarray(0, 6).equals(Buffer.from("#!AMR\n"))) return 1000;
  const sizes = [12, 13, 15, 17, 19, 20, 26, 31, 5];
  let frames = 0;
  for (let at = 6; at < bytes.length; at += 1 + (sizes[((bytes[at] ?? 0) >> 3) & 15] ?? 0)) frames++;
  return Math.max(20, frames * 20);
}
