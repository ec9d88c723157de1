import { z } from "zod";

/** Ports of the model servers people run at home; 0 leaves one out. */
export interface LocalPorts {
  readonly ollama: number;
  readonly lmstudio: number;
  readonly llamacpp: number;
  readonly vllm: number;
}

export const LOCAL_PORTS: LocalPorts = { ollama: 11434, lmstudio: 1234, llamacpp: 8080, vllm: 8000 };

export interface LocalModel {
  readonly id: string;
  readonly contextWindow: number;
  readonly reasoning: boolean;
  readonly image: boolean;
  /** undefined: the server does not say. */
  readonly tools: boolean | undefined;
  /** ms since the epoch, 0 when unknown. */
  readonly modifiedAt: number;
}

export interface LocalServer {
  readonly provider: string;
  readonly label: string;
  readonly api: "ollama" | "openai-completions";
  /** Ollama's root, or the `/v1` of the others. */
  readonly baseUrl: string;
  /** Best first; never empty. */
  readonly models: readonly LocalModel[];
}

/** A server to ask: one of the usual ports, or a configured one that names no models. */
export type ProbeTarget = Omit<LocalServer, "models">;

/** In the order of spec providers §3 row 4. */
export function portTargets(ports: LocalPorts): ProbeTarget[] {
  const openai = (provider: string, label: string, port: number): ProbeTarget => ({ provider, label, api: "openai-completions", baseUrl: `http://127.0.0.1:${port}/v1` });
  const all: [port: number, target: ProbeTarget][] = [
    [ports.ollama, { provider: "ollama", label: "Ollama", api: "ollama", baseUrl: `http://127.0.0.1:${ports.ollama}` }],
    [ports.lmstudio, openai("lmstudio", "LM Studio", ports.lmstudio)],
    [ports.llamacpp, openai("llamacpp", "llama.cpp", ports.llamacpp)],
    [ports.vllm, openai("vllm", "vLLM", ports.vllm)],
  ];
  return all.flatMap(([port, target]) => (port > 0 ? [target] : []));
}

const TIMEOUT_MS = 1500;
const NOT_FOR_CHAT = /embed|rerank|whisper|tts|(^|[-_/])(bge|e5|gte)[-_]/i;
/** A discovered model is not given more: memory for the cache grows with it. A configured `contextWindow` is taken as it is. */
const MAX_DISCOVERED_WINDOW = 32_768;
/** Below that a run is refused. */
export const MIN_WINDOW = 16_000;
const MAX_SHOWN = 8;
const MAX_BODY_BYTES = 2_000_000;

const tagsSchema = z.object({ models: z.array(z.object({ name: z.string().min(1), modified_at: z.string().optional() })) });
const showSchema = z.object({ capabilities: z.array(z.string()).optional(), model_info: z.record(z.string(), z.unknown()).optional() });
const listSchema = z.object({
  data: z.array(z.object({ id: z.string().min(1), created: z.number().optional(), max_model_len: z.number().optional(), meta: z.object({ n_ctx_train: z.number().optional(), n_ctx: z.number().optional() }).nullish() })),
});

/** Asks all targets at once, each for at most 1.5 s; those that answered, in their order. Never rejects. */
export async function probeLocalhost(targets: readonly ProbeTarget[], fetchFn: typeof fetch, signal: AbortSignal): Promise<LocalServer[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const found = await Promise.all(targets.map((target) => attempt(() => (target.api === "ollama" ? probeOllama(target, fetchFn, limit) : probeOpenAi(target, fetchFn, limit)))));
  return found.filter((server): server is LocalServer => server !== undefined);
}

async function attempt(probe: () => Promise<LocalServer | undefined>): Promise<LocalServer | undefined> {
  try {
    return await probe();
  } catch {
    return undefined; // nothing listens there, or something else does
  }
}

async function probeOllama(target: ProbeTarget, fetchFn: typeof fetch, signal: AbortSignal): Promise<LocalServer | undefined> {
  const { baseUrl } = target;
  const { models } = tagsSchema.parse(await getJson(`${baseUrl}/api/tags`, fetchFn, { signal }));
  const usable = models.filter(({ name }) => !NOT_FOR_CHAT.test(name)).map(({ name, modified_at }) => ({ name, modifiedAt: Date.parse(modified_at ?? "") || 0 }));
  usable.sort((a, b) => b.modifiedAt - a.modifiedAt);
  const rows = await Promise.all(usable.map(async ({ name, modifiedAt }, index) => describe(name, modifiedAt, index < MAX_SHOWN ? await show(baseUrl, name, fetchFn, signal) : undefined)));
  return toServer(target, rows);
}

/** The window and abilities; a server that does not answer in time is still used, with defaults. */
async function show(baseUrl: string, model: string, fetchFn: typeof fetch, signal: AbortSignal): Promise<z.infer<typeof showSchema> | undefined> {
  try {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model }), signal };
    return showSchema.parse(await getJson(`${baseUrl}/api/show`, fetchFn, init));
  } catch {
    return undefined; // old servers lack it
  }
}

function describe(id: string, modifiedAt: number, info: z.infer<typeof showSchema> | undefined): LocalModel {
  const window = Object.entries(info?.model_info ?? {}).find(([key]) => key.endsWith(".context_length"))?.[1];
  return {
    id, modifiedAt,
    contextWindow: Math.min(MAX_DISCOVERED_WINDOW, typeof window === "number" && window > 0 ? window : MAX_DISCOVERED_WINDOW),
    reasoning: info?.capabilities?.includes("thinking") ?? /r1|reasoning|think/i.test(id),
    image: info?.capabilities?.includes("vision") ?? false,
    tools: info?.capabilities?.includes("tools"),
  };
}

async function probeOpenAi(target: ProbeTarget, fetchFn: typeof fetch, signal: AbortSignal): Promise<LocalServer | undefined> {
  const { data } = listSchema.parse(await getJson(`${target.baseUrl}/models`, fetchFn, { signal }));
  const rows = data
    .filter(({ id }) => !NOT_FOR_CHAT.test(id))
    .map((row): LocalModel => ({
      id: row.id, modifiedAt: (row.created ?? 0) * 1000, reasoning: /r1|reasoning|think/i.test(row.id), image: false, tools: undefined,
      contextWindow: row.max_model_len ?? row.meta?.n_ctx ?? Math.min(MAX_DISCOVERED_WINDOW, row.meta?.n_ctx_train ?? MAX_DISCOVERED_WINDOW),
    }));
  return toServer(target, rows);
}

function toServer(server: ProbeTarget, rows: readonly LocalModel[]): LocalServer | undefined {
  const models = rows.filter((row) => row.contextWindow >= MIN_WINDOW).toSorted((a, b) => rankTools(a) - rankTools(b) || b.modifiedAt - a.modifiedAt);
  return models.length === 0 ? undefined : { ...server, models };
}

const rankTools = (model: LocalModel): number => (model.tools === true ? 0 : model.tools === undefined ? 1 : 2);

async function getJson(url: string, fetchFn: typeof fetch, init: RequestInit): Promise<unknown> {
  const response = await fetchFn(url, { ...init, redirect: "error" });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const text = await response.text();
  if (text.length > MAX_BODY_BYTES) throw new Error("answer too long");
  return JSON.parse(text);
}
