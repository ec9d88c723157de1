import { join } from "node:path";
import type { Api, Model } from "@mariozechner/pi-ai";
import type { ModelsProviderConfig, OpenClawConfig } from "../../config/index.ts";
import type { Clock } from "../../infra/clock.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import { createRetryAfterLog } from "../../infra/retry-after.ts";
import { normalizeAgentId } from "../../routing/index.ts";
import { createAuthProfiles, type AuthProfilesOptions, type ProfileFailure } from "../auth-profiles/index.ts";
import { loadPi, type PiModules } from "../pi.ts";
import { buildCatalogue, type Catalogue } from "./catalogue.ts";
import { createCloudCatalogues, type CloudModel } from "./cloud-catalogues.ts";
import { isLoopbackUrl, withRequestParams } from "./compat.ts";
import { exchangeCopilotToken } from "./copilot-token.ts";
import { envKeyName, hasPlainKey, profileCandidates, resolveKey, type ResolvedKey } from "./keys.ts";
import { LOCAL_PORTS, MIN_WINDOW, portTargets, type LocalPorts, type LocalServer, type ProbeTarget } from "./localhost-probe.ts";
import { createLocalWatch } from "./localhost-watch.ts";
import { EXTRA_PROVIDERS } from "./extra-providers.ts";
import { readKeptProviders, writeModelsJson } from "./models-json.ts";
import { createOfflineGuide, OFFLINE_REF, offlineModel } from "./offline-guide/index.ts";
import { createOllamaStream } from "./ollama-stream.ts";
import { normalizeProvider, REMOVED_PROVIDERS } from "./provider-table.ts";
import { configuredAliases, normalizeRef, profileCuts, resolveAliases, sameRef, splitRef, suggest } from "./refs.ts";
import { requestHeaders } from "./request-headers.ts";
import { configuredTargets, fallbackTexts, firstConfigured, firstWithKey, localOrOffline, primaryText } from "./select-default.ts";
import { defaultThinkingOf, thinkingLevelsOf } from "./thinking.ts";
import { formatModelRef, ModelError, type Credential, type FailoverReason, type ModelChoice, type ModelRef, type ModelRow, type ModelService, type PreparedModel, type PrepareOptions, type RefParse } from "./types.ts";

export interface ModelServiceOptions {
  readonly config: () => OpenClawConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly agentDir: (agentId: string) => string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fetch?: typeof fetch | undefined;
  /** false with OPENCLAW_SKIP_LOCAL_MODELS=1. */
  readonly probeLocalhost: boolean;
  /** A server on this machine was found while there was no model. */
  readonly onModelFound?: ((choice: ModelChoice) => void) | undefined;
  readonly localPorts?: Partial<LocalPorts> | undefined;
  /** false: providers' own lists are not asked for. */
  readonly probeClouds?: boolean | undefined;
  /** Tokens of providers that plugins bring. */
  readonly oauth?: AuthProfilesOptions["oauth"];
  /** What stands for AWS; for tests. */
  readonly bedrockEndpoint?: string | undefined;
  /** ms between looks at this machine while there is no model; default 60 000. */
  readonly probeIntervalMs?: number | undefined;
}

/** Above it Anthropic wants a beta header (`params.context1m`). */
const ANTHROPIC_PLAIN_WINDOW = 200_000;
const PROFILE_FAILURES: ReadonlySet<FailoverReason> = new Set<ProfileFailure>(["auth", "auth_permanent", "billing", "rate_limit"]);
const isProfileFailure = (reason: FailoverReason): reason is ProfileFailure => PROFILE_FAILURES.has(reason);

/** Tokens below which a person is warned. Source: spec agent-pipeline §5.5. */
const SMALL_WINDOW = 32_000;

