import { Type } from "typebox";
import type { OpenClawConfig } from "../../config/index.ts";
import type { FilesToSend } from "../../media/index.ts";
import { readRawReply } from "../output/reply-text.ts";
import type { MessagingSend } from "../pi-embedded-runner/run/types.ts";
import type { RunChannelContext } from "../pi-embedded-runner/run/params.ts";
import { optionalString } from "./arguments.ts";
import { toolError, toolJson, type AgentTool, type ToolResult } from "./contract.ts";

/** How the tool reaches channels; given by the room that owns them. */
export interface MessageActions {
  /** Names offered in the schema, `send` first. */
  listActions(): readonly string[];
  /** Channels that an account is set up for. */
  listChannels(): readonly string[];
  send(request: MessageSendRequest): Promise<{ ok: true; channel: string; to: string; messageIds: readonly string[] } | { ok: false; error: string }>;
  act(request: { channel: string; accountId: string | undefined; action: string; params: Readonly<Record<string, unknown>>; current: RunChannelContext | undefined; signal: AbortSignal }): Promise<unknown>;
}

export interface MessageSendRequest {
  /** Unique per tool call: a replay does not send twice. */
  readonly id: string;
  readonly channel: string;
  readonly to: string;
  readonly accountId: string | undefined;
  readonly threadId: string | undefined;
  readonly replyToId: string | undefined;
  readonly text: string;
  readonly mediaUrls: readonly string[];
  /** A file that is in no workspace. */
  readonly attachment: MessageAttachment | undefined;
  readonly asVoice: boolean;
  readonly silent: boolean;
  readonly buttons: unknown;
  /** Where the files lie that may be sent. */
  readonly files: FilesToSend;
  /** The conversation that sends, which holds the call already. */
  readonly fromSessionKey: string;
}

export interface MessageAttachment {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  readonly fileName: string;
}

export interface MessageToolOptions {
  readonly actions: MessageActions;
  readonly current: RunChannelContext | undefined;
  readonly isOwner: boolean;
  readonly settings: NonNullable<OpenClawConfig["tools"]>["message"];
  /** Where the files lie that may be sent. */
  readonly files: FilesToSend;
  readonly runId: string;
  readonly sessionKey: string;
  readonly sends: MessagingSend[];
}

const BOUND_ACTIONS = new Set(["send", "poll", "reply", "sendWithEffect", "sendAttachment", "thread-create", "thread-reply", "sticker"]);

const MAX_BROADCAST_TARGETS = 50;
const MAX_BUFFER_BYTES = 20 * 1024 * 1024;

/** Fields that channels read as the place of an action. */
const ADDRESS_FIELDS = ["target", "to", "targets", "chatId", "channelId", "channelIds", "groupId", "guildId", "chatGuid", "chatIdentifier"];

export function createMessageTool(options: MessageToolOptions): AgentTool {
  const { actions, current } = options;
  const names = actions.listActions();
  return {
    name: "message",
    label: "Message",
    summary: "Send messages and use channel actions",
    description: `Send to a chat or act on a channel. Actions: ${names.join(", ")}. Without target the current chat is meant.`,
    parameters: Type.Object({
      action: Type.String({ description: names.join("|") }),
      channel: Type.Optional(Type.String()),
      target: Type.Optional(Type.String({ description: "Chat or user to address" })),
      ...(names.includes("broadcast") ? { targets: Type.Optional(Type.Array(Type.String(), { description: "For broadcast" })) } : {}),
      accountId: Type.Optional(Type.String()),
      message: Type.Optional(Type.String()),
      media: Type.Optional(Type.String({ description: "Path or URL of a file to attach" })),
      replyTo: Type.Optional(Type.String()),
      threadId: Type.Optional(Type.String()),
      messageId: Type.Optional(Type.String()),
      emoji: Type.Optional(Type.String()),
      asVoice: Type.Optional(Type.Boolean()),
      silent: Type.Optional(Type.Boolean()),
    }, { additionalProperties: true }),
    describe: (args) => [args["action"], args["target"] ?? args["to"]].filter(Boolean).join(" "),
    async execute(args, { toolCallId, signal }) {
      const action = optionalString(args, "action") ?? "send";
      const target = optionalString(args, "target") ?? optionalString(args, "to") ?? optionalString(args, "chatId") ?? optionalString(args, "channelId");
      const channel = (optionalString(args, "channel") ?? current?.channel)?.toLowerCase();
      if (action === "broadcast") return broadcast(options, args, `${options.runId}:${toolCallId}`);
      if (!channel) return toolError("Action needs a channel.");
      const to = target ?? (channel === current?.channel ? current.to : undefined);
      const denied = crossContextRefusal(options, action, channel, to, args);
      if (denied) return toolError(denied);
      const accountId = optionalString(args, "accountId") ?? (channel === current?.channel ? current.accountId : undefined);
      if (action !== "send") {
        return toolJson(await actions.act({ channel, accountId, action, params: { ...args, ...(to === undefined ? {} : { to }) }, current, signal }));
      }
      if (!to) return toolError("Action send requires a target.");
      return send(options, args, { channel, to, accountId, id: `${options.runId}:${toolCallId}` });
    },
  };
}

