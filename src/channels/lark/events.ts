import { z } from "zod";
import type { ChannelAccountContext, InboundChat, InboundMessage, ReceiveOutcome } from "../contract/index.ts";
import type { LarkAccount } from "./config.ts";
import type { DynamicAgents } from "./dynamic-agents.ts";
import { reactionEmoji } from "./emoji.ts";
import { type InboundEnv, messageEvent, type ReplyData, toInbound } from "./inbound.ts";

export type EventOutcome =
  /** `data`: what the platform is answered, for cards. */
  | { readonly kind: "taken"; readonly data?: unknown }
  | { readonly kind: "unknown" }
  /** Not now: the platform is to send it again. */
  | { readonly kind: "unavailable" };

export interface EventDeps {
  readonly ctx: ChannelAccountContext<LarkAccount>;
  readonly env: InboundEnv;
  readonly agents: DynamicAgents;
}

const eventEnvelope = z.looseObject({ header: z.looseObject({ event_id: z.string().default(""), event_type: z.string(), create_time: z.coerce.number().optional() }), event: z.unknown() });
const reactionEvent = z.looseObject({
  message_id: z.string().min(1), operator_type: z.string().default("user"), user_id: z.looseObject({ open_id: z.string().nullish() }).nullish(),
  reaction_type: z.looseObject({ emoji_type: z.string() }), action_time: z.string().optional(),
});
const botEvent = z.looseObject({ chat_id: z.string().min(1), name: z.string().nullish(), operator_id: z.looseObject({ open_id: z.string().nullish() }).nullish() });
const cardEvent = z.looseObject({
  operator: z.looseObject({ open_id: z.string().min(1) }),
  action: z.looseObject({ value: z.unknown().optional(), form_value: z.record(z.string(), z.unknown()).nullish() }),
  context: z.looseObject({ open_message_id: z.string().default(""), open_chat_id: z.string().default("") }),
});
const menuEvent = z.looseObject({ event_key: z.string().min(1), timestamp: z.coerce.number().optional(), operator: z.looseObject({ operator_id: z.looseObject({ open_id: z.string().min(1) }) }) });

const TAKEN: EventOutcome = { kind: "taken" };
const IGNORED: ReadonlySet<string> = new Set([
  "im.message.message_read_v1", "im.message.recalled_v1", "im.chat.access_event.bot_p2p_chat_entered_v1", "im.chat.updated_v1", "im.chat.disbanded_v1",
  "im.chat.member.user.added_v1", "im.chat.member.user.deleted_v1", "im.chat.member.user.withdrawn_v1",
]);

/** Hands one event of the platform to the core. @throws Error for what is no event at all */
export async function takeEvent(deps: EventDeps, payload: Buffer): Promise<EventOutcome> {
  const { header, event } = eventEnvelope.parse(JSON.parse(payload.toString("utf8")));
  switch (header.event_type) {
    case "im.message.receive_v1":
      return takeMessage(deps, event);
    case "im.message.reaction.created_v1":
    case "im.message.reaction.deleted_v1":
      return takeReaction(deps, event, header.event_id, header.event_type.includes("created"));
    case "im.chat.member.bot.added_v1":
    case "im.chat.member.bot.deleted_v1":
      return takeMembership(deps, event, header.event_id, header.event_type.includes("added"));
    case "card.action.trigger":
      return takeCardAction(deps, event, header.event_id);
    case "application.bot.menu_v6":
      return takeMenu(deps, event, header.event_id);
    default:
      return IGNORED.has(header.event_type) ? TAKEN : { kind: "unknown" };
  }
}

const toOutcome = (outcome: ReceiveOutcome): EventOutcome => (outcome.kind === "unavailable" ? { kind: "unavailable" } : TAKEN);

async function takeMessage({ ctx, env, agents }: EventDeps, raw: unknown): Promise<EventOutcome> {
  const event = messageEvent.parse(raw);
  const { sender, message } = event;
  // Bots talking to bots would never end.
  if (sender.sender_type !== "user") return TAKEN;
  const { open_id: openId, union_id: unionId, user_id: userId } = sender.sender_id;
  env.log.person(openId, [unionId, userId]);
  const inbound = await toInbound(event, env);
  env.log.add(message.message_id, { chat: inbound.chat, isBot: false });
  if (inbound.chat.type === "direct" && env.isHeard(inbound.chat, openId)) await agents.prepare(ctx, openId);
  return handOver(ctx, inbound);
}

async function handOver(ctx: ChannelAccountContext<LarkAccount>, inbound: InboundMessage): Promise<EventOutcome> {
  const outcome = await ctx.receive(inbound);
  if (outcome.kind === "accepted") ctx.setStatus({ lastInboundAt: ctx.now() });
  return toOutcome(outcome);
}

