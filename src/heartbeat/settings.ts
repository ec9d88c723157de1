import type { AgentsDefaultsHeartbeatConfig, OpenClawConfig } from "../config/index.ts";
import { parseDurationMs } from "../infra/duration.ts";
import { listAgentIds, normalizeAgentId, resolveDefaultAgentId } from "../routing/index.ts";

/** How one agent's heartbeat runs. Source: spec agent-pipeline-output §7. */
export interface HeartbeatSettings {
  readonly agentId: string;
  /** 0: only when woken. */
  readonly everyMs: number;
  readonly every: string;
  readonly activeHours: AgentsDefaultsHeartbeatConfig["activeHours"];
  readonly model: string | undefined;
  /** A session key other than the main one. */
  readonly session: string | undefined;
  /** `none`, `last`, or a channel id; unset counts as none, but for reminders and ended commands as last. */
  readonly target: string | undefined;
  readonly to: string | undefined;
  readonly accountId: string | undefined;
  readonly directPolicy: "allow" | "block";
  readonly prompt: string | undefined;
  readonly ackMaxChars: number;
  readonly includeReasoning: boolean;
  readonly suppressToolErrorWarnings: boolean;
}

const DEFAULT_EVERY = "30m";
const DEFAULT_ACK_MAX_CHARS = 300;

/** Only agents with a block of their own run, when there are any; else the default agent. */
export function heartbeatAgentIds(cfg: OpenClawConfig): string[] {
  const own = (cfg.agents?.list ?? []).filter((agent) => agent.heartbeat !== undefined).map((agent) => normalizeAgentId(agent.id));
  return own.length > 0 ? [...new Set(own)] : [resolveDefaultAgentId(cfg)];
}

/** `everyMs` is 0 for an agent that has no heartbeat of its own; it still has one when something wakes it. */
export function resolveHeartbeat(cfg: OpenClawConfig, agentId: string): HeartbeatSettings {
  const own = cfg.agents?.list?.find((agent) => normalizeAgentId(agent.id) === agentId)?.heartbeat;
  const merged: AgentsDefaultsHeartbeatConfig = { ...cfg.agents?.defaults?.heartbeat, ...own };
  const every = merged.every?.trim() || DEFAULT_EVERY;
  const isOff = merged.enabled === false || cfg.heartbeat?.enabled === false || !heartbeatAgentIds(cfg).includes(agentId);
  const everyMs = isOff ? 0 : (parseDurationMs(every) ?? parseDurationMs(DEFAULT_EVERY) ?? 0);
  return {
    agentId, everyMs, every: everyMs === 0 ? "disabled" : every, activeHours: merged.activeHours, model: text(merged.model), session: text(merged.session),
    target: text(merged.target)?.toLowerCase(), to: text(merged.to), accountId: text(merged.accountId), directPolicy: merged.directPolicy ?? "allow",
    prompt: text(merged.prompt), ackMaxChars: merged.ackMaxChars ?? DEFAULT_ACK_MAX_CHARS, includeReasoning: merged.includeReasoning === true,
    suppressToolErrorWarnings: merged.suppressToolErrorWarnings === true,
  };
}

/** What health and status say of each agent's heartbeat. */
export interface HeartbeatSummary {
  readonly agentId: string;
  readonly enabled: boolean;
  readonly every: string;
  readonly everyMs: number | null;
}

export function summarizeHeartbeats(cfg: OpenClawConfig): HeartbeatSummary[] {
  return listAgentIds(cfg).map((agentId) => {
    const settings = resolveHeartbeat(cfg, agentId);
    if (settings.everyMs === 0) return { agentId, enabled: false, every: "disabled", everyMs: null };
    return { agentId, enabled: true, every: settings.every, everyMs: settings.everyMs };
  });
}

const text = (value: string | undefined): string | undefined => (value?.trim() ? value.trim() : undefined);
