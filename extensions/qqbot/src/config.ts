import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { z } from "zod";
import { errorText, type OpenClawConfig } from "openclaw/plugin-sdk";

/** Keys of `channels.qqbot`. Source: spec channels-cn §1.1. */
const toolPolicy = z.strictObject({ allow: z.array(z.string()).optional(), alsoAllow: z.array(z.string()).optional(), deny: z.array(z.string()).optional() });
const group = z.object({
  enabled: z.boolean().optional(),
  requireMention: z.boolean().optional(),
  commandLevel: z.enum(["all", "safety", "strict"]).optional(),
  ignoreOtherMentions: z.boolean().optional(),
  historyLimit: z.number().int().min(0).optional(),
  name: z.string().optional(),
  prompt: z.string().optional(),
  tools: toolPolicy.optional(),
  toolsBySender: z.record(z.string(), toolPolicy).optional(),
});
const formats = z.array(z.string()).optional();
/** A reference in place of the secret; what runs a program is not followed. */
const secretRef = z.strictObject({ source: z.enum(["env", "file"], "use source \"env\" or \"file\", or clientSecretFile"), provider: z.string().optional(), id: z.string().min(1) });
const streamingKeys = z.object({ mode: z.enum(["off", "partial"]).optional(), c2cStreamApi: z.boolean().optional() });
const audioKeys = z.object({ sttDirectFormats: formats, uploadDirectFormats: formats, transcodeEnabled: z.boolean().optional() });
/** Read by the core for every channel. */
const sharedKeys = {
  defaultTo: z.string().optional(), dmHistoryLimit: z.number().int().min(0).optional(), dms: z.record(z.string(), z.looseObject({})).optional(), responsePrefix: z.string().optional(), heartbeat: z.looseObject({}).optional(),
  blockStreaming: z.boolean().optional(), blockStreamingCoalesce: z.looseObject({}).optional(),
};
const accountKeys = z.object({
  ...sharedKeys,
  enabled: z.boolean().optional(),
  name: z.string().optional(),
  appId: z.union([z.string(), z.number()]).transform(String).optional(),
  clientSecret: z.union([z.string().refine((text) => !/^secretref(?:-env)?:/i.test(text), "write the secret itself, or use clientSecretFile"), secretRef]).optional(),
  clientSecretFile: z.string().optional(),
  allowFrom: z.array(z.union([z.string(), z.number()]).transform(String)).optional(),
  dmPolicy: z.enum(["open", "pairing", "allowlist", "disabled"]).optional(),
  groupPolicy: z.enum(["open", "allowlist", "disabled"]).optional(),
  groupAllowFrom: z.array(z.union([z.string(), z.number()]).transform(String)).optional(),
  systemPrompt: z.string().optional(),
  markdownSupport: z.boolean().optional(),
  defaultRequireMention: z.boolean().optional(),
  groups: z.record(z.string(), group).optional(),
  urlDirectUpload: z.boolean().optional(),
  streaming: z.union([z.boolean(), streamingKeys]).optional(),
  audioFormatPolicy: audioKeys.optional(),
  voiceDirectUploadFormats: formats,
  textChunkLimit: z.number().int().min(100).max(5000).optional(),
  historyLimit: z.number().int().min(0).optional(),
  mediaMaxMb: z.number().positive().optional(),
  connectionMode: z.enum(["websocket", "webhook"]).optional(),
  webhookPath: z.string().startsWith("/").optional(),
});
const section = accountKeys.extend({ accounts: z.record(z.string(), accountKeys).optional(), defaultAccount: z.string().optional() });

