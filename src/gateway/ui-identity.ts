import { readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import type { OpenClawConfig } from "../config/index.ts";
import { resolveAgent, resolveDefaultAgentId, type AgentRoots } from "../routing/index.ts";

export function uiIdentity(cfg: OpenClawConfig, roots: AgentRoots): { assistantName: string; assistantAvatar: string; assistantAgentId: string } {
  const agent = resolveAgent(cfg, resolveDefaultAgentId(cfg), roots);
  const identity = agent.config?.identity;
  return { assistantName: cfg.ui?.assistant?.name ?? identity?.name ?? "OpenClaw", assistantAvatar: cfg.ui?.assistant?.avatar ?? identity?.emoji ?? "", assistantAgentId: agent.id };
}

export async function avatarOf(cfg: OpenClawConfig, roots: AgentRoots, agentId: string): Promise<Uint8Array | undefined> {
  const agent = resolveAgent(cfg, agentId, roots);
  const avatar = agent.config?.identity?.avatar;
  if (!avatar || /^https?:|^data:/i.test(avatar)) return undefined;
  const path = join(agent.workspaceDir, avatar);
  return path.startsWith(agent.workspaceDir + sep) ? readFile(path).catch(() => undefined) : undefined;
}
