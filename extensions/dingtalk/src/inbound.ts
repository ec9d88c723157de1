import type { InboundMediaRef, InboundMessage, InboundReply } from "openclaw/plugin-sdk";
import { z } from "zod";
import { groupSettings, normalizeEntry, resolveAccess } from "./access.ts";
import type { DingTalkAccount } from "./config.ts";
import { formatTarget } from "./targets.ts";

/** Optional fields that are null or of another type count as absent: they lose no message. */
const optionalText = z.string().nullish().catch(undefined).transform((text) => text ?? undefined);
const optionalMs = z.union([z.number(), z.string().transform(Number)]).nullish().catch(undefined).transform((ms) => (ms !== null && ms !== undefined && Number.isFinite(ms) && ms > 0 ? ms : undefined));
const loose = z.record(z.string(), z.unknown());
/** A robot message as Stream and webhook bring it. Source: spec channels-cn §3.4. */
const robotMessage = z.looseObject({
  conversationId: z.string().min(1), conversationType: z.coerce.string(), conversationTitle: optionalText, msgId: z.string().min(1), msgtype: z.string().catch("unknown"),
  senderNick: optionalText, senderStaffId: optionalText, senderId: optionalText, chatbotUserId: optionalText, robotCode: optionalText, createAt: optionalMs,
  sessionWebhook: optionalText, sessionWebhookExpiredTime: optionalMs, isInAtList: z.boolean().nullish().catch(undefined), atUsers: z.array(z.looseObject({ dingtalkId: optionalText })).nullish().catch(undefined),
  text: loose.nullish().catch(undefined), content: z.union([loose, z.string()]).nullish().catch(undefined), originalMsgId: optionalText, originalProcessQueryKey: optionalText,
}).refine(({ senderStaffId, senderId }) => Boolean(senderStaffId ?? senderId), "nobody sent it");
export type RobotMessage = z.infer<typeof robotMessage>;

/** What an answer needs of the message that it answers; journaled with it. */
export const replyData = z.object({ webhook: z.string().optional(), conversationId: z.string(), senderId: z.string(), isGroup: z.boolean() });
export type ReplyData = z.infer<typeof replyData>;

export interface InboundEnv {
  readonly account: DingTalkAccount;
  readonly now: () => number;
  /** What was said under an id or a processQueryKey, when it is remembered. */
  recall(ids: readonly (string | undefined)[]): { readonly text: string; readonly sender?: string | undefined } | undefined;
}

/** @throws ZodError or SyntaxError for what is no robot message */
export const parseRobotMessage = (data: string): RobotMessage => robotMessage.parse(JSON.parse(data));

export function toInbound(message: RobotMessage, env: InboundEnv): InboundMessage {
  const { account } = env;
  const isGroup = message.conversationType === "2";
  const senderId = message.senderStaffId || message.senderId || "";
  const { text, media } = readBody(message);
  const chatId = isGroup ? message.conversationId : senderId;
  const to = formatTarget({ kind: isGroup ? "group" : "user", id: chatId });
  const data: ReplyData = { webhook: message.sessionWebhook, conversationId: message.conversationId, senderId, isGroup };
  const systemPrompt = isGroup ? groupSettings(account, chatId).settings.systemPrompt : undefined;
  const others = (message.atUsers ?? []).some(({ dingtalkId }) => dingtalkId !== undefined && dingtalkId !== message.chatbotUserId);
  const isNamed = isGroup && message.isInAtList !== false;
  return {
    channel: "dingtalk", accountId: account.accountId, messageId: message.msgId,
    chat: { id: chatId, type: isGroup ? "group" : "direct", ...(isGroup ? { title: message.conversationTitle } : {}) },
    sender: { id: senderId, name: message.senderNick },
    text, timestampMs: message.createAt ?? env.now(), to, from: isGroup ? `dingtalk:group:${chatId}` : `dingtalk:${senderId}`,
    ...(media.length > 0 ? { media } : {}),
    // A group shows the robot only what names it, unless the company lets it read everything.
    ...(isGroup ? { mentions: { bot: isNamed, anyone: isNamed || others, implicit: false } } : {}),
    reply: readReply(message, env, isGroup ? chatId : undefined),
    replyContext: { data, expiresAtMs: message.sessionWebhookExpiredTime },
    ...(systemPrompt ? { groupSystemPrompt: systemPrompt } : {}),
  };
}

interface Body {
  readonly text: string;
  readonly media: readonly InboundMediaRef[];
}

