import type { ChannelAccountContext, InboundMediaRef, InboundMentions, InboundMessage, ReceiveOutcome } from "openclaw/plugin-sdk";
import { groupSettings, isCommandAllowed } from "./access.ts";
import type { QQApi } from "./api.ts";
import type { QQBotAccount } from "./config.ts";
import { buildContextInfo } from "./context-info.ts";
import { type Attachment, c2cMessage, type C2CMessageEvent, groupMessage, type GroupMessageEvent, guildMessage, type GuildMessageEvent, interaction, type InteractionEvent, type SpokenEvent } from "./events.ts";
import { parseFaceTags } from "./faces.ts";
import type { QuoteIndex } from "./quotes.ts";
import type { WSPayload } from "./socket.ts";
import { formatTarget, type QQTarget } from "./targets.ts";
import { openWindow } from "./windows.ts";

export { downloadFile } from "./download.ts";
export { parseFaceTags } from "./faces.ts";
export { convertSilkToWav } from "./voice.ts";

export interface EventDeps {
  readonly ctx: Pick<ChannelAccountContext<QQBotAccount>, "account" | "receive" | "log" | "now" | "setStatus">;
  readonly api: QQApi;
  readonly quotes: QuoteIndex;
  /** The bot's own id in guilds. */
  readonly botId: () => string | undefined;
}

/** One event of the socket. false: the gateway does not take it over, so it must come again. */
export async function handleEvent(payload: WSPayload, deps: EventDeps): Promise<boolean> {
  deps.ctx.setStatus({ lastEventAt: deps.ctx.now() });
  switch (payload.t) {
    case "C2C_MESSAGE_CREATE":
      return handleC2CMessage(c2cMessage.parse(payload.d), deps);
    case "GROUP_AT_MESSAGE_CREATE":
    case "GROUP_MESSAGE_CREATE":
      return handleGroupMessage(groupMessage.parse(payload.d), deps, payload.t === "GROUP_AT_MESSAGE_CREATE");
    case "AT_MESSAGE_CREATE":
    case "MESSAGE_CREATE":
    case "GUILD_MESSAGE_CREATE":
      return handleGuildMessage(guildMessage.parse(payload.d), deps, payload.t === "AT_MESSAGE_CREATE");
    case "DIRECT_MESSAGE_CREATE":
      return handleDirectMessage(guildMessage.parse(payload.d), deps);
    case "INTERACTION_CREATE":
      return handleInteraction(interaction.parse(payload.d), payload.id ?? undefined, deps);
    default:
      deps.ctx.log.debug("QQ event without effect", { type: payload.t });
      return true;
  }
}

export function handleC2CMessage(event: C2CMessageEvent, deps: EventDeps): Promise<boolean> {
  const { user_openid: id, username } = event.author;
  return take(event, deps, { target: { scene: "c2c", id }, chat: { id, type: "direct" }, sender: { id, name: username }, address: id });
}

export async function handleGroupMessage(event: GroupMessageEvent, deps: EventDeps, isAddressed = false): Promise<boolean> {
  const { author, group_openid: id } = event;
  if (author.bot) return true;
  const chatId = `group:${id}`;
  const { settings } = groupSettings(deps.ctx.account, chatId);
  const named = event.mentions;
  const bot = isAddressed || named.some((mention) => mention.is_you);
  if (settings.ignoreOtherMentions && !bot && named.length > 0) return true;
  if (!isCommandAllowed(settings, readText(event, undefined))) return true;
  return take(event, deps, {
    target: { scene: "group", id }, chat: { id: chatId, type: "group", title: settings.name }, sender: { id: author.member_openid, name: author.username }, address: chatId,
    mentions: { bot, anyone: bot || named.length > 0 }, prompt: settings.prompt,
  });
}

