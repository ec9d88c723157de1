import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { OpenClawConfig } from "../config/index.ts";
import { DEFAULT_ACCOUNT_ID } from "../pairing/index.ts";
import { accountFields, asFields, channelFields, entriesOf, numberOf, ownAccountFields, textOf, type Fields } from "../plugins/runtime/helpers/index.ts";
import { normalizeAccountId, normalizeOptionalAccountId } from "../routing/index.ts";
import { ACCOUNT_FACTS, type AccountFacts } from "./channel-facts.ts";

/** Accounts of a channel as its config names them. Source: spec channels §2.1. */

type Env = Readonly<Record<string, string | undefined>>;

export interface AccountListHelpers {
  /** Those under `accounts`. */
  listConfiguredAccountIds(cfg: OpenClawConfig): string[];
  /** The same, sorted; `default` alone when there is none. */
  listAccountIds(cfg: OpenClawConfig): string[];
  /** `defaultAccount` of the channel if there is such an account, else `default`, else the first. */
  resolveDefaultAccountId(cfg: OpenClawConfig): string;
}

export function createAccountListHelpers(channelKey: string, options: { readonly withBindings?: boolean | undefined } = {}): AccountListHelpers {
  const listConfiguredAccountIds = (cfg: OpenClawConfig): string[] => {
    const bound = options.withBindings ? (cfg.bindings ?? []).filter(({ match }) => match.channel === channelKey && match.accountId !== "*").map(({ match }) => match.accountId ?? "") : [];
    const named = [...Object.keys(asFields(channelFields(cfg, channelKey)["accounts"])), ...bound].filter((id) => id.trim() !== "");
    return [...new Set(named.map(normalizeAccountId))];
  };
  const listAccountIds = (cfg: OpenClawConfig): string[] => {
    const ids = listConfiguredAccountIds(cfg);
    return ids.length === 0 ? [DEFAULT_ACCOUNT_ID] : ids.toSorted((a, b) => a.localeCompare(b));
  };
  return {
    listConfiguredAccountIds, listAccountIds,
    resolveDefaultAccountId(cfg) {
      const ids = listAccountIds(cfg);
      const preferred = normalizeOptionalAccountId(textOf(channelFields(cfg, channelKey)["defaultAccount"]));
      if (preferred !== undefined && ids.includes(preferred)) return preferred;
      return ids.includes(DEFAULT_ACCOUNT_ID) ? DEFAULT_ACCOUNT_ID : (ids[0] ?? DEFAULT_ACCOUNT_ID);
    },
  };
}

export type CredentialSource = "config" | "tokenFile" | "env" | "none";

export interface ResolvedChannelAccount {
  readonly accountId: string;
  readonly name?: string | undefined;
  readonly enabled: boolean;
  /** There is what it needs to start. */
  readonly configured: boolean;
  /** The channel's keys overlaid by the account's. */
  readonly config: Fields;
}

export interface Credential {
  readonly value: string;
  readonly source: CredentialSource;
}

export interface AccountQuery {
  readonly cfg: OpenClawConfig;
  readonly accountId?: string | null | undefined;
  /** Default: the environment of the process. */
  readonly env?: Env | undefined;
}

/** The account and its credentials by key. */
export function resolveChannelAccount(channel: string, query: AccountQuery): ResolvedChannelAccount & { readonly credentials: Readonly<Record<string, Credential>> } {
  const { cfg, env = process.env } = query;
  const accountId = query.accountId ? normalizeAccountId(query.accountId) : createAccountListHelpers(channel).resolveDefaultAccountId(cfg);
  const base = channelFields(cfg, channel);
  const own = ownAccountFields(cfg, channel, accountId);
  const facts = ACCOUNT_FACTS[channel] ?? { secret: true, credentialKeys: [], env: {}, files: {} };
  const keys = [...new Set([...facts.credentialKeys, ...Object.keys(facts.env)])];
  const credentials = Object.fromEntries(keys.map((key) => [key, readCredential(key, facts, accountId, base, own, env)]));
  const config = accountFields(cfg, channel, accountId);
  const has = (key: string): boolean => (credentials[key]?.value ?? "") !== "" || (!facts.secret && config[key] !== undefined);
  return {
    accountId, name: textOf(own["name"] ?? (accountId === DEFAULT_ACCOUNT_ID ? base["name"] : undefined)),
    enabled: base["enabled"] !== false && own["enabled"] !== false,
    configured: facts.requiredKeys ? facts.requiredKeys.every(has) : facts.credentialKeys.some(has),
    config, credentials,
  };
}

