import type { OpenClawConfig } from "../config/index.ts";
import { accountFields, asFields, pickToolPolicy, resolveGroupPolicy, resolveRequireMention, type Fields, type GroupSender, type ToolPolicy } from "../plugins/runtime/helpers/index.ts";
import { buildChannelKeyCandidates, resolveChannelEntryMatchWithFallback } from "./allow-from.ts";
import { normalizeChannelSlug } from "./text.ts";

/** Rules of single groups. Source: spec channels §2.4, §6, §7. */

export interface ChannelGroupContext extends GroupSender {
  readonly cfg: OpenClawConfig;
  readonly groupId?: string | null | undefined;
  /** `#general`, by id or name. */
  readonly groupChannel?: string | null | undefined;
  /** The server (Discord) or workspace. */
  readonly groupSpace?: string | null | undefined;
  readonly accountId?: string | null | undefined;
}

interface GroupRules {
  requireMention(ctx: ChannelGroupContext): boolean;
  toolPolicy(ctx: ChannelGroupContext): ToolPolicy | undefined;
}

/** A channel whose groups stand in one map, `groups`. */
const flatGroups = (channel: string): GroupRules => ({
  requireMention: (ctx) => resolveRequireMention({ ...ctx, channel }),
  toolPolicy(ctx) {
    const { groupConfig, defaultConfig } = resolveGroupPolicy({ ...ctx, channel });
    return pickToolPolicy([groupConfig, defaultConfig], ctx);
  },
});

/** A channel whose rooms stand in `channels`, by id or name. */
function roomOf(rooms: Fields, ctx: ChannelGroupContext): Fields | undefined {
  const name = ctx.groupChannel?.trim();
  const keys = buildChannelKeyCandidates(ctx.groupId, name, name?.replace(/^#/, ""), name ? `#${name.replace(/^#/, "")}` : undefined);
  const match = resolveChannelEntryMatchWithFallback({ entries: rooms, keys, wildcardKey: "*", normalizeKey: normalizeChannelSlug });
  return match.entry === undefined ? undefined : asFields(match.entry);
}

const flag = (layers: readonly (Fields | undefined)[]): boolean | undefined =>
  layers.map((layer) => layer?.["requireMention"]).find((value) => typeof value === "boolean");

const slackLayers = (ctx: ChannelGroupContext): Fields[] => {
  const account = accountFields(ctx.cfg, "slack", ctx.accountId);
  const room = roomOf(asFields(account["channels"]), ctx);
  return room ? [room] : [];
};
const slack: GroupRules = {
  requireMention: (ctx) => flag([...slackLayers(ctx), accountFields(ctx.cfg, "slack", ctx.accountId)]) ?? true,
  toolPolicy: (ctx) => pickToolPolicy(slackLayers(ctx), ctx),
};

/** The room of a server, then the server. */
const discordLayers = (ctx: ChannelGroupContext): Fields[] => {
  const guilds = asFields(accountFields(ctx.cfg, "discord", ctx.accountId)["guilds"]);
  const keys = buildChannelKeyCandidates(ctx.groupSpace);
  const slug = normalizeChannelSlug(ctx.groupSpace ?? "");
  const bySlug = Object.values(guilds).find((guild) => slug !== "" && asFields(guild)["slug"] === slug);
  const match = resolveChannelEntryMatchWithFallback({ entries: guilds, keys, normalizeKey: normalizeChannelSlug });
  const guild = match.entry ?? bySlug ?? guilds["*"];
  if (guild === undefined) return [];
  const room = roomOf(asFields(asFields(guild)["channels"]), ctx);
  return room ? [room, asFields(guild)] : [asFields(guild)];
};
const discord: GroupRules = {
  requireMention: (ctx) => flag(discordLayers(ctx)) ?? true,
  toolPolicy: (ctx) => pickToolPolicy(discordLayers(ctx), ctx),
};

/** A topic's rule goes before its group's. */
const telegramLayers = (ctx: ChannelGroupContext): (Fields | undefined)[] => {
  const [chatId, topicId] = (ctx.groupId ?? "").split(":topic:");
  const { groupConfig, defaultConfig } = resolveGroupPolicy({ ...ctx, channel: "telegram", groupId: chatId });
  const topic = (group: Fields | undefined): Fields | undefined => (topicId === undefined ? undefined : asFields(asFields(group?.["topics"])[topicId]));
  return [topic(groupConfig), topic(defaultConfig), groupConfig, defaultConfig];
};
const telegram: GroupRules = {
  requireMention: (ctx) => flag(telegramLayers(ctx)) ?? true,
  toolPolicy: (ctx) => pickToolPolicy(telegramLayers(ctx), ctx),
};

const whatsapp = flatGroups("whatsapp");
const imessage = flatGroups("imessage");
const bluebubbles = flatGroups("bluebubbles");
const googlechat = flatGroups("googlechat");

export const resolveTelegramGroupRequireMention = telegram.requireMention;
export const resolveTelegramGroupToolPolicy = telegram.toolPolicy;
export const resolveDiscordGroupRequireMention = discord.requireMention;
export const resolveDiscordGroupToolPolicy = discord.toolPolicy;
export const resolveSlackGroupRequireMention = slack.requireMention;
export const resolveSlackGroupToolPolicy = slack.toolPolicy;
export const resolveWhatsAppGroupRequireMention = whatsapp.requireMention;
export const resolveWhatsAppGroupToolPolicy = whatsapp.toolPolicy;
export const resolveIMessageGroupRequireMention = imessage.requireMention;
export const resolveIMessageGroupToolPolicy = imessage.toolPolicy;
export const resolveBlueBubblesGroupRequireMention = bluebubbles.requireMention;
export const resolveBlueBubblesGroupToolPolicy = bluebubbles.toolPolicy;
export const resolveGoogleChatGroupRequireMention = googlechat.requireMention;
export const resolveGoogleChatGroupToolPolicy = googlechat.toolPolicy;
