import type { OpenClawConfig } from "../../config/index.ts";
import type { ChannelAccessRules, ChatType, GroupContext, GroupToolPolicy } from "../contract/index.ts";
import type { TelegramAccount, TelegramGroupConfig, TelegramTopicConfig } from "./config.ts";

/** Comparison form of a user id: `telegram:`/`tg:` removed. Telegram's ids are numbers; names never match. */
export function normalizeEntry(entry: string): string {
  return entry.trim().toLowerCase().replace(/^(?:telegram|tg):/, "").trim();
}

const isUsable = (entry: string): boolean => entry === "*" || /^-?\d+$/.test(entry);

/** Numeric ids and `*` only; anything else is a warning, not an identity. */
export function usableEntries(list: readonly (string | number)[] | undefined): string[] {
  return (list ?? []).map((entry) => normalizeEntry(String(entry))).filter(isUsable);
}

export interface GroupSettings {
  readonly group: TelegramGroupConfig | undefined;
  readonly fallback: TelegramGroupConfig | undefined;
  readonly topic: TelegramTopicConfig | undefined;
}

export function resolveGroupSettings(account: TelegramAccount, chatId: string, threadId: string | undefined): GroupSettings {
  const groups = account.config.groups ?? {};
  const group = Object.hasOwn(groups, chatId) ? groups[chatId] : undefined;
  const fallback = groups["*"];
  const topics = (group ?? fallback)?.topics;
  return { group, fallback, topic: threadId !== undefined && topics && Object.hasOwn(topics, threadId) ? topics[threadId] : undefined };
}

/** Source: spec channels §2.4 and the end of §4.3. */
export function resolveAccess(
  account: TelegramAccount,
  cfg: OpenClawConfig,
  chat: { readonly id: string; readonly type: ChatType; readonly threadId?: string | undefined },
): ChannelAccessRules {
  const { config } = account;
  const { group, fallback, topic } = resolveGroupSettings(account, chat.id, chat.threadId);
  const settings = group ?? fallback;
  const groupPolicy = topic?.groupPolicy ?? settings?.groupPolicy ?? config.groupPolicy ?? cfg.channels?.defaults?.groupPolicy ?? "allowlist";
  const listed = topic?.allowFrom ?? settings?.allowFrom ?? config.groupAllowFrom;
  const groupAllowFrom = listed === undefined ? undefined : usableEntries(listed);
  const allowFrom = usableEntries(config.allowFrom);
  const anyGroups = Object.keys(config.groups ?? {}).length > 0;
  const mustBeListed = anyGroups || (groupPolicy === "allowlist" && (config.groupAllowFrom ?? []).length === 0);
  const groupListed = !mustBeListed || settings !== undefined;
  return {
    dmPolicy: config.dmPolicy ?? "pairing",
    allowFrom,
    groupPolicy,
    groupAllowFrom,
    groupListed,
    groupEnabled: settings?.enabled !== false && topic?.enabled !== false,
    requireMention: topic?.requireMention ?? group?.requireMention ?? fallback?.requireMention ?? true,
    ...(chat.type === "direct" ? {} : { groupConfigHint: configHint(account, chat.id, groupListed, groupPolicy === "allowlist" && (groupAllowFrom ?? allowFrom).length === 0) }),
  };
}

function configHint(account: TelegramAccount, chatId: string, listed: boolean, emptyList: boolean): string {
  const lines: string[] = [];
  if (!listed) lines.push(`${account.configPath}.groups["${chatId}"] = { requireMention: true }`);
  if (listed || emptyList) lines.push(`${account.configPath}.groupAllowFrom = ["<user id of who may speak>"]`);
  return lines.join(" and ");
}

export function resolveToolPolicy(account: TelegramAccount, ctx: GroupContext): GroupToolPolicy | undefined {
  const { group, fallback } = resolveGroupSettings(account, ctx.groupId, ctx.threadId);
  const settings = group ?? fallback;
  const bySender = settings?.toolsBySender;
  if (bySender) {
    const keys = [
      ctx.senderId && `id:${ctx.senderId}`,
      ctx.senderUsername && `username:${ctx.senderUsername.replace(/^@/, "").toLowerCase()}`,
      ctx.senderName && `name:${ctx.senderName.toLowerCase()}`,
      ctx.senderId,
      "*",
    ];
    for (const key of keys) {
      const found = key ? Object.entries(bySender).find(([name]) => name.toLowerCase() === key)?.[1] : undefined;
      if (found) return found;
    }
  }
  return settings?.tools;
}

export function collectWarnings(account: TelegramAccount): string[] {
  const { config, configPath } = account;
  const warnings: string[] = [];
  const check = (name: string, list: readonly (string | number)[] | undefined): void => {
    for (const entry of list ?? []) {
      if (!isUsable(normalizeEntry(String(entry)))) {
        warnings.push(`${configPath}.${name} has "${entry}", which is no numeric Telegram user id and is ignored. Send the bot a message and take the id from the pairing text.`);
      }
    }
  };
  check("allowFrom", config.allowFrom);
  check("groupAllowFrom", config.groupAllowFrom);
  for (const [id, group] of Object.entries(config.groups ?? {})) check(`groups["${id}"].allowFrom`, group.allowFrom);
  if (config.groupPolicy === "open" && Object.keys(config.groups ?? {}).length === 0) {
    warnings.push(`${configPath}.groupPolicy is "open" without a groups list: anybody who adds the bot to a group may talk to it. List the groups under ${configPath}.groups.`);
  }
  return warnings;
}
