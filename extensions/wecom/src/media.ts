import { randomUUID } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { ChannelError, createGuardedFetch, type DownloadedMedia, GuardedFetchError, type InboundMediaRef, type OutboundMedia } from "openclaw/plugin-sdk";
import { mediaRef } from "./bot/inbound.ts";
import { decryptBytes } from "./callback-crypto.ts";
import type { WecomAccount } from "./config.ts";
import { WecomError } from "./errors.ts";
import { createAgent, sendHttp } from "./http.ts";

/** Hosts of the platform that may stand behind a fake-IP proxy. Source: decisions §6. */
export const PLATFORM_HOSTS: readonly string[] = ["weixin.qq.com", "qpic.cn", "myqcloud.com", "qq.com"];
const MB = 1024 * 1024;
const FILE_TIMEOUT_MS = 60_000;
/** What encryption adds at most. */
const PADDING_BYTES = 64;

export type UploadType = "image" | "voice" | "video" | "file";
/** Source: spec channels-cn §2.5. */
const MAX_UPLOAD_BYTES: Readonly<Record<UploadType, number>> = { image: 10 * MB, voice: 2 * MB, video: 10 * MB, file: 20 * MB };

const MAGIC: readonly (readonly [mime: string, extension: string, test: (bytes: Buffer) => boolean])[] = [
  ["image/jpeg", ".jpg", (b) => b[0] === 0xff && b[1] === 0xd8], ["image/png", ".png", (b) => b.subarray(1, 4).toString("latin1") === "PNG"], ["image/gif", ".gif", (b) => b.subarray(0, 3).toString("latin1") === "GIF"],
  ["image/webp", ".webp", (b) => b.subarray(8, 12).toString("latin1") === "WEBP"], ["application/pdf", ".pdf", (b) => b.subarray(0, 4).toString("latin1") === "%PDF"], ["video/mp4", ".mp4", (b) => b.subarray(4, 8).toString("latin1") === "ftyp"],
  ["audio/amr", ".amr", (b) => b.subarray(0, 5).toString("latin1") === "#!AMR"], ["application/zip", ".zip", (b) => b.subarray(0, 2).toString("latin1") === "PK"],
];
const MIME_BY_EXTENSION: Readonly<Record<string, string>> = {
  ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".json": "application/json", ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

type DownloadOptions = { readonly dir: string; readonly maxBytes: number; readonly signal: AbortSignal };

/** A file of a bot message: fetched from the platform's file host and decrypted. @throws ChannelError with a text for the sender */
export async function downloadBotMedia(account: WecomAccount, media: InboundMediaRef, options: DownloadOptions): Promise<DownloadedMedia> {
  try {
    const { url, aeskey } = mediaRef.parse(JSON.parse(media.ref));
    const { status, body, disposition } = await fetchFile(account, url, { ...options, maxBytes: options.maxBytes + PADDING_BYTES });
    if (status < 200 || status > 299) throw new ChannelError("unreachable", "⚠️ Failed to download media. Please try again.", `The file host answered HTTP ${status}.`);
    const key = aeskey ?? account.bot?.callback?.encodingAESKey;
    const bytes = key === undefined ? Buffer.from(body) : decryptBytes(body, Buffer.from(key.length === 43 ? `${key}=` : key, "base64"));
    if (bytes.byteLength > options.maxBytes) throw tooLarge(options.maxBytes);
    const given = media.fileName ?? fileNameOf(disposition);
    return await store(bytes, { ...media, fileName: given }, options);
  } catch (err) {
    if (err instanceof ChannelError) throw err;
    if ((err instanceof GuardedFetchError && err.code === "too-large") || (err instanceof WecomError && err.kind === "too-large")) throw tooLarge(options.maxBytes);
    throw new ChannelError("unreachable", "⚠️ Failed to download media. Please try again.", "Check the connection to WeCom's file hosts and the EncodingAESKey.", { cause: err });
  }
}

/** Through the proxy where there is one, which resolves the name itself: then to the platform's hosts only. */
async function fetchFile({ apiRoot, proxyUrl }: WecomAccount, url: string, { maxBytes, signal }: DownloadOptions): Promise<{ readonly status: number; readonly body: Uint8Array; readonly disposition: string | null }> {
  if (proxyUrl !== undefined && isPlatformFile(url)) {
    const { status, body, headers } = await sendHttp({ what: "give out a file", method: "GET", url, agent: createAgent(url, proxyUrl), timeoutMs: FILE_TIMEOUT_MS, maxBytes, signal });
    return { status, body, disposition: headers["content-disposition"] ?? null };
  }
  const isLocal = new URL(apiRoot).protocol === "http:";
  const guardedFetch = createGuardedFetch({ allowOrigins: isLocal ? [new URL(apiRoot).origin] : [], fakeIpHosts: PLATFORM_HOSTS });
  const response = await guardedFetch(url, { maxBytes, signal, timeoutMs: FILE_TIMEOUT_MS });
  return { status: response.status, body: response.body, disposition: response.headers.get("content-disposition") };
}

function isPlatformFile(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === "https:" && PLATFORM_HOSTS.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`));
}

export const tooLarge = (maxBytes: number): ChannelError => new ChannelError("too-large", `⚠️ File too large. Maximum size is ${Math.max(1, Math.floor(maxBytes / MB))}MB.`, "Raise channels.wecom.media.maxBytes.");

export async function store(bytes: Buffer, media: Pick<InboundMediaRef, "kind" | "fileName" | "mimeType">, { dir }: Pick<DownloadOptions, "dir">): Promise<DownloadedMedia> {
  const known = MAGIC.find(([, , test]) => test(bytes));
  const extension = (extname(media.fileName ?? "") || known?.[1] || "").toLowerCase().replace(/[^.a-z0-9]/g, "").slice(0, 12);
  const stem = basename(media.fileName ?? "", extname(media.fileName ?? "")).replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60).replace(/^\.+/, "");
  const path = join(dir, `${stem === "" ? "" : `${stem}---`}${randomUUID()}${extension}`);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(path, bytes, { mode: 0o600, flag: "wx" });
  // An office document is a zip: its name says more.
  const mimeType = media.mimeType ?? MIME_BY_EXTENSION[extension] ?? known?.[0] ?? "application/octet-stream";
  return { path, mimeType, fileName: media.fileName, sizeBytes: bytes.byteLength };
}

function fileNameOf(disposition: string | null): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "")?.[1];
  const plain = /filename="?([^";]+)"?/i.exec(disposition ?? "")?.[1];
  try {
    return encoded === undefined ? plain : decodeURIComponent(encoded);
  } catch {
    return plain; // a name in another encoding
  }
}

export interface PreparedFile {
  readonly type: UploadType;
  readonly fileName: string;
  readonly mimeType: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** A file as the platform takes it: what is over the limit of its kind goes as a plain file. @throws WecomError `refused`, without the path */
export async function prepareFile(media: OutboundMedia, limitBytes: number): Promise<PreparedFile> {
  const max = Math.min(limitBytes, MAX_UPLOAD_BYTES.file);
  try {
    const { size } = await stat(media.path);
    if (size > max) throw new WecomError("refused", `it has ${(size / MB).toFixed(1)} MB, WeCom takes at most ${Math.floor(max / MB)} MB`);
    if (size === 0) throw new WecomError("refused", "it is empty");
    const kind = kindOf(media);
    return { type: size > MAX_UPLOAD_BYTES[kind] ? "file" : kind, fileName: media.fileName, mimeType: media.mimeType, bytes: await readFile(media.path) };
  } catch (err) {
    if (err instanceof WecomError) throw err;
    throw new WecomError("refused", "the file cannot be read", { cause: err });
  }
}

function kindOf({ mimeType }: OutboundMedia): UploadType {
  const type = mimeType.toLowerCase();
  if (/^image\/(?:jpe?g|png)$/.test(type)) return "image";
  if (type === "audio/amr") return "voice";
  return type === "video/mp4" ? "video" : "file";
}
