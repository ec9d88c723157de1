import type { InlineKeyboardMarkup, Message, ReplyParameters } from "grammy/types";
import { ChannelError, type OutboundMedia, type OutboundMessage, type OutboundPoll, type OutboundTarget, type SendOptions, type SendOutcome } from "../contract/index.ts";
import { callSignal, type TelegramClient } from "./client.ts";
import type { TelegramAccount } from "./config.ts";
import { failureText, isParseError, isThreadMissing, readFailure, toOutcome } from "./errors.ts";
import { TELEGRAM_CAPTION_MAX, TELEGRAM_TEXT_MAX, type TelegramText, toTelegramTexts } from "./format.ts";
import { GENERAL_TOPIC, isGroupChatId, parseTarget, TARGET_HINT, type TelegramTarget } from "./targets.ts";
import { inlineButtonScope } from "./updates.ts";

export const DEFAULT_TEXT_LIMIT = 4000;
const MAX_CALLBACK_BYTES = 64;
const MAX_PHOTO_BYTES = 10 * 1024 * 1024;

export interface SendDeps {
  readonly account: TelegramAccount;
  readonly client: TelegramClient;
  /** Told of each message that Telegram took. */
  onSent(chatId: string, messageId: number): void;
}

type Part =
  | { readonly kind: "text"; readonly text: TelegramText }
  | { readonly kind: "media"; readonly media: OutboundMedia; readonly caption: TelegramText | undefined };

/** Fields common to all sending methods. */
interface CommonFields {
  readonly chat_id: string;
  message_thread_id?: number;
  disable_notification?: true;
  reply_parameters?: ReplyParameters;
  reply_markup?: InlineKeyboardMarkup;
}

/** Formats, splits, sends; the platform's answers become outcomes. Source: spec channels §4.4. */
export async function sendMessage(deps: SendDeps, message: OutboundMessage, options: SendOptions): Promise<SendOutcome> {
  const target = targetOf(message);
  if (!target) return { kind: "rejected", reason: `"${message.to}" is no Telegram address: use ${TARGET_HINT}.` };
  const buttons = readButtons(deps.account, target, message);
  if (typeof buttons === "string") return { kind: "rejected", reason: buttons };
  const parts = planParts(deps.account, message);
  if (parts.length === 0) return { kind: "rejected", reason: "There is nothing to send: the message has no text and no file." };

  const replyToAll = deps.account.config.replyToMode === "all";
  const messageIds: string[] = [];
  let chatId = target.chatId;
  for (let index = options.skipParts; index < parts.length; index++) {
    const part = parts[index];
    if (!part) break;
    if (options.signal.aborted) return { kind: "unreachable", reason: "sending was stopped", sentParts: index };
    const fields = commonFields(message, target, index === 0 || replyToAll);
    if (index === 0 && buttons) fields.reply_markup = buttons;
    try {
      const sent = await sendPart(deps, part, { ...fields, chat_id: chatId }, options.signal);
      const id = String(sent.message_id);
      chatId = String(sent.chat.id);
      messageIds.push(id);
      deps.onSent(chatId, sent.message_id);
      options.onPart({ index, messageId: id });
    } catch (err) {
      const failure = readFailure(err);
      // The group moved; the same message goes to its new id once.
      if (failure.kind === "api" && failure.migrateTo !== undefined && failure.migrateTo !== chatId) {
        chatId = failure.migrateTo;
        index--;
        continue;
      }
      return toOutcome(failure, target.chatId, index);
    }
  }
  return { kind: "sent", messageIds, chatId };
}

export function targetOf(target: OutboundTarget): TelegramTarget | undefined {
  const parsed = parseTarget(target.to);
  if (!parsed) return undefined;
  const threadId = target.threadId === undefined || !/^\d+$/.test(target.threadId) ? parsed.threadId : Number(target.threadId);
  return threadId === undefined ? { chatId: parsed.chatId } : { chatId: parsed.chatId, threadId };
}

function commonFields(message: OutboundTarget & { channelData?: OutboundMessage["channelData"] }, target: TelegramTarget, withReply: boolean): CommonFields {
  const fields: CommonFields = { chat_id: target.chatId };
  if (target.threadId !== undefined && target.threadId !== GENERAL_TOPIC) fields.message_thread_id = target.threadId;
  if (message.silent) fields.disable_notification = true;
  if (withReply && message.replyToId !== undefined && /^\d+$/.test(message.replyToId)) {
    const quote = message.channelData?.quoteText;
    fields.reply_parameters = {
      message_id: Number(message.replyToId),
      allow_sending_without_reply: true,
      ...(typeof quote === "string" && quote !== "" ? { quote } : {}),
    };
  }
  return fields;
}

