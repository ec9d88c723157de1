import type { InboundForward, InboundMessage, MsgContext } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { formatInboundEnvelope } from "./envelope.ts";
import type { MessageWords } from "./media-words.ts";

export interface ReceivedMedia {
  readonly path: string;
  readonly mimeType: string;
  readonly fileName?: string | undefined;
}

export interface FinalizeInput {
  readonly message: InboundMessage;
  readonly sessionKey: string;
  readonly commandAuthorized: boolean;
  readonly wasMentioned: boolean;
  readonly media: readonly ReceivedMedia[];
  /** What its files and links say. */
  readonly words?: Pick<MessageWords, "understood" | "links"> | undefined;
  readonly previousAtMs?: number | undefined;
  readonly parentSessionKey?: string | undefined;
  readonly isNewSession?: boolean | undefined;
  readonly ownerAllowFrom?: readonly string[] | undefined;
  readonly gatewayScopes?: readonly string[] | undefined;
}

const lf = (text: string): string => text.replace(/\r\n?/g, "\n");
const optional = (text: string | undefined): string | undefined => (text === undefined ? undefined : lf(text));

/** Completes a message draft into the context of the conversation. Source: spec agent-pipeline §1.1. */
export function finalizeInboundContext(cfg: OpenClawConfig, input: FinalizeInput): MsgContext {
  const { message } = input;
  const { chat, sender, reply, forward, location } = message;
  const locationText = location && formatLocation(location);
  const raw = [locationText, lf(message.text)].filter(Boolean).join("\n");
  const text = raw !== "" ? raw : input.media.length > 0 ? "[User sent media without caption]" : "";
  const direct = chat.type === "direct";
  const senderLabel = sender.name ?? sender.username ?? sender.id;
  const label = direct ? (senderLabel === sender.id ? senderLabel : `${senderLabel} id:${sender.id}`) : `${chat.title ?? "Group"} id:${chat.id}`;
  const ids = [...(message.mergedMessageIds ?? []), message.messageId];
  const ctx: MsgContext = {
    Body: formatInboundEnvelope(cfg, {
      channel: message.channel, from: label, atMs: message.timestampMs, previousAtMs: input.previousAtMs, body: text, isDirect: direct, sender: senderLabel,
    }),
    BodyForAgent: optional(message.agentText) ?? text, RawBody: raw, CommandBody: lf(message.text), BodyForCommands: lf(message.text),
    From: message.from, To: message.to, SessionKey: input.sessionKey, AccountId: message.accountId,
    OriginatingChannel: message.channel, OriginatingTo: message.to, Provider: message.channel, Surface: message.channel,
    ParentSessionKey: input.parentSessionKey, ChatType: chat.type, MessageThreadId: chat.threadId, IsForum: chat.isForum, MessageSid: message.messageId, MessageSidFull: message.messageIdFull,
    ThreadLabel: chat.threadLabel, ThreadStarterBody: optional(message.threadStarter), ThreadHistoryBody: optional(message.threadHistory),
    IsFirstThreadTurn: chat.threadId !== undefined || chat.parentId !== undefined ? input.isNewSession : undefined,
    ConversationLabel: label, GroupSubject: direct ? undefined : chat.title, GroupChannel: direct ? undefined : chat.channelName,
    GroupSpace: direct ? undefined : chat.spaceName, GroupMembers: direct ? undefined : chat.members, GroupSystemPrompt: optional(message.groupSystemPrompt),
    WasMentioned: input.wasMentioned, SenderName: sender.name, SenderId: sender.id, SenderUsername: sender.username, SenderTag: sender.tag,
    SenderE164: sender.e164, CommandAuthorized: input.commandAuthorized, CommandSource: message.commandSource ?? "text", Timestamp: message.timestampMs,
  };
  const args = /^\s*\/[^\s:]+(?:\s*:\s*|\s+)(\S[\s\S]*)$/.exec(lf(message.text))?.[1];
  if (args !== undefined) ctx.CommandArgs = args.trimEnd();
  if (input.words) assignWords(ctx, input.words);
  if (ids.length > 1) Object.assign(ctx, { MessageSids: ids, MessageSidFirst: ids[0], MessageSidLast: ids.at(-1) });
  if (input.ownerAllowFrom) ctx.OwnerAllowFrom = [...input.ownerAllowFrom];
  if (input.gatewayScopes) ctx.GatewayClientScopes = [...input.gatewayScopes];
  if (message.untrustedContext?.length) ctx.UntrustedContext = message.untrustedContext.map(lf);
  if (reply) {
    Object.assign(ctx, {
      ReplyToId: reply.id, ReplyToIdFull: reply.idFull, ReplyToBody: optional(reply.body), ReplyToSender: reply.sender, ReplyToIsQuote: reply.isQuote,
    });
    if (reply.forward) assignForward(ctx, "ReplyToForwarded", reply.forward);
  }
  if (forward) {
    assignForward(ctx, "Forwarded", forward);
    Object.assign(ctx, { ForwardedFromSignature: forward.signature, ForwardedFromChatType: forward.chatType, ForwardedFromMessageId: forward.messageId });
  }
  if (location) {
    Object.assign(ctx, {
      LocationLat: location.lat, LocationLon: location.lon, LocationAccuracy: location.accuracyM, LocationName: location.name,
      LocationAddress: location.address, LocationSource: location.source, LocationIsLive: location.isLive,
    });
  }
  if (input.media.length > 0) {
    ctx.MediaPaths = input.media.map((item) => item.path);
    ctx.MediaTypes = input.media.map((item) => item.mimeType || "application/octet-stream");
    ctx.MediaPath = ctx.MediaPaths[0];
    ctx.MediaType = ctx.MediaTypes[0];
  }
  return ctx;
}

/** Source: spec agent-pipeline §1.1 (Media). */
function assignWords(ctx: MsgContext, { understood, links }: Pick<MessageWords, "understood" | "links">): void {
  if (links.length > 0) ctx.LinkUnderstanding = [...links];
  if (!understood) return;
  if (understood.transcript !== undefined) ctx.Transcript = understood.transcript;
  if (understood.outcomes.length > 0) ctx.MediaUnderstanding = understood.outcomes.map(({ capability, index, text, by }) => ({ kind: capability === "audio" ? "audio.transcription" : `${capability}.description`, attachmentIndex: index, text, provider: by }));
  if (understood.decisions.length > 0) ctx.MediaUnderstandingDecisions = [...understood.decisions];
}

function assignForward(ctx: MsgContext, prefix: "Forwarded" | "ReplyToForwarded", forward: InboundForward): void {
  Object.assign(ctx, {
    [`${prefix}From`]: forward.from, [`${prefix}FromType`]: forward.type, [`${prefix}FromId`]: forward.id, [`${prefix}FromUsername`]: forward.username,
    [`${prefix}FromTitle`]: forward.title, [`${prefix}Date`]: forward.dateMs,
  });
}

function formatLocation(location: NonNullable<InboundMessage["location"]>): string {
  const at = `${location.lat.toFixed(6)}, ${location.lon.toFixed(6)}`;
  const accuracy = location.accuracyM === undefined ? "" : ` ±${Math.round(location.accuracyM)}m`;
  if (location.isLive) return `🛰 Live location: ${at}${accuracy}`;
  const place = [location.name, location.address].filter(Boolean).join(" — ");
  return place ? `📍 ${place} (${at}${accuracy})` : `📍 ${at}${accuracy}`;
}
