import type { OpenClawConfig } from "../config/index.ts";
import { resolveRoute } from "./bindings.ts";
import { buildPeerSessionKey } from "./session-key.ts";
import type { ChatType } from "./types.ts";

export interface ChatPlace {
  readonly channel: string;
  readonly accountId: string;
  readonly chat: { readonly id: string; readonly type: ChatType; readonly threadId?: string | undefined; readonly isForum?: boolean | undefined };
  readonly sender: { readonly id: string };
}

/** The agent and the session of a message: bindings, then the chat's key by `session.scope` and `session.dmScope`. */
export function resolveSessionKey(cfg: OpenClawConfig, place: ChatPlace): { readonly agentId: string; readonly sessionKey: string } {
  const { chat } = place;
  const peerId = chat.type === "direct" ? place.sender.id : chat.id;
  const { agentId } = resolveRoute(cfg, { channel: place.channel, accountId: place.accountId, peer: { kind: chat.type, id: peerId } });
  if (cfg.session?.scope === "global") return { agentId, sessionKey: "global" };
  const sessionKey = buildPeerSessionKey({
    agentId, channel: place.channel, accountId: place.accountId, chatType: chat.type, peerId, threadId: chat.threadId, isForum: chat.isForum,
    dmScope: cfg.session?.dmScope, identityLinks: cfg.session?.identityLinks,
  });
  return { agentId, sessionKey };
}
