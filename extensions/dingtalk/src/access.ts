import type { ChannelAccessRules, ChatType, GroupContext, GroupToolPolicy, OpenClawConfig } from "openclaw/plugin-sdk";
import type { DingTalkAccount, DingTalkConfig, DingTalkGroupConfig } from "./config.ts";
import { stripChannel } from "./targets.ts";

/** Comparison form of an id. Opaque ids are base64: the case is part of the identity. */
export const normalizeEntry = (entry: string): string => stripChannel(entry).replace(/^user:/i, "").trim();

/** The settings of one group, its own keys over those of `*`. */
export function groupSettings({ config }: DingTalkAccount, cid: string): { readonly listed: boolean; readonly settings: DingTalkGroupConfig } {
  const groups = config.groups ?? {};
  const own = Object.hasOwn(groups, cid) ? groups[cid] : undefined;
  // Older configurations list groups among the people.
  const legacy = (config.allowFrom ?? []).some((entry) => stripChannel(entry).replace(/^group:/i, "") === cid);
  return { listed: own !== undefined || groups["*"] !== undefined || legacy, settings: { ...groups["*"], ...own } };
}

/** Unset policies: pairing for people, allow list for groups. Source: decisions §6, spec channels §2.4, channels-cn §3.1. */
export function resolveAccess(account: DingTalkAccount, cfg: OpenClawConfig, chat: { readonly id: string; readonly type: ChatType }): ChannelAccessRules {
  const { config, configPath } = account;
  const { listed, settings } = groupSettings(account, chat.id);
  const groupPolicy = config.groupPolicy ?? cfg.channels?.defaults?.groupPolicy ?? "allowlist";
  const groupAllowFrom = (settings.groupAllowFrom ?? config.groupAllowFrom)?.map(normalizeEntry);
  const allowFrom = (config.allowFrom ?? []).map(normalizeEntry);
  const mustBeListed = Object.keys(config.groups ?? {}).length > 0 || (groupPolicy === "allowlist" && (config.groupAllowFrom ?? []).length === 0);
  const groupListed = !mustBeListed || listed;
  const hints = [
    ...(groupListed ? [] : [`${configPath}.groups["${chat.id}"] = { requireMention: true }`]),
    ...(groupPolicy === "allowlist" && (!groupListed || (groupAllowFrom ?? allowFrom).length === 0) ? [`${configPath}.groupAllowFrom = ["<staffId of who may speak, or *>"]`] : []),
  ];
  return {
    // A list of who may speak holds in open groups as well; an empty one shuts everybody out.
    dmPolicy: config.dmPolicy ?? "pairing", allowFrom, groupPolicy: groupPolicy === "open" && groupAllowFrom !== undefined ? "allowlist" : groupPolicy, groupAllowFrom, groupListed, groupEnabled: settings.enabled !== false,
    requireMention: settings.requireMention ?? config.requireMention ?? true,
    ...(chat.type !== "direct" && hints.length > 0 ? { groupConfigHint: hints.join(" and ") } : {}),
  };
}

export function resolveToolPolicy(account: DingTalkAccount, ctx: GroupContext): GroupToolPolicy | undefined {
  const { settings } = groupSettings(account, ctx.groupId);
  const bySender = settings.toolsBySender ?? {};
  const sender = normalizeEntry(ctx.senderId ?? "");
  return Object.entries(bySender).find(([id]) => normalizeEntry(id.replace(/^id:/, "")) === sender)?.[1] ?? bySender["*"] ?? settings.tools;
}

/** Keys of older plugins that are accepted, with the reason why they change nothing. */
const IDLE_KEYS = {
  agentId: "the robot is known by clientId", corpId: "the robot is known by clientId", robotCode: "the robot's code is clientId", showThinkingStream: "see cardStreamingMode", asyncMode: "every message is acknowledged at once",
  cardTemplateKey: "the text of a card is its variable content", bypassProxyForSend: "calls take no proxy",
} as const satisfies Partial<Record<keyof DingTalkConfig, string>>;

export function collectWarnings({ config, configPath }: DingTalkAccount): string[] {
  return [
    ...Object.entries(IDLE_KEYS).filter(([key]) => Object.hasOwn(config, key)).map(([key, reason]) => `${configPath}.${key} has no effect: ${reason}.`),
    ...(config.dmPolicy === "open" || config.allowFrom?.includes("*") === true ? [`${configPath}: everybody in the company who finds the bot may talk to it.`] : []),
    ...(config.groupPolicy === "open" && Object.keys(config.groups ?? {}).length === 0 ? [`${configPath}.groupPolicy is "open" without a groups list: list the groups under ${configPath}.groups.`] : []),
  ];
}
