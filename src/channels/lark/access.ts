import type { OpenClawConfig } from "../../config/index.ts";
import type { ChannelAccessRules, ChatType, GroupContext, GroupToolPolicy } from "../contract/index.ts";
import type { LarkAccount, LarkGroupConfig } from "./config.ts";
import { stripChannel } from "./targets.ts";

/** Comparison form of an id. The platform's ids tell upper from lower case. */
export const normalizeEntry = (entry: string): string => stripChannel(entry).replace(/^(?:user|open_id|chat|group):/i, "").trim();

const isChatId = (entry: string): boolean => entry.startsWith("oc_");
const normalized = (list: readonly (string | number)[] | undefined): string[] | undefined => list?.map((entry) => normalizeEntry(String(entry)));

/** The settings of one group, its own keys over those of `*`. */
export function groupSettings({ config }: LarkAccount, chatId: string): { readonly listed: boolean; readonly settings: LarkGroupConfig } {
  const groups = config.groups ?? {};
  const own = Object.hasOwn(groups, chatId) ? groups[chatId] : undefined;
  return { listed: own !== undefined || groups["*"] !== undefined, settings: { ...groups["*"], ...own } };
}

/**
 * `groupAllowFrom` lists groups here, as Feishu's own plugin has it; people in it limit who may speak in all groups. Who may
 * speak in one group is `groups.<oc_…>.allowFrom`. `openIdOf` knows people by the other ids that a list may hold.
 * Unset policies: pairing for people, allow list for groups. Source: decisions §6, spec channels-cn §4.4.
 */
export function resolveAccess(account: LarkAccount, cfg: OpenClawConfig, chat: { readonly id: string; readonly type: ChatType }, openIdOf: (entry: string) => string = (entry) => entry): ChannelAccessRules {
  const { config, configPath } = account;
  const { listed, settings } = groupSettings(account, chat.id);
  const policy = config.groupPolicy ?? cfg.channels?.defaults?.groupPolicy ?? "allowlist";
  const inGroups = normalized(config.groupAllowFrom) ?? [];
  const people = inGroups.filter((entry) => !isChatId(entry) && entry !== "*");
  const speakers = normalized(settings.allowFrom) ?? (people.length > 0 ? people : undefined);
  const chats = inGroups.filter(isChatId);
  const groupListed = policy !== "allowlist" || listed || inGroups.includes("*") || chats.includes(chat.id) || (people.length > 0 && chats.length === 0);
  return {
    dmPolicy: config.dmPolicy ?? "pairing",
    allowFrom: (normalized(config.allowFrom) ?? []).map(openIdOf),
    groupPolicy: policy === "disabled" ? "disabled" : speakers === undefined ? "open" : "allowlist",
    groupAllowFrom: speakers?.map(openIdOf),
    groupListed,
    groupEnabled: settings.enabled !== false,
    requireMention: settings.requireMention ?? config.requireMention ?? true,
    ...(chat.type !== "direct" && !groupListed ? { groupConfigHint: `${configPath}.groups["${chat.id}"] = { requireMention: true }` } : {}),
  };
}

export function resolveToolPolicy(account: LarkAccount, ctx: GroupContext): GroupToolPolicy | undefined {
  const { settings } = groupSettings(account, ctx.groupId);
  const bySender = settings.toolsBySender ?? {};
  const sender = normalizeEntry(ctx.senderId ?? "");
  const name = ctx.senderName?.toLowerCase();
  const find = (key: string | undefined): GroupToolPolicy | undefined => Object.entries(bySender).find(([id]) => id.toLowerCase() === key)?.[1];
  const byId = Object.entries(bySender).find(([id]) => normalizeEntry(id.replace(/^id:/i, "")) === sender)?.[1];
  return byId ?? (name === undefined ? undefined : find(`name:${name}`)) ?? bySender["*"] ?? settings.tools;
}

export function collectWarnings({ config, configPath, mode }: LarkAccount): string[] {
  const strange = [...(config.allowFrom ?? [])].map(String).filter((entry) => isChatId(normalizeEntry(entry)));
  return [
    ...strange.map((entry) => `${configPath}.allowFrom has "${entry}", which is a group: list groups under ${configPath}.groups.`),
    ...(config.dmPolicy === "open" || config.allowFrom?.map(String).includes("*") === true ? [`${configPath}: everybody who can find the bot may talk to it.`] : []),
    ...(config.groupPolicy === "open" ? [`${configPath}.groupPolicy is "open": anybody who adds the bot to a group may talk to it. List the groups under ${configPath}.groups instead.`] : []),
    ...(mode === "webhook" && !config.encryptKey ? [`${configPath}: without encryptKey, events are neither encrypted nor signed. Set it in Events & Callbacks → Encryption Strategy.`] : []),
  ];
}