export async function handleGuildMessage(event: GuildMessageEvent, deps: EventDeps, isAddressed = false): Promise<boolean> {
  const { author, channel_id: id } = event;
  if (author.bot) return true;
  const chatId = `channel:${id}`;
  const { settings } = groupSettings(deps.ctx.account, chatId);
  const own = deps.botId();
  const named = event.mentions;
  const bot = isAddressed || named.some((mention) => mention.is_you || (own !== undefined && mention.id === own)) || (own !== undefined && new RegExp(`<@!?${own.replace(/\W/g, "")}>`).test(event.content));
  if (settings.ignoreOtherMentions && !bot && named.length > 0) return true;
  if (!isCommandAllowed(settings, readText(event, own))) return true;
  return take(event, deps, {
    target: { scene: "channel", id }, chat: { id: chatId, type: "group", title: settings.name, guildId: event.guild_id },
    sender: { id: author.id, name: event.member?.nick ?? author.username, ...(event.member?.roles ? { roles: event.member.roles } : {}) }, address: chatId,
    mentions: { bot, anyone: bot || named.length > 0 }, prompt: settings.prompt,
  });
}

async function handleDirectMessage(event: GuildMessageEvent, deps: EventDeps): Promise<boolean> {
  const { author, guild_id: guildId } = event;
  if (author.bot) return true;
  return take(event, deps, { target: { scene: "dm", id: guildId }, chat: { id: author.id, type: "direct" }, sender: { id: author.id, name: author.username }, address: `dm:${guildId}` });
}

/**
 * Buttons are messages, answered in the window of the press, which is known by the id of its event; every interaction is
 * acknowledged, or QQ shows an error.
 */
async function handleInteraction(event: InteractionEvent, eventId: string | undefined, deps: EventDeps): Promise<boolean> {
  const text = event.data?.resolved?.button_data?.trim() ?? "";
  const place = text === "" ? undefined : placeOfPress(event);
  const { settings } = groupSettings(deps.ctx.account, place?.chat.id ?? "");
  const isHeard = place !== undefined && (place.chat.type === "direct" || isCommandAllowed(settings, text));
  const spoken: SpokenEvent = { id: event.id, content: text, timestamp: event.timestamp, attachments: [], mentions: [], msg_elements: [] };
  const taken = !isHeard || (await take(spoken, deps, { ...place, ...(place.chat.type === "direct" ? {} : { chat: { ...place.chat, title: settings.name }, prompt: settings.prompt }), pressedAs: eventId ?? "" }));
  if (taken) {
    deps.api.call("PUT", `/interactions/${encodeURIComponent(event.id)}`, { code: 0 }).catch((err: unknown) => deps.ctx.log.debug("interaction not acknowledged", { err }));
  }
  return taken;
}

/** Who pressed, and where. */
function placeOfPress({ group_openid: group, group_member_openid: member, channel_id: channel, guild_id: guildId, user_openid: person, data }: InteractionEvent): Place | undefined {
  const inGroup = (target: QQTarget, chatId: string, id: string | undefined): Place | undefined =>
    id === undefined ? undefined : { target, chat: { id: chatId, type: "group", ...(guildId === undefined ? {} : { guildId }) }, sender: { id }, address: chatId, mentions: { bot: true, anyone: false } };
  if (group !== undefined) return inGroup({ scene: "group", id: group }, `group:${group}`, member);
  if (channel !== undefined) return inGroup({ scene: "channel", id: channel }, `channel:${channel}`, data?.resolved?.user_id);
  return person === undefined ? undefined : { target: { scene: "c2c", id: person }, chat: { id: person, type: "direct" }, sender: { id: person }, address: person };
}

interface Place {
  readonly target: QQTarget;
  readonly chat: InboundMessage["chat"];
  readonly sender: InboundMessage["sender"];
  /** 投递目标 of the context block. */
  readonly address: string;
  readonly mentions?: Omit<InboundMentions, "implicit">;
  readonly prompt?: string | undefined;
  /** A button was pressed: the id of the event, "" when QQ gives none. */
  readonly pressedAs?: string;
}

