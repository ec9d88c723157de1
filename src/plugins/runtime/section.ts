import type { OpenClawConfig } from "../../config/index.ts";
import { isPlainObject } from "../../config/index.ts";
import { normalizeAccountId } from "../../routing/index.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const asFields = (value: unknown): Fields => (isPlainObject(value) ? value : {});
export const textOf = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);
export const numberOf = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** Entries of an allow list, which may hold numbers, as trimmed texts. */
export function entriesOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item) => typeof item === "string" || typeof item === "number").map((item) => String(item).trim()).filter(Boolean);
}

/** `channels.<id>`, of a built-in channel or of a plugin's. */
export const channelFields = (cfg: OpenClawConfig, channel: string): Fields => asFields(asFields(cfg.channels)[channel]);

/** The key under `accounts` that names this account; ids are compared in their normal form. */
export function accountKey(section: Fields, accountId: string | null | undefined): string | undefined {
  const wanted = normalizeAccountId(accountId);
  return Object.keys(asFields(section["accounts"])).find((key) => normalizeAccountId(key) === wanted);
}

/** What the account itself says. */
export function ownAccountFields(cfg: OpenClawConfig, channel: string, accountId: string | null | undefined): Fields {
  const section = channelFields(cfg, channel);
  const key = accountKey(section, accountId);
  return key === undefined ? {} : asFields(asFields(section["accounts"])[key]);
}

/** `channels.<id>` overlaid by the account, without `accounts`. Source: spec channels §2.1. */
export function accountFields(cfg: OpenClawConfig, channel: string, accountId: string | null | undefined): Fields {
  const { accounts: _accounts, ...base } = channelFields(cfg, channel);
  return { ...base, ...ownAccountFields(cfg, channel, accountId) };
}
