import type { Api, Model } from "@mariozechner/pi-ai";
import type { ModelsProviderConfig, ModelsProviderModelCompatConfig, ModelsProviderModelConfig, ModelsProviderModelCostConfig } from "../../config/index.ts";
import type { PiModules } from "../pi.ts";
import type { CloudModel } from "./cloud-catalogues.ts";
import { baseUrlFor, completionsCompat } from "./compat.ts";
import { EXTRA_PROVIDERS, OPEN_PROVIDERS, type ExtraModel, type ExtraProvider } from "./extra-providers.ts";
import type { LocalServer } from "./localhost-probe.ts";
import { normalizeProvider } from "./provider-table.ts";
import type { ModelRef } from "./types.ts";

type PiAi = PiModules["ai"];
type AnyModel = Model<Api>;

export interface CatalogueInput {
  readonly ai: Pick<PiAi, "getProviders" | "getModels">;
  readonly providers: Readonly<Record<string, ModelsProviderConfig>>;
  readonly local: readonly LocalServer[];
  /** What providers' own lists name; built-in entries know more and stay. */
  readonly cloud: readonly CloudModel[];
  /** A provider that cannot be used; the others stay. */
  readonly onBadProvider: (provider: string, problem: string) => void;
}

export interface Catalogue {
  find(ref: ModelRef): AnyModel | undefined;
  providers(): string[];
  models(provider: string): AnyModel[];
  isConfigured(provider: string): boolean;
  providerConfig(provider: string): ModelsProviderConfig | undefined;
}

const DEFAULT_WINDOW = 200_000;
const DEFAULT_OUTPUT = 8192;
const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Newer ids that stand on an older entry's figures. Source: spec providers §2 (lookup). */
const FORWARD: readonly { readonly provider: string; readonly id: RegExp; readonly from: string; readonly reasoning?: true }[] = [
  { provider: "anthropic", id: /^claude-opus-4-6/, from: "claude-opus-4-5" },
  { provider: "anthropic", id: /^claude-sonnet-4-6/, from: "claude-sonnet-4-5" },
  { provider: "openai-codex", id: /^gpt-5\.3-codex/, from: "gpt-5.2-codex" },
  { provider: "openai-codex", id: /^gpt-5\.1-codex/, from: "gpt-5.2-codex" },
  { provider: "zai", id: /^glm-5/, from: "glm-4.7", reasoning: true },
  { provider: "opencode", id: /^(glm-|kimi-k2|minimax-m2)/, from: "kimi-k2.5", reasoning: true },
  { provider: "opencode", id: /^gemini-3-pro$/, from: "gemini-3.1-pro" },
];

/**
 * All known models: Pi's list, the providers it lacks, servers found on this machine, and `models.providers` over them.
 * Source: spec providers §1, §2 (lookup), §4.
 */
export function buildCatalogue(input: CatalogueInput): Catalogue {
  const table = new Map<string, Map<string, AnyModel>>();
  const add = (model: AnyModel): void => {
    let models = table.get(model.provider);
    if (!models) table.set(model.provider, (models = new Map()));
    models.set(model.id, model);
  };
  for (const provider of input.ai.getProviders()) for (const model of input.ai.getModels(provider)) add(model);
  for (const [provider, extra] of Object.entries(EXTRA_PROVIDERS)) {
    for (const model of extra.models) if (!table.get(provider)?.has(model.id)) add(fromExtra(provider, extra, model));
  }
  for (const model of input.ai.getModels("moonshotai")) if (!table.get("moonshot")?.has(model.id)) add({ ...model, provider: "moonshot" });
  for (const server of input.local) for (const model of server.models) add(fromLocal(server, model));

  for (const model of input.cloud) if (!table.get(model.provider)?.has(model.id)) add(fromCloud(model, table.get(model.provider)?.values().next().value));

  const configs = new Map<string, ModelsProviderConfig>();
  for (const [key, cfg] of Object.entries(input.providers)) {
    const provider = normalizeProvider(key);
    const problem = problemOf(cfg, table.has(provider));
    if (problem) {
      input.onBadProvider(key, problem);
      continue;
    }
    configs.set(provider, cfg);
    overlay(table, provider, cfg);
  }

  function find(ref: ModelRef): AnyModel | undefined {
    const models = table.get(ref.provider);
    const known = models?.get(ref.modelId) ?? byLooseId(models, ref);
    if (known) return known;
    const cfg = configs.get(ref.provider);
    for (const rule of FORWARD) {
      const base = rule.provider === ref.provider && rule.id.test(ref.modelId) ? models?.get(rule.from) : undefined;
      if (base) return { ...base, id: ref.modelId, name: ref.modelId, ...(rule.reasoning ? { reasoning: true } : {}) };
    }
    if (cfg) return anyIdOf(ref, cfg, models);
    if (Object.hasOwn(OPEN_PROVIDERS, ref.provider)) return openModel(ref);
    if (ref.modelId.startsWith("mock-")) return mockModel(ref, models);
    return undefined;
  }

  return {
    find,
    providers: () => [...table.keys()],
    models: (provider) => [...(table.get(provider)?.values() ?? [])],
    isConfigured: (provider) => configs.has(provider),
    providerConfig: (provider) => configs.get(provider),
  };
}