async function take(event: SpokenEvent, deps: EventDeps, place: Place): Promise<boolean> {
  const { ctx } = deps;
  const { account } = ctx;
  const text = readText(event, deps.botId());
  const given = event.msg_elements.find(({ msg_idx: index }) => index !== undefined && index === extOf(event, "ref_msg_idx")) ?? event.msg_elements[0];
  const ref = extOf(event, "ref_msg_idx") ?? (given && (given.msg_idx ?? `${event.id}:quote`));
  const quoted = ref === undefined ? undefined : await deps.quotes.find(ref);
  const quotedText = quoted?.text || parseFaceTags(given?.content ?? "").trim() || (given && given.attachments.length > 0 ? "[附件]" : "（原文不可用）");
  deps.quotes.add(extOf(event, "msg_idx"), { text, isOwn: false });
  const media = (event.attachments.length > 0 ? event.attachments : (given?.attachments ?? [])).flatMap(toMediaRef);
  const heard = event.attachments.map((item) => item.asr_refer_text?.trim() ?? "").filter(Boolean);
  const nowMs = ctx.now();
  const timestampMs = readTime(event.timestamp, nowMs);
  const contextInfo = buildContextInfo({
    senderName: place.sender.name, senderId: place.sender.id, scene: place.target.scene, chatId: place.target.id, messageId: event.id, targetAddress: place.address, nowMs,
  });
  const userContent = [text, ...heard.map((words) => `[语音识别: ${words}]`)].filter(Boolean).join("\n");
  const systemPrompts = account.config.systemPrompt ? [account.config.systemPrompt] : [];
  const agentBody = systemPrompts.length > 0 ? `${contextInfo}\n\n${systemPrompts.join("\n")}\n\n${userContent}` : `${contextInfo}\n\n${userContent}`;
  const outcome: ReceiveOutcome = await ctx.receive({
    channel: "qqbot", accountId: account.accountId, messageId: event.id, chat: place.chat, sender: place.sender, text, timestampMs, from: formatTarget(place.target), to: formatTarget(place.target),
    agentText: agentBody,
    ...(place.pressedAs === "" ? {} : { replyContext: openWindow(place.target.scene, place.pressedAs ?? event.id, Math.min(timestampMs, nowMs), { isEvent: place.pressedAs !== undefined }) }),
    ...(place.pressedAs === undefined ? {} : { commandSource: "native", noDebounce: true }),
    ...(media.length > 0 ? { media } : {}),
    ...(place.mentions ? { mentions: { ...place.mentions, implicit: quoted?.isOwn === true } } : {}),
    ...(ref === undefined ? {} : { reply: { id: ref, isQuote: true, body: quotedText } }),
    ...(place.prompt ? { groupSystemPrompt: place.prompt } : {}),
  });
  if (outcome.kind === "accepted") ctx.setStatus({ lastInboundAt: nowMs });
  return outcome.kind !== "unavailable";
}

/** Faces by name, the bot's own mention removed, others as `@name`. */
function readText(event: SpokenEvent, botId: string | undefined): string {
  const names = new Map(event.mentions.flatMap((mention) => [mention.id, mention.member_openid].filter((id) => id !== undefined).map((id) => [id, mention] as const)));
  return parseFaceTags(event.content)
    .replace(/<@!?([\w-]+)>/g, (tag: string, id: string) => {
      const mention = names.get(id);
      if (id === botId || mention?.is_you) return "";
      const name = mention?.nickname ?? mention?.username;
      return name === undefined ? tag : `@${name}`;
    })
    .trim();
}

function extOf(event: SpokenEvent, key: string): string | undefined {
  return event.message_scene?.ext.find((entry) => entry.startsWith(`${key}=`))?.slice(key.length + 1) || undefined;
}

function toMediaRef(item: Attachment): InboundMediaRef[] {
  if (item.url === "" && !item.voice_wav_url) return [];
  const type = item.content_type.toLowerCase();
  const isVoice = type === "voice" || type.startsWith("audio/") || /\.(?:amr|silk|slk|slac)$/i.test(item.filename ?? "");
  const kind = isVoice ? "voice" : type.startsWith("image/") ? "image" : type.startsWith("video/") ? "video" : "document";
  // QQ's own WAV needs no codec.
  const ref = isVoice && item.voice_wav_url ? item.voice_wav_url : item.url;
  return [{
    kind, ref,
    ...(type.includes("/") ? { mimeType: type } : {}),
    ...(item.filename && !(isVoice && item.voice_wav_url) ? { fileName: item.filename } : {}),
    ...(item.size === undefined || isVoice ? {} : { sizeBytes: item.size }),
  }];
}

function readTime(value: string | number | undefined, nowMs: number): number {
  const ms = typeof value === "number" ? value * 1000 : Date.parse(value ?? "");
  return Number.isNaN(ms) ? nowMs : ms;
}
