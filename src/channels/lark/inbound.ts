import { z } from "zod";
import type { InboundChat, InboundMediaRef, InboundMessage, InboundReply } from "../contract/index.ts";
import { groupSettings } from "./access.ts";
import type { ChatLog } from "./chat-log.ts";
import type { LarkAccount } from "./config.ts";
import { type LarkMention, readContent } from "./content.ts";
import type { Lookups, QuotedMessage } from "./lookups.ts";

/** Optional fields that are null or of another type count as absent: they lose no message. */
const optional = z.string().nullish().catch(undefined).transform((text) => text || undefined);
const optionalMs = z.union([z.number(), z.string().transform(Number)]).nullish().catch(undefined).transform((ms) => (ms !== null && ms !== undefined && Number.isFinite(ms) && ms > 0 ? ms : undefined));
const ids = z.looseObject({ open_id: z.string().min(1), user_id: optional, union_id: optional });
const mention = z.looseObject({ key: z.string(), id: z.looseObject({ open_id: optional }).nullish().catch(undefined), name: z.string().catch("") });

/** `event` of im.message.receive_v1. Source: spec channels-cn §4.4. */
export const messageEvent = z.looseObject({
  sender: z.looseObject({ sender_id: ids, sender_type: z.string().catch("user") }),
  message: z.looseObject({
    message_id: z.string().min(1), root_id: optional, parent_id: optional, thread_id: optional, create_time: optionalMs, chat_id: z.string().min(1), chat_type: z.string(),
    message_type: z.string(), content: z.string().catch(""), mentions: z.array(z.unknown()).catch([]).transform((all) => all.flatMap((one) => mention.safeParse(one).data ?? [])),
  }),
});
export type MessageEvent = z.infer<typeof messageEvent>;

const mentionTarget = z.object({ openId: z.string(), name: z.string() });
/** What an answer needs of the message that it answers; journaled with it. */
export const replyData = z.object({ messageId: z.string(), inThread: z.boolean(), mention: z.array(mentionTarget) });
export type ReplyData = z.infer<typeof replyData>;

export interface InboundEnv {
  readonly account: LarkAccount;
  readonly botOpenId: string;
  readonly lookups: Lookups;
  readonly log: ChatLog;
  readonly now: () => number;
  /** Whether this sender is heard in this chat: the platform is asked about nobody else. */
  isHeard(chat: InboundChat, senderId: string): boolean;
}

const MAX_FORWARDED = 50;
const MAX_FORWARDED_CHARS = 8000;

/** The address part of a message, without asking anybody. */
export function readChat({ message, sender }: MessageEvent, account: LarkAccount): InboundChat {
  if (message.chat_type === "p2p") return { id: sender.sender_id.open_id, type: "direct" };
  const mode = groupSettings(account, message.chat_id).settings.topicSessionMode ?? account.config.topicSessionMode ?? "disabled";
  // The first message of a topic is the root of those that follow.
  const topic = message.root_id ?? (message.thread_id === undefined ? undefined : message.message_id);
  return { id: message.chat_id, type: "group", ...(mode === "enabled" && topic !== undefined ? { threadId: topic, isForum: true } : {}) };
}

