import type { OpenClawConfig } from "openclaw/plugin-sdk";
import { z } from "zod";

const text = z.union([z.string(), z.number()]).transform(String);
const ids = z.array(text);
const policy = z.enum(["pairing", "allowlist", "open", "disabled"]);
const secret = z.union([z.string(), z.strictObject({ source: z.literal("env"), id: z.string(), provider: z.string().optional() })]);
const aesKey = z.string().regex(/^[A-Za-z0-9+/]{43}=?$/, "an EncodingAESKey has 43 letters and digits");
const dm = z.strictObject({ enabled: z.boolean().optional(), policy: policy.optional(), allowFrom: ids.optional() });
const names = z.array(z.string()).optional();
const toolPolicy = z.strictObject({ allow: names, alsoAllow: names, deny: names });
const group = z.strictObject({
  enabled: z.boolean().optional(), allowFrom: ids.optional(), requireMention: z.boolean().optional(), systemPrompt: z.string().optional(), tools: toolPolicy.optional(), toolsBySender: z.record(z.string(), toolPolicy).optional(),
});
const botKeys = {
  connectionMode: z.enum(["websocket", "webhook"]).optional(), botId: text.optional(), secret: secret.optional(), websocketUrl: z.string().optional(), token: secret.optional(), encodingAESKey: aesKey.optional(),
  receiveId: z.string().optional(), welcomeText: z.string().optional(), streamPlaceholderContent: z.string().optional(), sendThinkingMessage: z.boolean().optional(),
};
const bot = z.strictObject({ ...botKeys, aibotid: text.optional(), botIds: ids.optional(), dm: dm.optional() });
const agent = z.strictObject({
  corpId: z.string().optional(), corpSecret: secret.optional(), agentId: text.optional(), token: secret.optional(), encodingAESKey: aesKey.optional(), welcomeText: z.string().optional(),
  dm: dm.optional(), dmPolicy: policy.optional(), allowFrom: ids.optional(),
});
/** Read by the core for every channel. */
const sharedKeys = {
  defaultTo: z.string().optional(), historyLimit: z.number().int().min(0).optional(), dmHistoryLimit: z.number().int().min(0).optional(), dms: z.record(z.string(), z.looseObject({})).optional(),
  blockStreaming: z.boolean().optional(), blockStreamingCoalesce: z.looseObject({}).optional(), responsePrefix: z.string().optional(), heartbeat: z.looseObject({}).optional(), mediaMaxMb: z.number().positive().optional(),
};
const positive = z.number().int().positive();
const accountKeys = z.strictObject({
  ...botKeys, ...sharedKeys,
  enabled: z.boolean().optional(), name: z.string().optional(), bot: bot.optional(), agent: agent.optional(),
  dmPolicy: policy.optional(), allowFrom: ids.optional(), groupPolicy: z.enum(["open", "allowlist", "disabled"]).optional(), groupAllowFrom: ids.optional(), groups: z.record(z.string(), group).optional(), requireMention: z.boolean().optional(),
  webhookPath: z.string().startsWith("/").optional(), mediaLocalRoots: z.array(z.string()).optional(), maxReconnectAttempts: z.number().int().min(-1).optional(),
  media: z.strictObject({ tempDir: z.string().optional(), retentionHours: z.number().positive().optional(), cleanupOnStart: z.boolean().optional(), maxBytes: positive.optional() }).optional(),
  network: z.strictObject({ timeoutMs: positive.optional(), retries: z.number().int().min(0).optional(), retryDelayMs: z.number().int().min(0).optional(), egressProxyUrl: z.string().optional() }).optional(),
  routing: z.strictObject({ failClosedOnDefaultRoute: z.boolean().optional() }).optional(),
  dynamicAgents: z.strictObject({ enabled: z.boolean().optional(), dmCreateAgent: z.boolean().optional(), groupEnabled: z.boolean().optional(), adminUsers: ids.optional() }).optional(),
});
const section = accountKeys.extend({ accounts: z.record(z.string(), accountKeys).optional(), defaultAccount: z.string().optional() });

export type WecomConfig = z.infer<typeof accountKeys>;
export type WecomGroupConfig = z.infer<typeof group>;
export type Env = Readonly<Record<string, string | undefined>>;

/** The AI bot of an account. */
export interface BotSettings {
  readonly mode: "websocket" | "webhook";
  readonly botId: string;
  readonly secret: string;
  readonly websocketUrl: string;
  readonly callback: CallbackKeys | undefined;
  readonly welcomeText: string | undefined;
  readonly placeholder: string;
  readonly showsThinking: boolean;
  /** Ids that a callback may name; empty: any. */
  readonly botIds: readonly string[];
}

