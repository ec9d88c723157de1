import type { AgentEvent, AgentRuntime } from "../../agents/index.ts";
import type { ChannelPlugin, MsgContext, OutboundMedia } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Outbox, PreviewLog } from "../../delivery/index.ts";
import type { Logger } from "../../infra/log.ts";
import { resolveOutboundMedia, type FilesToSend, type ResolveMediaOptions } from "../../media/index.ts";
import type { ResolvedAgent } from "../../routing/index.ts";
import { chatTypeOf } from "../run-channel.ts";
import type { RunSettings } from "../run-settings.ts";
import { resolveBlockReply } from "./block-config.ts";
import { createChannelSink, type ChannelSinkOptions, type ReplyRoute } from "./channel-sink.ts";
import { resolveResponsePrefix } from "./prefix.ts";
import { activeModelOf, createRunDelivery, type RunDelivery } from "./run-delivery.ts";
import type { StatusReactions } from "./status-reactions.ts";

/** What sending answers takes. */
export interface DeliveryDeps {
  readonly outbox: Outbox;
  readonly previews: PreviewLog;
  readonly log: Logger;
  readonly stateDir: string;
  readonly agents: Pick<AgentRuntime, "filesToSend">;
  readonly fetchUrl: ResolveMediaOptions["fetchUrl"];
}

export interface OpenDeliveryInput {
  readonly cfg: OpenClawConfig;
  readonly runId: string;
  readonly sessionKey: string;
  readonly plugin: ChannelPlugin;
  readonly route: ReplyRoute;
  readonly agent: ResolvedAgent;
  readonly settings: Pick<RunSettings, "model" | "thinking" | "reasoning">;
  readonly ctx: MsgContext | undefined;
  readonly status: StatusReactions | undefined;
  /** A look around by itself: no typing, no preview, no blocks. */
  readonly isHeartbeat: boolean;
}

const TYPING_INTERVAL_SEC = 6;

/** How a run shows in its chat. `follow` hears of every event of the run. */
export function openDelivery(deps: DeliveryDeps, input: OpenDeliveryInput): RunDelivery & { follow(event: Pick<AgentEvent, "stream" | "data">): void } {
  const { cfg, plugin, route, agent, settings, isHeartbeat } = input;
  const mayWait = chatTypeOf(input.ctx) !== "direct" && input.ctx?.WasMentioned !== true;
  let active = settings.model;
  const blockReply = isHeartbeat ? undefined : resolveBlockReply(cfg, plugin, route.accountId, agent.config?.humanDelay);
  const sink = createChannelSink({
    ...sinkOptions(deps, input), allowPreview: blockReply === undefined && !isHeartbeat,
    prefix: () => resolveResponsePrefix(cfg, route.channel, route.accountId, { ...active, thinkingLevel: settings.thinking, identityName: agent.config?.identity?.name }),
  });
  const typingMode = cfg.session?.typingMode ?? cfg.agents?.defaults?.typingMode ?? (mayWait ? "message" : "instant");
  const delivery = createRunDelivery({
    sink, status: input.status, blockReply, reasoning: plugin.outbound?.showsReasoning ? settings.reasoning : "off", typingMode: isHeartbeat ? "never" : typingMode,
  });
  return {
    ...delivery,
    follow(event) {
      active = activeModelOf(event) ?? active;
    },
  };
}

export function sinkOptions(
  deps: DeliveryDeps, { cfg, plugin, route, runId, agent, sessionKey }: Pick<OpenDeliveryInput, "cfg" | "plugin" | "route" | "runId" | "agent" | "sessionKey">,
): Omit<ChannelSinkOptions, "prefix" | "allowPreview"> {
  return {
    cfg, plugin, route, runId, outbox: deps.outbox, previews: deps.previews, log: deps.log,
    typingIntervalMs: (cfg.session?.typingIntervalSeconds ?? cfg.agents?.defaults?.typingIntervalSeconds ?? TYPING_INTERVAL_SEC) * 1000,
    resolveMedia: (source, asVoice) => toOutboundMedia(deps, deps.agents.filesToSend(agent.id, sessionKey), source, asVoice),
  };
}

export async function toOutboundMedia(
  deps: Pick<DeliveryDeps, "stateDir" | "fetchUrl">, files: FilesToSend, source: string, asVoice: boolean,
): Promise<OutboundMedia | { readonly error: string }> {
  const media = await resolveOutboundMedia(source, { ...files, stateDir: deps.stateDir, fetchUrl: deps.fetchUrl });
  return "error" in media || !asVoice ? media : { ...media, asVoice: true };
}
