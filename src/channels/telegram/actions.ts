import { z } from "zod";
import { type ChannelActionContext, ChannelError } from "../contract/index.ts";
import { callSignal, type TelegramClient } from "./client.ts";
import type { TelegramAccount } from "./config.ts";
import { failureText, isNotModified, readFailure } from "./errors.ts";
import { toTelegramTexts } from "./format.ts";
import { reactionList } from "./reactions.ts";
import { parseTarget, TARGET_HINT } from "./targets.ts";

type ActionName = "react" | "edit" | "delete" | "sticker" | "topic-create" | "poll";

/** Which actions the config of one account allows. Source: spec channels §4.1 (actions), §4.4. */
export function allowedActions(account: TelegramAccount): ActionName[] {
  const gates = account.config.actions;
  const isOn = (name: string, fallback: boolean): boolean => {
    const value: unknown = gates === undefined ? undefined : Reflect.get(gates, name);
    return typeof value === "boolean" ? value : fallback;
  };
  return [
    ...(isOn("reactions", true) ? ["react" as const] : []),
    ...(isOn("editMessage", true) ? ["edit" as const] : []),
    ...(isOn("deleteMessage", true) ? ["delete" as const] : []),
    ...(isOn("sticker", false) ? ["sticker" as const] : []),
    ...(isOn("createForumTopic", true) ? ["topic-create" as const] : []),
    ...(isOn("sendMessage", true) ? ["poll" as const] : []),
  ];
}

const text = z.union([z.string(), z.number()]).transform(String).pipe(z.string().min(1));
const place = { chatId: text.optional(), channelId: text.optional(), to: text.optional(), target: text.optional() };
const schemas = {
  react: z.object({ ...place, messageId: text.optional(), emoji: z.string().default(""), remove: z.boolean().optional() }),
  edit: z.object({ ...place, messageId: text, message: text }),
  delete: z.object({ ...place, messageId: text.optional() }),
  sticker: z.object({ ...place, fileId: text.optional(), stickerId: z.union([text, z.array(text)]).optional(), replyTo: text.optional(), threadId: text.optional() }),
  "topic-create": z.object({ ...place, name: z.string().min(1).max(128), iconColor: z.number().int().optional(), iconCustomEmojiId: text.optional() }),
  poll: z.object({
    ...place,
    pollQuestion: text.optional(),
    question: text.optional(),
    pollOption: z.array(text).optional(),
    options: z.array(text).optional(),
    pollMulti: z.boolean().optional(),
    pollDurationSeconds: z.number().int().optional(),
    isAnonymous: z.boolean().optional(),
    threadId: text.optional(),
  }),
} as const;

