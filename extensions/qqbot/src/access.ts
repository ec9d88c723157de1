import type { ChannelAccessRules, ChatType, GroupContext, GroupToolPolicy, OpenClawConfig } from "openclaw/plugin-sdk";
import { type QQBotAccount, type QQBotGroupConfig, unknownKeys } from "./config.ts";

/** Comparison form of an openid. */
export const normalizeEntry = (entry: string): string => entry.trim().toLowerCase().replace(/^qqbot:(?:c2c:)?/, "").toUpperCase();

/** The settings of one group: its own keys over those of `*`. `chatId` is `group:<openid>` or `channel:<id>`. */
export function groupSettings(account: QQBotAccount, chatId: string): { readonly listed: boolean; readonly settings: QQBotGroupConfig } {
  const groups = account.config.groups ?? {};
  const bare = chatId.replace(/^(?:group|channel):/, "").toLowerCase();
  const own = Object.entries(groups).find(([id]) => id.toLowerCase().replace(/^(?:qqbot:)?(?:group:|channel:)?/, "") === bare)?.[1];
  return { listed: own !== undefined || groups["*"] !== undefined, settings: { ...groups["*"], ...own } };
}

/** Unset policies: pairing for people, allow list for groups. Source: decisions §6, spec channels §2.4. */
export function resolveAccess(account: QQBotAccount, cfg: OpenClawConfig, chat: { readonly id: string; readonly type: ChatType }): ChannelAccessRules {
  const { config, configPath } = account;
  const { listed, settings } = groupSettings(account, chat.id);
  const groupPolicy = config.groupPolicy ?? cfg.channels?.defaults?.groupPolicy ?? "allowlist";
  const groupAllowFrom = config.groupAllowFrom?.map(normalizeEntry);
  const allowFrom = (config.allowFrom ?? []).map(normalizeEntry);
  const mustBeListed = Object.keys(config.groups ?? {}).length > 0 || (groupPolicy === "allowlist" && (groupAllowFrom ?? []).length === 0);
  const groupListed = !mustBeListed || listed;
  const hints = [
    ...(groupListed ? [] : [`${configPath}.groups["${chat.id.replace(/^group:/, "")}"] = { requireMention: true }`]),
    ...(groupPolicy === "allowlist" && (groupAllowFrom ?? allowFrom).length === 0 ? [`${configPath}.groupAllowFrom = ["<member openid, or *>"]`] : []),
  ];
  return {
    dmPolicy: config.dmPolicy ?? "pairing", allowFrom, groupPolicy, groupAllowFrom, groupListed, groupEnabled: settings.enabled !== false,
    historyLimit: settings.historyLimit ?? config.historyLimit,
    requireMention: settings.requireMention ?? config.defaultRequireMention ?? true,
    ...(chat.type !== "direct" && hints.length > 0 ? { groupConfigHint: hints.join(" and ") } : {}),
  };
}

/** Commands that only inform, or concern the sender's own conversation. */
const SAFE_COMMANDS = new Set(["help", "commands", "status", "whoami", "id", "usage", "context", "new", "reset", "stop", "compact"]);

/** `commandLevel` of a group: `all`, only what cannot do harm, or nothing but /stop. */
export function isCommandAllowed({ commandLevel }: QQBotGroupConfig, text: string): boolean {
  const [, command] = /^\/([a-z][\w-]*)/i.exec(text.trim()) ?? [];
  if (command === undefined || commandLevel === undefined || commandLevel === "all") return true;
  return commandLevel === "safety" ? SAFE_COMMANDS.has(command.toLowerCase()) : command.toLowerCase() === "stop";
}

const SAFE_TOOLS_DENIED = ["group:runtime", "group:fs", "gateway", "nodes", "browser"];

export function resolveToolPolicy(account: QQBotAccount, ctx: GroupContext): GroupToolPolicy | undefined {
  const { settings } = groupSettings(account, ctx.groupId);
  const bySender = Object.entries(settings.toolsBySender ?? {});
  const sender = normalizeEntry(ctx.senderId ?? "");
  const own = bySender.find(([id]) => normalizeEntry(id.replace(/^id:/, "")) === sender)?.[1] ?? bySender.find(([id]) => id === "*")?.[1] ?? settings.tools;
  if (settings.commandLevel !== "strict" && settings.commandLevel !== "safety") return own;
  return { ...own, deny: [...(own?.deny ?? []), ...SAFE_TOOLS_DENIED] };
}

export function collectWarnings(account: QQBotAccount, cfg: OpenClawConfig): string[] {
  const { config, configPath } = account;
  const open = config.dmPolicy === "open" || config.allowFrom?.includes("*") === true;
  return [
    ...unknownKeys(cfg, account),
    ...(open ? [`${configPath}: everybody who finds the bot on QQ may talk to it.`] : []),
    ...(config.groupPolicy === "open" && Object.keys(config.groups ?? {}).length === 0 ? [`${configPath}.groupPolicy is "open" without a groups list: list the groups under ${configPath}.groups.`] : []),
  ];
}