async function takeReaction({ ctx, env }: EventDeps, raw: unknown, eventId: string, isAdded: boolean): Promise<EventOutcome> {
  const { message_id: messageId, operator_type: operator, user_id: user, reaction_type: reaction } = reactionEvent.parse(raw);
  const mode = ctx.account.config.reactionNotifications ?? "own";
  const actorId = user?.open_id;
  if (mode === "off" || operator !== "user" || !actorId || actorId === env.botOpenId) return TAKEN;
  const known = env.log.find(messageId) ?? (await findMessage(env, messageId, actorId));
  if (!known || (mode === "own" && !known.isBot) || !env.isHeard(known.chat, actorId)) return TAKEN;
  const name = ctx.account.config.resolveSenderNames === false ? undefined : await env.lookups.userName(actorId);
  return toOutcome(await ctx.receiveEvent({
    channel: "feishu", accountId: ctx.accountId, chat: known.chat, actorId, contextKey: `feishu:reaction:${messageId}:${actorId}`, dedupeId: `reaction:${eventId}`,
    text: `Feishu reaction ${isAdded ? "added" : "removed"}: ${reactionEmoji(reaction.emoji_type)} by ${name ?? actorId} on msg ${messageId}`,
  }));
}

/** A message of before the start: whose it is and where. */
async function findMessage(env: InboundEnv, messageId: string, actorId: string): Promise<{ readonly chat: InboundChat; readonly isBot: boolean } | undefined> {
  const message = (await env.lookups.message(messageId))[0];
  const info = message?.chat_id === undefined ? undefined : await env.lookups.chat(message.chat_id);
  if (message?.chat_id === undefined || !info) return undefined;
  const isBot = message.sender?.sender_type === "app" && message.sender.id === env.account.appId;
  return { isBot, chat: info.mode === "p2p" ? { id: actorId, type: "direct" } : { id: message.chat_id, type: "group", title: info.name } };
}

async function takeMembership({ ctx }: EventDeps, raw: unknown, eventId: string, isAdded: boolean): Promise<EventOutcome> {
  const { chat_id: chatId, name, operator_id: operator } = botEvent.parse(raw);
  ctx.log.info(isAdded ? "bot added to a group" : "bot removed from a group", { chatId, name });
  return toOutcome(await ctx.receiveEvent({
    channel: "feishu", accountId: ctx.accountId, chat: { id: chatId, type: "group", title: name ?? undefined }, actorId: operator?.open_id ?? chatId, contextKey: `feishu:bot:${chatId}`, dedupeId: `bot:${eventId}`,
    text: `Feishu: the bot was ${isAdded ? "added to" : "removed from"} the group ${name ?? chatId}`,
  }));
}

/** A button of a card says what stands in its value, as if the person had written it. */
async function takeCardAction({ ctx, env }: EventDeps, raw: unknown, eventId: string): Promise<EventOutcome> {
  const { operator, action, context } = cardEvent.parse(raw);
  const text = actionText(action.value, action.form_value ?? undefined);
  if (text === undefined) return TAKEN;
  const known = env.log.find(context.open_message_id) ?? (context.open_message_id === "" ? undefined : await findMessage(env, context.open_message_id, operator.open_id));
  const chat: InboundChat = known?.chat ?? (context.open_chat_id.startsWith("oc_") && (await env.lookups.chat(context.open_chat_id))?.mode !== "p2p"
    ? { id: context.open_chat_id, type: "group" }
    : { id: operator.open_id, type: "direct" });
  return handOver(ctx, spoken({ ctx, chat: chat.type === "direct" ? { id: operator.open_id, type: "direct" } : chat, senderId: operator.open_id, messageId: `card:${eventId}`, text, replyTo: context.open_message_id }));
}

function actionText(value: unknown, form: Readonly<Record<string, unknown>> | undefined): string | undefined {
  if (typeof value === "string" && value.trim() !== "") return value;
  if (typeof value === "object" && value !== null) {
    for (const key of ["callback", "command", "text"]) {
      const found: unknown = Reflect.get(value, key);
      if (typeof found === "string" && found.trim() !== "") return found;
    }
  }
  if (form !== undefined) return `[Form] ${JSON.stringify(form)}`;
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}

/** An entry of the bot's menu: its key is the text. */
async function takeMenu({ ctx }: EventDeps, raw: unknown, eventId: string): Promise<EventOutcome> {
  const { event_key: text, operator } = menuEvent.parse(raw);
  const senderId = operator.operator_id.open_id;
  return handOver(ctx, spoken({ ctx, chat: { id: senderId, type: "direct" }, senderId, messageId: `menu:${eventId}`, text }));
}

interface Spoken {
  readonly ctx: ChannelAccountContext<LarkAccount>;
  readonly chat: InboundChat;
  readonly senderId: string;
  readonly messageId: string;
  readonly text: string;
  readonly replyTo?: string | undefined;
}

function spoken({ ctx, chat, senderId, messageId, text, replyTo }: Spoken): InboundMessage {
  const isGroup = chat.type === "group";
  const data: ReplyData | undefined = replyTo ? { messageId: replyTo, inThread: chat.threadId !== undefined, mention: [] } : undefined;
  return {
    channel: "feishu", accountId: ctx.accountId, messageId, chat, sender: { id: senderId }, text, timestampMs: ctx.now(), from: `feishu:${senderId}`, to: isGroup ? `chat:${chat.id}` : `user:${senderId}`, noDebounce: true,
    ...(isGroup ? { mentions: { bot: true, anyone: true, implicit: false } } : {}),
    ...(data ? { replyContext: { data } } : {}),
  };
}

