import type { OpenClawConfig } from "../config/index.ts";
import { accountFields, asFields, entriesOf, type Fields } from "../plugins/runtime/helpers/index.ts";
import { normalizeDiscordMessagingTarget, normalizeSlackMessagingTarget, normalizeWhatsAppTarget, isWhatsAppGroupJid } from "./targets.ts";

/** People and groups that a channel's config names, for `directory`. Source: spec plugin-sdk §12 (directory). */

export interface DirectoryEntry {
  readonly kind: "user" | "group";
  readonly id: string;
}

export interface DirectoryQuery {
  readonly cfg: OpenClawConfig;
  readonly accountId?: string | null | undefined;
  readonly query?: string | null | undefined;
  readonly limit?: number | null | undefined;
}

function list(kind: DirectoryEntry["kind"], ids: readonly (string | undefined | null)[], { query, limit }: DirectoryQuery): DirectoryEntry[] {
  const wanted = query?.trim().toLowerCase() ?? "";
  const found = [...new Set(ids.filter((id) => typeof id === "string" && id !== "" && id !== "*"))] as string[];
  return found.filter((id) => id.toLowerCase().includes(wanted)).slice(0, limit && limit > 0 ? limit : undefined).map((id) => ({ kind, id }));
}

const account = (channel: string, { cfg, accountId }: DirectoryQuery): Fields => accountFields(cfg, channel, accountId);
const keys = (value: unknown): string[] => Object.keys(asFields(value));

type Lister = (query: DirectoryQuery) => Promise<DirectoryEntry[]>;

export const listTelegramDirectoryPeersFromConfig: Lister = async (query) => {
  const section = account("telegram", query);
  const ids = [...entriesOf(section["allowFrom"]), ...keys(section["dms"])].map((id) => id.replace(/^(?:telegram|tg):/i, "").trim());
  return list("user", ids.map((id) => (/^-?\d+$/.test(id) || id.startsWith("@") || id === "*" ? id : `@${id}`)), query);
};
export const listTelegramDirectoryGroupsFromConfig: Lister = async (query) => list("group", keys(account("telegram", query)["groups"]), query);

export const listDiscordDirectoryPeersFromConfig: Lister = async (query) => {
  const section = account("discord", query);
  const guilds = Object.values(asFields(section["guilds"])).map(asFields);
  const users = guilds.flatMap((guild) => [...entriesOf(guild["users"]), ...Object.values(asFields(guild["channels"])).flatMap((room) => entriesOf(asFields(room)["users"]))]);
  const ids = [...entriesOf(section["allowFrom"]), ...entriesOf(asFields(section["dm"])["allowFrom"]), ...keys(section["dms"]), ...users];
  const people = ids.map((id) => /^(?:<@!?)?(?:discord:|user:)?(\d+)>?$/i.exec(id.trim())?.[1]);
  return list("user", people.map((id) => (id === undefined ? undefined : normalizeDiscordMessagingTarget(`user:${id}`))), query);
};
export const listDiscordDirectoryGroupsFromConfig: Lister = async (query) => {
  const guilds = Object.values(asFields(account("discord", query)["guilds"])).map(asFields);
  const rooms = guilds.flatMap((guild) => keys(guild["channels"])).map((id) => /^(?:<#)?(?:discord:|channel:)?(\d+)>?$/i.exec(id.trim())?.[1]);
  return list("group", rooms.map((id) => (id === undefined ? undefined : normalizeDiscordMessagingTarget(`channel:${id}`))), query);
};

export const listSlackDirectoryPeersFromConfig: Lister = async (query) => {
  const section = account("slack", query);
  const users = Object.values(asFields(section["channels"])).flatMap((room) => entriesOf(asFields(room)["users"]));
  const ids = [...entriesOf(section["allowFrom"]), ...entriesOf(asFields(section["dm"])["allowFrom"]), ...keys(section["dms"]), ...users];
  const people = ids.map((id) => id.replace(/^(?:slack|user):/i, "").replace(/^<@([A-Z0-9]+)>$/i, "$1").trim()).filter((id) => id !== "" && id !== "*");
  return list("user", people.map((id) => normalizeSlackMessagingTarget(`user:${id}`)), query);
};
export const listSlackDirectoryGroupsFromConfig: Lister = async (query) =>
  list("group", keys(account("slack", query)["channels"]).filter((id) => id !== "*").map((id) => normalizeSlackMessagingTarget(id.replace(/^channel:/i, "channel:"))), query);

export const listWhatsAppDirectoryPeersFromConfig: Lister = async (query) =>
  list("user", entriesOf(account("whatsapp", query)["allowFrom"]).map(normalizeWhatsAppTarget).filter((id) => id !== null && !isWhatsAppGroupJid(id)), query);
export const listWhatsAppDirectoryGroupsFromConfig: Lister = async (query) => list("group", keys(account("whatsapp", query)["groups"]), query);

/** Text channels of Discord whose settings an audit of permissions looks at; `unresolvedChannels` are those named by a name. */
export function collectDiscordAuditChannelIds({ cfg, accountId }: Pick<DirectoryQuery, "cfg" | "accountId">): { channelIds: string[]; unresolvedChannels: number } {
  const rooms = new Map<string, Fields>();
  for (const guild of Object.values(asFields(accountFields(cfg, "discord", accountId)["guilds"]))) {
    for (const [id, room] of Object.entries(asFields(asFields(guild)["channels"]))) if (id !== "*") rooms.set(id.trim(), asFields(room));
  }
  const watched = [...rooms].filter(([, room]) => room["enabled"] !== false && room["allow"] !== false).map(([id]) => id);
  const channelIds = watched.filter((id) => /^\d+$/.test(id)).toSorted((a, b) => a.localeCompare(b));
  return { channelIds, unresolvedChannels: watched.length - channelIds.length };
}

/** To whom a heartbeat on WhatsApp goes: the one named, else everybody of the allow list. */
export function resolveWhatsAppHeartbeatRecipients(cfg: OpenClawConfig, options: { readonly to?: string | undefined; readonly all?: boolean | undefined } = {}): { recipients: string[]; source: string } {
  if (options.to) return { recipients: [normalizeWhatsAppTarget(options.to)].filter((to) => to !== null), source: "flag" };
  const recipients = entriesOf(accountFields(cfg, "whatsapp", undefined)["allowFrom"]).filter((entry) => entry !== "*").map(normalizeWhatsAppTarget).filter((to) => to !== null);
  return { recipients: [...new Set(recipients)], source: options.all ? "all" : "allowFrom" };
}
