import { readFile } from "node:fs/promises";
import { z } from "zod";
import { type GuardedFetch, type Logger, markdownToText, type OutboundMedia, type OutboundMessage, type OutboundTarget, type SendOptions, type SendOutcome, sleep } from "openclaw/plugin-sdk";
import type { QQApi } from "./api.ts";
import type { QQBotAccount } from "./config.ts";
import { decide, QQApiError, toOutcome } from "./errors.ts";
import { toQQMarkdown } from "./markdown.ts";
import type { SendAs } from "./media-tags.ts";
import { fitParts, type Part, planParts } from "./parts.ts";
import type { QuoteIndex } from "./quotes.ts";
import { messagePath, parseTarget, type QQTarget, TARGET_HINT } from "./targets.ts";
import type { Uploader, UploadSource } from "./upload.ts";
import { hasFormat, toSilk } from "./voice.ts";
import { answersMessage, idOf, type PassiveReply, replyTo, type Windows } from "./windows.ts";

export const TEXT_LIMIT = 5000;
const MAX_FETCHED_BYTES = 30 * 1024 * 1024;
/** The message stands, whatever the answer looks like. */
const answer = z.object({
  id: z.union([z.string(), z.number()]).transform(String).optional().catch(undefined), ext_info: z.object({ ref_idx: z.string().optional() }).optional().catch(undefined),
}).catch({});

export interface SendDeps {
  readonly account: QQBotAccount;
  readonly api: QQApi;
  readonly uploader: Uploader;
  readonly windows: Windows;
  readonly quotes: QuoteIndex;
  readonly fetch: GuardedFetch;
  readonly log: Logger;
  readonly retryMs: number;
  readonly ffmpeg?: string | undefined;
  /** Beginnings of answers that a stream has left in the chat, by the message they answer. */
  readonly shown: Map<string, Shown>;
  /** Drops the socket and waits for the next, for a while. */
  reconnect(signal: AbortSignal): Promise<void>;
}

export interface Shown {
  readonly text: string;
  readonly messageId: string;
}

/** Sends one message in parts. Never rejects for an answer of QQ. Source: spec channels-cn §1.6. */
export async function sendMessage(deps: SendDeps, message: OutboundMessage, options: SendOptions): Promise<SendOutcome> {
  const target = parseTarget(message.to);
  if (!target) return { kind: "rejected", reason: `"${message.to}" is no QQ address: use ${TARGET_HINT}.` };
  const msgId = replyTo(message.replyContext);
  const shown = msgId === undefined ? undefined : deps.shown.get(msgId);
  const { parts, delivered } = partsToSend(deps, message, { scene: target.scene, shown, skipParts: options.skipParts });
  if (parts.length === 0 && delivered === undefined) return { kind: "rejected", reason: "QQ sends no empty message." };
  const ids: string[] = delivered === undefined ? [] : [delivered];
  for (const [index, part] of parts.entries()) {
    if (index < options.skipParts) continue;
    try {
      const sent = await sendPart({ deps, target, context: message.replyContext, signal: options.signal }, part);
      ids.push(sent.id);
      options.onPart({ index, messageId: sent.id });
    } catch (err) {
      return toOutcome(err, index);
    }
  }
  if (msgId !== undefined && delivered !== undefined) deps.shown.delete(msgId);
  return { kind: "sent", messageIds: ids, chatId: target.id };
}

/** What is left to send of a message whose beginning may already be in the chat. */
function partsToSend({ account, windows }: SendDeps, message: OutboundMessage, { scene, shown, skipParts }: { readonly scene: QQTarget["scene"]; readonly shown: Shown | undefined; readonly skipParts: number }): { readonly parts: Part[]; readonly delivered: string | undefined } {
  const isShown = shown !== undefined && message.text.startsWith(shown.text);
  const rest = isShown ? { ...message, text: message.text.slice(shown.text.length) } : message;
  const parts = planParts(rest, { limit: account.config.textChunkLimit ?? TEXT_LIMIT, isPlain: account.config.markdownSupport === false, scene });
  const left = windows.left(message.replyContext);
  return { parts: left === 0 ? parts : fitParts(parts, left + skipParts, skipParts), delivered: isShown ? shown.messageId : undefined };
}