/** Dots for dashes (gateways), and a Hugging Face routing suffix. */
function byLooseId(models: ReadonlyMap<string, AnyModel> | undefined, ref: ModelRef): AnyModel | undefined {
  if (!models) return undefined;
  if (ref.provider === "vercel-ai-gateway" || ref.provider === "kilocode") {
    const dotted = models.get(ref.modelId.replace(/-(\d+)-(\d+)$/, "-$1.$2"));
    if (dotted) return dotted;
  }
  if (ref.provider === "huggingface") {
    const base = models.get(ref.modelId.replace(/:[\w-]+$/, ""));
    if (base) return { ...base, id: ref.modelId };
  }
  return undefined;
}

function problemOf(cfg: ModelsProviderConfig, isKnown: boolean): string | undefined {
  if (cfg.baseUrl === undefined || cfg.baseUrl.trim() === "") return isKnown ? undefined : "baseUrl is missing";
  if (!URL.canParse(cfg.baseUrl) || !/^https?:$/.test(new URL(cfg.baseUrl).protocol)) return "baseUrl is not an http(s) address";
  return undefined;
}

function overlay(table: Map<string, Map<string, AnyModel>>, provider: string, cfg: ModelsProviderConfig): void {
  const models = new Map<string, AnyModel>();
  const before = table.get(provider);
  for (const [id, model] of before ?? []) {
    // Pi's entries speak another format than the one configured: they would fail at that address.
    if (cfg.api !== undefined && cfg.api !== "github-copilot" && cfg.api !== model.api) continue;
    models.set(id, {
      ...model,
      ...(cfg.baseUrl ? { baseUrl: baseUrlFor(model.api, cfg.baseUrl) } : {}),
      ...(cfg.headers ? { headers: { ...model.headers, ...cfg.headers } } : {}),
    });
  }
  for (const model of cfg.models ?? []) models.set(model.id, fromConfig(provider, cfg, model, before?.get(model.id)));
  table.set(provider, models);
}

