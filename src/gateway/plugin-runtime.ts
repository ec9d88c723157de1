import { randomUUID } from "node:crypto";
import type { AgentEvent } from "../agents/index.ts";
import { toOutboundMedia } from "../auto-reply/index.ts";
import type { ChannelPlugin, OutboundMedia } from "../channels/contract/index.ts";
import type { Emitter } from "../infra/emitter.ts";
import { createImageWorker } from "../media/index.ts";
import { createPluginRuntime, type DispatchReply, type PluginRuntime } from "../plugins/runtime/index.ts";
import { resolveDefaultAgentId } from "../routing/index.ts";
import type { GatewayContext } from "./context.ts";
import { fetchMedia } from "./media-fetch.ts";

export interface PluginRuntimeOptions {
  readonly context: GatewayContext;
  readonly dispatch: DispatchReply;
  readonly agentEvents: Pick<Emitter<AgentEvent>, "on">;
  readonly fetchAllowOrigins: readonly string[];
}

/** `api.runtime` of the plugins of one gateway. Source: spec plugin-sdk §13. */
export function createGatewayRuntime({ context, dispatch, agentEvents, fetchAllowOrigins }: PluginRuntimeOptions): PluginRuntime {
  const { config, clock } = context;

  function channelOf(id: string): ChannelPlugin {
    const channel = context.channels.find(id);
    if (!channel) throw new Error(`Channel ${id} is not part of this gateway. Known are: ${context.channels.plugins.map((known) => known.id).join(", ")}.`);
    return channel;
  }
  const accountOf = (channel: ChannelPlugin, accountId: string | undefined): string => accountId ?? channel.config.defaultAccountId(config());

  function targetOf(channel: ChannelPlugin, to: string, accountId: string): { readonly to: string; readonly threadId?: string | undefined } {
    const target = channel.outbound?.resolveTarget?.(config(), to, accountId) ?? { ok: true as const, to };
    if (!target.ok) throw new Error(target.error);
    return target;
  }

  async function mediaOf(source: string): Promise<OutboundMedia> {
    const { workspaceDir } = context.agents.agent(resolveDefaultAgentId(config()));
    const media = await toOutboundMedia({ stateDir: context.paths.stateDir, fetchUrl: (url, max) => fetchMedia(context.fetch, url, max) }, { workspaceDir }, source, false);
    if ("error" in media) throw new Error(`${source}: ${media.error}`);
    return media;
  }

  return createPluginRuntime({
    version: context.version, config, stateDir: context.paths.stateDir, sessions: context.sessions, pairing: context.pairing, systemEvents: context.systemEvents, images: createImageWorker(),
    fetchAllowOrigins, log: context.log.child({ subsystem: "plugins" }), dispatch,
    isVerbose: () => config().logging?.level === "debug" || config().logging?.level === "trace",
    onAgentEvent: (listener) => agentEvents.on(listener),
    onActivity: ({ channel, accountId, direction }) => direction === "outbound" && context.channels.noteOutbound(channel, accountId ?? "default"),
    now: () => clock.now(),
    isCommand: (text) => context.commands.match(text) !== undefined,
    hasNativeCommands: (channel) => context.channels.find(channel)?.capabilities.nativeCommands === true,
    async writeConfig(next) {
      await context.source.writer.replace(next);
      await context.source.reload();
    },
    async sendToChannel({ channel: id, to, text, mediaUrl, accountId: account, threadId, replyToId, silent }) {
      const channel = channelOf(id);
      const accountId = accountOf(channel, account);
      const target = targetOf(channel, to, accountId);
      const media = mediaUrl === undefined ? [] : [await mediaOf(mediaUrl)];
      const sent = await context.outbox.deliver({ id: `plugin:${randomUUID()}`, channel: channel.id, message: { accountId, to: target.to, threadId: threadId ?? target.threadId, replyToId, silent, text, ...(media.length > 0 ? { media } : {}) } });
      if (sent.kind === "failed") throw new Error(sent.reason);
      return { channel: channel.id, messageId: sent.messageIds.at(-1) ?? "", chatId: sent.chatId };
    },
    async sendPollToChannel({ channel: id, to, accountId: account, ...poll }) {
      const channel = channelOf(id);
      const accountId = accountOf(channel, account);
      const outcome = await channel.outbound?.sendPoll?.(config(), { accountId, ...targetOf(channel, to, accountId) }, poll, { signal: AbortSignal.timeout(60_000), skipParts: 0, onPart: () => undefined });
      if (!outcome) throw new Error(`${channel.meta.label} has no polls.`);
      if (outcome.kind !== "sent") throw new Error("reason" in outcome ? outcome.reason : "rate limited");
      return { channel: channel.id, messageId: outcome.messageIds.at(-1) ?? "" };
    },
    async probeChannel({ channel: id, accountId, timeoutMs = 10_000 }) {
      const channel = channelOf(id);
      return channel.status?.probeAccount?.(channel.config.resolveAccount(config(), accountOf(channel, accountId)), config(), timeoutMs);
    },
    listChannelActions: (id, cfg) => context.channels.find(id)?.actions?.listActions(cfg ?? config()) ?? [],
    async channelAction({ channel: id, action, params, accountId, cfg }) {
      const channel = channelOf(id);
      if (!channel.actions) throw new Error(`Message action ${action} not supported for channel ${id}.`);
      return channel.actions.handleAction({ cfg: cfg ?? config(), accountId: accountOf(channel, accountId), action, params, signal: AbortSignal.timeout(60_000) });
    },
  });
}
