import { parseTelegramHtml } from "./html.ts";
import type { UploadedFile } from "./multipart.ts";

export type Json = Record<string, unknown>;

export interface FakeChat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup" | "channel";
  readonly title?: string | undefined;
  readonly first_name?: string | undefined;
  readonly username?: string | undefined;
  readonly is_forum?: boolean | undefined;
  /** Message threads that exist. */
  readonly topics: Set<number>;
}

/** A message as the chat shows it now. */
export interface SentMessage {
  readonly chatId: number;
  readonly messageId: number;
  readonly method: string;
  /** What people read, markup parsed away. */
  text: string;
  /** As sent. */
  source: string;
  html: boolean;
  readonly threadId: number | undefined;
  readonly replyTo: number | undefined;
  readonly silent: boolean;
  markup: unknown;
  readonly file: UploadedFile | undefined;
  edits: number;
  deleted: boolean;
}

export interface BotState {
  readonly id: number;
  readonly token: string;
  readonly username: string;
  readonly canReadAllGroupMessages: boolean;
  readonly chats: Map<number, FakeChat>;
  readonly messages: SentMessage[];
  readonly files: Map<string, { path: string; bytes: Buffer; size: number | undefined }>;
  commands: unknown[];
  webhook: { url: string; secret: string } | undefined;
  nextMessageId: number;
}

