import { readReply, toReplyPayload, type AgentRuntime, type ReplyPayload } from "../../agents/index.ts";
import type { ChannelPlugin } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { SessionService } from "../../sessions/index.ts";
import type { RunHints } from "../run-hints.ts";
import { resolveRunSettings } from "../run-settings.ts";
import { createChannelSink, type ReplyRoute } from "./channel-sink.ts";
import { sinkOptions, type DeliveryDeps } from "./open-delivery.ts";
import { resolveResponsePrefix } from "./prefix.ts";
import { unsentRest } from "./unsent-rest.ts";

export interface RedeliverDeps extends DeliveryDeps {
  readonly config: () => OpenClawConfig;
  readonly agents: AgentRuntime;
  readonly sessions: SessionService;
}

/** A run whose answer was complete when the process ended. */
export interface EndedRun {
  readonly runId: string;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly plugin: ChannelPlugin;
  readonly route: ReplyRoute;
  readonly hints?: RunHints | undefined;
}

/** Sends what is left of the answer; `texts` are its messages in the transcript. Pieces already sent are known by their ids. */
export async function redeliverFinals(deps: RedeliverDeps, run: EndedRun, texts: readonly string[]): Promise<void> {
  const cfg = deps.config();
  const { route } = run;
  const agent = deps.agents.agent(run.agentId);
  const { entry } = await deps.sessions.ensure(run.sessionKey);
  const { model, thinking } = await resolveRunSettings({ cfg, agents: deps.agents, agentId: run.agentId, entry, ctx: undefined, isGroup: false, hints: run.hints ?? {} });
  const prefix = resolveResponsePrefix(cfg, route.channel, route.accountId, { ...model, thinkingLevel: thinking, identityName: agent.config?.identity?.name });
  const blocks = deps.outbox.textsOf(`${run.runId}:block:`).map((text) => (prefix !== undefined && text.startsWith(prefix) ? text.slice(prefix.length) : text));
  const sink = createChannelSink({ ...sinkOptions(deps, { cfg, agent, ...run }), prefix: () => prefix, allowPreview: false });
  await sink.finals(unsentRest(texts.flatMap(toPayload), blocks));
}

function toPayload(raw: string): ReplyPayload[] {
  const reply = readReply(raw);
  const payload = toReplyPayload({ ...reply, text: reply.text.trim() });
  return payload ? [payload] : [];
}
