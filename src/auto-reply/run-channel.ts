import type { RunChannelContext } from "../agents/index.ts";
import type { ChannelPlugin, MsgContext } from "../channels/contract/index.ts";
import type { ReplyRoute } from "./reply/channel-sink.ts";

export interface RunPlace {
  readonly ctx: MsgContext | undefined;
  readonly plugin: ChannelPlugin | undefined;
  readonly route: ReplyRoute | undefined;
}

export function chatTypeOf(ctx: MsgContext | undefined): RunChannelContext["chatType"] {
  return ctx?.ChatType === "group" || ctx?.ChatType === "channel" ? ctx.ChatType : "direct";
}

/** What a run answers to: the route when it has one, else the channel that the message names. */
export function runChannel({ ctx, plugin, route }: RunPlace): RunChannelContext | undefined {
  const channel = route?.channel ?? ctx?.OriginatingChannel;
  if (!channel) return undefined;
  return {
    channel, chatType: chatTypeOf(ctx), accountId: route?.accountId, to: route?.to, threadId: route?.threadId, messageId: route?.messageId,
    capabilities: Object.entries(plugin?.capabilities ?? {}).flatMap(([name, on]) => (on === true ? [name] : [])),
  };
}
