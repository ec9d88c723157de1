import { z } from "zod";
import type { ModelsBedrockDiscoveryConfig } from "../../config/index.ts";
import type { Clock } from "../../infra/clock.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";

/** A model that a provider's own list names. Source: spec providers §5. */
export interface CloudModel {
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  readonly contextWindow: number;
  readonly maxTokens: number;
  readonly reasoning: boolean;
  readonly image: boolean;
}

export interface CloudCataloguesOptions {
  readonly env: (name: string) => string | undefined;
  readonly bedrock: () => ModelsBedrockDiscoveryConfig | undefined;
  /** Whether there is a key for this provider; without one its list is of no use. */
  readonly isUsable: (provider: string) => Promise<boolean>;
  /** Address of a provider's API; for a configured one its own. */
  readonly baseUrl: (provider: "venice" | "huggingface") => string;
  readonly keyOf: (provider: string) => string | undefined;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly log: Logger;
  /** For tests: what stands for AWS. */
  readonly bedrockEndpoint?: string | undefined;
}

/** Lists of models that change by the week, asked for in the background: no run waits for them, and without them the built-in list stands. */
export interface CloudCatalogues {
  /** The same array until something was learnt. */
  models(): readonly CloudModel[];
  /** Asks what is due; at most once at a time. */
  refresh(): Promise<void>;
  close(): void;
}

const HOUR_MS = 3_600_000;
/** After a failure it is tried again no sooner. */
const RETRY_MS = 10 * 60_000;
const VENICE_OUTPUT = 8192;
const HUGGINGFACE_WINDOW = 131_072;
const HUGGINGFACE_OUTPUT = 8192;
const BEDROCK_WINDOW = 32_000;
const BEDROCK_OUTPUT = 4096;
const MAX_MODELS = 2000;

interface Source {
  readonly provider: string;
  readonly everyMs: () => number;
  isWanted(): Promise<boolean>;
  list(signal: AbortSignal): Promise<CloudModel[]>;
}

export function createCloudCatalogues(options: CloudCataloguesOptions): CloudCatalogues {
  const { clock, log } = options;
  const stop = new AbortController();
  const dueAt = new Map<string, number>();
  const found = new Map<string, readonly CloudModel[]>();
  let all: readonly CloudModel[] = [];
  let running: Promise<void> | undefined;
  const sources = [venice(options), huggingFace(options), bedrock(options)];

  async function look(source: Source): Promise<void> {
    if (clock.now() < (dueAt.get(source.provider) ?? 0) || !(await source.isWanted())) return;
    const { everyMs } = source;
    try {
      const models = await source.list(stop.signal);
      const every = everyMs();
      dueAt.set(source.provider, every > 0 ? clock.now() + every : Infinity);
      found.set(source.provider, models.slice(0, MAX_MODELS));
      all = [...found.values()].flat();
      log.debug("models of a provider listed", { provider: source.provider, count: models.length });
    } catch (err) {
      dueAt.set(source.provider, clock.now() + RETRY_MS);
      if (!stop.signal.aborted) log.warn("a provider's list of models was not read; the built-in one stands", { provider: source.provider, reason: errorText(err) });
    }
  }

  return {
    models: () => all,
    refresh() {
      running ??= Promise.all(sources.map(look))
        .then(() => undefined)
        .finally(() => {
          running = undefined;
        });
      return running;
    },
    close: () => stop.abort(),
  };
}