export async function toInbound(event: MessageEvent, env: InboundEnv): Promise<InboundMessage> {
  const { message, sender } = event;
  const { account, lookups, botOpenId } = env;
  const senderId = sender.sender_id.open_id;
  const address = readChat(event, account);
  const isGroup = address.type === "group";
  const mentions = readMentions(message.mentions);
  const content = readContent({ messageId: message.message_id, type: message.message_type, content: message.content, mentions, botOpenId });
  const named = mentions.some(({ openId }) => openId === botOpenId);
  const others = mentions.filter(({ openId }) => openId !== undefined && openId !== botOpenId);
  const heard = env.isHeard(address, senderId);
  const [name, info, quote, forwarded] = await Promise.all([
    heard && account.config.resolveSenderNames !== false ? lookups.userName(senderId) : undefined,
    heard && isGroup ? lookups.chat(message.chat_id) : undefined,
    message.parent_id === undefined ? undefined : readQuote(message.parent_id, heard, env),
    heard && message.message_type === "merge_forward" ? readForwarded(message.message_id, env) : undefined,
  ]);
  const { settings } = groupSettings(account, address.id);
  const data: ReplyData = {
    messageId: message.message_id,
    inThread: message.thread_id !== undefined || (settings.replyInThread ?? account.config.replyInThread) === "enabled",
    mention: (isGroup ? named : true) ? others.map((other) => ({ openId: other.openId ?? "", name: other.name })) : [],
  };
  const media = [...content.media, ...(content.media.length === 0 ? (quote?.media ?? []) : [])];
  return {
    channel: "feishu", accountId: account.accountId, messageId: message.message_id,
    chat: isGroup ? { ...address, title: info?.name } : address,
    sender: { id: senderId, name },
    text: forwarded ?? content.text, timestampMs: message.create_time ?? env.now(), from: `feishu:${senderId}`, to: isGroup ? `chat:${message.chat_id}` : `user:${senderId}`,
    ...(media.length > 0 ? { media } : {}),
    ...(isGroup ? { mentions: { bot: named, anyone: mentions.length > 0 || content.text.includes("@all"), implicit: quote?.isBot === true } } : {}),
    reply: quote?.reply, location: content.location, replyContext: { data },
    ...(isGroup ? { groupSystemPrompt: settings.systemPrompt?.trim() || undefined, skillFilter: settings.skills } : {}),
  };
}

const readMentions = (mentions: readonly z.infer<typeof mention>[]): LarkMention[] => mentions.map(({ key, id, name }) => ({ key, openId: id?.open_id || undefined, name }));

interface Quote {
  readonly reply: InboundReply;
  readonly media: readonly InboundMediaRef[];
  readonly isBot: boolean;
}

async function readQuote(parentId: string, mayAsk: boolean, env: InboundEnv): Promise<Quote> {
  const known = env.log.find(parentId);
  const found = mayAsk ? (await env.lookups.message(parentId))[0] : undefined;
  const isBot = known?.isBot ?? (found?.sender?.sender_type === "app" && found.sender.id === env.account.appId);
  if (!found) return { reply: { id: parentId }, media: [], isBot };
  const content = contentOf(found, env);
  const senderId = found.sender?.sender_type === "user" ? found.sender.id : undefined;
  const sender = isBot ? "you" : senderId === undefined ? undefined : ((await nameOf(senderId, env)) ?? senderId);
  return { reply: { id: parentId, body: content.text || `<media:${content.media[0]?.kind ?? "document"}>`, sender, isQuote: true }, media: isBot ? [] : content.media, isBot };
}

const nameOf = (openId: string, { account, lookups }: InboundEnv): Promise<string | undefined> => (account.config.resolveSenderNames === false ? Promise.resolve(undefined) : lookups.userName(openId));

const contentOf = (message: QuotedMessage, { botOpenId }: InboundEnv) =>
  readContent({
    messageId: message.message_id, type: message.msg_type, content: message.body?.content ?? "", botOpenId,
    mentions: (message.mentions ?? []).map(({ key, id, name }) => ({ key, openId: id, name })),
  });

/** The words of forwarded messages, one line each; undefined when the platform does not tell. */
async function readForwarded(messageId: string, env: InboundEnv): Promise<string | undefined> {
  const inside = (await env.lookups.message(messageId)).filter((item) => item.message_id !== messageId).slice(0, MAX_FORWARDED);
  if (inside.length === 0) return undefined;
  const lines = await Promise.all(inside.map(async (item) => {
    const senderId = item.sender?.sender_type === "user" ? item.sender.id : undefined;
    const name = senderId === undefined ? "bot" : ((await nameOf(senderId, env)) ?? senderId);
    const { text, media } = contentOf(item, env);
    return `${name}: ${text || `<media:${media[0]?.kind ?? "document"}>`}`;
  }));
  return `[Merged and forwarded messages]\n${lines.join("\n")}`.slice(0, MAX_FORWARDED_CHARS);
}
