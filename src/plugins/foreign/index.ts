import type { ChannelPlugin } from "../../channels/contract/index.ts";
import type { Logger } from "../../infra/log.ts";
import type { ChannelOffer } from "../registry.ts";
import { inPlugin } from "../scope.ts";
import { adaptForeignChannel } from "./channel.ts";
import { createLiveReceivers, type LiveReceivers } from "./live.ts";

export { createForeignDispatch } from "./dispatch.ts";
export { createLiveReceivers } from "./live.ts";

const CONTRACT = Symbol.for("openclaw.channel-contract");

/** A channel in either shape; one made with `defineChannel` of the plugin SDK is taken as it is. */
export function toChannelPlugin({ plugin, pluginId }: ChannelOffer, log: Logger, live: LiveReceivers = createLiveReceivers(), onFault: (text: string) => void = () => undefined): ChannelPlugin {
  return CONTRACT in plugin ? named(plugin as unknown as ChannelPlugin, pluginId) : (adaptForeignChannel(plugin, { pluginId, live, log, onFault }) as ChannelPlugin);
}

/** What an account starts (sockets, timers) runs in the name of its plugin. */
function named(channel: ChannelPlugin, pluginId: string): ChannelPlugin {
  const { gateway } = channel;
  return gateway ? { ...channel, gateway: { ...gateway, startAccount: (ctx) => inPlugin(pluginId, () => gateway.startAccount(ctx)) } } : channel;
}
