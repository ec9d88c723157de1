import { randomUUID } from "node:crypto";
import type { Conversation } from "../../auto-reply/index.ts";
import type { InboundMediaRef, InboundMessage, MediaKind, MsgContext } from "../../channels/contract/index.ts";
import type { Inbox, Outbox } from "../../delivery/index.ts";
import type { Clock } from "../../infra/clock.ts";
import type { DispatchReply, ReplyDispatcher, ReplyDispatchOptions } from "../runtime/index.ts";
import type { LiveReceiver, LiveReceivers } from "./live.ts";

export interface ForeignDispatchDeps {
  readonly conversation: Pick<Conversation, "receiveAdmitted" | "stop">;
  readonly inbox: Pick<Inbox, "whenFinished">;
  readonly outbox: Pick<Outbox, "whenSettled">;
  readonly live: LiveReceivers;
  readonly clock: Clock;
  /** Whether this sender owns the assistant; a channel has no say in it. Source: spec decisions §7.3. */
  readonly isOwner: (channel: string, accountId: string, senderId: string) => boolean;
}

/**
 * Takes a message whose plugin has gated it and made its context, and resolves when everything that was to be said has been
 * handed over. The message is journaled first: after a crash its answer goes out through the channel's outbound side.
 * @throws Error when the gateway cannot take it now. Source: spec decisions §5.5.
 */
export function createForeignDispatch(deps: ForeignDispatchDeps): DispatchReply {
  return async (ctx, _cfg, dispatcher, options) => {
    const open = deps.live.open(receiverOf(dispatcher, options));
    const message = toInboundMessage(ctx, deps.clock.now(), open.data);
    const stop = (): void => {
      if (message.sessionKey !== undefined) void deps.conversation.stop(message.sessionKey, "rpc");
    };
    try {
      const outcome = deps.conversation.receiveAdmitted({ ...message, ...(options.skillFilter ? { skillFilter: options.skillFilter } : {}) }, {
        kind: "run", commandAuthorized: ctx.CommandAuthorized === true, wasMentioned: ctx.WasMentioned === true, isOwner: deps.isOwner(message.channel, message.accountId, message.sender.id),
      });
      if (outcome.kind === "accepted") {
        options.abortSignal?.addEventListener("abort", stop, { once: true });
        await deps.inbox.whenFinished(outcome.id);
        await deps.outbox.whenSettled(outcome.id);
      } else if (outcome.kind !== "duplicate") throw new Error(`The message was not taken: ${outcome.reason}`);
      const counts = dispatcher.getQueuedCounts();
      return { queuedFinal: counts.final > 0, counts };
    } finally {
      options.abortSignal?.removeEventListener("abort", stop);
      open.close();
    }
  };
}

function receiverOf(dispatcher: ReplyDispatcher, options: ReplyDispatchOptions): LiveReceiver {
  const send = { tool: dispatcher.sendToolResult, block: dispatcher.sendBlockReply, final: dispatcher.sendFinalReply } as const;
  return {
    async deliver(payload, kind) {
      const failedBefore = dispatcher.getFailedCounts()[kind];
      send[kind](payload);
      await dispatcher.waitForIdle();
      // The plugin has been told; the message is not out, and goes another way or once more.
      if (dispatcher.getFailedCounts()[kind] > failedBefore) throw new Error("the plugin could not deliver it");
    },
    typing: () => options.onReplyStart?.(),
  };
}

function toInboundMessage(ctx: MsgContext, nowMs: number, replyData: object): InboundMessage {
  const channel = ctx.OriginatingChannel ?? ctx.Provider ?? ctx.Surface;
  if (!channel) throw new Error("The context of the message names no channel (Provider or OriginatingChannel).");
  const to = ctx.OriginatingTo ?? ctx.To ?? ctx.From ?? "";
  const text = ctx.BodyForCommands ?? ctx.CommandBody ?? ctx.RawBody ?? ctx.Body ?? "";
  const forAgent = ctx.BodyForAgent;
  const type = ctx.ChatType === "group" || ctx.ChatType === "channel" ? ctx.ChatType : "direct";
  const media = mediaOf(ctx);
  return {
    channel, accountId: ctx.AccountId ?? "default", messageId: ctx.MessageSid ?? randomUUID(),
    chat: { id: to, type, threadId: ctx.MessageThreadId === undefined ? undefined : String(ctx.MessageThreadId), title: ctx.GroupSubject, channelName: ctx.GroupChannel, spaceName: ctx.GroupSpace, members: ctx.GroupMembers, threadLabel: ctx.ThreadLabel },
    sender: { id: ctx.SenderId ?? peerOf(ctx.From, channel), name: ctx.SenderName, username: ctx.SenderUsername, tag: ctx.SenderTag, e164: ctx.SenderE164 },
    text, timestampMs: ctx.Timestamp ?? nowMs, from: ctx.From ?? "", to, sessionKey: ctx.SessionKey, replyContext: { data: replyData },
    ...(forAgent !== undefined && forAgent !== text ? { agentText: forAgent } : {}),
    ...(media.length > 0 ? { media } : {}),
    ...(ctx.ReplyToId === undefined ? {} : { reply: { id: ctx.ReplyToId, body: ctx.ReplyToBody, sender: ctx.ReplyToSender, isQuote: ctx.ReplyToIsQuote } }),
    groupSystemPrompt: ctx.GroupSystemPrompt, messageIdFull: ctx.MessageSidFull, threadStarter: ctx.ThreadStarterBody, threadHistory: ctx.ThreadHistoryBody, untrustedContext: ctx.UntrustedContext,
    commandSource: ctx.CommandSource === "native" ? "native" : "text",
    noDebounce: true,
  };
}

const peerOf = (from: string | undefined, channel: string): string => (from?.startsWith(`${channel}:`) ? from.slice(channel.length + 1) : (from ?? ""));

function mediaOf(ctx: MsgContext): InboundMediaRef[] {
  const paths = ctx.MediaPaths ?? (ctx.MediaPath === undefined ? [] : [ctx.MediaPath]);
  return paths.map((path, index) => {
    const mimeType = ctx.MediaTypes?.[index] ?? (index === 0 ? ctx.MediaType : undefined);
    return { kind: kindOf(mimeType), ref: path, mimeType };
  });
}

function kindOf(mimeType: string | undefined): MediaKind {
  const family = mimeType?.split("/")[0];
  return family === "image" || family === "video" || family === "audio" ? family : "document";
}
