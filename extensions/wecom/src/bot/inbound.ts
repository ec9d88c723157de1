import type { InboundMediaRef, InboundMessage } from "openclaw/plugin-sdk";
import { z } from "zod";
import { groupSettings } from "../access.ts";
import type { WecomAccount } from "../config.ts";
import type { ReplyData } from "../reply-data.ts";

/** Optional fields that are null or of another type count as absent: they lose no message. */
const optionalText = z.string().optional().catch(undefined);
const words = z.looseObject({ content: z.string().catch("") }).optional().catch(undefined);
const fileFields = z.looseObject({ url: z.string().min(1), aeskey: optionalText, filename: optionalText });
const file = fileFields.optional().catch(undefined);
const piece = z.looseObject({ text: words, image: file });
const readPieces = (items: readonly unknown[]): z.infer<typeof piece>[] => items.map((item) => piece.safeParse(item).data).filter((item) => item !== undefined);
const content = {
  msgtype: z.string().catch("unknown"), text: words, voice: words, image: file, file, video: file,
  mixed: z.looseObject({ msg_item: z.array(z.unknown()).catch([]).transform(readPieces) }).optional().catch(undefined),
};
/** A message of either form of the bot. Source: spec channels-cn §2.2 (Message bodies). */
const botMessage = z.looseObject({
  msgid: z.string().min(1), aibotid: optionalText, chattype: z.string().catch("single"), chatid: optionalText, from: z.looseObject({ userid: z.string().catch("") }).optional().catch(undefined), create_time: z.number().positive().optional().catch(undefined),
  response_url: optionalText, ...content, quote: z.looseObject(content).optional().catch(undefined),
});
export type BotMessage = z.infer<typeof botMessage>;

/** ms that the platform serves a file. */
const FILE_LIFE_MS = 5 * 60_000;

/** What a medium's `ref` holds. */
export const mediaRef = z.object({ url: z.string(), aeskey: z.string().optional() });

export const parseBotMessage = (body: unknown): BotMessage => botMessage.parse(body);

/** undefined for what is from nobody: `sys`, no sender, a group without id. */
export function toInbound(message: BotMessage, env: { readonly account: WecomAccount; readonly now: () => number; replyData(place: { chatId: string; userId: string; isGroup: boolean }): ReplyData; readonly replyExpiresAtMs: number }): InboundMessage | undefined {
  const { account, now } = env;
  const userId = message.from?.userid.trim() ?? "";
  const isGroup = message.chattype === "group";
  if (userId === "" || userId === "sys" || (isGroup && !message.chatid)) return undefined;
  const chatId = isGroup ? (message.chatid ?? "") : userId;
  const body = readBody(message, now());
  const quoted = message.quote && readBody(message.quote, now());
  // The text names the bot; what is a command begins behind the name.
  const bare = isGroup ? body.text.replace(/^\s*(?:@\S+\s+)+|^\s*@\S+\s*$/, "") : body.text;
  const isOnlyQuote = bare.trim() === "" && body.media.length === 0 && quoted !== undefined;
  const text = isOnlyQuote ? quoted.text : bare;
  const media = [...body.media, ...(quoted?.media ?? [])];
  const systemPrompt = isGroup ? groupSettings(account, chatId).settings.systemPrompt : undefined;
  return {
    channel: "wecom", accountId: account.accountId, messageId: message.msgid, chat: { id: chatId, type: isGroup ? "group" : "direct" }, sender: { id: userId },
    text, timestampMs: message.create_time === undefined ? now() : message.create_time * 1000, to: isGroup ? `group:${chatId}` : `user:${userId}`, from: isGroup ? `wecom:group:${chatId}` : `wecom:${userId}`,
    ...(isGroup && !isOnlyQuote && bare !== body.text ? { agentText: body.text } : {}),
    ...(media.length > 0 ? { media } : {}),
    // A group shows the bot only what names it.
    ...(isGroup ? { mentions: { bot: true, anyone: true, implicit: false } } : {}),
    ...(quoted && !isOnlyQuote ? { reply: { id: `${message.msgid}:quote`, body: quoted.text || `[${message.quote?.msgtype ?? "quote"}]`, isQuote: true } } : {}),
    replyContext: { data: env.replyData({ chatId, userId, isGroup }), expiresAtMs: env.replyExpiresAtMs },
    ...(systemPrompt ? { groupSystemPrompt: systemPrompt } : {}),
  };
}

function readBody(message: Pick<BotMessage, "msgtype" | "text" | "voice" | "image" | "file" | "video" | "mixed">, nowMs: number): { readonly text: string; readonly media: readonly InboundMediaRef[] } {
  const medium = (kind: InboundMediaRef["kind"], found: z.infer<typeof file>): InboundMediaRef[] =>
    found === undefined ? [] : [{ kind, ref: JSON.stringify({ url: found.url, aeskey: found.aeskey }), fileName: found.filename, expiresAtMs: nowMs + FILE_LIFE_MS }];
  switch (message.msgtype) {
    case "text":
      return { text: message.text?.content.trim() ?? "", media: [] };
    case "voice":
      return { text: message.voice?.content.trim() ?? "", media: [] };
    case "image":
      return { text: "", media: medium("image", message.image) };
    case "file":
      return { text: "", media: medium("document", message.file) };
    case "video":
      return { text: "", media: medium("video", message.video) };
    case "mixed": {
      const items = message.mixed?.msg_item ?? [];
      return { text: items.map((item) => item.text?.content ?? "").filter(Boolean).join("\n").trim(), media: items.flatMap((item) => medium("image", item.image)) };
    }
    default:
      return { text: `[${message.msgtype}]`, media: [] };
  }
}

const cardEvent = z.looseObject({
  event: z.looseObject({
    eventtype: z.string().default(""),
    template_card_event: z.looseObject({ event_key: z.string().catch(""), task_id: optionalText, selected_items: z.unknown().optional() }).optional(),
    feedback_event: z.looseObject({ id: z.string().catch(""), type: z.number().catch(0), content: optionalText }).optional(),
  }),
});
const FEEDBACK: Readonly<Record<number, string>> = { 1: "finds an answer helpful", 2: "finds an answer not helpful", 3: "took back the opinion of an answer" };

export interface BotEvent {
  readonly type: string;
  /** What a person chose on a card, as words or as the command that its button carries. */
  readonly choice: string | undefined;
  /** The card, and what exactly was chosen on it. */
  readonly card?: { readonly taskId: string | undefined; readonly key: string; readonly selected: unknown } | undefined;
  /** What a person thinks of an answer, in words; `id` is that of its stream. */
  readonly feedback?: { readonly id: string; readonly words: string } | undefined;
}

export function readEvent(body: unknown): BotEvent {
  const { event } = cardEvent.parse(body);
  const card = event.template_card_event;
  const key = card?.event_key ?? "";
  const selected = card?.selected_items === undefined ? "" : ` ${JSON.stringify(card.selected_items)}`;
  const opinion = event.feedback_event;
  const words = opinion && FEEDBACK[opinion.type];
  return {
    type: event.eventtype, choice: card === undefined ? undefined : key.startsWith("/") ? key : `[卡片交互] 按钮: ${key}${selected}`,
    card: card && { taskId: card.task_id, key, selected: card.selected_items },
    feedback: opinion && words ? { id: opinion.id, words: opinion.content?.trim() ? `${words}: ${opinion.content.trim()}` : words } : undefined,
  };
}
