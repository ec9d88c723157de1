import type { ChannelAccountContext, InboundMessage, OpenClawConfig, ReceiveOutcome } from "openclaw/plugin-sdk";
import type { WecomAccount } from "./config.ts";
import { normalizeEntry } from "./targets.ts";

/** What every message passes, whichever way it came. */
export interface InboundDoor {
  take(message: InboundMessage): Promise<ReceiveOutcome>;
  /** What somebody thinks of an answer: the agent reads it with the next message. */
  takeFeedback(feedback: { readonly id: string; readonly words: string }, place: { readonly userId: string; readonly groupId: string | undefined }): Promise<void>;
}

/** Sessions of dynamic agents, and the refusal of messages that no binding names. Source: spec channels-cn §2.1. */
export function createDoor(ctx: ChannelAccountContext<WecomAccount>): InboundDoor {
  const { account } = ctx;
  return {
    async take(message) {
      if (account.config.routing?.failClosedOnDefaultRoute === true && !isBound(ctx.cfg(), account.accountId)) {
        ctx.setStatus({ lastError: `A message was refused: no binding names this channel, and ${account.configPath}.routing.failClosedOnDefaultRoute is on. Add bindings: [{ agentId, match: { channel: "wecom", accountId: "${account.accountId}" } }].` });
        return { kind: "dropped", reason: "no-binding" };
      }
      return ctx.receive({ ...message, ...sessionOf(account, message) });
    },
    async takeFeedback({ id, words }, { userId, groupId }) {
      const chat: InboundMessage["chat"] = groupId === undefined ? { id: userId, type: "direct" } : { id: groupId, type: "group" };
      // Notes go into the usual session of a chat, which belongs to somebody else there.
      if (userId === "" || sessionOf(account, { chat, sender: { id: userId } }).sessionKey !== undefined) return;
      await ctx.receiveEvent({ channel: "wecom", accountId: account.accountId, chat, actorId: userId, text: `WeCom: ${userId} ${words}`, contextKey: `wecom:feedback:${id}:${userId}`, dedupeId: `feedback:${id}:${userId}:${words}` });
    },
  };
}

const isBound = (cfg: OpenClawConfig, accountId: string): boolean =>
  (cfg.bindings ?? []).some(({ match }) => match.channel === "wecom" && (match.accountId === undefined || match.accountId === "*" || match.accountId.toLowerCase() === accountId));

/** People and groups get agents of their own; administrators talk to the usual one. */
function sessionOf({ accountId, config: { dynamicAgents } }: WecomAccount, { chat, sender }: Pick<InboundMessage, "chat" | "sender">): Pick<InboundMessage, "sessionKey"> {
  if (dynamicAgents?.enabled !== true) return {};
  const isGroup = chat.type !== "direct";
  const isWanted = isGroup ? dynamicAgents.groupEnabled !== false : dynamicAgents.dmCreateAgent !== false;
  if (!isWanted || (dynamicAgents.adminUsers ?? []).some((id) => normalizeEntry(id) === normalizeEntry(sender.id))) return {};
  const kind = isGroup ? "group" : "dm";
  const peer = normalizeEntry(isGroup ? chat.id : sender.id).replace(/[^a-z0-9_-]+/g, "-");
  return { sessionKey: `agent:wecom-${accountId}-${kind}-${peer}:wecom:${accountId}:${kind}:${peer}` };
}
