import type { OpenClawConfig } from "../../config/index.ts";
import { normalizeAgentId, resolveDefaultAgentId } from "../../routing/index.ts";

export type AgentConfig = NonNullable<NonNullable<OpenClawConfig["agents"]>["list"]>[number];

/** The entry of `agents.list` for this agent, the default one when none is named. */
export function findAgentConfig(cfg: OpenClawConfig, agentId: string | undefined): AgentConfig | undefined {
  const id = agentId === undefined ? resolveDefaultAgentId(cfg) : normalizeAgentId(agentId);
  return cfg.agents?.list?.find((agent) => normalizeAgentId(agent.id) === id);
}
