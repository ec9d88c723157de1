import type { ChannelAccessRules, ChatType, DmPolicy, GroupContext, GroupToolPolicy, OpenClawConfig } from "openclaw/plugin-sdk";
import type { WecomAccount, WecomGroupConfig } from "./config.ts";
import { normalizeEntry } from "./targets.ts";

const STRICTEST: readonly DmPolicy[] = ["disabled", "allowlist", "pairing", "open"];

/** Rules for people: of the account, its bot and its app. Where bot and app differ the stricter policy holds for both. */
export function dmRules({ config: { dmPolicy, allowFrom, bot, agent } }: WecomAccount): { readonly policy: DmPolicy; readonly allowFrom: readonly string[] } {
  const given = [dmPolicy, bot?.dm?.enabled === false ? "disabled" : bot?.dm?.policy, agent?.dm?.enabled === false ? "disabled" : (agent?.dm?.policy ?? agent?.dmPolicy)].filter((one) => one !== undefined);
  const lists = [allowFrom, bot?.dm?.allowFrom, agent?.dm?.allowFrom, agent?.allowFrom].flatMap((list) => list ?? []);
  return { policy: STRICTEST.find((one) => given.includes(one)) ?? "pairing", allowFrom: [...new Set(lists.map(normalizeEntry))] };
}

/** The settings of one group, its own keys over those of `*`. */
export function groupSettings({ config: { groups = {} } }: WecomAccount, chatId: string): { readonly listed: boolean; readonly settings: WecomGroupConfig } {
  const key = Object.keys(groups).find((id) => normalizeEntry(id) === normalizeEntry(chatId));
  return { listed: key !== undefined || groups["*"] !== undefined, settings: { ...groups["*"], ...(key === undefined ? {} : groups[key]) } };
}

/** Unset policies: pairing for people, allow list for groups. Source: decisions §6, spec channels §2.4. */
export function resolveAccess(account: WecomAccount, cfg: OpenClawConfig, chat: { readonly id: string; readonly type: ChatType }): ChannelAccessRules {
  const { config, configPath } = account;
  const { policy, allowFrom } = dmRules(account);
  const { listed, settings } = groupSettings(account, chat.id);
  const groupPolicy = config.groupPolicy ?? cfg.channels?.defaults?.groupPolicy ?? "allowlist";
  const groupAllowFrom = (settings.allowFrom ?? config.groupAllowFrom)?.map(normalizeEntry);
  const mustBeListed = Object.keys(config.groups ?? {}).length > 0 || (groupPolicy === "allowlist" && (config.groupAllowFrom ?? []).length === 0);
  const groupListed = !mustBeListed || listed;
  const hints = [
    ...(groupListed ? [] : [`${configPath}.groups["${chat.id}"] = {}`]),
    ...(groupPolicy === "allowlist" && (!groupListed || (groupAllowFrom ?? allowFrom).length === 0) ? [`${configPath}.groupAllowFrom = ["<userid of who may speak, or *>"]`] : []),
  ];
  return {
    // A list of who may speak holds in open groups as well.
    dmPolicy: policy, allowFrom, groupPolicy: groupPolicy === "open" && groupAllowFrom !== undefined ? "allowlist" : groupPolicy, groupAllowFrom, groupListed, groupEnabled: settings.enabled !== false,
    requireMention: settings.requireMention ?? config.requireMention ?? true,
    ...(chat.type !== "direct" && hints.length > 0 ? { groupConfigHint: hints.join(" and ") } : {}),
  };
}

export function resolveToolPolicy(account: WecomAccount, ctx: GroupContext): GroupToolPolicy | undefined {
  const { settings } = groupSettings(account, ctx.groupId);
  const bySender = settings.toolsBySender ?? {};
  const sender = normalizeEntry(ctx.senderId ?? "");
  return Object.entries(bySender).find(([id]) => normalizeEntry(id.replace(/^id:/, "")) === sender)?.[1] ?? bySender["*"] ?? settings.tools;
}

export function collectWarnings(account: WecomAccount): string[] {
  const { config, configPath } = account;
  const { policy, allowFrom } = dmRules(account);
  const idle = [...(["tempDir", "retentionHours", "cleanupOnStart"] as const).filter((key) => config.media?.[key] !== undefined).map((key) => `media.${key}`), ...(config.mediaLocalRoots ? ["mediaLocalRoots"] : [])];
  return [
    ...(policy === "open" || allowFrom.includes("*") ? [`${configPath}: everybody in the company who sees the bot may talk to it.`] : []),
    ...(config.groupPolicy === "open" && Object.keys(config.groups ?? {}).length === 0 ? [`${configPath}.groupPolicy is "open" without a groups list: list the groups under ${configPath}.groups.`] : []),
    ...idle.map((key) => `${configPath}.${key} has no effect: files lie where all channels keep theirs, and the gateway decides which may be sent.`),
  ];
}