/** The self-built app of an account. */
export interface AppSettings {
  readonly corpId: string;
  readonly corpSecret: string;
  readonly agentId: string | undefined;
  readonly callback: CallbackKeys | undefined;
  readonly welcomeText: string | undefined;
}

export interface CallbackKeys {
  readonly token: string;
  readonly encodingAESKey: string;
  /** Empty: not compared. */
  readonly receiveId: string;
}

export interface WecomAccount {
  readonly accountId: string;
  readonly enabled: boolean;
  readonly config: WecomConfig;
  readonly bot: BotSettings | undefined;
  readonly app: AppSettings | undefined;
  readonly apiRoot: string;
  readonly proxyUrl: string | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly configPath: string;
  /** What keeps it from starting, with the key to change. */
  readonly problem: string | undefined;
}

export const DEFAULT_ACCOUNT = "default";
const MB = 1024 * 1024;
/** Source: spec channels-cn §2.1; the flat dialect has the smaller limit. */
const MAX_BYTES = { nested: 80 * MB, flat: 20 * MB } as const;

const normalize = (id: string): string => id.trim().toLowerCase() || DEFAULT_ACCOUNT;

/** The section, or the sentences that say which key is wrong. */
function readSection(cfg: OpenClawConfig): { readonly value: z.infer<typeof section>; readonly problem: string | undefined } {
  const channels: Readonly<Record<string, unknown>> = cfg.channels ?? {};
  const parsed = section.safeParse(channels["wecom"] ?? {});
  if (parsed.success) return { value: parsed.data, problem: undefined };
  return { value: {}, problem: parsed.error.issues.map((issue) => `channels.wecom${issue.path.map((key) => `.${String(key)}`).join("")}: ${issue.message}`).join("; ") };
}

const hasOwnForm = ({ bot: nested, agent: app, botId, token }: WecomConfig): boolean => nested !== undefined || app !== undefined || botId !== undefined || token !== undefined;

/** `default` when the top level has a bot or an app, then each named account. */
export function listAccountIds(cfg: OpenClawConfig): string[] {
  const { value } = readSection(cfg);
  const named = Object.keys(value.accounts ?? {}).map(normalize);
  return [...new Set([...(hasOwnForm(value) || named.length === 0 ? [DEFAULT_ACCOUNT] : []), ...named.toSorted()])];
}

export function defaultAccountId(cfg: OpenClawConfig): string {
  const known = listAccountIds(cfg);
  const wanted = normalize(readSection(cfg).value.defaultAccount ?? "");
  return known.includes(wanted) ? wanted : (known[0] ?? DEFAULT_ACCOUNT);
}

/** Never throws. Both dialects of spec channels-cn §2.1. */
export function resolveAccount(cfg: OpenClawConfig, id: string, env: Env): WecomAccount {
  const accountId = normalize(id);
  const { value, problem } = readSection(cfg);
  const { accounts = {}, defaultAccount: _default, ...base } = value;
  const key = Object.keys(accounts).find((name) => normalize(name) === accountId);
  const own: WecomConfig = key === undefined ? {} : (accounts[key] ?? {});
  const configPath = key === undefined ? "channels.wecom" : `channels.wecom.accounts.${key}`;
  // Credentials belong to one bot or app: a named account never takes those of the top level.
  const form = accountId === DEFAULT_ACCOUNT && !hasOwnForm(own) ? base : own;
  const config: WecomConfig = { ...base, ...own, bot: form.bot, agent: form.agent };
  const bot = readBot(form, config, env);
  const app = readApp(form.agent, env);
  const proxyUrl = [config.network?.egressProxyUrl, ...PROXY_VARIABLES.map((name) => env[name])].find((url) => url?.trim());
  const apiRoot = trimSlash(env["OPENCLAW_WECOM_API_ROOT"] ?? "https://qyapi.weixin.qq.com");
  return {
    accountId, enabled: value.enabled !== false && own.enabled !== false, config, bot, app, apiRoot, configPath, proxyUrl: isLoopback(apiRoot) ? undefined : proxyUrl,
    timeoutMs: config.network?.timeoutMs ?? 15_000, maxBytes: config.media?.maxBytes ?? (form.bot || form.agent?.dm ? MAX_BYTES.nested : MAX_BYTES.flat),
    problem: problem ?? addressProblem(apiRoot) ?? (bot && addressProblem(bot.websocketUrl)) ?? missingKey(bot, app, configPath),
  };
}