/** Rows of buttons, or why they may not be sent. */
function readButtons(account: TelegramAccount, target: TelegramTarget, message: OutboundMessage): InlineKeyboardMarkup | string | undefined {
  if (!message.buttons || message.buttons.length === 0) return undefined;
  const scope = inlineButtonScope(account);
  const isGroup = isGroupChatId(target.chatId);
  if (scope === "off" || (scope === "dm" && isGroup) || (scope === "group" && !isGroup)) {
    return `Buttons are not allowed here: ${account.configPath}.capabilities.inlineButtons is "${scope}".`;
  }
  const tooLong = message.buttons.flat().find((button) => Buffer.byteLength(button.callbackData) > MAX_CALLBACK_BYTES);
  if (tooLong) return `The data of button "${tooLong.text}" is longer than ${MAX_CALLBACK_BYTES} bytes.`;
  return { inline_keyboard: message.buttons.map((row) => row.map((button) => ({ text: button.text, callback_data: button.callbackData }))) };
}

function planParts(account: TelegramAccount, message: OutboundMessage): Part[] {
  const { config } = account;
  const format = { tables: config.markdown?.tables, limit: Math.max(2, Math.min(config.textChunkLimit ?? DEFAULT_TEXT_LIMIT, TELEGRAM_TEXT_MAX)), mode: config.chunkMode };
  const texts = (markdown: string): TelegramText[] => {
    const pieces = toTelegramTexts(markdown, format);
    // Markup without any visible text, such as a lone "#": sent as it was written.
    return pieces.length === 0 && markdown.trim() !== "" ? [{ html: "", plain: markdown.trim().slice(0, format.limit) }] : pieces;
  };
  const [first, ...others] = message.media ?? [];
  if (!first) return texts(message.text).map((text) => ({ kind: "text", text }));
  const [caption, ...more] = toTelegramTexts(message.text, { ...format, limit: TELEGRAM_TEXT_MAX, mode: "length" });
  const asCaption = caption !== undefined && more.length === 0 && caption.plain.length <= TELEGRAM_CAPTION_MAX ? caption : undefined;
  return [
    { kind: "media", media: first, caption: asCaption },
    ...others.map((media) => ({ kind: "media" as const, media, caption: undefined })),
    ...(asCaption ? [] : texts(message.text).map((text) => ({ kind: "text" as const, text }))),
  ];
}

/** Sends with HTML; without it where Telegram refuses the markup; without the thread where it is gone. */
async function sendPart(deps: SendDeps, part: Part, fields: CommonFields, signal: AbortSignal): Promise<Message> {
  const attempt = (useHtml: boolean, common: CommonFields): Promise<Message> =>
    part.kind === "text" ? sendText(deps, part.text, useHtml, common, signal) : sendMedia(deps, part.media, part.caption, useHtml, common, signal);
  let useHtml = part.kind !== "text" || part.text.html !== "";
  let common = fields;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt(useHtml, common);
    } catch (err) {
      const failure = readFailure(err);
      if (tries < 3 && useHtml && isParseError(failure)) useHtml = false;
      else if (tries < 3 && common.message_thread_id !== undefined && isThreadMissing(failure)) {
        const { message_thread_id: _gone, ...rest } = common;
        common = rest;
      } else throw err;
    }
  }
}

function sendText(deps: SendDeps, text: TelegramText, useHtml: boolean, common: CommonFields, signal: AbortSignal): Promise<Message> {
  return deps.client.api.sendMessage(
    {
      ...common,
      text: useHtml ? text.html : text.plain,
      ...(useHtml ? { parse_mode: "HTML" } : {}),
      ...(deps.account.config.linkPreview === false ? { link_preview_options: { is_disabled: true } } : {}),
    },
    callSignal(signal),
  );
}

type MediaMethod = "photo" | "animation" | "video" | "audio" | "voice" | "document";

function methodFor(media: OutboundMedia): MediaMethod {
  const type = media.mimeType.toLowerCase();
  const isVoiceFormat = /ogg|opus|mpeg|mp3|mp4|m4a/.test(type) || /\.(?:ogg|opus|mp3|m4a)$/i.test(media.fileName);
  if (media.asVoice && isVoiceFormat) return "voice";
  if (type === "image/gif") return "animation";
  if (/^image\/(?:jpeg|png|webp|bmp)$/.test(type)) return "photo";
  if (type.startsWith("video/")) return "video";
  if (type.startsWith("audio/")) return "audio";
  return "document";
}