/** Keys of the platform's own plugin for what this gateway does for every channel. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  stt: "recordings are put into words by tools.media.audio",
  execApprovals: "approvals of commands are set in approvals.exec",
  upgradeUrl: "the gateway is updated with `openclaw update`",
  upgradeMode: "the gateway is updated with `openclaw update`",
  imageServerBaseUrl: "pictures are uploaded, no server of images is needed",
};

/** Keys of an account and of the section without effect, each with what to use instead; they are told, not refused. */
export function unknownKeys(cfg: OpenClawConfig, { configPath }: Pick<QQBotAccount, "configPath">): string[] {
  const channels: Readonly<Record<string, unknown>> = cfg.channels ?? {};
  const given = asRecord(channels["qqbot"]);
  const tell = (value: unknown, shape: object, path: string): string[] =>
    Object.keys(asRecord(value)).filter((key) => !(key in shape)).map((key) => `${path}.${key} has no effect: ${ELSEWHERE[key] ?? "this key is not known"}.`);
  const account = (value: unknown, shape: object, path: string): string[] => [
    ...tell(value, shape, path),
    ...tell(asRecord(value)["streaming"], streamingKeys.shape, `${path}.streaming`),
    ...tell(asRecord(value)["audioFormatPolicy"], audioKeys.shape, `${path}.audioFormatPolicy`),
    ...Object.entries(asRecord(asRecord(value)["groups"])).flatMap(([id, own]) => tell(own, group.shape, `${path}.groups["${id}"]`)),
  ];
  return [
    ...account(given, section.shape, "channels.qqbot"),
    ...Object.entries(asRecord(given["accounts"])).filter(([id]) => `channels.qqbot.accounts.${id}` === configPath).flatMap(([, own]) => account(own, accountKeys.shape, configPath)),
  ];
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === "object" && value !== null ? { ...value } : {});

export type QQBotConfig = z.infer<typeof accountKeys>;
export type QQBotGroupConfig = z.infer<typeof group>;
export type Env = Readonly<Record<string, string | undefined>>;

export interface QQBotAccount {
  readonly accountId: string;
  readonly enabled: boolean;
  readonly config: QQBotConfig;
  readonly appId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly tokenSource: "config" | "file" | "env" | "none";
  readonly tokenRoot: string;
  readonly apiRoot: string;
  /** What keeps it from starting, with the key to change. */
  readonly problem: string | undefined;
  readonly configPath: string;
}

export const DEFAULT_ACCOUNT = "default";
const TOKEN_ROOT = "https://bots.qq.com";
const API_ROOT = "https://api.sgroup.qq.com";

type Section = z.infer<typeof section>;

/** The section, or the sentences that say which key is wrong. */
function readSection(cfg: OpenClawConfig): { readonly value: Section; readonly problem: string | undefined } {
  const channels: Readonly<Record<string, unknown>> = cfg.channels ?? {};
  const parsed = section.safeParse(channels["qqbot"] ?? {});
  if (parsed.success) return { value: parsed.data, problem: undefined };
  const problem = parsed.error.issues.map((issue) => `channels.qqbot${issue.path.map((key) => `.${String(key)}`).join("")}: ${issue.message}`).join("; ");
  return { value: {}, problem };
}

const normalize = (id: string): string => id.trim().toLowerCase() || DEFAULT_ACCOUNT;

/** `default` when the top level (or the environment) has an appId, then each named account that has one. */
export function listAccountIds(cfg: OpenClawConfig, env: Env): string[] {
  const { value } = readSection(cfg);
  const named = Object.entries(value.accounts ?? {}).filter(([, own]) => own.appId !== undefined).map(([id]) => normalize(id));
  const hasDefault = value.appId !== undefined || Boolean(env["QQBOT_APP_ID"]) || named.length === 0;
  return [...new Set([...(hasDefault ? [DEFAULT_ACCOUNT] : []), ...named])];
}

export function defaultAccountId(cfg: OpenClawConfig, env: Env): string {
  const ids = listAccountIds(cfg, env);
  const wanted = readSection(cfg).value.defaultAccount?.trim().toLowerCase();
  return wanted !== undefined && ids.includes(wanted) ? wanted : (ids[0] ?? DEFAULT_ACCOUNT);
}

