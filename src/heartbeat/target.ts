import { lastChatOf, type ChatAddress } from "../auto-reply/index.ts";
import type { ChannelPlugin } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { SessionEntry } from "../sessions/index.ts";
import type { HeartbeatSettings } from "./settings.ts";

export type HeartbeatTarget =
  | { readonly kind: "send"; readonly destination: ChatAddress }
  /** The session is a web chat: what is said in it is read there. */
  | { readonly kind: "webchat" }
  | { readonly kind: "none"; readonly reason: "target-none" | "no-target" | "dm-blocked" | "unknown-account" };

/**
 * `last` is the chat that the session last spoke with, the web chat when it knows no other; a channel id needs `to`, or that chat. `hasNews`: a reminder is due or
 * a command has ended, which somebody waits for. Source: spec agent-pipeline-output §7.
 */
export function resolveHeartbeatTarget(
  cfg: OpenClawConfig, settings: Pick<HeartbeatSettings, "target" | "to" | "accountId" | "directPolicy">, hasNews: boolean, entry: Readonly<SessionEntry> | undefined,
  channel: (id: string) => ChannelPlugin | undefined,
): HeartbeatTarget {
  const target = settings.target ?? (hasNews ? "last" : "none");
  if (target === "none") return { kind: "none", reason: "target-none" };
  const last = lastChatOf(entry);
  if (target === "last" && last === undefined && settings.to === undefined && entry !== undefined) return { kind: "webchat" };
  const wanted = target === "last" ? last?.channel : target;
  const plugin = wanted === undefined ? undefined : channel(wanted);
  if (!plugin?.outbound) return { kind: "none", reason: "no-target" };
  const isLast = last?.channel === plugin.id;
  const to = settings.to ?? (isLast ? last.to : undefined);
  if (to === undefined) return { kind: "none", reason: "no-target" };
  const accountId = settings.accountId ?? (isLast ? last.accountId : undefined) ?? plugin.config.defaultAccountId(cfg);
  if (!plugin.config.listAccountIds(cfg).includes(accountId)) return { kind: "none", reason: "unknown-account" };
  const isDirect = isLast && settings.to === undefined ? entry?.chatType !== "group" && entry?.chatType !== "channel" : !/(?:^|:)(?:group|channel|room):|^-\d+$|@g\.us$/i.test(to);
  if (settings.directPolicy === "block" && isDirect) return { kind: "none", reason: "dm-blocked" };
  return { kind: "send", destination: { channel: plugin.id, accountId, to, threadId: settings.to === undefined && isLast ? last.threadId : undefined } };
}

export interface HeartbeatVisibility {
  readonly showOk: boolean;
  readonly showAlerts: boolean;
  readonly useIndicator: boolean;
}

/** Account, then channel, then `channels.defaults.heartbeat`; `section` is the channel's with its account laid over. */
export function resolveVisibility(cfg: OpenClawConfig, section: Readonly<Record<string, unknown>>): HeartbeatVisibility {
  const own = section["heartbeat"];
  const merged = { ...cfg.channels?.defaults?.heartbeat, ...(typeof own === "object" ? (own as Partial<HeartbeatVisibility>) : {}) };
  return { showOk: merged.showOk ?? false, showAlerts: merged.showAlerts ?? true, useIndicator: merged.useIndicator ?? true };
}