/** Which model answers, with which key. One per gateway. */
export function createModelService(options: ModelServiceOptions): ModelService {
  const { clock, log } = options;
  // Only looked up when called: the global loads its HTTP client at first sight.
  const fetchFn: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
  const config = options.config;
  const profiles = createAuthProfiles({ config, agentDir: options.agentDir, normalizeProvider, clock, log, fetch: fetchFn, oauth: options.oauth });
  const refusals = createRetryAfterLog(() => clock.now());
  const warned = new Set<string>();
  const lastProbes = new Map<string, number>();
  let pi: Promise<PiModules> | undefined;
  const loadedPi = (): Promise<PiModules> => (pi ??= loadPi());

  const env = (name: string): string | undefined => {
    const value = options.env[name];
    if (value !== undefined && value !== "") return value;
    const own = config().env;
    const set = own?.vars?.[name] ?? (own as Readonly<Record<string, unknown>> | undefined)?.[name];
    return typeof set === "string" && set !== "" ? set : undefined;
  };
  const providers = (): Readonly<Record<string, ModelsProviderConfig>> => config().models?.providers ?? {};

  function warnOnce(key: string, message: string, fields: Record<string, unknown>): void {
    if (warned.has(key)) return;
    warned.add(key);
    log.warn(message, fields);
  }

  const watch = createLocalWatch({
    enabled: options.probeLocalhost, targets: () => probeTargets(), intervalMs: options.probeIntervalMs ?? 60_000, fetch: fetchFn, log,
    isNeeded: async () => (await chooseWithoutLocal(undefined)) === undefined,
    onFound: (local) => options.onModelFound?.(localOrOffline(local, true)),
  });

  const providerConfigOf = (provider: string): ModelsProviderConfig | undefined => Object.entries(providers()).find(([key]) => normalizeProvider(key) === provider)?.[1];
  const clouds = createCloudCatalogues({
    env, clock, log, fetch: fetchFn, bedrock: () => config().models?.bedrockDiscovery, bedrockEndpoint: options.bedrockEndpoint,
    isUsable: async (provider) => options.probeClouds !== false && (await isAvailable(provider, "main")),
    baseUrl: (provider) => (providerConfigOf(provider)?.baseUrl ?? EXTRA_PROVIDERS[provider]?.baseUrl ?? "").replace(/\/$/, ""),
    keyOf(provider) {
      const key = providerConfigOf(provider)?.apiKey;
      const name = envKeyName(provider, env);
      return typeof key === "string" ? key : name && env(name);
    },
  });

  /** A configured provider stands in for the usual port of the same name. */
  function probeTargets(): ProbeTarget[] {
    const configured = new Set(Object.keys(providers()).map(normalizeProvider));
    const usual = portTargets({ ...LOCAL_PORTS, ...options.localPorts });
    return [...configuredTargets(providers()), ...usual.filter((target) => !configured.has(target.provider))];
  }

  // --- catalogue -------------------------------------------------------------------------------------------------

  interface BuiltCatalogue { readonly config: OpenClawConfig; readonly local: readonly LocalServer[]; readonly cloud: readonly CloudModel[]; readonly catalogue: Catalogue }
  const built = new Map<string, Promise<BuiltCatalogue>>();

  async function catalogueOf(agentId: string): Promise<Catalogue> {
    const id = normalizeAgentId(agentId);
    const cfg = config();
    const local = watch.servers();
    void clouds.refresh();
    const cloud = clouds.models();
    const before = built.get(id);
    if (before) {
      const ready = await before.catch(() => undefined);
      if (ready?.config === cfg && ready.local === local && ready.cloud === cloud) return ready.catalogue;
    }
    const next = build(id, cfg, local, cloud);
    built.set(id, next);
    return (await next).catalogue;
  }

  async function build(agentId: string, cfg: OpenClawConfig, local: readonly LocalServer[], cloud: readonly CloudModel[]): Promise<BuiltCatalogue> {
    const { ai } = await loadedPi();
    const path = join(options.agentDir(agentId), "models.json");
    const kept = cfg.models?.mode === "replace" ? {} : await readKeptProviders(path, cfg, log);
    const catalogue = buildCatalogue({
      ai, local, cloud, providers: { ...kept, ...cfg.models?.providers },
      onBadProvider: (provider, problem) => warnOnce(`bad:${provider}:${problem}`, "a model provider is not used", { key: `models.providers.${provider}`, problem }),
    });
    try {
      await writeModelsJson(path, { config: cfg, kept, env, allEnv: options.env, hasKey: (provider) => envKeyName(provider, env) });
    } catch (err) {
      warnOnce("models.json", "models.json was not written", { path, error: errorText(err) });
    }
    return { config: cfg, local, cloud, catalogue };
  }

  // --- references ------------------------------------------------------------------------------------------------

  /** Without Pi where that is possible: aliases, configured providers. */
  function quickRef(text: string): ModelRef | undefined {
    const cfg = config();
    const alias = resolveAliases(cfg).get(text.trim().toLowerCase());
    if (alias) return alias;
    const ref = splitRef(text);
    if (!ref) return undefined;
    if (sameRef(ref, OFFLINE_REF)) return ref;
    return Object.keys(providers()).some((key) => normalizeProvider(key) === ref.provider) ? configuredSpelling(ref, text) : undefined;
  }

  /** A configured model's own id wins over the corrections made for the public service. */
  function configuredSpelling(ref: ModelRef, text: string): ModelRef {
    const raw = text.slice(text.indexOf("/") + 1).trim();
    const provider = normalizeProvider(text.slice(0, text.indexOf("/")));
    const cfg = Object.entries(providers()).find(([key]) => normalizeProvider(key) === provider)?.[1];
    return cfg?.models?.some((model) => model.id === raw) ? { provider, modelId: raw } : ref;
  }

  async function parseModel(text: string, agentId: string): Promise<RefParse> {
    const trimmed = text.trim();
    const fail = (error: string, suggestions: string[]): RefParse => ({ ok: false, error, suggestions });
    if (trimmed === "" || trimmed.length > 300) return fail("Name a model as provider/model, or an alias.", []);
    const alias = resolveAliases(config()).get(trimmed.toLowerCase());
    if (alias) return { ok: true, ref: alias, alias: trimmed.toLowerCase() };
    const quick = quickRef(trimmed);
    if (quick) return { ok: true, ref: quick };
    const catalogue = await catalogueOf(agentId);
    const ref = splitRef(trimmed);
    if (trimmed.includes("/") && !ref) return fail(`"${trimmed}" is not a model: write provider/model.`, []);
    if (ref) {
      if (catalogue.find(ref)) return { ok: true, ref };
      // A bare id may hold a slash itself (openrouter's do).
      const owner = await ownerOf(catalogue, trimmed, agentId);
      if (owner) return { ok: true, ref: owner };
      return fail(`Unknown model: ${formatModelRef(ref)}`, suggest(formatModelRef(ref), allNames(catalogue)));
    }
    const owner = await ownerOf(catalogue, trimmed, agentId);
    if (owner) return { ok: true, ref: owner };
    return fail(`Unknown model: ${trimmed}`, suggest(trimmed, [...resolveAliases(config()).keys(), ...allNames(catalogue)]));
  }

  function* allNames(catalogue: Catalogue): Generator<string> {
    for (const provider of catalogue.providers()) for (const model of catalogue.models(provider)) yield `${provider}/${model.id}`;
  }

  /** The one provider that has a bare id; among several, the one with a key. */
  async function ownerOf(catalogue: Catalogue, modelId: string, agentId: string): Promise<ModelRef | undefined> {
    const spelled = normalizeRef({ provider: "anthropic", modelId }).modelId;
    const owners = catalogue.providers().filter((provider) => catalogue.models(provider).some((model) => model.id === modelId || (provider === "anthropic" && model.id === spelled)));
    const pick = (provider: string): ModelRef => normalizeRef({ provider, modelId: provider === "anthropic" ? spelled : modelId });
    const [only] = owners;
    if (only === undefined) return undefined;
    if (owners.length === 1) return pick(only);
    const keyed: string[] = [];
    for (const provider of owners) if (await isAvailable(provider, agentId)) keyed.push(provider);
    if (keyed[0] !== undefined) return pick(keyed.find((provider) => catalogue.isConfigured(provider)) ?? keyed[0]);
    const maker = ["anthropic", "openai", "google", "xai", "deepseek", "mistral", "zai", "moonshotai"].find((provider) => owners.includes(provider));
    return maker ? pick(maker) : undefined;
  }

  async function parseRef(text: string, agentId: string): Promise<RefParse> {
    for (const cut of profileCuts(text)) {
      if (!(await profiles.has(agentId, cut.profileId))) continue;
      const parsed = await parseModel(cut.model, agentId);
      return parsed.ok ? { ...parsed, profileId: cut.profileId } : parsed;
    }
    const whole = await parseModel(text, agentId);
    const cut = profileCuts(text)[0];
    if (!cut) return whole;
    const model = await parseModel(cut.model, agentId);
    if (model.ok && (!whole.ok || !(await isListed(whole.ref, agentId)))) return { ok: false, error: `There is no auth profile "${cut.profileId}".`, suggestions: [] };
    return whole;
  }

  const isListed = async (ref: ModelRef, agentId: string): Promise<boolean> => (await catalogueOf(agentId)).models(ref.provider).some((model) => model.id === ref.modelId);

  // --- the default -----------------------------------------------------------------------------------------------

  /** Rows 1 to 3 of the table; undefined when nothing is configured and no key is there. */
  async function chooseWithoutLocal(agentId: string | undefined): Promise<ModelChoice | undefined> {
    const id = agentId ?? "main";
    const primary = primaryText(config(), id);
    if (primary) return { ref: await primaryRef(primary.text, primary.key, id), source: primary.source, reason: `Set in ${primary.key}.` };
    return firstConfigured(providers(), env) ?? firstWithKey({ env, profiles, agentId: id });
  }

  /** A bare text that nobody knows is taken for an Anthropic model, as the reference does, with a warning. */
  async function primaryRef(text: string, key: string, agentId: string): Promise<ModelRef> {
    const cut = profileCuts(text)[0];
    const plain = cut && (await profiles.has(agentId, cut.profileId)) ? cut.model : text;
    const quick = quickRef(plain) ?? splitRef(plain);
    if (quick) return quick;
    const owner = await ownerOf(await catalogueOf(agentId), plain, agentId);
    if (owner) return owner;
    warnOnce(`primary:${text}`, "a model without provider is taken for one of anthropic; write provider/model", { key, value: text });
    return normalizeRef({ provider: "anthropic", modelId: plain });
  }

  async function selectDefault(agentId: string): Promise<ModelChoice> {
    const choice = await chooseWithoutLocal(agentId);
    if (choice) return choice;
    await watch.firstRound();
    return localOrOffline(watch.servers(), options.probeLocalhost);
  }

  // --- keys ------------------------------------------------------------------------------------------------------

  async function isAvailable(provider: string, agentId: string): Promise<boolean> {
    if (provider === OFFLINE_REF.provider) return true;
    if (watch.servers().some((server) => server.provider === provider)) return true;
    const cfg = Object.entries(providers()).find(([key]) => normalizeProvider(key) === provider)?.[1];
    return hasPlainKey(provider, cfg, env) || (await profileCandidates(profiles, agentId, provider, "")).length > 0;
  }

  function paramsOf(ref: ModelRef): Record<string, unknown> {
    const models = config().agents?.defaults?.models ?? {};
    const entry = Object.entries(models).find(([key]) => {
      const known = splitRef(key);
      return known !== undefined && sameRef(known, ref);
    })?.[1];
    return { ...entry?.params };
  }

  function unknownModel(ref: ModelRef, catalogue: Catalogue): ModelError {
    const name = formatModelRef(ref);
    const near = suggest(name, allNames(catalogue));
    const fix = near.length > 0 ? `Did you mean ${near.join(", ")}?` : "List the known ones: openclaw models list --all";
    return new ModelError("unknown-model", `Unknown model: ${name}.`, fix);
  }

  async function prepare(wanted: ModelRef, agentId: string, choice: PrepareOptions = {}): Promise<PreparedModel> {
    const ref = configuredSpelling(normalizeRef(wanted), formatModelRef(wanted));
    const modules = await loadedPi();
    const { ai } = modules;
    const cap = config().agents?.defaults?.contextTokens;
    if (sameRef(ref, OFFLINE_REF)) {
      return {
        ref, model: offlineModel, contextTokens: Math.min(cap ?? Infinity, offlineModel.contextWindow), authMode: "none", profileId: undefined, apiKey: "offline",
        headers: undefined, stream: createOfflineGuide(ai, () => clock.now()), params: {}, priced: false,
      };
    }
    const replacement = REMOVED_PROVIDERS[ref.provider];
    if (replacement !== undefined && !Object.hasOwn(providers(), ref.provider)) throw new ModelError("unavailable", `${ref.provider} is no longer supported.`, `Use ${replacement} with GEMINI_API_KEY.`);
    const catalogue = await catalogueOf(agentId);
    const found = catalogue.find(ref);
    if (!found) throw unknownModel(ref, catalogue);
    const params = paramsOf(ref);
    const window = ref.provider === "anthropic" && params["context1m"] !== true ? Math.min(found.contextWindow, ANTHROPIC_PLAIN_WINDOW) : found.contextWindow;
    const contextTokens = Math.min(cap ?? Infinity, window);
    if (contextTokens < MIN_WINDOW) {
      throw new ModelError("window-too-small", `${formatModelRef(ref)} has room for ${contextTokens} tokens; at least ${MIN_WINDOW} are needed.`, "Choose another model, or correct its contextWindow in models.providers.");
    }
    if (contextTokens < SMALL_WINDOW) warnOnce(`window:${formatModelRef(ref)}`, "the model's window is small: long conversations will be compacted often", { model: formatModelRef(ref), contextTokens });
    const providerConfig = catalogue.providerConfig(ref.provider);
    const key = await resolveKey(
      {
        provider: ref.provider, modelId: ref.modelId, agentId, pinned: choice.profileId, preferred: choice.preferredProfileId, after: choice.afterProfileId,
        asFallback: choice.asFallback === true, providerConfig, baseUrl: found.baseUrl,
      },
      { profiles, env, now: () => clock.now(), lastProbes },
    );
    const { model, apiKey } = await finish(withRequestParams(found, params), key, contextTokens);
    const headers = requestHeaders({ model, params, apiKey, authMode: key.authMode, authHeader: providerConfig?.authHeader === true });
    return {
      ref, model, contextTokens, authMode: key.authMode, profileId: key.profileId, apiKey, headers,
      ...(model.api === "ollama" ? { stream: createOllamaStream(ai, fetchFn, () => clock.now()) } : {}),
      params, priced: Object.values(model.cost).some((price) => price > 0),
    };
  }

  /** What depends on the key: addresses that hold account ids, tokens that must be exchanged. */
  async function credential(provider: string, agentId: string, profileId?: string): Promise<Credential | undefined> {
    const providerConfig = providerConfigOf(provider);
    const request = { provider, modelId: "", agentId, pinned: profileId, preferred: undefined, after: undefined, asFallback: true, providerConfig, baseUrl: providerConfig?.baseUrl ?? "" };
    try {
      return await resolveKey(request, { profiles, env, now: () => clock.now(), lastProbes });
    } catch (err) {
      if (err instanceof ModelError) return undefined;
      throw err;
    }
  }

  async function finish(found: Model<Api>, key: ResolvedKey, contextTokens: number): Promise<{ model: Model<Api>; apiKey: string | undefined }> {
    const model: Model<Api> = { ...found, contextWindow: contextTokens, maxTokens: Math.min(found.maxTokens, contextTokens) };
    if (found.provider === "github-copilot" && key.apiKey !== undefined && key.authMode !== "oauth" && !isLoopbackUrl(found.baseUrl)) {
      const token = await exchangeCopilotToken(key.apiKey, { stateDir: options.stateDir, fetch: fetchFn, now: () => clock.now() });
      return { model: { ...model, baseUrl: token.baseUrl }, apiKey: token.token };
    }
    if (found.provider === "cloudflare-ai-gateway" && key.metadata["accountId"] && key.metadata["gatewayId"]) {
      const baseUrl = found.baseUrl.replace("{CLOUDFLARE_ACCOUNT_ID}", key.metadata["accountId"]).replace("{CLOUDFLARE_GATEWAY_ID}", key.metadata["gatewayId"]);
      // Under its own id Pi would send the upstream's key as the gateway's.
      return { model: { ...model, baseUrl, provider: "cloudflare-ai-gateway-upstream" }, apiKey: key.apiKey };
    }
    return { model, apiKey: key.apiKey };
  }

  async function listRow(model: Model<Api>, available: boolean): Promise<ModelRow> {
    return { id: model.id, name: model.name, provider: model.provider, contextWindow: model.contextWindow, reasoning: model.reasoning, input: model.input, available };
  }

  async function findModel(ref: ModelRef, agentId: string): Promise<Model<Api> | undefined> {
    if (sameRef(ref, OFFLINE_REF)) return offlineModel;
    return (await catalogueOf(agentId)).find(ref);
  }

  function allowedRefs(): ModelRef[] {
    return Object.keys(config().agents?.defaults?.models ?? {}).flatMap((key) => resolveAliases(config()).get(key.trim().toLowerCase()) ?? splitRef(key) ?? []);
  }

  return {
    selectDefault,
    parseRef,
    prepare,
    async isAllowed(wanted, agentId) {
      const allowed = allowedRefs();
      if (allowed.length === 0) return true;
      const ref = normalizeRef(wanted);
      return allowed.some((candidate) => sameRef(candidate, ref)) || sameRef(ref, (await selectDefault(agentId)).ref);
    },
    async fallbacks(agentId, selected) {
      const cfg = config();
      if (Object.entries(providers()).some(([key, provider]) => normalizeProvider(key) === selected.provider && provider.failover === false)) return [];
      const primary = primaryText(cfg, agentId);
      const primaryModel = primary && (await primaryRef(primary.text, primary.key, agentId));
      const listed: ModelRef[] = [];
      for (const text of fallbackTexts(cfg, agentId)) {
        const ref = quickRef(text) ?? splitRef(text) ?? (await parseModel(text, agentId).then((parsed) => (parsed.ok ? parsed.ref : undefined)));
        if (ref) listed.push(ref);
        else warnOnce(`fallback:${text}`, "a fallback model is unknown and left out", { key: "agents.defaults.model.fallbacks", value: text });
      }
      const foreign = primaryModel !== undefined && primaryModel.provider !== selected.provider && !listed.some((ref) => sameRef(ref, selected));
      const chain = [...(foreign ? [] : listed), ...(primaryModel ? [primaryModel] : [])];
      return chain.filter((ref, index) => !sameRef(ref, selected) && chain.findIndex((other) => sameRef(other, ref)) === index);
    },
    apiKey: async (provider, agentId, profileId) => (await credential(provider, agentId, profileId))?.apiKey,
    credential,
    async nextProfile(prepared, agentId, tried) {
      if (prepared.profileId === undefined) return undefined;
      const candidates = await profileCandidates(profiles, agentId, prepared.ref.provider, prepared.ref.modelId);
      return candidates.find((candidate) => candidate.restsUntil === 0 && candidate.id !== prepared.profileId && !tried.has(candidate.id))?.id;
    },
    saveProfile: (agentId, profileId, profile) => profiles.save(agentId, profileId, profile),
    async reportSuccess(prepared, agentId) {
      if (prepared.profileId !== undefined) await profiles.reportSuccess(agentId, prepared.profileId, prepared.ref.modelId);
    },
    async reportFailure(prepared, agentId, reason) {
      if (watch.servers().some((server) => server.provider === prepared.ref.provider)) watch.lookAgain();
      if (prepared.profileId !== undefined && isProfileFailure(reason)) await profiles.reportFailure(agentId, prepared.profileId, prepared.ref.modelId, reason);
    },
    askedToWaitMs: (prepared) => refusals.remainingMs(prepared.model.baseUrl),
    async list(agentId) {
      const id = agentId ?? "main";
      const catalogue = await catalogueOf(id);
      const allowed = agentId === undefined ? [] : allowedRefs();
      const rows: ModelRow[] = [];
      const available = new Map<string, boolean>();
      const isThere = async (provider: string): Promise<boolean> => {
        const known = available.get(provider) ?? (await isAvailable(provider, id));
        available.set(provider, known);
        return known;
      };
      if (allowed.length > 0) {
        const choice = (await selectDefault(id)).ref;
        for (const ref of allowed.some((candidate) => sameRef(candidate, choice)) ? allowed : [choice, ...allowed]) {
          const model = await findModel(ref, id);
          rows.push(model ? await listRow(model, await isThere(ref.provider)) : { id: ref.modelId, name: ref.modelId, provider: ref.provider, available: false });
        }
        return rows;
      }
      const order = catalogue.providers().toSorted((a, b) => Number(catalogue.isConfigured(b)) - Number(catalogue.isConfigured(a)));
      for (const provider of order) for (const model of catalogue.models(provider)) rows.push(await listRow(model, await isThere(provider)));
      if ((await selectDefault(id)).source === "offline") rows.push(await listRow(offlineModel, true));
      return rows;
    },
    aliases: () => configuredAliases(config()),
    async thinkingLevels(ref, agentId) {
      const model = await findModel(normalizeRef(ref), agentId);
      return model ? thinkingLevelsOf(model) : ["off"];
    },
    async defaultThinking(ref, agentId) {
      const model = await findModel(normalizeRef(ref), agentId);
      return model ? defaultThinkingOf(model) : "off";
    },
    startProbes: () => watch.start(),
    lookAgain: () => watch.lookAgain(),
    close() {
      watch.close();
      clouds.close();
      refusals.close();
    },
  };
}
