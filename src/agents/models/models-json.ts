import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { ModelsProviderConfig, OpenClawConfig } from "../../config/index.ts";
import { isErrno, writeFileAtomic } from "../../infra/atomic-file.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import { isLoopbackUrl } from "./compat.ts";
import { EXTRA_PROVIDERS } from "./extra-providers.ts";
import { awsVariable, envNamesOf, normalizeProvider } from "./provider-table.ts";

const modelSchema = z.looseObject({ id: z.string().min(1), name: z.string().optional(), contextWindow: z.number().optional(), maxTokens: z.number().optional() });
const providerSchema = z.looseObject({ baseUrl: z.string().optional(), apiKey: z.string().optional(), api: z.string().optional(), models: z.array(modelSchema).optional() });
/** `generated` names what we wrote from the configuration, so that it goes when it goes there. */
const fileSchema = z.looseObject({ providers: z.record(z.string(), z.unknown()), generated: z.array(z.string()).optional() });

const APIS = new Set(["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai", "github-copilot", "bedrock-converse-stream", "ollama"]);

/**
 * Providers of an existing `models.json` that neither the configuration nor our tables name: people add them by hand.
 * One that cannot be read is left out alone. Source: spec providers §4 (`models.mode` merge).
 */
export async function readKeptProviders(path: string, cfg: OpenClawConfig, log: Logger): Promise<Record<string, ModelsProviderConfig>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (err) {
    if (isErrno(err, "ENOENT")) return {};
    log.warn("models.json cannot be read", { path, error: errorText(err) });
    return {};
  }
  const kept: Record<string, ModelsProviderConfig> = {};
  try {
    const configured = new Set(Object.keys(cfg.models?.providers ?? {}).map(normalizeProvider));
    const file = fileSchema.parse(JSON.parse(text));
    for (const [key, value] of Object.entries(file.providers)) {
      if (file.generated?.includes(key) || configured.has(normalizeProvider(key)) || Object.hasOwn(EXTRA_PROVIDERS, normalizeProvider(key))) continue;
      const provider = providerSchema.safeParse(value);
      if (!provider.success || (provider.data.api !== undefined && !APIS.has(provider.data.api))) {
        log.warn("a provider of models.json is not used", { path, provider: key });
        continue;
      }
      const models = (provider.data.models ?? []).map((model) => ({ ...model, name: model.name ?? model.id }));
      kept[key] = { ...provider.data, models } as ModelsProviderConfig;
    }
  } catch (err) {
    log.warn("models.json is not valid; what it holds is not used", { path, error: errorText(err) });
  }
  return kept;
}

export interface ModelsJsonInput {
  readonly config: OpenClawConfig;
  readonly kept: Readonly<Record<string, ModelsProviderConfig>>;
  readonly env: (name: string) => string | undefined;
  readonly allEnv: Readonly<Record<string, string | undefined>>;
  /** Name of the variable with a provider's key. */
  readonly hasKey: (provider: string) => string | undefined;
}

/** Writes `models.json` (0600) if it would change; nothing while there are no providers. */
export async function writeModelsJson(path: string, input: ModelsJsonInput): Promise<boolean> {
  const providers: Record<string, unknown> = {};
  for (const [provider, extra] of Object.entries(EXTRA_PROVIDERS)) {
    const variable = input.hasKey(provider);
    if (variable === undefined || provider === "litellm" || provider.endsWith("-portal")) continue;
    providers[provider] = {
      baseUrl: extra.baseUrl, api: extra.api, apiKey: variable, ...(extra.headers ? { headers: extra.headers } : {}),
      models: extra.models.map((model) => ({
        id: model.id, name: model.id, reasoning: model.reasoning ?? false, input: model.image ? ["text", "image"] : ["text"],
        cost: { input: model.price?.[0] ?? 0, output: model.price?.[1] ?? 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: model.window, maxTokens: model.output,
      })),
    };
  }
  for (const [provider, cfg] of Object.entries({ ...input.kept, ...input.config.models?.providers })) {
    const { apiKey: _literal, failover: _ours, ...rest } = cfg;
    const apiKey = keyText(normalizeProvider(provider), cfg, input);
    providers[provider] = { ...rest, models: cfg.models ?? [], ...(apiKey === undefined ? {} : { apiKey }) };
  }
  const generated = Object.keys(providers).filter((key) => !Object.hasOwn(input.kept, key));
  const text = `${JSON.stringify({ providers, generated }, null, 2)}\n`;
  const before = await readFile(path, "utf8").catch(() => "");
  if (before === text || (before === "" && Object.keys(providers).length === 0)) return false;
  await writeFileAtomic(path, text);
  return true;
}

/** The variable's name wherever the key came from one; else what the configuration says. */
function keyText(provider: string, cfg: ModelsProviderConfig, input: ModelsJsonInput): string | undefined {
  const text = cfg.apiKey?.trim();
  if (cfg.auth === "aws-sdk") return awsVariable(input.env);
  if (!text) return input.hasKey(provider) ?? (isLoopbackUrl(cfg.baseUrl) ? "openclaw-local" : undefined);
  const reference = /^\$\{([A-Z_][A-Z0-9_]*)\}$/.exec(text)?.[1];
  if (reference !== undefined) return reference;
  const own = envNamesOf(provider).find((name) => input.env(name) === text);
  return own ?? Object.entries(input.allEnv).find(([name, value]) => value === text && /^[A-Z][A-Z0-9_]*$/.test(name))?.[0] ?? text;
}