/** @throws ChannelError `rejected` for a bad argument or Telegram's refusal; the text says which */
export async function handleAction(account: TelegramAccount, client: TelegramClient, ctx: ChannelActionContext): Promise<unknown> {
  const name = allowedActions(account).find((action) => action === ctx.action);
  if (!name) throw new ChannelError("rejected", `Action "${ctx.action}" is not supported by telegram (account ${account.accountId})`, `Enable it under ${account.configPath}.actions, or use another action.`);
  const { signal, current } = ctx;
  const stop = callSignal(signal);
  const chatOf = (params: { chatId?: string | undefined; channelId?: string | undefined; to?: string | undefined; target?: string | undefined }): string => {
    const raw = params.chatId ?? params.channelId ?? params.to ?? params.target ?? current?.to;
    const target = raw === undefined ? undefined : parseTarget(raw);
    if (!target) throw new ChannelError("rejected", raw === undefined ? `${name} needs a chat` : `"${raw}" is no Telegram address`, `Give chatId: ${TARGET_HINT}.`);
    return target.chatId;
  };
  const messageOf = (id: string | undefined): number => {
    const raw = id ?? current?.messageId;
    if (raw === undefined || !/^\d+$/.test(raw)) throw new ChannelError("rejected", `${name} needs a numeric messageId`, "Give messageId, as shown in the conversation info.");
    return Number(raw);
  };
  try {
    switch (name) {
      case "react": {
        const params = parse(name, ctx.params);
        const emoji = params.remove ? "" : params.emoji;
        try {
          await client.api.setMessageReaction({ chat_id: chatOf(params), message_id: messageOf(params.messageId), reaction: reactionList(emoji) }, stop);
        } catch (err) {
          const failure = readFailure(err);
          if (failure.kind === "api" && /REACTION_INVALID/i.test(failure.description)) return { ok: false, error: `${emoji} is not one of Telegram's reaction emoji` };
          throw err;
        }
        return emoji === "" ? { ok: true, removed: true } : { ok: true, added: emoji };
      }
      case "edit": {
        const params = parse(name, ctx.params);
        const [piece, ...more] = toTelegramTexts(params.message, { tables: account.config.markdown?.tables });
        if (!piece || more.length > 0) throw new ChannelError("rejected", "The new text does not fit into one message", "Keep it under 4096 characters.");
        const messageId = messageOf(params.messageId);
        try {
          await client.api.editMessageText({ chat_id: chatOf(params), message_id: messageId, text: piece.html, parse_mode: "HTML" }, stop);
        } catch (err) {
          if (!isNotModified(readFailure(err))) throw err;
        }
        return { ok: true, messageId: String(messageId) };
      }
      case "delete": {
        const params = parse(name, ctx.params);
        await client.api.deleteMessage({ chat_id: chatOf(params), message_id: messageOf(params.messageId) }, stop);
        return { ok: true, deleted: true };
      }
      case "sticker": {
        const params = parse(name, ctx.params);
        const sticker = params.fileId ?? (Array.isArray(params.stickerId) ? params.stickerId[0] : params.stickerId);
        if (!sticker) throw new ChannelError("rejected", "sticker needs fileId or stickerId", "Give the file_id of a sticker that the bot has seen.");
        const sent = await client.api.sendSticker({ chat_id: chatOf(params), sticker, ...thread(params.threadId) }, stop);
        return { ok: true, messageId: String(sent.message_id) };
      }
      case "topic-create": {
        const params = parse(name, ctx.params);
        const topic = await client.api.createForumTopic(
          {
            chat_id: chatOf(params),
            name: params.name,
            // Telegram takes six fixed colours and says so when another is given.
            ...(params.iconColor === undefined ? {} : { icon_color: params.iconColor as 0x6fb9f0 }),
            ...(params.iconCustomEmojiId === undefined ? {} : { icon_custom_emoji_id: params.iconCustomEmojiId }),
          },
          stop,
        );
        return { ok: true, topicId: topic.message_thread_id, name: topic.name };
      }
      case "poll": {
        const params = parse(name, ctx.params);
        const question = params.pollQuestion ?? params.question;
        const options = params.pollOption ?? params.options ?? [];
        if (!question || options.length < 2 || options.length > 10) throw new ChannelError("rejected", "A poll needs a question and 2–10 options", "Give pollQuestion and pollOption.");
        const sent = await client.api.sendPoll(
          {
            chat_id: chatOf(params),
            question,
            options: options.map((option) => ({ text: option })),
            is_anonymous: params.isAnonymous ?? true,
            allows_multiple_answers: params.pollMulti ?? false,
            ...(params.pollDurationSeconds === undefined ? {} : { open_period: params.pollDurationSeconds }),
            ...thread(params.threadId),
          },
          stop,
        );
        return { ok: true, messageId: String(sent.message_id), pollId: sent.poll.id };
      }
    }
  } catch (err) {
    if (err instanceof ChannelError) throw err;
    throw new ChannelError("rejected", `telegram ${name} failed: ${failureText(readFailure(err))}`, "Check the chat, the message and the bot's rights there.", { cause: err });
  }
}

const thread = (id: string | undefined): { message_thread_id?: number } => (id !== undefined && /^\d+$/.test(id) && id !== "1" ? { message_thread_id: Number(id) } : {});

function parse<Name extends ActionName>(name: Name, params: unknown): z.output<(typeof schemas)[Name]> {
  const result = schemas[name].safeParse(params);
  if (!result.success) {
    const issue = result.error.issues[0];
    throw new ChannelError("rejected", `telegram ${name}: ${issue?.path.join(".") ?? "parameters"}: ${issue?.message ?? "invalid"}`, "Correct the parameter and call again.");
  }
  return result.data as z.output<(typeof schemas)[Name]>;
}