/** Account before base, a file before the value in each; base and environment serve the default account only. */
function readCredential(key: string, facts: AccountFacts, accountId: string, base: Fields, own: Fields, env: Env): Credential {
  const isDefault = accountId === DEFAULT_ACCOUNT_ID;
  for (const layer of isDefault ? [own, base] : [own]) {
    const file = textOf(layer[facts.files[key] ?? ""]);
    // A file that cannot be read is a missing credential: the one below it would be another account's.
    if (file !== undefined) return { value: readSecretFile(file), source: "tokenFile" };
    const value = textOf(layer[key]);
    if (value !== undefined) return { value, source: "config" };
  }
  const value = isDefault ? textOf(env[facts.env[key] ?? ""]) : undefined;
  return value === undefined ? { value: "", source: "none" } : { value, source: "env" };
}

function readSecretFile(path: string): string {
  try {
    return readFileSync(path.startsWith("~/") ? join(homedir(), path.slice(2)) : path, "utf8").trim();
  } catch {
    return ""; // reported as not configured
  }
}

const lists = Object.fromEntries(
  ["discord", "slack", "telegram", "signal", "imessage", "whatsapp", "line"].map((id) => [id, createAccountListHelpers(id, { withBindings: id === "telegram" })]),
) as Readonly<Record<string, AccountListHelpers>>;
const listOf = (channel: string): AccountListHelpers["listAccountIds"] => (lists[channel] as AccountListHelpers).listAccountIds;
const defaultOf = (channel: string): AccountListHelpers["resolveDefaultAccountId"] => (lists[channel] as AccountListHelpers).resolveDefaultAccountId;

export const listDiscordAccountIds = listOf("discord");
export const listSlackAccountIds = listOf("slack");
export const listTelegramAccountIds = listOf("telegram");
export const listSignalAccountIds = listOf("signal");
export const listIMessageAccountIds = listOf("imessage");
export const listWhatsAppAccountIds = listOf("whatsapp");
export const listLineAccountIds = listOf("line");
export const resolveDefaultDiscordAccountId = defaultOf("discord");
export const resolveDefaultSlackAccountId = defaultOf("slack");
export const resolveDefaultTelegramAccountId = defaultOf("telegram");
export const resolveDefaultSignalAccountId = defaultOf("signal");
export const resolveDefaultIMessageAccountId = defaultOf("imessage");
export const resolveDefaultWhatsAppAccountId = defaultOf("whatsapp");
export const resolveDefaultLineAccountId = defaultOf("line");
export const normalizeLineAccountId = (id: string | null | undefined): string => normalizeAccountId(id);

export interface TokenAccount extends ResolvedChannelAccount {
  readonly token: string;
  readonly tokenSource: CredentialSource;
}

function tokenAccount(channel: string, key: string, query: AccountQuery, clean: (token: string) => string = (token) => token): TokenAccount {
  const { credentials, ...account } = resolveChannelAccount(channel, query);
  const token = credentials[key];
  return { ...account, token: clean(token?.value ?? ""), tokenSource: token?.source ?? "none", configured: (token?.value ?? "") !== "" };
}

export const resolveDiscordAccount = (query: AccountQuery): TokenAccount => tokenAccount("discord", "token", query, (token) => token.replace(/^Bot\s+/i, ""));

/** `token` is another spelling of `botToken`. */
export function resolveTelegramAccount(query: AccountQuery): TokenAccount {
  const account = tokenAccount("telegram", "botToken", query);
  return account.configured ? account : tokenAccount("telegram", "token", query);
}

export interface SlackAccount extends ResolvedChannelAccount {
  readonly botToken?: string | undefined;
  readonly appToken?: string | undefined;
  readonly userToken?: string | undefined;
  readonly botTokenSource: CredentialSource;
  readonly appTokenSource: CredentialSource;
  readonly dm: Fields | undefined;
  readonly channels: Fields | undefined;
  readonly actions: Fields | undefined;
  readonly groupPolicy: unknown;
  readonly replyToMode: unknown;
  readonly replyToModeByChatType: Fields | undefined;
  readonly textChunkLimit: number | undefined;
  readonly mediaMaxMb: number | undefined;
}

