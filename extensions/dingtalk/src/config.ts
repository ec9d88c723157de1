import type { OpenClawConfig } from "openclaw/plugin-sdk";
import { z } from "zod";

/** Keys that older DingTalk plugins wrote: accepted, so that their configurations load. */
const legacyKeys = {
  agentId: z.union([z.string(), z.number()]).optional(), corpId: z.string().optional(), robotCode: z.string().optional(),
  showThinkingStream: z.boolean().optional(), asyncMode: z.boolean().optional(), cardTemplateKey: z.string().optional(), bypassProxyForSend: z.boolean().optional(),
};
/** Read by the core for every channel. */
const sharedKeys = {
  defaultTo: z.string().optional(), historyLimit: z.number().int().min(0).optional(), dmHistoryLimit: z.number().int().min(0).optional(),
  dms: z.record(z.string(), z.looseObject({})).optional(), blockStreaming: z.boolean().optional(), blockStreamingCoalesce: z.looseObject({}).optional(),
  responsePrefix: z.string().optional(), heartbeat: z.looseObject({}).optional(),
};
const ids = z.array(z.union([z.string(), z.number()]).transform(String));
const names = z.array(z.string()).optional();
const toolPolicy = z.strictObject({ allow: names, alsoAllow: names, deny: names });
const group = z.strictObject({
  enabled: z.boolean().optional(), systemPrompt: z.string().optional(), requireMention: z.boolean().optional(), groupAllowFrom: ids.optional(),
  tools: toolPolicy.optional(), toolsBySender: z.record(z.string(), toolPolicy).optional(),
});
const positive = z.number().int().positive();
const accountKeys = z.strictObject({
  ...legacyKeys, ...sharedKeys,
  enabled: z.boolean().optional(), name: z.string().optional(), debug: z.boolean().optional(),
  clientId: z.union([z.string(), z.number()]).transform(String).optional(),
  clientSecret: z.union([z.string(), z.strictObject({ source: z.literal("env"), id: z.string(), provider: z.string().optional() })]).optional(),
  dmPolicy: z.enum(["open", "pairing", "allowlist", "disabled"]).optional(), allowFrom: ids.optional(),
  groupPolicy: z.enum(["open", "allowlist", "disabled"]).optional(), groupAllowFrom: ids.optional(), groups: z.record(z.string(), group).optional(), requireMention: z.boolean().optional(),
  messageType: z.enum(["markdown", "card"]).optional(), enableAICard: z.boolean().optional(), cardTemplateId: z.string().optional(),
  cardStreamingMode: z.enum(["off", "answer", "all"]).optional(), cardRealTimeStream: z.boolean().optional(), cardStreamInterval: z.number().int().min(200).optional(),
  aicardDegradeMs: z.number().int().min(0).optional(), cardAtSender: z.boolean().optional(), cardStatusLine: z.boolean().optional(),
  displayNameResolution: z.enum(["disabled", "all"]).optional(), contextVisibility: z.enum(["all", "allowlist", "allowlist_quote"]).optional(), ackReaction: z.string().optional(),
  connectionMode: z.enum(["stream", "webhook"]).optional(), webhookPath: z.string().startsWith("/").optional(),
  maxConnectionAttempts: positive.optional(), initialReconnectDelay: positive.optional(), maxReconnectDelay: positive.optional(), reconnectJitter: z.number().min(0).max(1).optional(),
  maxReconnectCycles: positive.optional(), reconnectDeadlineMs: positive.optional(), useConnectionManager: z.boolean().optional(), keepAlive: z.boolean().optional(),
  mediaMaxMb: z.number().positive().optional(), mediaUrlAllowlist: z.array(z.string()).optional(), convertMarkdownTables: z.boolean().optional(),
  textChunkLimit: z.number().int().min(100).max(4000).optional(), journalTTLDays: z.number().positive().optional(),
  proactivePermissionHint: z.strictObject({ enabled: z.boolean().optional(), cooldownHours: z.number().positive().optional() }).optional(),
});
const section = accountKeys.extend({ accounts: z.record(z.string(), accountKeys).optional(), defaultAccount: z.string().optional() });

export type DingTalkConfig = z.infer<typeof accountKeys>;
export type DingTalkGroupConfig = z.infer<typeof group>;
export type Env = Readonly<Record<string, string | undefined>>;

export interface DingTalkAccount {
  readonly accountId: string;
  readonly enabled: boolean;
  readonly config: DingTalkConfig;
  /** AppKey; the robot's code as well. */
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tokenSource: "config" | "env" | "none";
  readonly apiRoot: string;
  readonly oapiRoot: string;
  readonly cardTemplateId: string;
  /** What keeps it from starting, with the key to change. */
  readonly problem: string | undefined;
  readonly configPath: string;
}

export const DEFAULT_ACCOUNT = "default";
const BUILT_IN_CARD = "675cde2f-f526-40cb-b828-f5b2b57b8b77.schema";

