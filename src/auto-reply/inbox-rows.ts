import type { InboundMessage } from "../channels/contract/index.ts";
import type { Authority, InboxRow } from "../delivery/index.ts";
import type { ReplyRoute } from "./reply/channel-sink.ts";

/** One message of several that arrived in one breath. */
export function mergeRows(rows: readonly InboxRow[]): InboundMessage {
  const last = rows.at(-1)?.message as InboundMessage;
  if (rows.length === 1) return last;
  const reply = rows.findLast((row) => row.message.reply)?.message.reply;
  const media = rows.flatMap((row) => row.message.media ?? []);
  const forward = rows.findLast((row) => row.message.forward)?.message.forward;
  return {
    ...last,
    ...(reply ? { reply } : {}),
    ...(media.length > 0 ? { media } : {}),
    ...(forward ? { forward } : {}),
    text: joined(rows.map((row) => row.message.text)),
    ...(rows.some((row) => row.message.agentText !== undefined) ? { agentText: joined(rows.map((row) => row.message.agentText ?? row.message.text)) } : {}),
    mergedMessageIds: rows.slice(0, -1).flatMap((row) => [...(row.message.mergedMessageIds ?? []), row.message.messageId]),
  };
}

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== "").join("\n");

/** Nobody gains rights by writing beside somebody who has them. */
export function weakest(rows: readonly InboxRow[]): Authority {
  return rows.map((row) => row.authority).reduce((a, b) => ({ ...b, isOwner: a.isOwner && b.isOwner, commandAuthorized: a.commandAuthorized && b.commandAuthorized }));
}

export function replyRoute(message: InboundMessage, inboxId: string): ReplyRoute {
  return {
    channel: message.channel, accountId: message.accountId, to: message.to, threadId: message.chat.threadId, messageId: message.messageId,
    replyContext: message.replyContext, inboxId,
  };
}

/** One conversation of a platform, whoever writes in it. */
export const chatKey = (message: InboundMessage): string => [message.channel, message.accountId, message.chat.id, message.chat.threadId ?? ""].join("|");
