import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import type { OpenClawConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import { normalizeAccountId } from "../../routing/index.ts";

type ChannelConfig = NonNullable<NonNullable<OpenClawConfig["channels"]>["telegram"]>;
/** One account's keys: the base overlaid by `accounts.<id>`. */
export type TelegramConfig = Omit<ChannelConfig, "accounts">;
export type TelegramGroupConfig = NonNullable<NonNullable<ChannelConfig["groups"]>[string]>;
export type TelegramTopicConfig = NonNullable<NonNullable<TelegramGroupConfig["topics"]>[string]>;

export const DEFAULT_ACCOUNT = "default";
const CLOUD_API_ROOT = "https://api.telegram.org";

export type Env = Readonly<Record<string, string | undefined>>;
export type TokenSource = "tokenFile" | "config" | "env" | "none";

export interface TelegramAccount {
  readonly accountId: string;
  readonly enabled: boolean;
  readonly config: TelegramConfig;
  readonly token: string | undefined;
  readonly tokenSource: TokenSource;
  /** Base of the Bot API and of its file downloads, without a slash at the end. */
  readonly apiRoot: string;
  /** What keeps it from starting, as a sentence with the key to change. */
  readonly problem: string | undefined;
  /** Where this account's keys are written, e.g. `channels.telegram` or `channels.telegram.accounts.work`. */
  readonly configPath: string;
}

const channelConfig = (cfg: OpenClawConfig): ChannelConfig => cfg.channels?.telegram ?? {};

/** Configured accounts plus those that only bindings name, sorted; `default` alone when there is none. */
export function listAccountIds(cfg: OpenClawConfig): string[] {
  const ids = new Set(Object.keys(channelConfig(cfg).accounts ?? {}).map(normalizeAccountId));
  for (const { match } of cfg.bindings ?? []) {
    if (match.channel === "telegram" && match.accountId && match.accountId !== "*") ids.add(normalizeAccountId(match.accountId));
  }
  if (ids.size === 0) ids.add(DEFAULT_ACCOUNT);
  return [...ids].toSorted((a, b) => a.localeCompare(b));
}

export function defaultAccountId(cfg: OpenClawConfig): string {
  const ids = listAccountIds(cfg);
  return ids.includes(DEFAULT_ACCOUNT) ? DEFAULT_ACCOUNT : (ids[0] ?? DEFAULT_ACCOUNT);
}

/** Never throws. Reads the token file, if one is configured. Source: spec channels §2.1, §4.1. */
export function resolveAccount(cfg: OpenClawConfig, id: string, env: Env): TelegramAccount {
  const accountId = normalizeAccountId(id);
  const { accounts = {}, ...base } = channelConfig(cfg);
  const key = Object.keys(accounts).find((name) => normalizeAccountId(name) === accountId);
  const own = key === undefined ? {} : (accounts[key] ?? {});
  const config: TelegramConfig = { ...base, ...own };
  const configPath = key === undefined ? "channels.telegram" : `channels.telegram.accounts.${key}`;
  const token = resolveToken(accountId, base, own, env);
  const apiRoot = (config.apiRoot ?? env.OPENCLAW_TELEGRAM_API_ROOT ?? CLOUD_API_ROOT).trim().replace(/\/+$/, "");
  return {
    accountId,
    enabled: base.enabled !== false && own.enabled !== false,
    config,
    token: token.value,
    tokenSource: token.source,
    apiRoot,
    problem: token.problem ?? apiRootProblem(apiRoot) ?? webhookProblem(config) ?? (token.value === undefined ? missingToken(configPath) : undefined),
    configPath,
  };
}

/** `problem`, or the account that already uses this token. */
export function unconfiguredReason(account: TelegramAccount, cfg: OpenClawConfig, env: Env): string | undefined {
  if (account.problem !== undefined) return account.problem;
  const first = listAccountIds(cfg)
    .map((id) => resolveAccount(cfg, id, env))
    .find((other) => other.token === account.token && other.enabled);
  if (first === undefined || first.accountId === account.accountId) return undefined;
  return `This bot token is already used by account "${first.accountId}"; give account "${account.accountId}" a bot of its own (${account.configPath}.botToken).`;
}

/** The config patch that deletes this account's tokens; undefined when the config holds none. Token files stay on disk. */
export function tokenRemoval(cfg: OpenClawConfig, id: string): Readonly<Record<string, unknown>> | undefined {
  const accountId = normalizeAccountId(id);
  const { accounts = {}, ...base } = channelConfig(cfg);
  const without = (layer: TelegramConfig): Record<string, null> =>
    Object.fromEntries((["botToken", "token", "tokenFile"] as const).filter((key) => layer[key] !== undefined).map((key) => [key, null]));
  const key = Object.keys(accounts).find((name) => normalizeAccountId(name) === accountId);
  const own = key === undefined ? {} : without(accounts[key] ?? {});
  const telegram = {
    ...(accountId === DEFAULT_ACCOUNT ? without(base) : {}),
    ...(key !== undefined && Object.keys(own).length > 0 ? { accounts: { [key]: own } } : {}),
  };
  return Object.keys(telegram).length > 0 ? { channels: { telegram } } : undefined;
}

interface ResolvedToken {
  readonly value: string | undefined;
  readonly source: TokenSource;
  readonly problem?: string | undefined;
}

function resolveToken(accountId: string, base: TelegramConfig, own: TelegramConfig, env: Env): ResolvedToken {
  const isDefault = accountId === DEFAULT_ACCOUNT;
  for (const layer of isDefault ? [own, base] : [own]) {
    if (layer.tokenFile) return readTokenFile(layer.tokenFile);
    const token = (layer.botToken ?? layer.token)?.trim();
    if (token) return { value: token, source: "config" };
  }
  const fromEnv = isDefault ? env.TELEGRAM_BOT_TOKEN?.trim() : undefined;
  return fromEnv ? { value: fromEnv, source: "env" } : { value: undefined, source: "none" };
}

function readTokenFile(path: string): ResolvedToken {
  const full = path.startsWith("~/") ? `${homedir()}${path.slice(1)}` : path;
  try {
    const token = readFileSync(full, "utf8").trim();
    if (token !== "") return { value: token, source: "tokenFile" };
    return { value: undefined, source: "none", problem: `The token file ${path} is empty; write the bot token of @BotFather into it.` };
  } catch (err) {
    return { value: undefined, source: "none", problem: `The token file ${path} cannot be read (${errorText(err)}); correct tokenFile or remove it.` };
  }
}

const missingToken = (path: string): string => `No bot token: set ${path}.botToken (from @BotFather), tokenFile, or TELEGRAM_BOT_TOKEN for the default account.`;

function apiRootProblem(root: string): string | undefined {
  const url = URL.canParse(root) ? new URL(root) : undefined;
  if (url?.protocol === "https:") return undefined;
  if (url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)) return undefined;
  return `channels.telegram.apiRoot must be an https address (http only on this machine), not "${root}".`;
}

function webhookProblem(config: TelegramConfig): string | undefined {
  if (!config.webhookUrl || config.webhookSecret) return undefined;
  return "channels.telegram.webhookUrl needs webhookSecret: without one anybody could post updates. Set webhookSecret to a long random text.";
}
