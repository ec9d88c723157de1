import type { OpenClawConfig } from "../../config/index.ts";
import { buildPeerSessionKey, mainSessionKey, normalizeAccountId, resolveRoute, type ChatType } from "../../routing/index.ts";

/** Which agent and session a chat belongs to. Source: spec plugin-sdk §13, agent-pipeline §2. */

export interface RoutePeer {
  /** `dm` is read as `direct`. */
  readonly kind: string;
  readonly id: string;
}

export interface AgentRouteQuery {
  readonly cfg: OpenClawConfig;
  readonly channel: string;
  readonly accountId?: string | null | undefined;
  readonly peer?: RoutePeer | null | undefined;
  readonly parentPeer?: RoutePeer | null | undefined;
  readonly guildId?: string | null | undefined;
  readonly teamId?: string | null | undefined;
  readonly memberRoleIds?: readonly string[] | undefined;
}

export interface AgentRoute {
  readonly agentId: string;
  readonly channel: string;
  readonly accountId: string;
  readonly sessionKey: string;
  readonly mainSessionKey: string;
  /** E.g. `binding.peer` or `default`. */
  readonly matchedBy: string;
}

const chatType = (kind: string): ChatType => {
  const value = kind.trim().toLowerCase();
  return value === "group" || value === "channel" ? value : "direct";
};

export function resolveAgentRoute(query: AgentRouteQuery): AgentRoute {
  const { cfg } = query;
  const channel = query.channel.trim().toLowerCase();
  const accountId = normalizeAccountId(query.accountId);
  const peer = query.peer?.id ? query.peer : undefined;
  const { agentId, matchedBy } = resolveRoute(cfg, {
    channel, accountId, peer, parentPeer: query.parentPeer?.id ? query.parentPeer : undefined,
    guildId: query.guildId ?? undefined, teamId: query.teamId ?? undefined, roles: query.memberRoleIds,
  });
  return { agentId, channel, accountId, sessionKey: sessionKeyOf(cfg, agentId, channel, accountId, peer), mainSessionKey: mainSessionKey(agentId), matchedBy };
}

function sessionKeyOf(cfg: OpenClawConfig, agentId: string, channel: string, accountId: string, peer: RoutePeer | undefined): string {
  if (cfg.session?.scope === "global") return "global";
  if (!peer) return mainSessionKey(agentId);
  return buildPeerSessionKey({ agentId, channel, accountId, chatType: chatType(peer.kind), peerId: peer.id, dmScope: cfg.session?.dmScope, identityLinks: cfg.session?.identityLinks });
}

export interface AgentSessionKeyQuery {
  readonly agentId: string;
  readonly channel: string;
  readonly accountId?: string | null | undefined;
  readonly peer?: RoutePeer | null | undefined;
  readonly dmScope?: "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer" | undefined;
  readonly identityLinks?: Readonly<Record<string, readonly (string | number)[] | undefined>> | undefined;
}

export function buildAgentSessionKey(query: AgentSessionKeyQuery): string {
  if (!query.peer?.id) return mainSessionKey(query.agentId);
  return buildPeerSessionKey({
    agentId: query.agentId, channel: query.channel, accountId: normalizeAccountId(query.accountId), chatType: chatType(query.peer.kind), peerId: query.peer.id,
    dmScope: query.dmScope, identityLinks: query.identityLinks,
  });
}