async function sendMedia(deps: SendDeps, media: OutboundMedia, caption: TelegramText | undefined, useHtml: boolean, common: CommonFields, signal: AbortSignal): Promise<Message> {
  const captionFields = caption ? { caption: useHtml ? caption.html : caption.plain, ...(useHtml ? { parse_mode: "HTML" as const } : {}) } : {};
  const call = (method: MediaMethod): Promise<Message> => {
    const fields = { ...common, ...captionFields };
    const file = deps.client.inputFile(media.path, media.fileName);
    const stop = callSignal(signal);
    switch (method) {
      case "photo":
        return deps.client.api.sendPhoto({ ...fields, photo: file }, stop);
      case "animation":
        return deps.client.api.sendAnimation({ ...fields, animation: file }, stop);
      case "video":
        return deps.client.api.sendVideo({ ...fields, video: file, supports_streaming: true }, stop);
      case "audio":
        return deps.client.api.sendAudio({ ...fields, audio: file }, stop);
      case "voice":
        return deps.client.api.sendVoice({ ...fields, voice: file }, stop);
      case "document":
        return deps.client.api.sendDocument({ ...fields, document: file }, stop);
    }
  };
  const method = methodFor(media);
  try {
    return await call(method === "photo" && (await sizeOf(media.path)) > MAX_PHOTO_BYTES ? "document" : method);
  } catch (err) {
    const failure = readFailure(err);
    const refused = failure.kind === "api" && failure.code === 400 ? failure.description : "";
    if (method === "voice" && /VOICE_MESSAGES_FORBIDDEN/i.test(refused)) {
      return caption ? sendText(deps, caption, useHtml, common, signal) : call("audio");
    }
    if (method === "photo" && /PHOTO_INVALID_DIMENSIONS|IMAGE_PROCESS_FAILED|PHOTO_SAVE_FILE_INVALID/i.test(refused)) return call("document");
    throw err;
  }
}

async function sizeOf(path: string): Promise<number> {
  const { stat } = await import("node:fs/promises");
  try {
    return (await stat(path)).size;
  } catch (err) {
    throw new ChannelError("rejected", `The file ${path} cannot be read`, "Send a file that exists.", { cause: err });
  }
}

export async function sendPoll(deps: SendDeps, target: OutboundTarget, poll: OutboundPoll, options: SendOptions): Promise<SendOutcome> {
  const chat = targetOf(target);
  if (!chat) return { kind: "rejected", reason: `"${target.to}" is no Telegram address: use ${TARGET_HINT}.` };
  const problem = pollProblem(poll);
  if (problem) return { kind: "rejected", reason: problem };
  if (options.skipParts > 0) return { kind: "sent", messageIds: [] };
  try {
    const sent = await deps.client.api.sendPoll(
      {
        ...commonFields(target, chat, true),
        question: poll.question,
        options: poll.options.map((text) => ({ text })),
        is_anonymous: poll.isAnonymous ?? true,
        allows_multiple_answers: (poll.maxSelections ?? 1) > 1,
        ...(poll.durationSeconds === undefined ? {} : { open_period: poll.durationSeconds }),
      },
      callSignal(options.signal),
    );
    deps.onSent(String(sent.chat.id), sent.message_id);
    options.onPart({ index: 0, messageId: String(sent.message_id) });
    return { kind: "sent", messageIds: [String(sent.message_id)], chatId: String(sent.chat.id) };
  } catch (err) {
    return toOutcome(readFailure(err), chat.chatId, 0);
  }
}

function pollProblem(poll: OutboundPoll): string | undefined {
  if (poll.question.trim() === "" || poll.question.length > 300) return "A Telegram poll needs a question of 1–300 characters.";
  if (poll.options.length < 2 || poll.options.length > 10) return "A Telegram poll needs 2–10 options.";
  if (poll.durationSeconds !== undefined && (poll.durationSeconds < 5 || poll.durationSeconds > 600)) return "A Telegram poll can stay open for 5–600 seconds only; leave the duration out for an open end.";
  return undefined;
}

/** One "typing" signal. @throws Error with Telegram's words */
export async function sendTyping(client: TelegramClient, target: OutboundTarget): Promise<void> {
  const chat = targetOf(target);
  if (!chat) return;
  await client.api.sendChatAction({ chat_id: chat.chatId, action: "typing", ...(chat.threadId === undefined ? {} : { message_thread_id: chat.threadId }) });
}

/** emoji "" removes. @throws ChannelError `rejected` for an emoji that Telegram does not know as a reaction */
export async function react(client: TelegramClient, target: OutboundTarget, messageId: string, emoji: string): Promise<void> {
  const chat = targetOf(target);
  if (!chat || !/^\d+$/.test(messageId)) throw new ChannelError("rejected", `"${target.to}" or message "${messageId}" is not known to Telegram`, `Use ${TARGET_HINT} and a numeric message id.`);
  const { reactionList } = await import("./reactions.ts");
  try {
    await client.api.setMessageReaction({ chat_id: chat.chatId, message_id: Number(messageId), reaction: reactionList(emoji) });
  } catch (err) {
    const failure = readFailure(err);
    throw new ChannelError("rejected", `Reaction ${emoji} was not set: ${failureText(failure)}`, "Use one of Telegram's reaction emoji, such as 👍 👎 ❤ 🔥 👀 🎉 🤔.", { cause: err });
  }
}
