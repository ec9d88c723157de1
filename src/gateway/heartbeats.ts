import { randomUUID } from "node:crypto";
import type { AgentRuntime } from "../agents/index.ts";
import type { Conversation } from "../auto-reply/index.ts";
import type { ChannelManager } from "../channels/manager/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { SystemEvents } from "../delivery/index.ts";
import type { Clock } from "../infra/clock.ts";
import type { Logger } from "../infra/log.ts";
import { createHeartbeatService, type HeartbeatEvent, type HeartbeatService } from "../heartbeat/index.ts";
import type { SessionService } from "../sessions/index.ts";
import type { SendPayload } from "./send-payload.ts";

export interface GatewayHeartbeatOptions {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sessions: SessionService;
  readonly systemEvents: SystemEvents;
  readonly agents: AgentRuntime;
  readonly conversation: Conversation;
  readonly channels: ChannelManager;
  readonly send: SendPayload;
  readonly onEvent: (event: HeartbeatEvent) => void;
}

/** The heartbeat room with the gateway's agents and channels behind it. */
export function createGatewayHeartbeats(options: GatewayHeartbeatOptions): HeartbeatService {
  const { agents, channels, conversation } = options;
  return createHeartbeatService({
    config: options.config, clock: options.clock, log: options.log, sessions: options.sessions, systemEvents: options.systemEvents, onEvent: options.onEvent,
    workspaceDir: (agentId) => agents.agent(agentId).workspaceDir,
    channel: (id) => channels.find(id),
    notReady(channel, accountId) {
      const account = channels.snapshot()[channel]?.find((item) => item.accountId === accountId);
      if (!account) return "unknown-account";
      return account.running ? undefined : (account.lastError ?? `${channel} is not running`);
    },
    async parseModel(text, agentId) {
      const parsed = await agents.models.parseRef(text, agentId);
      if (!parsed.ok) options.log.warn("heartbeat.model is unknown; the agent's own model is used", { model: text, error: parsed.error });
      return parsed.ok ? parsed.ref : undefined;
    },
    hasModel: async (agentId) => (await agents.models.selectDefault(agentId)).source !== "offline",
    isBusy: (sessionKey) => conversation.isBusy(sessionKey),
    async runTurn(turn) {
      const { result } = await conversation.runAgent({
        runId: randomUUID(), sessionKey: turn.sessionKey, message: turn.prompt, isOwner: true, model: turn.model, provenance: { kind: "internal_system", sourceTool: "heartbeat" },
        heartbeat: { hideToolErrors: turn.suppressToolErrors, discard: turn.discard },
      });
      return result;
    },
    send: options.send,
  });
}
