import type { Chat, Message, ReactionType, Update, User } from "grammy/types";
import { truncateText } from "../../infra/text/index.ts";
import type { InboundChat, InboundMessage, InboundSender, InboundSystemEvent } from "../contract/index.ts";
import { resolveGroupSettings } from "./access.ts";
import { LONG_TEXT_CHARS } from "./assemble.ts";
import type { TelegramAccount } from "./config.ts";
import { type BotIdentity, leadingCommand, readForward, readLocation, readMedia, readMentions, readNote, readReply, readText, userName } from "./message-text.ts";
import { GENERAL_TOPIC } from "./targets.ts";

/** What one update, or one group of updates that belong together, means. Source: spec channels §4.3. */
export type TelegramIntake =
  /** `callbackId`: the button press to acknowledge once the message is accepted. */
  | { readonly kind: "message"; readonly message: InboundMessage; readonly callbackId?: string | undefined }
  | { readonly kind: "event"; readonly event: InboundSystemEvent }
  | { readonly kind: "migrate"; readonly from: string; readonly to: string }
  | { readonly kind: "ignore"; readonly reason: string };

export interface IntakeEnv {
  readonly account: TelegramAccount;
  readonly bot: BotIdentity;
  /** Names in the bot's command menu. */
  readonly menuCommands: ReadonlySet<string>;
  wasSentByBot(chatId: string, messageId: number): boolean;
  now(): number;
}

const ignore = (reason: string): TelegramIntake => ({ kind: "ignore", reason });

/** `updates`: one update, or the parts of an album or of a long text in order. */
export function toIntake(updates: readonly Update[], env: IntakeEnv): TelegramIntake {
  const [first] = updates;
  if (!first) return ignore("empty");
  if (first.message) return fromMessages(updates.flatMap((update) => update.message ?? []), env);
  if (first.channel_post) return fromChannelPost(updates.flatMap((update) => update.channel_post ?? []), env);
  if (first.callback_query) return fromCallback(first.callback_query, env);
  if (first.message_reaction) return fromReaction(first.message_reaction, first.update_id, env);
  if (first.edited_message) return fromEdit(first.edited_message, env);
  return ignore("not handled");
}

/** The text Telegram counts on the anonymous admin and linked-channel accounts that stand in for a chat. */
const STAND_INS = new Set([1087968824, 136817688, 777000]);

function readSender(message: Message): InboundSender | undefined {
  const { from, sender_chat: chat } = message;
  if (chat && (from === undefined || STAND_INS.has(from.id))) {
    return { id: String(chat.id), name: "title" in chat ? chat.title : undefined, username: "username" in chat ? chat.username : undefined };
  }
  return from && fromUser(from);
}

const fromUser = (user: User): InboundSender => ({ id: String(user.id), name: userName(user), username: user.username });

function readChat(chat: Chat, threadId: number | undefined, isTopicMessage: boolean | undefined): InboundChat {
  if (chat.type === "private") {
    return { id: String(chat.id), type: "direct", ...(threadId !== undefined && isTopicMessage ? { threadId: String(threadId) } : {}) };
  }
  const isForum = chat.type === "supergroup" && chat.is_forum === true;
  return {
    id: String(chat.id),
    // A channel's posts are handled as a group's messages.
    type: "group",
    title: chat.title,
    ...(isForum ? { isForum, threadId: String(isTopicMessage && threadId !== undefined ? threadId : GENERAL_TOPIC) } : {}),
  };
}

function addresses(chat: InboundChat, sender: InboundSender): { from: string; to: string } {
  const topic = chat.type !== "direct" && chat.threadId !== undefined ? `:topic:${chat.threadId}` : "";
  return { from: chat.type === "direct" ? `telegram:${sender.id}` : `telegram:group:${chat.id}${topic}`, to: `telegram:${chat.id}` };
}

function fromMessages(messages: readonly Message[], env: IntakeEnv): TelegramIntake {
  const [first] = messages;
  if (!first) return ignore("empty");
  if (first.migrate_to_chat_id !== undefined) return { kind: "migrate", from: String(first.chat.id), to: String(first.migrate_to_chat_id) };
  const sender = readSender(first);
  if (!sender) return ignore("no sender");
  if (sender.id === String(env.bot.id)) return ignore("own message");
  return buildMessage(messages, first, sender, env);
}