export class ApiFailure extends Error {
  readonly status: number;
  readonly parameters: Json | undefined;
  constructor(status: number, description: string, parameters?: Json) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

const bad = (description: string): ApiFailure => new ApiFailure(400, `Bad Request: ${description}`);
const str = (value: unknown): string => (typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? `${value}` : "");
const REACTIONS = new Set(["👍", "👎", "❤", "🔥", "🥰", "👏", "😁", "🤔", "🤯", "😱", "🤬", "😢", "🎉", "🤩", "🤮", "💩", "🙏", "👌", "🕊", "🤡", "🥱", "🥴", "😍", "🐳", "🌚", "💯", "🤣", "⚡", "🍌", "🏆", "💔", "🤨", "😐", "🍓", "👀", "👨‍💻", "😨", "✍", "🤗", "🫡", "🎅", "🎄", "☃", "💅", "🤪", "🗿", "🆒", "💘", "🙉", "🦄", "😘", "💊", "🙊", "😎", "👾", "🤷", "😡"]);

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** Every method but getUpdates, which waits. */
export function callMethod(bot: BotState, method: string, params: Json, files: Record<string, UploadedFile>): unknown {
  const upload = (name: string): UploadedFile | undefined => {
    const value = params[name];
    if (typeof value === "string" && value.startsWith("attach://")) {
      const file = files[value.slice("attach://".length)];
      if (!file) throw bad(`wrong file identifier/HTTP URL specified`);
      return file;
    }
    return files[name];
  };
  const media = (name: string, key = name): unknown => {
    const file = upload(name);
    if (!file && typeof params[name] !== "string") throw bad(`there is no ${name} in the request`);
    if (file && file.bytes.length === 0) throw bad("file must be non-empty");
    const sent = post(bot, method, params, str(params.caption), 1024, file);
    return { ...sent, [key]: name === "photo" ? [fileOf(file)] : fileOf(file), caption: sent.text, text: undefined };
  };
  switch (method) {
    case "getMe":
      return { ...me(bot), can_join_groups: true, can_read_all_group_messages: bot.canReadAllGroupMessages, supports_inline_queries: false };
    case "getWebhookInfo":
      return { url: bot.webhook?.url ?? "", has_custom_certificate: false, pending_update_count: 0 };
    case "setWebhook":
      bot.webhook = { url: str(params.url), secret: str(params.secret_token) };
      return true;
    case "deleteWebhook":
      bot.webhook = undefined;
      return true;
    case "setMyCommands": {
      const commands = Array.isArray(params.commands) ? params.commands : [];
      if (commands.length > 100) throw bad("too many commands specified");
      for (const entry of commands as Json[]) if (!/^[a-z0-9_]{1,32}$/.test(str(entry.command))) throw bad("BOT_COMMAND_INVALID");
      bot.commands = commands;
      return true;
    }
    case "deleteMyCommands":
      bot.commands = [];
      return true;
    case "getMyCommands":
      return bot.commands;
    case "sendMessage":
      return post(bot, method, params, str(params.text), 4096, undefined);
    case "sendPhoto":
      return media("photo");
    case "sendAnimation":
      return media("animation");
    case "sendVideo":
      return media("video");
    case "sendVideoNote":
      return media("video_note");
    case "sendAudio":
      return media("audio");
    case "sendVoice":
      return media("voice");
    case "sendDocument":
      return media("document");
    case "sendSticker":
      return media("sticker");
    case "sendPoll": {
      const options = Array.isArray(params.options) ? params.options : [];
      if (options.length < 2) throw bad("poll must have at least 2 option");
      if (options.length > 10) throw bad("poll can't have more than 10 options");
      const sent = post(bot, method, params, str(params.question), 300, undefined);
      return { ...sent, text: undefined, poll: { id: `poll${sent.message_id}`, question: params.question, options, total_voter_count: 0 } };
    }
    case "sendChatAction":
      findChat(bot, params.chat_id);
      return true;
    case "editMessageText": {
      const message = findMessage(bot, params);
      const text = readText(params, str(params.text), 4096);
      const markup = params.reply_markup;
      if (message.text === text && message.source === str(params.text) && JSON.stringify(message.markup) === JSON.stringify(markup)) {
        throw bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message");
      }
      Object.assign(message, { text, source: str(params.text), html: params.parse_mode === "HTML", markup, edits: message.edits + 1 });
      return { ...envelope(bot, message), text, edit_date: nowSeconds() };
    }
    case "editMessageReplyMarkup": {
      const message = findMessage(bot, params);
      message.markup = params.reply_markup;
      return { ...envelope(bot, message), text: message.text };
    }
    case "deleteMessage":
      findMessage(bot, params, "message to delete not found").deleted = true;
      return true;
    case "setMessageReaction": {
      findChat(bot, params.chat_id);
      for (const reaction of (params.reaction as Json[] | undefined) ?? []) if (!REACTIONS.has(str(reaction.emoji))) throw bad("REACTION_INVALID");
      return true;
    }
    case "answerCallbackQuery":
      return true;
    case "getChat": {
      const { topics: _topics, ...chat } = findChat(bot, params.chat_id);
      return chat;
    }
    case "getChatMember":
      findChat(bot, params.chat_id);
      return { status: "administrator", user: me(bot) };
    case "createForumTopic": {
      const chat = findChat(bot, params.chat_id);
      if (!chat.is_forum) throw bad("the chat is not a forum");
      const id = bot.nextMessageId++;
      chat.topics.add(id);
      return { message_thread_id: id, name: params.name, icon_color: params.icon_color ?? 0x6fb9f0 };
    }
    case "getFile": {
      const file = bot.files.get(str(params.file_id));
      if (!file) throw bad("invalid file_id");
      if ((file.size ?? file.bytes.length) > 20 * 1024 * 1024) throw bad("file is too big");
      return { file_id: params.file_id, file_unique_id: `u${str(params.file_id)}`, file_size: file.size ?? file.bytes.length, file_path: file.path };
    }
    default:
      throw new ApiFailure(404, "Not Found: method not found");
  }
}

export const me = (bot: BotState): Json => ({ id: bot.id, is_bot: true, first_name: bot.username, username: bot.username });

const fileOf = (file: UploadedFile | undefined): Json => ({ file_id: "sent", file_unique_id: "usent", file_size: file?.bytes.length ?? 0, file_name: file?.fileName, width: 1, height: 1 });

function findChat(bot: BotState, id: unknown): FakeChat {
  if (id === undefined || id === "") throw bad("chat_id is empty");
  const chat = [...bot.chats.values()].find((entry) => String(entry.id) === str(id) || (entry.username !== undefined && entry.type !== "private" && `@${entry.username}` === id));
  if (!chat) throw bad("chat not found");
  return chat;
}

function findMessage(bot: BotState, params: Json, missing = "message to edit not found"): SentMessage {
  const chat = findChat(bot, params.chat_id);
  const message = bot.messages.find((entry) => entry.chatId === chat.id && entry.messageId === Number(params.message_id) && !entry.deleted);
  if (!message) throw bad(missing);
  return message;
}

function readText(params: Json, source: string, limit: number): string {
  let text = source;
  if (params.parse_mode === "HTML") {
    const parsed = parseTelegramHtml(source);
    if (!parsed.ok) throw new ApiFailure(400, parsed.error);
    text = parsed.text;
  } else if (params.parse_mode !== undefined) throw bad("unsupported parse_mode");
  if (text.length > limit) throw bad(limit === 1024 ? "message caption is too long" : "message is too long");
  return text;
}

function post(bot: BotState, method: string, params: Json, source: string, limit: number, file: UploadedFile | undefined): Json & { message_id: number; text: string } {
  const chat = findChat(bot, params.chat_id);
  const text = readText(params, source, limit);
  if (method === "sendMessage" && text.trim() === "") throw bad("message text is empty");
  const threadId = params.message_thread_id === undefined ? undefined : Number(params.message_thread_id);
  if (threadId !== undefined && !chat.topics.has(threadId)) throw bad("message thread not found");
  const reply = params.reply_parameters as Json | undefined;
  for (const row of ((params.reply_markup as Json | undefined)?.inline_keyboard as Json[][] | undefined) ?? []) {
    for (const button of row) if (Buffer.byteLength(str(button.callback_data)) > 64) throw bad("BUTTON_DATA_INVALID");
  }
  const message: SentMessage = {
    chatId: chat.id,
    messageId: bot.nextMessageId++,
    method,
    text,
    source,
    html: params.parse_mode === "HTML",
    threadId,
    replyTo: reply?.message_id === undefined ? undefined : Number(reply.message_id),
    silent: params.disable_notification === true || params.disable_notification === "true",
    markup: params.reply_markup,
    file,
    edits: 0,
    deleted: false,
  };
  bot.messages.push(message);
  return { ...envelope(bot, message), message_id: message.messageId, text };
}

function envelope(bot: BotState, message: SentMessage): Json {
  const { topics: _topics, ...chat } = findChat(bot, message.chatId);
  return {
    message_id: message.messageId,
    from: me(bot),
    chat,
    date: nowSeconds(),
    ...(message.threadId === undefined ? {} : { message_thread_id: message.threadId, is_topic_message: chat.is_forum === true }),
  };
}
