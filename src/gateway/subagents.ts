import { join } from "node:path";
import { createSubagentRegistry, createSubagentService, THINK_LEVELS, type AgentRuntime, type SubagentService } from "../agents/index.ts";
import type { Conversation } from "../auto-reply/index.ts";
import type { ChannelManager } from "../channels/manager/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { Outbox } from "../delivery/index.ts";
import type { Clock } from "../infra/clock.ts";
import type { Logger } from "../infra/log.ts";
import { deliveryOrigin, hookSubagents, tellSubagentEnded, type HookRunner } from "../plugins/index.ts";
import type { SessionService } from "../sessions/index.ts";
import { mirrorAssistant } from "./mirror.ts";

export interface GatewaySubagentOptions {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly stateDir: string;
  readonly sessions: SessionService;
  readonly agents: AgentRuntime;
  readonly conversation: Conversation;
  readonly channels: ChannelManager;
  readonly outbox: Outbox;
  readonly hooks: HookRunner;
}

/** The sub-agent room with the gateway's conversations and channels behind it. */
export function createGatewaySubagents(options: GatewaySubagentOptions): SubagentService {
  const { config, clock, log, sessions, agents, conversation, channels, outbox, hooks } = options;
  return hookSubagents(createSubagentService({
    config, clock, log, sessions, thinkingLevels: THINK_LEVELS,
    registry: createSubagentRegistry(join(options.stateDir, "subagents", "runs.json"), log),
    async runTurn(turn) {
      const { result } = await conversation.runAgent({ ...turn, provenance: turn.lane === "main" ? { kind: "internal_system", sourceTool: "subagent" } : undefined });
      return result;
    },
    whenIdle: (sessionKey, timeoutMs) => agents.runs.waitIdle(sessionKey, timeoutMs),
    abort: (runId) => void agents.runs.abortComing(runId, "stop"),
    async tellChat(run, id, text) {
      const origin = await deliveryOrigin(hooks, run);
      const plugin = origin && channels.find(origin.channel);
      if (!origin || !plugin?.outbound) throw new Error(`channel ${origin?.channel ?? "?"} cannot send`);
      const accountId = origin.accountId ?? plugin.config.defaultAccountId(config());
      const sent = await outbox.deliver({ id, channel: plugin.id, message: { accountId, to: origin.to, threadId: origin.threadId, text } });
      if (sent.kind === "failed") throw new Error(sent.reason);
      await mirrorAssistant(sessions, run.requesterSessionKey, text, clock.now());
    },
    async parseModel(text, agentId) {
      const parsed = await agents.models.parseRef(text, agentId);
      return parsed.ok && (await agents.models.isAllowed(parsed.ref, agentId)) ? parsed.ref : undefined;
    },
    onEnded: (run) => tellSubagentEnded(hooks, run),
  }), hooks);
}
