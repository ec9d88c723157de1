import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ensureDir, FILE_MODE } from "../../infra/atomic-file.ts";
import { backoffDelayMs, sleep } from "../../infra/backoff.ts";
import { ChannelError, type DownloadedMedia, type InboundMediaRef } from "../contract/index.ts";
import { callSignal, type TelegramClient } from "./client.ts";
import { failureText, readFailure } from "./errors.ts";

const TRIES = 3;
const RETRY = { initialMs: 1000, maxMs: 4000, factor: 2, jitter: 0 };

const MIME_BY_EXTENSION: Readonly<Record<string, string>> = {
  ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif",
  ".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm", ".oga": "audio/ogg", ".ogg": "audio/ogg",
  ".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".wav": "audio/wav", ".pdf": "application/pdf", ".txt": "text/plain", ".json": "application/json",
};

/** Texts of these errors are what the sender is told. Source: spec channels §4.3 (file errors). */
const tooLarge = (maxBytes: number): ChannelError =>
  new ChannelError("too-large", `⚠️ File too large. Maximum size is ${Math.max(1, Math.floor(maxBytes / (1024 * 1024)))}MB.`, "Raise channels.telegram.mediaMaxMb.");
const failed = (cause: unknown): ChannelError =>
  new ChannelError("unreachable", "⚠️ Failed to download media. Please try again.", "Check the connection to the Bot API's file downloads.", { cause });

/**
 * Fetches one announced file into `dir`, readable by the owner only.
 * @throws ChannelError `too-large` (over maxBytes) or `unreachable`, with the text for the sender as its message;
 * `rejected` when Telegram itself serves no file of that size: the message then goes on without it
 */
export async function downloadMedia(
  client: TelegramClient,
  media: InboundMediaRef,
  options: { readonly dir: string; readonly maxBytes: number; readonly signal: AbortSignal; readonly retryDelayMs?: number | undefined },
): Promise<DownloadedMedia> {
  if (media.sizeBytes !== undefined && media.sizeBytes > options.maxBytes) throw tooLarge(options.maxBytes);
  let last: unknown;
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    if (attempt > 1) await sleep(options.retryDelayMs ?? backoffDelayMs(RETRY, attempt - 1), options.signal);
    if (options.signal.aborted) throw failed(options.signal.reason);
    try {
      return await fetchOnce(client, media, options);
    } catch (err) {
      if (err instanceof ChannelError) throw err;
      const failure = readFailure(err);
      if (failure.kind === "api" && /file is too big/i.test(failure.description)) {
        throw new ChannelError("rejected", "Telegram serves bots no file above 20 MB", "Run a Bot API server of your own (channels.telegram.apiRoot) for larger files.");
      }
      // The address holds the token: only the kind of failure is kept.
      last = new Error(failure.kind === "network" && err instanceof Error && err.message.startsWith("HTTP ") ? err.message : failureText(failure));
      if (failure.kind === "api" && failure.code < 500 && failure.code !== 429) break;
    }
  }
  throw failed(last);
}

async function fetchOnce(client: TelegramClient, media: InboundMediaRef, options: { readonly dir: string; readonly maxBytes: number; readonly signal: AbortSignal }): Promise<DownloadedMedia> {
  const file = await client.api.getFile({ file_id: media.ref }, callSignal(options.signal));
  if (file.file_path === undefined) throw new Error("HTTP answer without a file path");
  if (file.file_size !== undefined && file.file_size > options.maxBytes) throw tooLarge(options.maxBytes);
  const response = await fetch(client.fileUrl(file.file_path), { signal: options.signal, redirect: "error" });
  if (!response.ok || !response.body) throw new Error(`HTTP ${response.status} for the file`);
  const extension = (extname(media.fileName ?? "") || extname(file.file_path)).toLowerCase().replace(/[^.a-z0-9]/g, "").slice(0, 12);
  const stem = basename(media.fileName ?? "", extname(media.fileName ?? "")).replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60).replace(/^\.+/, "");
  const path = join(options.dir, `${stem === "" ? "" : `${stem}---`}${randomUUID()}${extension}`);
  await ensureDir(options.dir);
  let sizeBytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (sizeBytes > options.maxBytes) done(tooLarge(options.maxBytes));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(Readable.fromWeb(response.body), meter, createWriteStream(path, { mode: FILE_MODE, flags: "wx" }), { signal: options.signal });
  } catch (err) {
    await rm(path, { force: true });
    throw err;
  }
  const mimeType = media.mimeType ?? MIME_BY_EXTENSION[extension] ?? "application/octet-stream";
  return { path, mimeType, fileName: media.fileName, sizeBytes };
}