export function resolveSlackAccount(query: AccountQuery): SlackAccount {
  const { credentials, ...account } = resolveChannelAccount("slack", query);
  const { config } = account;
  const optional = (key: string): Fields | undefined => (config[key] === undefined ? undefined : asFields(config[key]));
  const token = (key: string): string | undefined => credentials[key]?.value || undefined;
  return {
    ...account, configured: token("botToken") !== undefined,
    botToken: token("botToken"), appToken: token("appToken"), userToken: token("userToken"),
    botTokenSource: credentials["botToken"]?.source ?? "none", appTokenSource: credentials["appToken"]?.source ?? "none",
    dm: optional("dm"), channels: optional("channels"), actions: optional("actions"), replyToModeByChatType: optional("replyToModeByChatType"),
    groupPolicy: config["groupPolicy"], replyToMode: config["replyToMode"], textChunkLimit: numberOf(config["textChunkLimit"]), mediaMaxMb: numberOf(config["mediaMaxMb"]),
  };
}

export const listEnabledSlackAccounts = (cfg: OpenClawConfig): SlackAccount[] =>
  listSlackAccountIds(cfg).map((accountId) => resolveSlackAccount({ cfg, accountId })).filter((account) => account.enabled);

export function resolveSignalAccount(query: AccountQuery): ResolvedChannelAccount & { readonly baseUrl: string } {
  const { credentials: _none, ...account } = resolveChannelAccount("signal", query);
  const { config } = account;
  const baseUrl = textOf(config["httpUrl"]) ?? `http://${textOf(config["httpHost"]) ?? "127.0.0.1"}:${numberOf(config["httpPort"]) ?? 8080}`;
  return { ...account, baseUrl };
}

export function resolveIMessageAccount(query: AccountQuery): ResolvedChannelAccount {
  const { credentials: _none, ...account } = resolveChannelAccount("imessage", query);
  return account;
}

export interface WhatsAppAccount extends ResolvedChannelAccount {
  readonly authDir: string;
  readonly sendReadReceipts: boolean;
  readonly selfChatMode: boolean | undefined;
  readonly messagePrefix: string | undefined;
  readonly dmPolicy: unknown;
  readonly groupPolicy: unknown;
  readonly allowFrom: string[] | undefined;
  readonly groupAllowFrom: string[] | undefined;
  readonly textChunkLimit: number | undefined;
  readonly mediaMaxMb: number | undefined;
  readonly groups: Fields | undefined;
}

/** `configured` says nothing here: the link to the phone is in `authDir`. */
export function resolveWhatsAppAccount(query: AccountQuery & { readonly stateDir?: string | undefined }): WhatsAppAccount {
  const { credentials: _none, ...account } = resolveChannelAccount("whatsapp", query);
  const { config, accountId } = account;
  const env = query.env ?? process.env;
  const stateDir = query.stateDir ?? env["OPENCLAW_STATE_DIR"] ?? join(homedir(), ".openclaw");
  const list = (key: string): string[] | undefined => (Array.isArray(config[key]) ? entriesOf(config[key]) : undefined);
  return {
    ...account, authDir: textOf(config["authDir"]) ?? join(stateDir, "credentials", "whatsapp", accountId),
    sendReadReceipts: config["sendReadReceipts"] !== false, selfChatMode: typeof config["selfChatMode"] === "boolean" ? config["selfChatMode"] : undefined,
    messagePrefix: textOf(config["messagePrefix"]), dmPolicy: config["dmPolicy"], groupPolicy: config["groupPolicy"],
    allowFrom: list("allowFrom"), groupAllowFrom: list("groupAllowFrom"), textChunkLimit: numberOf(config["textChunkLimit"]),
    mediaMaxMb: numberOf(config["mediaMaxMb"]), groups: config["groups"] === undefined ? undefined : asFields(config["groups"]),
  };
}

export interface LineAccount extends ResolvedChannelAccount {
  readonly channelAccessToken: string;
  readonly channelSecret: string;
  readonly tokenSource: CredentialSource;
}

export function resolveLineAccount(query: AccountQuery): LineAccount {
  const { credentials, ...account } = resolveChannelAccount("line", query);
  const token = credentials["channelAccessToken"];
  return { ...account, channelAccessToken: token?.value ?? "", channelSecret: credentials["channelSecret"]?.value ?? "", tokenSource: token?.source ?? "none" };
}