/** The section, or the sentences that say which key is wrong. */
function readSection(cfg: OpenClawConfig): { readonly value: z.infer<typeof section>; readonly problem: string | undefined } {
  const channels: Readonly<Record<string, unknown>> = cfg.channels ?? {};
  const parsed = section.safeParse(channels["dingtalk"] ?? {});
  if (parsed.success) return { value: parsed.data, problem: undefined };
  return { value: {}, problem: parsed.error.issues.map((issue) => `channels.dingtalk${issue.path.map((key) => `.${String(key)}`).join("")}: ${issue.message}`).join("; ") };
}

const normalize = (id: string): string => id.trim().toLowerCase() || DEFAULT_ACCOUNT;

/** `default` when the top level or the environment has a clientId, then each named account. */
export function listAccountIds(cfg: OpenClawConfig, env: Env): string[] {
  const { value } = readSection(cfg);
  const named = Object.keys(value.accounts ?? {}).map(normalize);
  const hasDefault = value.clientId !== undefined || Boolean(env["DINGTALK_CLIENT_ID"]) || named.length === 0;
  return [...new Set([...(hasDefault ? [DEFAULT_ACCOUNT] : []), ...named.toSorted()])];
}

export function defaultAccountId(cfg: OpenClawConfig, env: Env): string {
  const known = listAccountIds(cfg, env);
  const wanted = normalize(readSection(cfg).value.defaultAccount ?? "");
  return known.includes(wanted) ? wanted : (known[0] ?? DEFAULT_ACCOUNT);
}

/** Never throws. */
export function resolveAccount(cfg: OpenClawConfig, id: string, env: Env): DingTalkAccount {
  const accountId = normalize(id);
  const { value, problem } = readSection(cfg);
  const { accounts = {}, defaultAccount: _default, ...base } = value;
  const key = Object.keys(accounts).find((name) => normalize(name) === accountId);
  const own: DingTalkConfig = key === undefined ? {} : (accounts[key] ?? {});
  const configPath = key === undefined ? "channels.dingtalk" : `channels.dingtalk.accounts.${key}`;
  const isDefault = accountId === DEFAULT_ACCOUNT;
  const clientId = (own.clientId ?? (isDefault ? (base.clientId ?? env["DINGTALK_CLIENT_ID"]) : undefined))?.trim() ?? "";
  // A secret belongs to one app: a named account never takes that of the top level.
  const secret = readSecret(own.clientSecret ?? (isDefault ? base.clientSecret : undefined), isDefault ? env["DINGTALK_CLIENT_SECRET"] : undefined, env);
  const apiRoot = trimSlash(env["OPENCLAW_DINGTALK_API_ROOT"] ?? "https://api.dingtalk.com");
  const oapiRoot = trimSlash(env["OPENCLAW_DINGTALK_OAPI_ROOT"] ?? "https://oapi.dingtalk.com");
  const config = { ...base, ...own };
  const missing = clientId === "" ? `No Client ID: set ${configPath}.clientId (DingTalk console, 凭证与基础信息).` : secret.value === "" ? `No Client Secret: set ${configPath}.clientSecret.` : undefined;
  return {
    accountId, enabled: value.enabled !== false && own.enabled !== false, config, clientId, clientSecret: secret.value, tokenSource: secret.source, apiRoot, oapiRoot, configPath,
    cardTemplateId: config.cardTemplateId ?? env["DINGTALK_CARD_TEMPLATE_ID"] ?? BUILT_IN_CARD,
    problem: problem ?? addressProblem(apiRoot) ?? addressProblem(oapiRoot) ?? missing,
  };
}

/** `problem`, or the account that already runs this app: two connections of one app share its messages at random. */
export function unconfiguredReason(account: DingTalkAccount, cfg: OpenClawConfig, env: Env): string | undefined {
  if (account.problem !== undefined) return account.problem;
  const first = listAccountIds(cfg, env).map((id) => resolveAccount(cfg, id, env)).find((other) => other.clientId === account.clientId && other.enabled);
  if (first === undefined || first.accountId === account.accountId) return undefined;
  return `Client ID ${account.clientId} is already used by account "${first.accountId}"; give ${account.configPath} an app of its own.`;
}

export const isCardAccount = ({ config }: DingTalkAccount): boolean => (config.messageType ?? (config.enableAICard === true ? "card" : "markdown")) === "card";

const trimSlash = (url: string): string => url.trim().replace(/\/+$/, "");

function readSecret(own: DingTalkConfig["clientSecret"], fromEnv: string | undefined, env: Env): { readonly value: string; readonly source: DingTalkAccount["tokenSource"] } {
  const given = typeof own === "object" ? env[own.id] : own;
  if (given?.trim()) return { value: given.trim(), source: typeof own === "object" ? "env" : "config" };
  return fromEnv?.trim() ? { value: fromEnv.trim(), source: "env" } : { value: "", source: "none" };
}

/** Secrets and tokens travel over such an address. */
export function addressProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url) return `"${address}" is no URL.`;
  if (/^(?:https|wss):$/.test(url.protocol)) return undefined;
  return /^(?:http|ws):$/.test(url.protocol) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname) ? undefined : `${url.origin}: plain http and ws are allowed for loopback only.`;
}
