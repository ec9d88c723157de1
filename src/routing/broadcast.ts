import type { OpenClawConfig } from "../config/index.ts";
import { isKnownAgentId } from "./agents.ts";
import type { ChatPlace } from "./resolve-session-key.ts";
import { normalizeAgentId } from "./session-key.ts";

export interface Broadcast {
  /** At least one; each reads the message in a session of its own. */
  readonly agentIds: readonly string[];
  readonly strategy: "parallel" | "sequential";
}

/** The agents that read one chat together (`broadcast.<peer id>`), instead of the one that bindings choose. Source: spec agent-pipeline §2.1. */
export function resolveBroadcast(cfg: OpenClawConfig, { chat, sender }: Pick<ChatPlace, "chat"> & { readonly sender: { readonly id: string; readonly e164?: string | undefined } }): Broadcast | undefined {
  const peers = chat.type === "direct" ? [sender.id, sender.e164] : [chat.id];
  const { strategy, ...byPeer } = cfg.broadcast ?? {};
  const entry = Object.entries(byPeer).find(([peer]) => peers.includes(peer))?.[1];
  if (!Array.isArray(entry)) return undefined;
  const agentIds = [...new Set(entry.map(String).filter((id) => isKnownAgentId(cfg, id)).map(normalizeAgentId))];
  return agentIds.length === 0 ? undefined : { agentIds, strategy: strategy === "sequential" ? "sequential" : "parallel" };
}