function fromChannelPost(posts: readonly Message[], env: IntakeEnv): TelegramIntake {
  const [first] = posts;
  if (!first) return ignore("empty");
  const groups = env.account.config.groups ?? {};
  if (!Object.hasOwn(groups, String(first.chat.id))) return ignore("channel is not listed under groups");
  const sender: InboundSender = readSender(first) ?? { id: String(first.chat.id), name: "title" in first.chat ? first.chat.title : undefined };
  return buildMessage(posts, first, sender, env);
}

function buildMessage(parts: readonly Message[], first: Message, sender: InboundSender, env: IntakeEnv): TelegramIntake {
  const { account, bot } = env;
  // In an album the item with the caption speaks for all.
  const lead = parts.find((part) => part.caption || part.text) ?? first;
  const chat = readChat(first.chat, first.message_thread_id, first.is_topic_message);
  const place = readLocation(lead);
  const isAlbum = first.media_group_id !== undefined;
  const isBurst = !isAlbum && parts.length > 1 && first.forward_origin !== undefined && (first.text?.length ?? 0) < LONG_TEXT_CHARS;
  const tell = (part: Message): string => [readLocation(part)?.text, readNote(part), readText(part, bot)].filter(Boolean).join("\n");
  const text = isBurst
    ? parts.map(tell).filter(Boolean).join("\n")
    : isAlbum || parts.length === 1
      ? tell(lead)
      : parts.map((part) => readText(part, bot)).join("");
  const media = [lead, ...parts.filter((part) => part !== lead)].flatMap((part) => readMedia(part) ?? []);
  if (text === "" && media.length === 0) return ignore("service message");
  const command = leadingCommand(lead, bot);
  const message: InboundMessage = {
    channel: "telegram",
    accountId: account.accountId,
    messageId: String(first.message_id),
    chat,
    sender,
    text,
    timestampMs: first.date * 1000,
    ...addresses(chat, sender),
    media: media.length > 0 ? media : undefined,
    mentions: mergeMentions(parts.map((part) => readMentions(part, bot))),
    reply: readReply(lead),
    forward: readForward(lead),
    location: place?.location,
    commandSource: command === undefined ? undefined : env.menuCommands.has(command) ? "native" : "text",
    ...groupExtras(account, chat),
    mergedMessageIds: parts.length > 1 ? parts.slice(1).map((part) => String(part.message_id)) : undefined,
  };
  return { kind: "message", message };
}

function mergeMentions(all: readonly NonNullable<InboundMessage["mentions"]>[]): NonNullable<InboundMessage["mentions"]> {
  return { bot: all.some((m) => m.bot), anyone: all.some((m) => m.anyone), implicit: all.some((m) => m.implicit) };
}

function groupExtras(account: TelegramAccount, chat: InboundChat): Pick<InboundMessage, "groupSystemPrompt" | "skillFilter"> {
  if (chat.type === "direct") return {};
  const { group, fallback, topic } = resolveGroupSettings(account, chat.id, chat.threadId);
  const settings = group ?? fallback;
  const prompt = [settings?.systemPrompt, topic?.systemPrompt].filter((text) => text?.trim()).join("\n\n");
  return { groupSystemPrompt: prompt === "" ? undefined : prompt, skillFilter: topic?.skills ?? settings?.skills };
}

function fromCallback(query: NonNullable<Update["callback_query"]>, env: IntakeEnv): TelegramIntake {
  const { message, data } = query;
  if (!message || data === undefined || data === "") return ignore("button without data");
  const topic = "message_thread_id" in message ? message.message_thread_id : undefined;
  const chat = readChat(message.chat, topic, topic !== undefined);
  const scope = inlineButtonScope(env.account);
  if (scope === "off" || (scope === "dm" && chat.type !== "direct") || (scope === "group" && chat.type === "direct")) return ignore("inline buttons are off here");
  const text = menuCommand(data);
  const sender = fromUser(query.from);
  return {
    kind: "message",
    callbackId: query.id,
    message: {
      channel: "telegram",
      accountId: env.account.accountId,
      messageId: query.id,
      chat,
      sender,
      text,
      // Telegram dates the message with the button, not the press.
      timestampMs: env.now(),
      ...addresses(chat, sender),
      mentions: { bot: true, anyone: false, implicit: false },
      commandSource: text.startsWith("/") ? "native" : undefined,
      ...groupExtras(env.account, chat),
      noDebounce: true,
    },
  };
}

