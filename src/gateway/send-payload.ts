import { randomUUID } from "node:crypto";
import type { AgentRuntime, ReplyPayload } from "../agents/index.ts";
import { toOutboundMedia, type ChatAddress } from "../auto-reply/index.ts";
import type { ChannelPlugin, OutboundMedia } from "../channels/contract/index.ts";
import type { DeliveryResult, Outbox } from "../delivery/index.ts";
import type { GuardedFetch } from "../infra/guarded-fetch.ts";
import type { Logger } from "../infra/log.ts";
import { fetchMedia } from "./media-fetch.ts";

/** Sends what an agent said unasked; a file that may not be sent is left out and logged. */
export type SendPayload = (to: ChatAddress, payload: ReplyPayload, from: { readonly agentId: string; readonly sessionKey: string }) => Promise<DeliveryResult>;

export function createSendPayload(deps: { readonly channel: (id: string) => ChannelPlugin | undefined; readonly agents: AgentRuntime; readonly outbox: Outbox; readonly fetch: GuardedFetch; readonly stateDir: string; readonly log: Logger }): SendPayload {
  return async ({ channel, accountId, to, threadId }, payload, from) => {
    const media: OutboundMedia[] = [];
    const place = deps.agents.filesToSend(from.agentId, from.sessionKey);
    const tagged = deps.channel(channel)?.outbound?.takeMediaTags?.(payload.text ?? "");
    const sources = [...(payload.mediaUrls ?? []).map((source) => ({ source, asVoice: payload.audioAsVoice === true })), ...(tagged?.media ?? [])];
    for (const { source, asVoice } of sources) {
      const resolved = await toOutboundMedia({ stateDir: deps.stateDir, fetchUrl: (url, max) => fetchMedia(deps.fetch, url, max) }, place, source, asVoice);
      if ("error" in resolved) deps.log.warn("a file was left out of a message", { source, error: resolved.error });
      else media.push(resolved);
    }
    return deps.outbox.deliver({ id: `unasked:${randomUUID()}`, channel, message: { accountId, to, threadId, text: tagged?.text ?? payload.text ?? "", ...(media.length > 0 ? { media } : {}) } });
  };
}