async function send(options: MessageToolOptions, args: Record<string, unknown>, target: { channel: string; to: string; accountId: string | undefined; id: string }): Promise<ToolResult> {
  const raw = optionalString(args, "message") ?? optionalString(args, "text") ?? optionalString(args, "caption") ?? "";
  const directives = readRawReply(raw.replaceAll("\\n", "\n"));
  const media = [optionalString(args, "media"), optionalString(args, "path"), optionalString(args, "filePath"), ...directives.mediaUrls].filter((item) => item !== undefined);
  if (media.some((item) => item.startsWith("data:"))) return toolError("data: URLs cannot be sent as media; use buffer, or write the file first and give its path.");
  const attachment = readBuffer(args);
  if (typeof attachment === "string") return toolError(attachment);
  if (directives.text.trim() === "" && media.length === 0 && !attachment) return toolError("send requires text or media");
  const sameChat = target.channel === options.current?.channel && target.to === options.current.to;
  const result = await options.actions.send({
    ...target,
    threadId: optionalString(args, "threadId") ?? (sameChat ? options.current?.threadId : undefined),
    replyToId: optionalString(args, "replyTo") ?? directives.replyToId ?? (directives.replyToCurrent && sameChat ? options.current?.messageId : undefined),
    text: directives.text, mediaUrls: media, asVoice: args["asVoice"] === true || directives.audioAsVoice, silent: args["silent"] === true,
    attachment, buttons: args["buttons"], files: options.files, fromSessionKey: options.sessionKey,
  });
  if (!result.ok) return toolError(result.error);
  options.sends.push({ channel: result.channel, to: result.to, accountId: target.accountId, text: directives.text, mediaUrls: media });
  return toolJson({ ok: true, channel: result.channel, to: result.to, messageIds: result.messageIds });
}

/** The same to several chats; each has its own result. Source: spec tools-and-automation §1.3. */
async function broadcast(options: MessageToolOptions, args: Record<string, unknown>, id: string): Promise<ToolResult> {
  const { settings, isOwner, actions, current } = options;
  if (settings?.broadcast?.enabled === false) return toolError("Broadcast is disabled. Set tools.message.broadcast.enabled to true.");
  if (!isOwner) return toolError("Only the owner may have messages sent to other chats.");
  const targets = Array.isArray(args["targets"]) ? args["targets"].map(String).filter((target) => target.trim() !== "") : [];
  if (targets.length === 0) return toolError("Action broadcast requires targets.");
  const wanted = (optionalString(args, "channel") ?? current?.channel)?.toLowerCase();
  const channels = wanted === "all" ? actions.listChannels() : wanted === undefined ? [] : [wanted];
  if (channels.length === 0) return toolError("Action needs a channel.");
  const places = channels.flatMap((channel) => targets.map((to) => ({ channel, to })));
  if (places.length > MAX_BROADCAST_TARGETS) return toolError(`At most ${MAX_BROADCAST_TARGETS} messages at once; these are ${places.length}.`);
  const results: { channel: string; to: string; ok: boolean; result?: unknown; error?: string }[] = [];
  for (const [index, { channel, to }] of places.entries()) {
    const accountId = optionalString(args, "accountId") ?? (channel === current?.channel ? current.accountId : undefined);
    const denied = crossContextRefusal(options, "send", channel, to, {});
    const sent = denied ? toolError(denied) : await send(options, args, { channel, to, accountId, id: `${id}:${index}` });
    results.push({ channel, to, ...(sent.isError ? { ok: false, error: textOf(sent) } : { ok: true, result: sent.details }) });
  }
  return toolJson({ results });
}

const textOf = (result: ToolResult): string => result.content.map((block) => (block.type === "text" ? block.text : "")).join("");

/** `buffer` is base64 or a data: URL. A text says what is wrong with it. */
function readBuffer(args: Record<string, unknown>): MessageAttachment | string | undefined {
  const raw = optionalString(args, "buffer");
  if (raw === undefined) return undefined;
  const url = /^data:([^;,]{1,100})[^,]{0,100};base64,/.exec(raw);
  const base64 = url ? raw.slice(url[0].length) : raw;
  if (!/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64)) return "buffer must be base64 or a base64 data: URL.";
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > MAX_BUFFER_BYTES) return `buffer holds ${bytes.length} bytes; at most ${MAX_BUFFER_BYTES} are possible.`;
  return { bytes, mimeType: optionalString(args, "contentType") ?? optionalString(args, "mimeType") ?? url?.[1] ?? "application/octet-stream", fileName: optionalString(args, "filename") ?? "file" };
}

/** A run bound to a chat stays with it unless the owner asks or the configuration opens the way. */
function crossContextRefusal(options: MessageToolOptions, action: string, channel: string, to: string | undefined, args: Record<string, unknown>): string | undefined {
  const { current, settings, isOwner } = options;
  if (!current) return undefined;
  const bound = BOUND_ACTIONS.has(action);
  if (bound && settings?.allowCrossContextSend) return undefined;
  // Reading, deleting or banning elsewhere is no less than sending there.
  const elsewhere = channel !== current.channel || (to !== undefined && to !== current.to) || ADDRESS_FIELDS.some((key) => args[key] !== undefined && String(args[key]) !== current.to);
  if (!isOwner && elsewhere) {
    return bound ? "Only the owner may have messages sent to other chats." : "Only the owner may have things done in other chats.";
  }
  if (!bound) return undefined;
  if (channel === current.channel) {
    if (settings?.crossContext?.allowWithinProvider === false && to !== current.to) return `Cross-context messaging denied: action=${action} to another chat of "${channel}".`;
    return undefined;
  }
  if (current.channel === "webchat" || settings?.crossContext?.allowAcrossProviders) return undefined;
  return `Cross-context messaging denied: action=${action} target provider "${channel}" while bound to "${current.channel}".`;
}