async function getJson(fetchFn: typeof fetch, url: string, headers: Record<string, string>, timeoutMs: number, signal: AbortSignal): Promise<unknown> {
  const response = await fetchFn(url, { headers: { accept: "application/json", ...headers }, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}

const veniceSchema = z.object({
  data: z.array(
    z.object({
      id: z.string().min(1),
      type: z.string().optional(),
      model_spec: z.object({ name: z.string().optional(), availableContextTokens: z.number().positive().optional(), capabilities: z.object({ supportsVision: z.boolean().optional(), supportsReasoning: z.boolean().optional() }).optional() }).optional(),
    }),
  ),
});

function venice({ isUsable, baseUrl, fetch: fetchFn }: CloudCataloguesOptions): Source {
  return {
    provider: "venice",
    everyMs: () => HOUR_MS,
    isWanted: () => isUsable("venice"),
    async list(signal) {
      const { data } = veniceSchema.parse(await getJson(fetchFn, `${baseUrl("venice")}/models`, {}, 5000, signal));
      return data
        .filter(({ type }) => type === undefined || type === "text")
        .map(({ id, model_spec: spec }) => ({
          provider: "venice", id, name: spec?.name ?? id, contextWindow: spec?.availableContextTokens ?? HUGGINGFACE_WINDOW, maxTokens: VENICE_OUTPUT,
          reasoning: spec?.capabilities?.supportsReasoning === true, image: spec?.capabilities?.supportsVision === true,
        }));
    },
  };
}

const huggingFaceSchema = z.object({
  data: z.array(
    z.object({
      id: z.string().min(1),
      architecture: z.object({ input_modalities: z.array(z.string()).optional() }).optional(),
      providers: z.array(z.object({ context_length: z.number().positive().optional() })).optional(),
    }),
  ),
});

function huggingFace({ isUsable, baseUrl, keyOf, fetch: fetchFn }: CloudCataloguesOptions): Source {
  return {
    provider: "huggingface",
    everyMs: () => HOUR_MS,
    isWanted: () => isUsable("huggingface"),
    async list(signal) {
      const key = keyOf("huggingface");
      const { data } = huggingFaceSchema.parse(await getJson(fetchFn, `${baseUrl("huggingface")}/models`, key === undefined ? {} : { authorization: `Bearer ${key}` }, 10_000, signal));
      return data.map(({ id, architecture, providers }) => ({
        provider: "huggingface", id, name: id.split("/").at(-1) ?? id, contextWindow: providers?.find((one) => one.context_length !== undefined)?.context_length ?? HUGGINGFACE_WINDOW,
        maxTokens: HUGGINGFACE_OUTPUT, reasoning: /r1|reason|thinking/i.test(id), image: architecture?.input_modalities?.includes("image") === true,
      }));
    },
  };
}

function bedrock({ env, bedrock: settings, bedrockEndpoint }: CloudCataloguesOptions): Source {
  const hasAws = (): boolean => ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"].some((name) => env(name) !== undefined);
  return {
    provider: "amazon-bedrock",
    everyMs: () => (settings()?.refreshInterval ?? HOUR_MS / 1000) * 1000,
    isWanted: async () => settings()?.enabled ?? hasAws(),
    async list(signal) {
      const { providerFilter = [], region, defaultContextWindow, defaultMaxTokens } = settings() ?? {};
      const { BedrockClient, ListFoundationModelsCommand } = await import("@aws-sdk/client-bedrock");
      const client = new BedrockClient({ region: region ?? env("AWS_REGION") ?? env("AWS_DEFAULT_REGION") ?? "us-east-1", maxAttempts: 2, ...(bedrockEndpoint === undefined ? {} : { endpoint: bedrockEndpoint }), ...credentialsOf(env) });
      try {
        const { modelSummaries = [] } = await client.send(new ListFoundationModelsCommand({}), { abortSignal: AbortSignal.any([signal, AbortSignal.timeout(20_000)]) });
        const wanted = providerFilter.map((name) => name.trim().toLowerCase());
        return modelSummaries.flatMap(({ modelId, modelName, providerName, inputModalities = [], outputModalities = [], responseStreamingSupported, modelLifecycle }): CloudModel[] => {
          const isChat = modelId !== undefined && modelLifecycle?.status === "ACTIVE" && responseStreamingSupported === true && outputModalities.includes("TEXT");
          if (!isChat || (wanted.length > 0 && !wanted.includes((providerName ?? modelId.split(".")[0] ?? "").toLowerCase()))) return [];
          return [{
            provider: "amazon-bedrock", id: modelId, name: modelName ?? modelId, contextWindow: defaultContextWindow ?? BEDROCK_WINDOW, maxTokens: defaultMaxTokens ?? BEDROCK_OUTPUT,
            reasoning: /reasoning|thinking/i.test(`${modelId} ${modelName ?? ""}`), image: inputModalities.includes("IMAGE"),
          }];
        });
      } finally {
        client.destroy();
      }
    },
  };
}

/** Keys of the config's `env` section are not in the process's environment, where the SDK would look. */
function credentialsOf(env: CloudCataloguesOptions["env"]): { credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }; token?: { token: string }; authSchemePreference?: string[] } {
  const bearer = env("AWS_BEARER_TOKEN_BEDROCK");
  if (bearer !== undefined) return { token: { token: bearer }, authSchemePreference: ["httpBearerAuth"] };
  const [accessKeyId, secretAccessKey, sessionToken] = [env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"), env("AWS_SESSION_TOKEN")];
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) } };
}