/** The reference's menu buttons, as the commands that they stand for. Source: spec channels §4.3 (menu data). */
function menuCommand(data: string): string {
  const model = /^mdl_sel_(.+)$/.exec(data);
  if (model) return `/model ${model[1]}`;
  const list = /^mdl_list_(.+)_(\d+)$/.exec(data);
  if (list) return `/models ${list[1]} ${list[2]}`;
  if (data === "mdl_prov" || data === "mdl_back") return "/models";
  const page = /^commands_page_(\d+)(?::.*)?$/.exec(data);
  return page ? `/commands ${page[1]}` : data;
}

export type InlineButtonScope = "off" | "dm" | "group" | "all" | "allowlist";

export function inlineButtonScope(account: TelegramAccount): InlineButtonScope {
  const { capabilities } = account.config;
  if (capabilities === undefined) return "allowlist";
  if ("inlineButtons" in capabilities) return capabilities.inlineButtons ?? "allowlist";
  return Array.isArray(capabilities) && !capabilities.includes("inlineButtons") ? "off" : "all";
}

const emojiOf = (reaction: ReactionType): string => (reaction.type === "emoji" ? reaction.emoji : reaction.type === "paid" ? "⭐" : "custom emoji");

function fromReaction(reaction: NonNullable<Update["message_reaction"]>, updateId: number, env: IntakeEnv): TelegramIntake {
  const mode = env.account.config.reactionNotifications ?? "own";
  const chatId = String(reaction.chat.id);
  if (mode === "off") return ignore("reactions are off");
  if (mode === "own" && !env.wasSentByBot(chatId, reaction.message_id)) return ignore("reaction to another's message");
  const before = new Set(reaction.old_reaction.map(emojiOf));
  const added = reaction.new_reaction.map(emojiOf).filter((emoji) => !before.has(emoji));
  const actor = reaction.user ? fromUser(reaction.user) : reaction.actor_chat && { id: String(reaction.actor_chat.id), name: "title" in reaction.actor_chat ? reaction.actor_chat.title : undefined };
  if (!actor || added.length === 0 || actor.id === String(env.bot.id)) return ignore("no reaction added");
  return event(env, {
    chat: readChat(reaction.chat, undefined, undefined),
    actorId: actor.id,
    text: `Telegram reaction added: ${added.join(" ")} by ${actor.name ?? actor.id} on msg ${reaction.message_id}`,
    contextKey: `telegram:reaction:${chatId}:${reaction.message_id}:${actor.id}`,
    dedupeId: `reaction:${updateId}`,
  });
}

const EDIT_PREVIEW_CHARS = 500;

function fromEdit(message: Message, env: IntakeEnv): TelegramIntake {
  const sender = readSender(message);
  if (!sender || sender.id === String(env.bot.id)) return ignore("no sender");
  const text = readText(message, env.bot) || readLocation(message)?.text || "";
  if (text === "") return ignore("edit without text");
  const chat = readChat(message.chat, message.message_thread_id, message.is_topic_message);
  return event(env, {
    chat,
    actorId: sender.id,
    text: `Telegram message edited by ${sender.name ?? sender.id} on msg ${message.message_id}: ${truncateText(text.replace(/\s+/g, " "), EDIT_PREVIEW_CHARS)}`,
    contextKey: `telegram:edit:${chat.id}:${message.message_id}`,
    dedupeId: `edit:${message.message_id}:${message.edit_date ?? 0}`,
  });
}

function event(env: IntakeEnv, fields: Omit<InboundSystemEvent, "channel" | "accountId">): TelegramIntake {
  return { kind: "event", event: { channel: "telegram", accountId: env.account.accountId, ...fields } };
}