const PROXY_VARIABLES = ["OPENCLAW_WECOM_EGRESS_PROXY_URL", "WECOM_EGRESS_PROXY_URL", "HTTPS_PROXY", "ALL_PROXY", "HTTP_PROXY"] as const;

function readBot(form: WecomConfig, config: WecomConfig, env: Env): BotSettings | undefined {
  const nested = form.bot;
  const keys = nested ?? form;
  if (nested === undefined && form.botId === undefined && form.token === undefined) return undefined;
  const callback = keys.token !== undefined && keys.encodingAESKey !== undefined ? { token: readSecret(keys.token, env), encodingAESKey: keys.encodingAESKey, receiveId: keys.receiveId ?? "" } : undefined;
  return {
    mode: keys.connectionMode ?? (keys.secret === undefined && callback ? "webhook" : "websocket"), botId: keys.botId ?? nested?.aibotid ?? "", secret: readSecret(keys.secret, env),
    websocketUrl: env["OPENCLAW_WECOM_WS_URL"] ?? keys.websocketUrl ?? config.websocketUrl ?? "wss://openws.work.weixin.qq.com", callback, welcomeText: keys.welcomeText ?? config.welcomeText,
    placeholder: keys.streamPlaceholderContent ?? config.streamPlaceholderContent ?? "1", showsThinking: (keys.sendThinkingMessage ?? config.sendThinkingMessage) !== false,
    botIds: [...(nested?.botIds ?? []), ...(nested?.aibotid === undefined ? [] : [nested.aibotid])],
  };
}

function readApp(keys: WecomConfig["agent"], env: Env): AppSettings | undefined {
  if (keys === undefined) return undefined;
  const corpId = keys.corpId?.trim() ?? "";
  return {
    corpId, corpSecret: readSecret(keys.corpSecret, env), agentId: keys.agentId, welcomeText: keys.welcomeText,
    callback: keys.token !== undefined && keys.encodingAESKey !== undefined ? { token: readSecret(keys.token, env), encodingAESKey: keys.encodingAESKey, receiveId: corpId } : undefined,
  };
}

function missingKey(bot: BotSettings | undefined, app: AppSettings | undefined, path: string): string | undefined {
  if (!bot && !app) return `Neither a bot nor an app: set ${path}.botId and ${path}.secret (智能机器人, API 模式, 长连接), or ${path}.agent.`;
  if (bot?.mode === "websocket" && (bot.botId === "" || bot.secret === "")) return `The long connection needs botId and secret: set them under ${path}${path.includes("bot") ? "" : " (or its bot)"}.`;
  if (bot?.mode === "webhook" && !bot.callback) return `connectionMode "webhook" needs token and encodingAESKey under ${path}.`;
  if (app && (app.corpId === "" || app.corpSecret === "")) return `The app needs ${path}.agent.corpId and corpSecret.`;
  return undefined;
}

/** `problem`, or the account that already runs this bot: a second connection throws the first one out. */
export function unconfiguredReason(account: WecomAccount, cfg: OpenClawConfig, env: Env): string | undefined {
  if (account.problem !== undefined) return account.problem;
  const botId = account.bot?.mode === "websocket" ? account.bot.botId : undefined;
  if (botId === undefined) return undefined;
  const first = listAccountIds(cfg).map((id) => resolveAccount(cfg, id, env)).find((other) => other.enabled && other.bot?.mode === "websocket" && other.bot.botId === botId);
  if (first === undefined || first.accountId === account.accountId) return undefined;
  return `Bot ${botId} is already used by account "${first.accountId}"; give ${account.configPath} a bot of its own.`;
}

const trimSlash = (url: string): string => url.trim().replace(/\/+$/, "");

function readSecret(given: z.infer<typeof secret> | undefined, env: Env): string {
  return (typeof given === "object" ? env[given.id] : given)?.trim() ?? "";
}

const isLoopback = (address: string): boolean => URL.canParse(address) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);

/** Secrets and tokens travel over such an address. */
export function addressProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url) return `"${address}" is no URL.`;
  if (/^(?:https|wss):$/.test(url.protocol)) return undefined;
  return /^(?:http|ws):$/.test(url.protocol) && isLoopback(address) ? undefined : `${url.origin}: plain http and ws are allowed for loopback only.`;
}
