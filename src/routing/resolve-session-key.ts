import type { OpenClawConfig } from "../config/index.ts";
import { resolveRoute } from "./bindings.ts";
import { resolveDefaultAgentId } from "./agents.ts";
import { agentIdOfKey, buildPeerSessionKey } from "./session-key.ts";
import type { ChatType } from "./types.ts";

/** What of a chat decides about its agent and its session. */
export interface ChatAddress {
  readonly id: string;
  readonly type: ChatType;
  /** Topic or thread; part of the session key. */
  readonly threadId?: string | undefined;
  readonly isForum?: boolean | undefined;
  /** The chat that a thread with an id of its own belongs to; bindings of it apply to the thread. */
  readonly parentId?: string | undefined;
  /** A new thread goes on from the conversation it was opened in. */
  readonly inheritsParent?: boolean | undefined;
  readonly guildId?: string | undefined;
  readonly teamId?: string | undefined;
}

export interface ChatPlace {
  readonly channel: string;
  readonly accountId: string;
  readonly chat: ChatAddress;
  readonly sender: { readonly id: string; readonly roles?: readonly string[] | undefined };
  /** Chosen by the channel; nothing is resolved. */
  readonly sessionKey?: string | undefined;
}

export interface ResolvedSession {
  readonly agentId: string;
  readonly sessionKey: string;
  /** The conversation that a new thread goes on from. */
  readonly parentSessionKey: string | undefined;
}

/**
 * The agent and the session of a message: bindings, unless `broadcastTo` names the agent, then the chat's key by
 * `session.scope` and `session.dmScope`. Source: spec agent-pipeline §2.
 */
export function resolveSessionKey(cfg: OpenClawConfig, place: ChatPlace, broadcastTo?: string): ResolvedSession {
  const { chat } = place;
  if (place.sessionKey !== undefined) {
    return { agentId: agentIdOfKey(place.sessionKey, resolveDefaultAgentId(cfg)), sessionKey: place.sessionKey, parentSessionKey: undefined };
  }
  const peerId = chat.type === "direct" ? place.sender.id : chat.id;
  const agentId = broadcastTo ?? resolveRoute(cfg, {
    channel: place.channel, accountId: place.accountId, peer: { kind: chat.type, id: peerId },
    parentPeer: chat.parentId === undefined ? undefined : { kind: chat.type, id: chat.parentId },
    guildId: chat.guildId, teamId: chat.teamId, roles: place.sender.roles,
  }).agentId;
  if (cfg.session?.scope === "global" && broadcastTo === undefined) return { agentId, sessionKey: "global", parentSessionKey: undefined };
  const key = (peer: string, threadId: string | undefined): string =>
    buildPeerSessionKey({
      agentId, channel: place.channel, accountId: place.accountId, chatType: chat.type, peerId: peer, threadId, isForum: chat.isForum,
      dmScope: cfg.session?.dmScope, identityLinks: cfg.session?.identityLinks,
    });
  const isThread = chat.parentId !== undefined || chat.threadId !== undefined;
  return {
    agentId, sessionKey: key(peerId, chat.threadId),
    parentSessionKey: isThread && chat.inheritsParent === true ? key(chat.parentId ?? peerId, undefined) : undefined,
  };
}