interface Sending {
  readonly deps: SendDeps;
  readonly target: QQTarget;
  readonly context: OutboundTarget["replyContext"];
  readonly signal: AbortSignal;
}

async function sendPart(sending: Sending, part: Part): Promise<{ id: string }> {
  if ("text" in part) return sendText(sending, part.text);
  if (sending.target.scene === "channel" || sending.target.scene === "dm") return sendGuildMedia(sending, part);
  const { as, source } = "link" in part ? { as: part.as, source: await linkSource(sending, part.link) } : await fileSource(sending.deps, part.file, sending.signal);
  const fileInfo = await uploadWithFallback(sending, as, source);
  return post(sending, { msg_type: 7, media: { file_info: fileInfo } }, "");
}

async function sendGuildMedia(sending: Sending, part: Exclude<Part, { text: string }>): Promise<{ id: string }> {
  if ("link" in part) return post(sending, { image: part.link }, part.link);
  return sendText(sending, "（QQ 频道不支持由机器人发送本地文件）");
}

async function sendText(sending: Sending, text: string): Promise<{ id: string }> {
  const { deps, target } = sending;
  const isGuild = target.scene === "channel" || target.scene === "dm";
  const plain = (content: string): object => (isGuild ? { content: content.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;") } : { content, msg_type: 0 });
  const useMarkdown = !isGuild && deps.account.config.markdownSupport !== false;
  try {
    return await post(sending, useMarkdown ? { markdown: { content: toQQMarkdown(text) }, msg_type: 2 } : plain(text), text);
  } catch (err) {
    const decision = err instanceof QQApiError ? decide(err) : "unknown";
    if (decision === "markdown" && useMarkdown) return post(sending, plain(markdownToText(text)), text);
    if (decision === "drop-url") return post(sending, plain(text.replace(/https?:\/\/[^\s)\]]+/gi, "[链接]")), text);
    throw err;
  }
}

/** One request: within the window of the message while that is open, else as a message of the bot's own accord. */
async function post(sending: Sending, body: object, text: string): Promise<{ id: string }> {
  const { deps, target, context } = sending;
  const passive = deps.windows.take(context);
  try {
    return await request(sending, body, passive, text);
  } catch (err) {
    if (!(err instanceof QQApiError)) throw err;
    const decision = decide(err);
    if (passive && decision === "window") {
      deps.windows.close(idOf(passive));
      return active(sending, body, text);
    }
    if (decision === "retry" && !err.mayHaveArrived && err.status < 500) {
      if (err.code === NOT_CONNECTED) await deps.reconnect(sending.signal);
      else await sleep(deps.retryMs, sending.signal);
      return request(sending, body, deps.windows.take(context), text); // a pair of msg_id and msg_seq is used once
    }
    if (!passive && context && decision === "stop" && isProactiveRefusal(err.code)) throw windowClosed(err, target);
    throw err;
  }
}

/** The platform misses the bot's socket. */
const NOT_CONNECTED = 304_018;

async function active(sending: Sending, body: object, text: string): Promise<{ id: string }> {
  try {
    return await request(sending, body, undefined, text);
  } catch (err) {
    if (err instanceof QQApiError && isProactiveRefusal(err.code)) throw windowClosed(err, sending.target);
    throw err;
  }
}

const isProactiveRefusal = (code: number | undefined): boolean => code === 40_034_102 || (code !== undefined && code >= 304_045 && code <= 304_050);

const windowClosed = (err: QQApiError, target: QQTarget): QQApiError =>
  new QQApiError(`The time to answer is over, and QQ lets the bot send nothing of its own accord to ${target.scene} chats (${err.code ?? "no code"})`, { status: err.status, code: 304_027 }, { cause: err });

