import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { OutboundTarget } from "../contract/index.ts";
import { type LarkApi, read } from "./api.ts";
import { LarkError } from "./errors.ts";
import { replyData, type ReplyData } from "./inbound.ts";
import { type LarkTarget, parseTarget, unknownTarget } from "./targets.ts";

const sentAnswer = z.looseObject({ message_id: z.string().min(1), chat_id: z.string().optional() });
const chatsAnswer = z.looseObject({ items: z.array(z.looseObject({ chat_id: z.string(), name: z.string().default("") })).default([]), has_more: z.boolean().default(false), page_token: z.string().default("") });
const MAX_PAGES = 20;

export interface MessageBody {
  readonly msgType: string;
  /** JSON, as the platform takes it. */
  readonly content: string;
}

/** Where a message goes: as an answer to another one, or to a chat. */
export interface Destination {
  readonly target: LarkTarget;
  readonly replyTo: string | undefined;
  readonly inThread: boolean;
}

/** What came along with the message that is answered. */
export function readReplyData(target: OutboundTarget): ReplyData | undefined {
  const parsed = replyData.safeParse(target.replyContext?.data);
  return parsed.success ? parsed.data : undefined;
}

const isMessageId = (id: string | undefined): id is string => id !== undefined && /^om_\w+$/.test(id);

/** @throws LarkError `refused` for what is no address */
export async function resolveDestination(api: LarkApi, message: OutboundTarget, signal?: AbortSignal): Promise<Destination> {
  const parsed = parseTarget(message.to);
  if (!parsed) throw new LarkError("refused", unknownTarget(message.to));
  const data = readReplyData(message);
  const inThread = data?.inThread === true || message.threadId !== undefined;
  const inThreadOf = isMessageId(message.threadId) ? message.threadId : data?.messageId;
  const replyTo = isMessageId(message.replyToId) ? message.replyToId : inThread && isMessageId(inThreadOf) ? inThreadOf : undefined;
  return { target: parsed.type === "name" ? await findChat(api, parsed.id, signal) : parsed, replyTo, inThread };
}

/** A group of the bot by its name. @throws LarkError when there is none */
async function findChat(api: LarkApi, name: string, signal: AbortSignal | undefined): Promise<LarkTarget> {
  const wanted = name.toLowerCase();
  let pageToken = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = read(chatsAnswer, await api.call("GET", "/im/v1/chats", { what: "list the groups of the bot", query: { page_size: 100, page_token: pageToken || undefined }, signal, patient: true }), "list of groups");
    const found = answer.items.find((chat) => chat.name.toLowerCase() === wanted);
    if (found) return { type: "chat_id", id: found.chat_id };
    pageToken = answer.page_token;
    if (!answer.has_more || pageToken === "") break;
  }
  throw new LarkError("refused", unknownTarget(name));
}

/**
 * Sends one message. Its `uuid` makes the platform send it once only, so that a lost answer is asked for again.
 * An answer to a message that is gone goes to the chat. @throws LarkError
 */
export async function postMessage(api: LarkApi, destination: Destination, body: MessageBody, signal?: AbortSignal): Promise<{ readonly messageId: string; readonly chatId: string | undefined }> {
  const uuid = randomUUID();
  const common = { msg_type: body.msgType, content: body.content, uuid };
  const { target, replyTo, inThread } = destination;
  const toChat = (): Promise<unknown> => api.call("POST", "/im/v1/messages", { what: "send a message", query: { receive_id_type: target.type }, body: { receive_id: target.id, ...common }, signal });
  const asReply = (id: string): Promise<unknown> => api.call("POST", `/im/v1/messages/${encodeURIComponent(id)}/reply`, { what: "answer a message", body: { ...common, ...(inThread ? { reply_in_thread: true } : {}) }, signal });
  const once = async (): Promise<unknown> => {
    if (replyTo === undefined) return toChat();
    try {
      return await asReply(replyTo);
    } catch (err) {
      if (!(err instanceof LarkError) || err.kind !== "gone") throw err;
      return toChat();
    }
  };
  let answer: unknown;
  try {
    answer = await once();
  } catch (err) {
    if (!(err instanceof LarkError) || err.kind !== "uncertain") throw err;
    answer = await once();
  }
  const { message_id: messageId, chat_id: chatId } = read(sentAnswer, answer, "message_id");
  return { messageId, chatId };
}
