import { formatEnvelope, headerPart, resolveEnvelopeFormat, type EnvelopeFormat, type EnvelopeZone } from "../../auto-reply/index.ts";
import type { MsgContext } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";

/** From what a channel plugin knows of a message to what the conversation reads. Source: spec plugin-sdk §12–13. */

const lf = (text: string): string => text.replace(/\r\n?/g, "\n");

export interface FinalizeOptions {
  readonly forceBodyForAgent?: boolean | undefined;
  readonly forceBodyForCommands?: boolean | undefined;
  readonly forceChatType?: boolean | undefined;
  readonly forceConversationLabel?: boolean | undefined;
}

export type FinalizedContext<T> = T & MsgContext & { Body: string; BodyForAgent: string; BodyForCommands: string; CommandAuthorized: boolean };

const TEXT_FIELDS = ["RawBody", "CommandBody", "Transcript", "ThreadStarterBody", "ThreadHistoryBody"] as const;

/** Fills what a context lacks; the same object comes back, with all else that was in it. */
export function finalizeInboundContext<T extends object>(draft: T, options: FinalizeOptions = {}): FinalizedContext<T> {
  const ctx = draft as T & MsgContext;
  ctx.Body = lf(typeof ctx.Body === "string" ? ctx.Body : "");
  for (const field of TEXT_FIELDS) {
    const text = ctx[field];
    if (typeof text === "string") ctx[field] = lf(text);
  }
  if (Array.isArray(ctx.UntrustedContext)) ctx.UntrustedContext = ctx.UntrustedContext.filter((line) => typeof line === "string").map(lf).filter((line) => line.trim() !== "");
  const chatType = normalizeChatType(ctx.ChatType);
  if (chatType !== undefined) ctx.ChatType = chatType;
  const own = (text: string | undefined, forced: boolean | undefined): string | undefined => (forced ? undefined : text);
  ctx.BodyForAgent = lf(own(ctx.BodyForAgent, options.forceBodyForAgent) ?? ctx.CommandBody ?? ctx.RawBody ?? ctx.Body);
  ctx.BodyForCommands = lf(own(ctx.BodyForCommands, options.forceBodyForCommands) ?? ctx.CommandBody ?? ctx.RawBody ?? ctx.Body);
  const label = own(ctx.ConversationLabel?.trim() || undefined, options.forceConversationLabel) ?? conversationLabel(ctx);
  if (label !== undefined) ctx.ConversationLabel = label;
  // Nothing but a clear yes lets commands through.
  ctx.CommandAuthorized = ctx.CommandAuthorized === true;
  completeMediaTypes(ctx);
  return ctx as FinalizedContext<T>;
}

function normalizeChatType(raw: unknown): "direct" | "group" | "channel" | undefined {
  const value = typeof raw === "string" ? raw.trim().toLowerCase() : "";
  if (value === "direct" || value === "dm") return "direct";
  return value === "group" || value === "channel" ? value : undefined;
}

function conversationLabel(ctx: MsgContext): string | undefined {
  const text = (value: string | undefined): string | undefined => value?.trim() || undefined;
  if (text(ctx.ThreadLabel)) return text(ctx.ThreadLabel);
  if (normalizeChatType(ctx.ChatType) === "direct") return text(ctx.SenderName) ?? text(ctx.From);
  return text(ctx.GroupChannel) ?? text(ctx.GroupSubject) ?? text(ctx.GroupSpace) ?? text(ctx.From);
}

/** As many types as files. */
function completeMediaTypes(ctx: MsgContext): void {
  const count = ctx.MediaPaths?.length ?? ctx.MediaUrls?.length ?? (ctx.MediaPath || ctx.MediaUrl ? 1 : 0);
  if (count === 0) return;
  const given = ctx.MediaTypes ?? (ctx.MediaType ? [ctx.MediaType] : []);
  ctx.MediaTypes = Array.from({ length: count }, (_, index) => given[index]?.trim() || "application/octet-stream");
  ctx.MediaType = ctx.MediaType?.trim() || ctx.MediaTypes[0];
}

/** How stamps in envelopes are written; made by `resolveEnvelopeFormatOptions`. */
export interface EnvelopeFormatOptions {
  readonly timezone?: string | undefined;
  readonly includeTimestamp?: boolean | undefined;
  readonly includeElapsed?: boolean | undefined;
  readonly userTimezone?: string | undefined;
}

export function resolveEnvelopeFormatOptions(cfg: OpenClawConfig): EnvelopeFormatOptions {
  const { zone, withElapsed, withStamp } = resolveEnvelopeFormat(cfg);
  return { timezone: zone.kind === "zone" ? zone.name : zone.kind, includeTimestamp: withStamp, includeElapsed: withElapsed, userTimezone: cfg.agents?.defaults?.userTimezone };
}

function toFormat(options: EnvelopeFormatOptions = {}): EnvelopeFormat {
  const name = options.timezone?.trim() ?? "local";
  const zone: EnvelopeZone =
    /^(?:utc|gmt)$/i.test(name) ? { kind: "utc" }
    : name === "" || /^(?:local|host)$/i.test(name) ? { kind: "local" }
    : { kind: "zone", name: /^user$/i.test(name) ? (options.userTimezone ?? "UTC") : name };
  return { zone, withStamp: options.includeTimestamp !== false, withElapsed: options.includeElapsed !== false };
}

const toMs = (time: number | Date | undefined): number | undefined => (time instanceof Date ? time.getTime() : time);

export interface AgentEnvelope {
  readonly channel: string;
  readonly from?: string | undefined;
  readonly timestamp?: number | Date | undefined;
  readonly host?: string | undefined;
  readonly ip?: string | undefined;
  readonly body: string;
  readonly previousTimestamp?: number | Date | undefined;
  readonly envelope?: EnvelopeFormatOptions | undefined;
}

/** `[PC Alice Tue 2023-11-14 22:13 UTC] ping`. */
export function formatAgentEnvelope(input: AgentEnvelope): string {
  const { channel, from, host, ip, body } = input;
  return formatEnvelope(toFormat(input.envelope), { channel: channel.trim() || "Channel", from: from?.trim(), host: host?.trim(), ip: ip?.trim(), atMs: toMs(input.timestamp), previousAtMs: toMs(input.previousTimestamp) }, body);
}

export interface InboundEnvelope extends Omit<AgentEnvelope, "host" | "ip"> {
  readonly from: string;
  readonly chatType?: string | undefined;
  readonly senderLabel?: string | undefined;
  readonly sender?: { readonly name?: string | undefined; readonly username?: string | undefined; readonly tag?: string | undefined; readonly e164?: string | undefined; readonly id?: string | undefined } | undefined;
  /** Written by the bot's own account. */
  readonly fromMe?: boolean | undefined;
}

/** The same; in a group the sender stands before the text. */
export function formatInboundEnvelope(input: InboundEnvelope): string {
  const isDirect = input.chatType === undefined || input.chatType === "" || normalizeChatType(input.chatType) === "direct";
  const { sender } = input;
  const label = headerPart(input.senderLabel?.trim() || (sender?.name ?? sender?.username ?? sender?.tag ?? sender?.e164 ?? sender?.id ?? ""));
  const who = !isDirect && label !== "" ? label : isDirect && input.fromMe ? "(self)" : undefined;
  return formatAgentEnvelope({ ...input, body: who === undefined ? input.body : `${who}: ${input.body}` });
}
