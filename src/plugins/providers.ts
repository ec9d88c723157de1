import type { AuthProfile, ProviderOAuth } from "../agents/index.ts";
import { isRecord } from "./manifest.ts";
import type { PluginRegistry, ProviderRegistration } from "./registry.ts";
import { callPlugin, inPlugin } from "./scope.ts";

/** What a login gave; to be kept by whoever asked for it. */
export interface ProviderLogin {
  readonly profiles: readonly { readonly profileId: string; readonly profile: AuthProfile }[];
  /** Merged into the configuration. */
  readonly configPatch?: Readonly<Record<string, unknown>> | undefined;
  /** provider/model */
  readonly defaultModel?: string | undefined;
  readonly notes: readonly string[];
}

export interface LoginMethod {
  readonly id: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** Talks to the person for as long as it takes. @throws what the plugin throws, or Error for a result that makes no sense */
  run(ctx: object): Promise<ProviderLogin>;
}

/** A provider of models that a plugin registered. Source: spec plugin-sdk §11. */
export interface ModelProvider {
  readonly id: string;
  readonly label: string;
  readonly aliases: readonly string[];
  readonly docsPath?: string | undefined;
  readonly methods: readonly LoginMethod[];
}

const REFRESH_LIMIT_MS = 30_000;

const text = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.flatMap((item) => text(item) ?? []) : []);

export const listProviders = ({ providers }: Pick<PluginRegistry, "providers">): ModelProvider[] =>
  providers.map(({ pluginId, provider }) => ({
    id: provider.id, label: text(provider["label"]) ?? provider.id, aliases: texts(provider["aliases"]), docsPath: text(provider["docsPath"]),
    methods: (Array.isArray(provider["auth"]) ? (provider["auth"] as unknown[]) : []).flatMap((method) => readMethod(method, pluginId, provider.id)),
  }));

/** Its id or one of its other names; letter case does not count. */
export function findProvider<P extends { readonly id: string; readonly aliases: readonly string[] }>(providers: readonly P[], name: string): P | undefined {
  const wanted = name.trim().toLowerCase();
  return providers.find(({ id }) => id.toLowerCase() === wanted) ?? providers.find(({ aliases }) => aliases.some((alias) => alias.toLowerCase() === wanted));
}

/** How tokens of a plugin's provider are renewed and made into a key; undefined when it says neither. */
export function oauthOf({ providers }: Pick<PluginRegistry, "providers">, name: string): ProviderOAuth | undefined {
  const found = findProvider(providers.map(({ pluginId, provider }) => ({ pluginId, provider, id: provider.id, aliases: texts(provider["aliases"]) })), name);
  if (!found) return undefined;
  const { pluginId, provider } = found;
  const { refreshOAuth, formatApiKey } = provider as ProviderRegistration["provider"] & { readonly refreshOAuth?: unknown; readonly formatApiKey?: unknown };
  if (typeof refreshOAuth !== "function" && typeof formatApiKey !== "function") return undefined;
  return {
    refresh: typeof refreshOAuth === "function" ? async (profile) => readRefreshed(provider.id, await callPlugin(pluginId, `renewal of ${provider.id}`, REFRESH_LIMIT_MS, () => (refreshOAuth as Refresh).call(provider, profile))) : undefined,
    formatKey: typeof formatApiKey === "function" ? (profile) => String(inPlugin(pluginId, () => (formatApiKey as (profile: AuthProfile) => unknown).call(provider, profile))) : undefined,
  };
}

type Refresh = (profile: AuthProfile) => unknown;

function readRefreshed(provider: string, given: unknown): Readonly<Record<string, unknown>> & { readonly access: string } {
  const access = isRecord(given) ? text(given["access"]) : undefined;
  if (!isRecord(given) || access === undefined) throw new Error(`${provider} answered the renewal without an access token.`);
  return { ...given, access };
}

function readMethod(method: unknown, pluginId: string, provider: string): LoginMethod[] {
  if (!isRecord(method) || typeof method["run"] !== "function") return [];
  const id = text(method["id"]);
  if (id === undefined) return [];
  const { run } = method;
  return [{
    id, label: text(method["label"]) ?? id, hint: text(method["hint"]),
    run: async (ctx) => readLogin(provider, await inPlugin(pluginId, () => (run as (ctx: object) => unknown).call(method, ctx))),
  }];
}

function readLogin(provider: string, result: unknown): ProviderLogin {
  if (!isRecord(result) || !Array.isArray(result["profiles"])) throw new Error(`The login of ${provider} gave no profiles.`);
  return {
    profiles: (result["profiles"] as unknown[]).map((entry) => readProfile(provider, entry)), configPatch: isRecord(result["configPatch"]) ? result["configPatch"] : undefined,
    defaultModel: text(result["defaultModel"]), notes: texts(result["notes"]),
  };
}

function readProfile(provider: string, entry: unknown): ProviderLogin["profiles"][number] {
  const credential = isRecord(entry) ? entry["credential"] : undefined;
  const type = isRecord(credential) ? credential["type"] : undefined;
  if (!isRecord(entry) || !isRecord(credential) || (type !== "api_key" && type !== "token" && type !== "oauth")) throw new Error(`The login of ${provider} gave a profile that is no api_key, token or oauth.`);
  const profile = { ...credential, type, provider: text(credential["provider"]) ?? provider };
  return { profileId: text(entry["profileId"]) ?? `${profile.provider}:default`, profile: profile as AuthProfile };
}