function readBody(message: RobotMessage): Body {
  const content = typeof message.content === "object" && message.content !== null ? message.content : {};
  const plain = typeof message.content === "string" ? message.content : "";
  const words = (text: string): Body => ({ text, media: [] });
  const medium = (kind: InboundMediaRef["kind"], extra: Partial<InboundMediaRef> = {}): Body => {
    const ref = field(content, "downloadCode") ?? field(content, "pictureDownloadCode");
    return ref === undefined ? words(`[${message.msgtype}]`) : { text: "", media: [{ kind, ref, ...extra }] };
  };
  switch (message.msgtype) {
    case "text":
      return words((field(message.text ?? {}, "content") ?? field(content, "content") ?? plain).trim());
    case "richText":
      return readRichText(content["richText"]);
    case "picture":
      return medium("image", { mimeType: undefined });
    case "audio": {
      const heard = field(content, "recognition")?.trim();
      return heard ? words(heard) : medium("voice");
    }
    case "video":
      return medium("video");
    case "file":
      return medium("document", { fileName: field(content, "fileName") });
    case "interactiveCard":
      return words(["[钉钉文档]", field(content, "biz_custom_action_url") ?? ""].join("").trim());
    case "markdown":
    case "chatRecord":
      return words((field(content, "text") ?? field(content, "summary") ?? field(message.text ?? {}, "content") ?? plain).trim() || `[${message.msgtype}]`);
    default:
      return words(`[${message.msgtype}]`);
  }
}

function readRichText(parts: unknown): Body {
  const media: InboundMediaRef[] = [];
  let text = "";
  for (const part of Array.isArray(parts) ? (parts as unknown[]) : []) {
    if (typeof part !== "object" || part === null) continue;
    const at = field(part, "atName");
    const code = field(part, "downloadCode") ?? field(part, "pictureDownloadCode");
    if (field(part, "type") === "at" && at !== undefined) text += `@${at.replace(/^@/, "")}`;
    else if (field(part, "type") === "picture" && code !== undefined) media.push({ kind: "image", ref: code });
    else text += field(part, "text") ?? "";
  }
  const trimmed = text.trim();
  return { text: trimmed === "" && media.length === 0 ? "[富文本消息]" : trimmed, media };
}

/** The quoted message, as far as `contextVisibility` lets the model see it. */
function readReply(message: RobotMessage, env: InboundEnv, groupId: string | undefined): InboundReply | undefined {
  const quoted = message.text?.["repliedMsg"];
  const isReply = message.text?.["isReplyMsg"] === true || message.originalMsgId !== undefined;
  if (!isReply) return undefined;
  const given = typeof quoted === "object" && quoted !== null ? quoted : {};
  const id = field(given, "msgId") ?? message.originalMsgId;
  if (id === undefined) return undefined;
  const known = env.recall([message.originalProcessQueryKey, id]);
  const sender = field(given, "senderId");
  if (!maySee(env.account, groupId, sender, message.chatbotUserId)) return { id };
  return { id, body: quotedText(given) ?? known?.text, sender: known?.sender ?? sender, isQuote: true };
}

function maySee(account: DingTalkAccount, groupId: string | undefined, sender: string | undefined, botId: string | undefined): boolean {
  // `allowlist_quote` leaves quotes, which somebody who may speak has chosen.
  if (account.config.contextVisibility !== "allowlist" || groupId === undefined || sender === undefined || sender === botId) return true;
  const rules = resolveAccess(account, {}, { id: groupId, type: "group" });
  return (rules.groupAllowFrom ?? rules.allowFrom).some((entry) => entry === "*" || entry === normalizeEntry(sender));
}

function quotedText(quoted: object): string | undefined {
  const raw = "content" in quoted ? quoted.content : undefined;
  const content = typeof raw === "string" ? (parseObject(raw) ?? { text: raw }) : raw;
  if (typeof content !== "object" || content === null) return undefined;
  const text = field(content, "text") ?? field(content, "content") ?? field(content, "recognition") ?? field(content, "fileName");
  if (text !== undefined) return text.trim();
  if ("richText" in content) return readRichText(content.richText).text;
  const type = field(quoted, "msgType");
  return type === undefined ? undefined : `[${type}]`;
}

function parseObject(text: string): object | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // A text that merely begins like JSON.
    return undefined;
  }
}

function field(record: object, key: string): string | undefined {
  const value: unknown = Object.entries(record).find(([name]) => name === key)?.[1];
  return typeof value === "string" && value !== "" ? value : undefined;
}
