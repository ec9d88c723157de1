import type { ModelsProviderConfig, OpenClawConfig } from "../../config/index.ts";
import { normalizeAgentId } from "../../routing/index.ts";
import type { AuthProfiles } from "../auth-profiles/index.ts";
import { baseUrlFor, isHomeUrl, isLoopbackUrl } from "./compat.ts";
import { envKeyName, hasPlainKey, profileCandidates } from "./keys.ts";
import { MIN_WINDOW, type LocalServer, type ProbeTarget } from "./localhost-probe.ts";
import { OFFLINE_REF } from "./offline-guide/index.ts";
import { AUTO_CHOICES, awsVariable, normalizeProvider } from "./provider-table.ts";
import { normalizeRef } from "./refs.ts";
import type { ModelChoice, ModelRef } from "./types.ts";

export interface PrimaryText {
  readonly text: string;
  readonly source: "agent" | "defaults";
  readonly key: string;
}

/** What the configuration names for an agent, as written. */
export function primaryText(cfg: OpenClawConfig, agentId: string): PrimaryText | undefined {
  const list = cfg.agents?.list ?? [];
  const at = list.findIndex((agent) => normalizeAgentId(agent.id) === normalizeAgentId(agentId));
  const own = textOf(list[at]?.model);
  if (own) return { text: own, source: "agent", key: `agents.list[${at}].model` };
  const shared = textOf(cfg.agents?.defaults?.model);
  return shared ? { text: shared, source: "defaults", key: "agents.defaults.model" } : undefined;
}

type ModelSetting = string | { readonly primary?: string | undefined; readonly fallbacks?: readonly string[] | undefined } | undefined;

const textOf = (setting: ModelSetting): string | undefined => (typeof setting === "string" ? setting : setting?.primary)?.trim() || undefined;

/** `model.fallbacks`; those of the agent replace the shared ones. */
export function fallbackTexts(cfg: OpenClawConfig, agentId: string): readonly string[] {
  const own = cfg.agents?.list?.find((agent) => normalizeAgentId(agent.id) === normalizeAgentId(agentId))?.model;
  const shared = cfg.agents?.defaults?.model;
  if (typeof own === "object" && own.fallbacks) return own.fallbacks;
  return typeof shared === "object" ? (shared.fallbacks ?? []) : [];
}

/** Row 2: the first configured provider that has a model and a key, or runs on this machine. */
export function firstConfigured(providers: Readonly<Record<string, ModelsProviderConfig>>, env: (name: string) => string | undefined): ModelChoice | undefined {
  for (const [key, cfg] of Object.entries(providers)) {
    const provider = normalizeProvider(key);
    const model = cfg.models?.find((candidate) => (candidate.contextWindow ?? MIN_WINDOW) >= MIN_WINDOW);
    if (!model) continue;
    if (!hasPlainKey(provider, cfg, env)) continue;
    const why = isLoopbackUrl(cfg.baseUrl) ? "it runs on this machine" : "it can be used";
    return { ref: normalizeRef({ provider, modelId: model.id }), source: "providers", reason: `First model of models.providers.${key}: ${why}.` };
  }
  return undefined;
}

/** Configured servers at home that name no models: they are asked which they have. */
export function configuredTargets(providers: Readonly<Record<string, ModelsProviderConfig>>): ProbeTarget[] {
  return Object.entries(providers).flatMap(([key, cfg]) => {
    if ((cfg.models?.length ?? 0) > 0 || !isHomeUrl(cfg.baseUrl)) return [];
    const provider = normalizeProvider(key);
    const api = cfg.api ?? (provider === "ollama" ? "ollama" : "openai-completions");
    return api === "ollama" || api === "openai-completions" ? [{ provider, label: `models.providers.${key}`, api, baseUrl: baseUrlFor(api, cfg.baseUrl ?? "") }] : [];
  });
}

/** Row 3: keys in the environment and stored logins, in the fixed order of the table. */
export async function firstWithKey(world: { env: (name: string) => string | undefined; profiles: AuthProfiles; agentId: string }): Promise<ModelChoice | undefined> {
  const stored = await world.profiles.providers(world.agentId);
  for (const { provider, modelId, env: only } of AUTO_CHOICES) {
    const ref: ModelRef = { provider, modelId };
    const name = envKeyName(provider, world.env, only) ?? (provider === "amazon-bedrock" ? awsVariable(world.env) : undefined);
    if (name !== undefined) return { ref, source: "environment", reason: `No model is configured; ${name} is set.` };
    if (stored.size === 0) continue;
    const [profile] = await profileCandidates(world.profiles, world.agentId, provider, modelId);
    if (profile) return { ref, source: "profile", reason: `No model is configured; there is the auth profile ${profile.id}.` };
  }
  return undefined;
}

/** Rows 4 and 5. */
export function localOrOffline(local: readonly LocalServer[], probing: boolean): ModelChoice {
  const server = local[0];
  const model = server?.models[0];
  if (server && model) return { ref: { provider: server.provider, modelId: model.id }, source: "localhost", reason: `No model is configured; ${server.label} answers at ${server.baseUrl}.` };
  const looked = probing ? ", and no model server answers on this machine" : "";
  return { ref: OFFLINE_REF, source: "offline", reason: `No model is configured, no API key is set${looked}. The offline guide answers until one is connected.` };
}