/** Never throws. */
export function resolveAccount(cfg: OpenClawConfig, id: string, env: Env): QQBotAccount {
  const accountId = normalize(id);
  const { value, problem } = readSection(cfg);
  const { accounts = {}, defaultAccount: _default, ...base } = value;
  const key = Object.keys(accounts).find((name) => normalize(name) === accountId);
  const own: QQBotConfig = key === undefined ? {} : (accounts[key] ?? {});
  const configPath = key === undefined ? "channels.qqbot" : `channels.qqbot.accounts.${key}`;
  const isDefault = accountId === DEFAULT_ACCOUNT;
  // Credentials and the address of the webhook belong to one bot: a named account never takes those of the top level.
  const { appId: baseApp, clientSecret: baseSecret, clientSecretFile: baseFile, webhookPath: basePath, ...shared } = base;
  const credentials: QQBotConfig = isDefault ? { appId: own.appId ?? baseApp, clientSecret: own.clientSecret ?? baseSecret, clientSecretFile: own.clientSecretFile ?? baseFile } : own;
  const config: QQBotConfig = { ...shared, ...(isDefault && basePath !== undefined ? { webhookPath: basePath } : {}), ...own };
  const appId = credentials.appId?.trim() || (isDefault ? env["QQBOT_APP_ID"]?.trim() : undefined) || undefined;
  const secret = readSecret(credentials, env, isDefault);
  const tokenRoot = trimSlash(env["OPENCLAW_QQBOT_TOKEN_ROOT"] ?? TOKEN_ROOT);
  const apiRoot = trimSlash(env["OPENCLAW_QQBOT_API_ROOT"] ?? API_ROOT);
  const missing = appId === undefined ? `No AppID: set ${configPath}.appId (QQ Open Platform, 开发设置).` : secret.value === undefined ? `No AppSecret: set ${configPath}.clientSecret.` : undefined;
  return {
    accountId, enabled: value.enabled !== false && own.enabled !== false, config, appId, clientSecret: secret.value, tokenSource: secret.source, tokenRoot, apiRoot, configPath,
    problem: problem ?? secret.problem ?? rootProblem(tokenRoot) ?? rootProblem(apiRoot) ?? missing,
  };
}

/** `problem`, or the account that already runs this bot. */
export function unconfiguredReason(account: QQBotAccount, cfg: OpenClawConfig, env: Env): string | undefined {
  if (account.problem !== undefined) return account.problem;
  const first = listAccountIds(cfg, env).map((id) => resolveAccount(cfg, id, env)).find((other) => other.appId === account.appId && other.enabled);
  if (first === undefined || first.accountId === account.accountId) return undefined;
  return `AppID ${account.appId ?? ""} is already used by account "${first.accountId}"; give ${account.configPath} a bot of its own.`;
}

const trimSlash = (url: string): string => url.trim().replace(/\/+$/, "");

interface Secret {
  readonly value: string | undefined;
  readonly source: QQBotAccount["tokenSource"];
  readonly problem?: string;
}

/** clientSecret, then the file, then the environment (of the default account). */
function readSecret({ clientSecret, clientSecretFile }: QQBotConfig, env: Env, isDefault: boolean): Secret {
  if (typeof clientSecret === "object") {
    if (clientSecret.source === "file") return readSecretFile("clientSecret.id", clientSecret.id);
    const value = env[clientSecret.id]?.trim();
    return value ? { value, source: "env" } : { value: undefined, source: "none", problem: `clientSecret.id: the environment has no ${clientSecret.id}.` };
  }
  if (clientSecret?.trim()) return { value: clientSecret.trim(), source: "config" };
  if (clientSecretFile) return readSecretFile("clientSecretFile", clientSecretFile);
  const fromEnv = isDefault ? env["QQBOT_CLIENT_SECRET"]?.trim() : undefined;
  return fromEnv ? { value: fromEnv, source: "env" } : { value: undefined, source: "none" };
}

function readSecretFile(key: string, path: string): Secret {
  try {
    const value = readFileSync(path.replace(/^~(?=\/)/, homedir()), "utf8").trim();
    return value === "" ? { value: undefined, source: "none", problem: `${key} ${path} is empty.` } : { value, source: "file" };
  } catch (err) {
    return { value: undefined, source: "none", problem: `${key} ${path} cannot be read: ${errorText(err)}` };
  }
}

/** Secrets and tokens travel over this address. */
export function rootProblem(root: string): string | undefined {
  const url = URL.canParse(root) ? new URL(root) : undefined;
  if (!url) return `"${root}" is no URL.`;
  if (/^(?:https|wss):$/.test(url.protocol)) return undefined;
  return /^(?:http|ws):$/.test(url.protocol) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname) ? undefined : `${url.origin}: plain http and ws are allowed for loopback only.`;
}