/** Config fields win; one left at its default takes the built-in figure of the same id. */
function fromConfig(provider: string, cfg: ModelsProviderConfig, own: ModelsProviderModelConfig, base: AnyModel | undefined): AnyModel {
  const api = apiOf(provider, cfg, own.api, own.id, base);
  const baseUrl = baseUrlFor(api, cfg.baseUrl ?? base?.baseUrl ?? "");
  const headers = { ...base?.headers, ...cfg.headers, ...own.headers };
  const contextWindow = own.contextWindow !== undefined && own.contextWindow !== DEFAULT_WINDOW ? own.contextWindow : (base?.contextWindow ?? DEFAULT_WINDOW);
  const maxTokens = own.maxTokens !== undefined && own.maxTokens !== DEFAULT_OUTPUT ? own.maxTokens : (base?.maxTokens ?? DEFAULT_OUTPUT);
  const ownInput = own.input && own.input.join() !== "text" ? own.input : undefined;
  const cost = pricesOf(own.cost) ?? base?.cost ?? NO_COST;
  return withCompat({
    id: own.id, name: own.name, api, provider, baseUrl,
    reasoning: own.reasoning === true || (base?.reasoning ?? false),
    input: [...(ownInput ?? base?.input ?? ["text"])],
    cost, contextWindow, maxTokens: Math.min(maxTokens, contextWindow),
    ...(base?.thinkingLevelMap ? { thinkingLevelMap: base.thinkingLevelMap } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(base?.compat || own.compat ? { compat: { ...base?.compat, ...compatOf(own.compat) } } : {}),
  });
}

/** `requiresMistralToolIds` is accepted and means nothing: Pi does that by itself now. */
function compatOf(own: ModelsProviderModelCompatConfig | undefined): NonNullable<AnyModel["compat"]> {
  const { requiresMistralToolIds: _done, ...rest } = own ?? {};
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
}

function pricesOf(cost: ModelsProviderModelCostConfig | undefined): AnyModel["cost"] | undefined {
  const prices = { input: cost?.input ?? 0, output: cost?.output ?? 0, cacheRead: cost?.cacheRead ?? 0, cacheWrite: cost?.cacheWrite ?? 0 };
  return Object.values(prices).some((price) => price > 0) ? prices : undefined;
}

function apiOf(provider: string, cfg: ModelsProviderConfig, own: string | undefined, modelId: string, base: AnyModel | undefined): Api {
  const api = own ?? cfg.api ?? base?.api ?? cfg.models?.find((model) => model.api)?.api;
  if (api === "github-copilot") return modelId.startsWith("claude") ? "anthropic-messages" : modelId.startsWith("gpt-5") ? "openai-responses" : "openai-completions";
  if (api !== undefined) return api;
  const url = URL.canParse(cfg.baseUrl ?? "") ? new URL(cfg.baseUrl ?? "") : undefined;
  if (provider === "anthropic" || url?.pathname.includes("/anthropic")) return "anthropic-messages";
  if (provider === "ollama" && !url?.pathname.includes("/v1")) return "ollama";
  if (url?.hostname === "generativelanguage.googleapis.com") return "google-generative-ai";
  return url?.hostname === "api.openai.com" || modelId.startsWith("mock-") ? "openai-responses" : "openai-completions";
}

/** A configured provider takes any id: people name models faster than lists follow. */
function anyIdOf(ref: ModelRef, cfg: ModelsProviderConfig, models: ReadonlyMap<string, AnyModel> | undefined): AnyModel {
  const first = cfg.models?.[0];
  const sibling = models?.values().next().value;
  const api = apiOf(ref.provider, cfg, undefined, ref.modelId, sibling);
  const contextWindow = first?.contextWindow ?? DEFAULT_WINDOW;
  return withCompat({
    id: ref.modelId, name: ref.modelId, api, provider: ref.provider, baseUrl: baseUrlFor(api, cfg.baseUrl ?? sibling?.baseUrl ?? ""),
    reasoning: false, input: ["text"], cost: NO_COST, contextWindow, maxTokens: Math.min(first?.maxTokens ?? DEFAULT_OUTPUT, contextWindow),
    ...(cfg.headers ? { headers: { ...cfg.headers } } : {}),
  });
}

function fromExtra(provider: string, extra: ExtraProvider, model: ExtraModel): AnyModel {
  return withCompat({
    id: model.id, name: model.id, api: extra.api, provider, baseUrl: extra.baseUrl,
    reasoning: model.reasoning ?? false, input: model.image ? ["text", "image"] : ["text"],
    cost: model.price ? { ...NO_COST, input: model.price[0], output: model.price[1] } : NO_COST,
    contextWindow: model.window, maxTokens: model.output,
    ...(extra.headers ? { headers: { ...extra.headers } } : {}),
    ...(extra.noUsageInStreaming ? { compat: { supportsUsageInStreaming: false } } : {}),
  });
}

function fromLocal(server: LocalServer, model: LocalServer["models"][number]): AnyModel {
  return withCompat({
    id: model.id, name: model.id, api: server.api, provider: server.provider, baseUrl: server.baseUrl,
    reasoning: model.reasoning, input: model.image ? ["text", "image"] : ["text"], cost: NO_COST,
    contextWindow: model.contextWindow, maxTokens: Math.min(DEFAULT_OUTPUT, model.contextWindow),
  });
}

const CLOUD_API = { venice: "openai-completions", huggingface: "openai-completions", "amazon-bedrock": "bedrock-converse-stream" } as const;

function fromCloud(model: CloudModel, sibling: AnyModel | undefined): AnyModel {
  const { provider } = model;
  const extra = EXTRA_PROVIDERS[provider];
  return withCompat({
    id: model.id, name: model.name, api: CLOUD_API[provider as keyof typeof CLOUD_API] ?? "openai-completions", provider, baseUrl: extra?.baseUrl ?? sibling?.baseUrl ?? "",
    reasoning: model.reasoning, input: model.image ? ["text", "image"] : ["text"], cost: NO_COST, contextWindow: model.contextWindow, maxTokens: Math.min(model.maxTokens, model.contextWindow),
    ...(extra?.noUsageInStreaming ? { compat: { supportsUsageInStreaming: false } } : {}),
  });
}

function openModel(ref: ModelRef): AnyModel | undefined {
  const open = OPEN_PROVIDERS[ref.provider];
  if (!open) return undefined;
  return withCompat({
    id: ref.modelId, name: ref.modelId, api: open.api, provider: ref.provider, baseUrl: open.baseUrl,
    reasoning: /r1|reasoning|think/i.test(ref.modelId) && ref.provider !== "openrouter", input: ["text"], cost: NO_COST, contextWindow: open.window, maxTokens: open.output,
  });
}

function mockModel(ref: ModelRef, models: ReadonlyMap<string, AnyModel> | undefined): AnyModel {
  const sibling = models?.values().next().value;
  return {
    id: ref.modelId, name: ref.modelId, api: sibling?.api ?? "openai-responses", provider: ref.provider, baseUrl: sibling?.baseUrl ?? "",
    reasoning: false, input: ["text"], cost: NO_COST, contextWindow: DEFAULT_WINDOW, maxTokens: DEFAULT_OUTPUT,
  };
}

function withCompat(model: AnyModel): AnyModel {
  if (model.api !== "openai-completions") return model;
  const compat = completionsCompat(model.baseUrl, model.id, model.compat);
  return compat ? { ...model, compat } : model;
}
