import type { OpenClawConfig } from "../../config/index.ts";
import { normalizeAccountId } from "../../routing/index.ts";

type Section = NonNullable<NonNullable<OpenClawConfig["channels"]>["feishu"]>;
/** One account's keys: the base overlaid by `accounts.<id>`. */
export type LarkConfig = Omit<Section, "accounts" | "defaultAccount">;
export type LarkGroupConfig = NonNullable<NonNullable<Section["groups"]>[string]>;
export type Env = Readonly<Record<string, string | undefined>>;

export interface LarkAccount {
  readonly accountId: string;
  readonly enabled: boolean;
  readonly config: LarkConfig;
  readonly appId: string;
  readonly appSecret: string;
  /** Base of the open platform, without a slash at the end. */
  readonly apiRoot: string;
  readonly mode: "websocket" | "webhook";
  /** What keeps it from starting, as a sentence with the key to change. */
  readonly problem: string | undefined;
  /** Where this account's keys are written, e.g. `channels.feishu` or `channels.feishu.accounts.work`. */
  readonly configPath: string;
}

export const DEFAULT_ACCOUNT = "default";
const DOMAINS: Readonly<Record<string, string>> = { feishu: "https://open.feishu.cn", lark: "https://open.larksuite.com" };

const sectionOf = (cfg: OpenClawConfig): Section => cfg.channels?.feishu ?? {};

/** The named accounts, and `default` where the section has an app of its own or names none. */
export function listAccountIds(cfg: OpenClawConfig): string[] {
  const { accounts = {}, appId } = sectionOf(cfg);
  const ids = new Set(Object.keys(accounts).map(normalizeAccountId));
  const isOwn = appId !== undefined && !Object.values(accounts).some((account) => (account.appId ?? appId) === appId);
  if (ids.size === 0 || isOwn) ids.add(DEFAULT_ACCOUNT);
  return [...ids].toSorted((a, b) => a.localeCompare(b));
}

/** `defaultAccount`, else `default`, else the first; so that a send without an account always finds one that is configured. */
export function defaultAccountId(cfg: OpenClawConfig): string {
  const ids = listAccountIds(cfg);
  const wanted = sectionOf(cfg).defaultAccount;
  const named = wanted === undefined ? undefined : normalizeAccountId(wanted);
  if (named !== undefined && ids.includes(named)) return named;
  return ids.includes(DEFAULT_ACCOUNT) ? DEFAULT_ACCOUNT : (ids[0] ?? DEFAULT_ACCOUNT);
}

/** Never throws. Source: spec channels-cn §4.1. */
export function resolveAccount(cfg: OpenClawConfig, id: string, env: Env): LarkAccount {
  const { accounts = {}, defaultAccount: _default, ...base } = sectionOf(cfg);
  let accountId = normalizeAccountId(id);
  // Who names no account means the one there is.
  if (accountId === DEFAULT_ACCOUNT && !listAccountIds(cfg).includes(DEFAULT_ACCOUNT)) accountId = defaultAccountId(cfg);
  const key = Object.keys(accounts).find((name) => normalizeAccountId(name) === accountId);
  const own: LarkConfig = key === undefined ? {} : (accounts[key] ?? {});
  const config: LarkConfig = { ...base, ...own };
  const configPath = key === undefined ? "channels.feishu" : `channels.feishu.accounts.${key}`;
  const domain = config.domain?.trim() ?? "feishu";
  const apiRoot = (env["OPENCLAW_FEISHU_API_ROOT"] ?? DOMAINS[domain] ?? domain).trim().replace(/\/+$/, "");
  const appId = config.appId?.trim() ?? "";
  const appSecret = config.appSecret?.trim() ?? "";
  const mode = config.connectionMode ?? "websocket";
  return {
    accountId, enabled: base.enabled !== false && own.enabled !== false, config, appId, appSecret, apiRoot, mode, configPath,
    problem: rootProblem(apiRoot, env["OPENCLAW_FEISHU_API_ROOT"] !== undefined, configPath) ?? credentialProblem({ appId, appSecret, configPath }) ?? webhookProblem(config, mode, configPath),
  };
}

/** `problem`, or the account that already runs this app: two connections of one app share its events at random. */
export function unconfiguredReason(account: LarkAccount, cfg: OpenClawConfig, env: Env): string | undefined {
  if (account.problem !== undefined) return account.problem;
  const first = enabledAccounts(cfg, env).find((other) => other.appId === account.appId);
  if (first === undefined || first.accountId === account.accountId) return undefined;
  return `The app ${account.appId} is already used by account "${first.accountId}"; give ${account.configPath} an app of its own.`;
}

export function enabledAccounts(cfg: OpenClawConfig, env: Env): LarkAccount[] {
  return listAccountIds(cfg).map((id) => resolveAccount(cfg, id, env)).filter((account) => account.enabled && account.problem === undefined);
}

function credentialProblem({ appId, appSecret, configPath }: Pick<LarkAccount, "appId" | "appSecret" | "configPath">): string | undefined {
  if (appId === "") return `No App ID: set ${configPath}.appId (Feishu developer console, Credentials & Basic Info / 凭证与基础信息).`;
  if (!/^cli_\w{4,64}$/.test(appId)) return `${configPath}.appId is no App ID: it looks like cli_a1b2c3d4e5f60708.`;
  return appSecret === "" ? `No App Secret: set ${configPath}.appSecret (Feishu developer console, Credentials & Basic Info / 凭证与基础信息).` : undefined;
}

function rootProblem(apiRoot: string, isOverride: boolean, configPath: string): string | undefined {
  const url = URL.canParse(apiRoot) ? new URL(apiRoot) : undefined;
  if (url?.protocol === "https:" || (isOverride && url?.protocol === "http:" && isLoopbackHost(url.hostname))) return undefined;
  return isOverride
    ? "OPENCLAW_FEISHU_API_ROOT must be an https address (http only on this machine)."
    : `${configPath}.domain must be feishu, lark or an https:// address, not "${apiRoot}".`;
}

export const isLoopbackHost = (hostname: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

function webhookProblem(config: LarkConfig, mode: LarkAccount["mode"], configPath: string): string | undefined {
  if (mode !== "webhook" || config.verificationToken?.trim()) return undefined;
  return `Webhook mode needs ${configPath}.verificationToken (Events & Callbacks / 事件与回调 → Encryption Strategy / 加密策略): without it anybody could post events.`;
}
