import type { OpenClawConfig } from "../config/index.ts";
import { DEFAULT_ACCOUNT_ID } from "../pairing/index.ts";
import { accountKey, asFields, channelFields, numberOf, textOf, type Fields } from "../plugins/runtime/helpers/index.ts";
import { normalizeAccountId } from "../routing/index.ts";

/** Changes of a channel's section; each gives a new config and leaves the old one alone. Source: spec plugin-sdk §14. */

function withSection(cfg: OpenClawConfig, channel: string, section: Fields | undefined): OpenClawConfig {
  const { [channel]: _old, ...others } = asFields(cfg.channels);
  const channels: Fields = section === undefined ? others : { ...asFields(cfg.channels), [channel]: section };
  if (Object.keys(channels).length > 0) return { ...cfg, channels: channels as OpenClawConfig["channels"] };
  const { channels: _none, ...rest } = cfg;
  return rest;
}

function withAccount(section: Fields, accountId: string, patch: Fields): Fields {
  const accounts = asFields(section["accounts"]);
  const key = accountKey(section, accountId) ?? accountId;
  return { ...section, accounts: { ...accounts, [key]: { ...asFields(accounts[key]), ...patch } } };
}

const hasAccounts = (section: Fields): boolean => Object.keys(asFields(section["accounts"])).length > 0;

export interface SectionQuery {
  readonly cfg: OpenClawConfig;
  readonly sectionKey: string;
  readonly accountId: string;
}

/** `channels.<k>.enabled` for a channel without `accounts`, else `channels.<k>.accounts.<id>.enabled`. */
export function setAccountEnabledInConfigSection(input: SectionQuery & { readonly enabled: boolean; readonly allowTopLevel?: boolean | undefined }): OpenClawConfig {
  const { cfg, sectionKey, enabled } = input;
  const accountId = input.accountId || DEFAULT_ACCOUNT_ID;
  const section = channelFields(cfg, sectionKey);
  const topLevel = accountId === DEFAULT_ACCOUNT_ID && input.allowTopLevel === true && !hasAccounts(section);
  return withSection(cfg, sectionKey, topLevel ? { ...section, enabled } : withAccount(section, accountId, { enabled }));
}

/** Removes the account; for the default one also the channel's own credential keys. What is empty then goes too. */
export function deleteAccountFromConfigSection(input: SectionQuery & { readonly clearBaseFields?: readonly string[] | undefined }): OpenClawConfig {
  const { cfg, sectionKey } = input;
  const accountId = input.accountId || DEFAULT_ACCOUNT_ID;
  const { accounts: _accounts, ...base } = channelFields(cfg, sectionKey);
  const accounts = { ...asFields(channelFields(cfg, sectionKey)["accounts"]) };
  const key = accountKey({ accounts }, accountId);
  const others = Object.fromEntries(Object.entries(accounts).filter(([name]) => name !== key));
  const cleared = new Set(accountId === DEFAULT_ACCOUNT_ID ? (input.clearBaseFields ?? []) : []);
  const kept = Object.fromEntries(Object.entries(base).filter(([name]) => !cleared.has(name)));
  const next: Fields = Object.keys(others).length > 0 ? { ...kept, accounts: others } : kept;
  return withSection(cfg, sectionKey, Object.keys(next).length > 0 ? next : undefined);
}

export interface ChannelQuery {
  readonly cfg: OpenClawConfig;
  readonly channelKey: string;
  readonly alwaysUseAccounts?: boolean | undefined;
}

/** Names an account: at the top for the only account, else under `accounts`. */
export function applyAccountNameToChannelSection(input: ChannelQuery & { readonly accountId: string; readonly name?: string | undefined }): OpenClawConfig {
  const name = textOf(input.name);
  if (name === undefined) return input.cfg;
  const { cfg, channelKey } = input;
  const accountId = normalizeAccountId(input.accountId);
  const section = channelFields(cfg, channelKey);
  if (accountId === DEFAULT_ACCOUNT_ID && !input.alwaysUseAccounts && !hasAccounts(section)) return withSection(cfg, channelKey, { ...section, name });
  // A name at the top would be every account's.
  const { name: _shared, ...rest } = accountId === DEFAULT_ACCOUNT_ID ? section : { ...section, name: undefined };
  const base = accountId === DEFAULT_ACCOUNT_ID ? rest : section;
  return withSection(cfg, channelKey, withAccount(base, accountId, { name }));
}

/** Moves a name at the top into `accounts.default`, before a second account comes. */
export function migrateBaseNameToDefaultAccount({ cfg, channelKey, alwaysUseAccounts }: ChannelQuery): OpenClawConfig {
  if (alwaysUseAccounts) return cfg;
  const { name, ...section } = channelFields(cfg, channelKey);
  const baseName = textOf(name);
  if (baseName === undefined) return cfg;
  const own = asFields(asFields(section["accounts"])[accountKey(section, DEFAULT_ACCOUNT_ID) ?? DEFAULT_ACCOUNT_ID]);
  return withSection(cfg, channelKey, withAccount(section, DEFAULT_ACCOUNT_ID, own["name"] === undefined ? { name: baseName } : {}));
}

/** `channels.<k>.accounts.<id>.` when the account has a section of its own, else `channels.<k>.`; with the final dot. */
export function resolveChannelAccountConfigBasePath({ cfg, channelKey, accountId }: { readonly cfg: OpenClawConfig; readonly channelKey: string; readonly accountId: string }): string {
  const key = accountKey(channelFields(cfg, channelKey), accountId);
  return key === undefined ? `channels.${channelKey}.` : `channels.${channelKey}.accounts.${key}.`;
}

/** The channel's limit, else `agents.defaults.mediaMaxMb`, in bytes; undefined where none is set. */
export function resolveChannelMediaMaxBytes(input: {
  readonly cfg: OpenClawConfig;
  readonly resolveChannelLimitMb: (query: { cfg: OpenClawConfig; accountId: string }) => number | undefined;
  readonly accountId?: string | null | undefined;
}): number | undefined {
  const mb = input.resolveChannelLimitMb({ cfg: input.cfg, accountId: normalizeAccountId(input.accountId) }) ?? numberOf(asFields(input.cfg.agents?.defaults)["mediaMaxMb"]);
  return mb ? mb * 1024 * 1024 : undefined;
}

/** What `config.patchSection` of onboarding and setup use: merges keys into the account, undefined deletes. */
export function patchChannelAccount(cfg: OpenClawConfig, channel: string, accountId: string, patch: Fields): OpenClawConfig {
  const section = channelFields(cfg, channel);
  const id = normalizeAccountId(accountId);
  const drop = (value: Fields): Fields => Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
  if (id === DEFAULT_ACCOUNT_ID && accountKey(section, id) === undefined) return withSection(cfg, channel, drop({ ...section, ...patch }));
  const key = accountKey(section, id) ?? id;
  const own = drop({ ...asFields(asFields(section["accounts"])[key]), ...patch });
  return withSection(cfg, channel, { ...section, accounts: { ...asFields(section["accounts"]), [key]: own } });
}
