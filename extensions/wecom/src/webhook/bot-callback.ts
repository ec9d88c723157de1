import { type ChannelAccountContext, type ChannelHttpResponse, errorText } from "openclaw/plugin-sdk";
import { z } from "zod";
import { parseBotMessage, readEvent, toInbound } from "../bot/inbound.ts";
import { callbackSignature, encryptCallback } from "../callback-crypto.ts";
import type { BotSettings, CallbackKeys, WecomAccount } from "../config.ts";
import type { InboundDoor } from "../door.ts";
import type { CallbackReceiver } from "./router.ts";
import type { StreamState, StreamStates } from "./stream-states.ts";

/** The address of one later answer is good for about an hour. */
const RESPONSE_URL_MS = 3_600_000;
const poll = z.looseObject({ msgtype: z.literal("stream"), stream: z.looseObject({ id: z.string() }) });
const event = z.looseObject({ msgtype: z.literal("event"), msgid: z.string().default(""), from: z.looseObject({ userid: z.string().default("") }).optional(), chattype: z.string().optional(), chatid: z.string().optional() });

/** The bot as a JSON callback: answers begin as a stream that the platform asks for. Source: spec channels-cn §2.4 (Bot webhook). */
export function createBotCallback(deps: {
  readonly ctx: ChannelAccountContext<WecomAccount>;
  readonly bot: BotSettings;
  readonly keys: CallbackKeys;
  readonly streams: StreamStates;
  readonly door: InboundDoor;
}): CallbackReceiver {
  const { ctx, bot, keys, streams, door } = deps;
  const { account, now } = ctx;

  function seal(answer: object, { timestamp, nonce }: { readonly timestamp: string; readonly nonce: string }): ChannelHttpResponse {
    const encrypt = encryptCallback(JSON.stringify(answer), keys.encodingAESKey, keys.receiveId);
    const body = { encrypt, msgsignature: callbackSignature(keys.token, timestamp, nonce, encrypt), timestamp: Number(timestamp) || timestamp, nonce };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  }

  async function takeMessage(body: unknown): Promise<object | undefined> {
    const message = parseBotMessage(body);
    if (bot.botIds.length > 0 && message.aibotid !== undefined && !bot.botIds.includes(message.aibotid)) return {};
    let streamId = "";
    const inbound = toInbound(message, {
      account, now, replyExpiresAtMs: now() + RESPONSE_URL_MS,
      replyData({ chatId, userId, isGroup }) {
        streamId = streams.begin(message.msgid, chatId).id;
        return { via: "bot-webhook", streamId, chatId, userId, isGroup, responseUrl: message.response_url };
      },
    });
    if (!inbound) return {};
    const outcome = await door.take(inbound);
    if (outcome.kind === "unavailable") return undefined;
    // Nobody will answer: the stream must not run on.
    if (outcome.kind === "dropped" && outcome.reason !== "pairing") void streams.answer(streamId, "").catch((err: unknown) => ctx.log.debug("stream of an unanswered message not taken", { reason: errorText(err) }));
    return toJson(streams.poll(streamId));
  }

  async function takeEvent(body: z.infer<typeof event>, { signature }: { readonly signature: string }): Promise<object | undefined> {
    const { type, choice, feedback } = readEvent(body);
    if (type === "enter_chat" && bot.welcomeText !== undefined) return { msgtype: "text", text: { content: bot.welcomeText } };
    if (feedback) await door.takeFeedback(feedback, { userId: body.from?.userid ?? "", groupId: body.chattype === "group" ? body.chatid : undefined });
    if (choice === undefined) return {};
    const inbound = toInbound(parseBotMessage({ ...body, msgid: body.msgid || `event-${signature}`, msgtype: "text", text: { content: choice } }), {
      account, now, replyExpiresAtMs: now() + RESPONSE_URL_MS, replyData: ({ chatId, userId, isGroup }) => ({ via: "bot-webhook", streamId: "", chatId, userId, isGroup }),
    });
    return inbound && (await door.take(inbound)).kind === "unavailable" ? undefined : {};
  }

  return {
    ctx, form: "bot", keys,
    async take(text, query) {
      const body: unknown = JSON.parse(text);
      const asked = poll.safeParse(body);
      if (asked.success) return seal(toJson(streams.poll(asked.data.stream.id)), query);
      const happened = event.safeParse(body);
      const answer = happened.success ? await takeEvent(happened.data, query) : await takeMessage(body);
      // The platform repeats what is not taken over.
      return answer === undefined ? { status: 503 } : seal(answer, query);
    },
  };
}

const toJson = ({ id, finish, content, images }: StreamState): object => ({ msgtype: "stream", stream: { id, finish, content, feedback: { id }, ...(images.length > 0 ? { msg_item: images.map((image) => ({ msgtype: "image", image })) } : {}) } });