async function request(sending: Sending, body: object, passive: PassiveReply | undefined, text: string): Promise<{ id: string }> {
  const { deps, target, signal } = sending;
  const isGuild = target.scene === "channel" || target.scene === "dm";
  const reply = passive === undefined ? {} : isGuild ? withoutNumber(passive) : passive;
  const parsed = answer.parse(await deps.api.call("POST", messagePath(target), { ...body, ...reply }, { signal }));
  deps.quotes.add(parsed.ext_info?.ref_idx, { text, isOwn: true });
  // A message that waits for its audit has no id yet.
  return { id: parsed.id ?? `pending-${passive?.msg_seq ?? 0}` };
}

/** Guilds do not count replies. */
const withoutNumber = ({ msg_seq: _number, ...reply }: PassiveReply): object => reply;

async function fileSource(deps: SendDeps, file: OutboundMedia, signal: AbortSignal): Promise<{ as: SendAs; source: UploadSource }> {
  const bytes = await readFile(file.path);
  const type = file.mimeType.toLowerCase();
  if (file.asVoice || type.startsWith("audio/")) return voiceSource(deps, bytes, file.fileName, signal);
  // QQ shows png and jpg; other pictures arrive as files.
  const as: SendAs = /^image\/(?:png|jpe?g|gif|webp|bmp)$/.test(type) ? "image" : type === "video/mp4" ? "video" : "file";
  return { as, source: { bytes, fileName: file.fileName } };
}

/** Silk where there is a way; else what QQ takes as voice, else a file. Source: spec channels-cn §1.1 (audioFormatPolicy) */
async function voiceSource(deps: SendDeps, bytes: Buffer, fileName: string, signal: AbortSignal): Promise<{ as: SendAs; source: UploadSource }> {
  const { audioFormatPolicy: policy, voiceDirectUploadFormats } = deps.account.config;
  const direct = policy?.uploadDirectFormats ?? voiceDirectUploadFormats;
  const isListed = direct !== undefined && hasFormat(fileName, direct);
  const silk = isListed || policy?.transcodeEnabled === false ? undefined : await toSilk(bytes, { log: deps.log, ffmpeg: deps.ffmpeg, signal });
  if (silk) return { as: "voice", source: { bytes: silk, fileName } };
  return { as: isListed || hasFormat(fileName, direct ?? DIRECT_FORMATS) ? "voice" : "file", source: { bytes, fileName } };
}

const DIRECT_FORMATS = [".wav", ".mp3", ".silk"];

async function linkSource({ deps, signal }: Sending, url: string): Promise<UploadSource> {
  return deps.account.config.urlDirectUpload === false ? fetched(deps, url, signal) : { url };
}

async function fetched(deps: SendDeps, url: string, signal: AbortSignal): Promise<UploadSource> {
  const response = await deps.fetch(url, { signal, maxBytes: MAX_FETCHED_BYTES });
  if (!response.ok) throw new Error(`the linked file answered HTTP ${response.status}`);
  return { bytes: Buffer.from(response.body), fileName: decodeURIComponent(new URL(response.url).pathname.split("/").at(-1) ?? "") || "file" };
}

/** QQ could not fetch the link itself: the bytes go. */
async function uploadWithFallback({ deps, target, signal }: Sending, as: SendAs, source: UploadSource): Promise<string> {
  try {
    return await deps.uploader.upload(target, as, source, signal);
  } catch (err) {
    const decision = err instanceof QQApiError ? decide(err) : "unknown";
    if (!("url" in source) || (decision !== "send-bytes" && decision !== "drop-url")) throw err;
    return deps.uploader.upload(target, as, await fetched(deps, source.url, signal), signal);
  }
}

/** "is typing", for people only: it uses up a reply, so it is sent once and only while there are enough left. */
export async function sendTyping(deps: SendDeps, message: OutboundTarget, isFirst: (msgId: string) => boolean): Promise<void> {
  const target = parseTarget(message.to);
  if (target?.scene !== "c2c" || !answersMessage(message.replyContext) || deps.windows.left(message.replyContext) < 3) return;
  const msgId = replyTo(message.replyContext);
  if (msgId === undefined || !isFirst(msgId)) return;
  const passive = deps.windows.take(message.replyContext);
  if (passive) await deps.api.call("POST", messagePath(target), { msg_type: 6, input_notify: { input_type: 1, input_second: 60 }, ...passive });
}
