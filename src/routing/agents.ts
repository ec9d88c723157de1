import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { OpenClawConfig } from "../config/index.ts";
import { DEFAULT_AGENT_ID, normalizeAgentId } from "./session-key.ts";

type AgentConfig = NonNullable<NonNullable<OpenClawConfig["agents"]>["list"]>[number];

export interface AgentRoots {
  /** `~/.openclaw` or what the environment says. */
  readonly stateDir: string;
  /** Workspace of the default agent when nothing names one. */
  readonly workspaceDir: string;
}

export interface ResolvedAgent {
  readonly id: string;
  readonly name: string | undefined;
  readonly isDefault: boolean;
  readonly workspaceDir: string;
  /** `<state>/agents/<id>/agent`: models.json, auth-profiles.json. */
  readonly agentDir: string;
  readonly sessionsDir: string;
  readonly config: AgentConfig | undefined;
}

export function listAgentIds(cfg: OpenClawConfig): string[] {
  const ids = (cfg.agents?.list ?? []).map((agent) => normalizeAgentId(agent.id));
  return ids.length > 0 ? [...new Set(ids)] : [DEFAULT_AGENT_ID];
}

/** First agent marked `default`, else the first of the list, else `main`. */
export function resolveDefaultAgentId(cfg: OpenClawConfig): string {
  const list = cfg.agents?.list ?? [];
  return normalizeAgentId((list.find((agent) => agent.default) ?? list[0])?.id);
}

/** An id that a non-empty list does not know falls back to the default agent. */
export function resolveKnownAgentId(cfg: OpenClawConfig, agentId: string | undefined): string {
  const id = agentId === undefined ? resolveDefaultAgentId(cfg) : normalizeAgentId(agentId);
  return listAgentIds(cfg).includes(id) ? id : resolveDefaultAgentId(cfg);
}

export function isKnownAgentId(cfg: OpenClawConfig, agentId: string): boolean {
  return listAgentIds(cfg).includes(agentId.trim().toLowerCase());
}

export function resolveAgent(cfg: OpenClawConfig, agentId: string, roots: AgentRoots): ResolvedAgent {
  const id = normalizeAgentId(agentId);
  const config = (cfg.agents?.list ?? []).find((agent) => normalizeAgentId(agent.id) === id);
  const isDefault = id === resolveDefaultAgentId(cfg);
  const home = join(roots.stateDir, "agents", id);
  const configured = config?.workspace ?? (isDefault ? cfg.agents?.defaults?.workspace : undefined);
  const fallback = isDefault ? roots.workspaceDir : `${roots.workspaceDir}-${id}`;
  return {
    id,
    name: config?.name,
    isDefault,
    workspaceDir: configured ? expandPath(configured) : fallback,
    agentDir: config?.agentDir ? expandPath(config.agentDir) : join(home, "agent"),
    sessionsDir: join(home, "sessions"),
    config,
  };
}

/** `~` and relative paths to absolute ones. */
export function expandPath(path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? path : resolve(path);
}
