/** Providers and models that Pi does not ship. Figures: spec providers §1.1 (lost ids), §1.2. Windows in tokens, prices in USD per million. */
export interface ExtraModel {
  readonly id: string;
  readonly window: number;
  readonly output: number;
  readonly reasoning?: boolean;
  readonly image?: boolean;
  /** [input, output] */
  readonly price?: readonly [number, number];
}

export interface ExtraProvider {
  readonly api: "openai-completions" | "anthropic-messages" | "ollama";
  readonly baseUrl: string;
  readonly models: readonly ExtraModel[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly noUsageInStreaming?: boolean;
}

const m = (id: string, window: number, output: number, flags = "", price?: readonly [number, number]): ExtraModel => ({
  id, window, output,
  ...(flags.includes("R") ? { reasoning: true } : {}),
  ...(flags.includes("i") ? { image: true } : {}),
  ...(price ? { price } : {}),
});

const K = 1000;
const ARK_PRICE = [0.0001, 0.0002] as const;
const ark = (id: string, window: number): ExtraModel => m(id, window, 4096, "i", ARK_PRICE);

const PLAN_MODELS = [ark("ark-code-latest", 256 * K), ark("doubao-seed-code", 256 * K), ark("glm-4.7", 200 * K), ark("kimi-k2-thinking", 256 * K), ark("kimi-k2.5", 256 * K)];
const MINIMAX_PRICE = [0.3, 1.2] as const;
const MINIMAX_MODELS = [
  m("MiniMax-M2.5", 200 * K, 8192, "R", MINIMAX_PRICE),
  m("MiniMax-M2.5-Lightning", 200 * K, 8192, "R", MINIMAX_PRICE),
  m("MiniMax-M2.1", 200 * K, 8192, "", MINIMAX_PRICE),
  m("MiniMax-M2.1-lightning", 200 * K, 8192, "", MINIMAX_PRICE),
  m("MiniMax-VL-01", 200 * K, 8192, "i", MINIMAX_PRICE),
];

export const EXTRA_PROVIDERS: Readonly<Record<string, ExtraProvider>> = {
  moonshot: {
    api: "openai-completions", baseUrl: "https://api.moonshot.ai/v1",
    models: [
      m("kimi-k2.5", 256 * K, 8192, "i"), m("kimi-k2-0905-preview", 256 * K, 8192), m("kimi-k2-turbo-preview", 256 * K, 8192),
      m("kimi-k2-thinking", 256 * K, 8192, "R"), m("kimi-k2-thinking-turbo", 256 * K, 8192, "R"),
    ],
  },
  volcengine: {
    api: "openai-completions", baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
    models: [
      ark("doubao-seed-1-8-251228", 256 * K), ark("doubao-seed-code-preview-251028", 256 * K), ark("kimi-k2-5-260127", 256 * K),
      ark("glm-4-7-251222", 200 * K), ark("deepseek-v3-2-251201", 128 * K),
    ],
  },
  "volcengine-plan": {
    api: "openai-completions", baseUrl: "https://ark.cn-beijing.volces.com/api/coding/v3",
    models: [...PLAN_MODELS, ark("doubao-seed-code-preview-251028", 256 * K)],
  },
  byteplus: {
    api: "openai-completions", baseUrl: "https://ark.ap-southeast.bytepluses.com/api/v3",
    models: [ark("seed-1-8-251228", 256 * K), ark("kimi-k2-5-260127", 256 * K), ark("glm-4-7-251222", 200 * K)],
  },
  "byteplus-plan": { api: "openai-completions", baseUrl: "https://ark.ap-southeast.bytepluses.com/api/coding/v3", models: PLAN_MODELS },
  synthetic: {
    api: "anthropic-messages", baseUrl: "https://api.synthetic.new/anthropic",
    models: [
      m("hf:MiniMaxAI/MiniMax-M2.1", 192 * K, 65_536), m("hf:zai-org/GLM-4.7", 198 * K, 128 * K), m("hf:zai-org/GLM-5", 256 * K, 128 * K, "Ri"),
      m("hf:moonshotai/Kimi-K2.5", 256 * K, 8192, "Ri"), m("hf:deepseek-ai/DeepSeek-V3.2", 159 * K, 8192),
    ],
  },
  venice: {
    api: "openai-completions", baseUrl: "https://api.venice.ai/api/v1", noUsageInStreaming: true,
    models: [
      m("llama-3.3-70b", 131_072, 8192), m("claude-opus-45", 202_752, 8192, "Ri"), m("claude-sonnet-45", 202_752, 8192, "Ri"),
      m("kimi-k2-thinking", 262_144, 8192, "R"), m("qwen3-vl-235b-a22b", 262_144, 8192, "i"),
    ],
  },
  together: {
    api: "openai-completions", baseUrl: "https://api.together.xyz/v1",
    models: [
      m("moonshotai/Kimi-K2.5", 262_144, 32_768, "Ri", [0.5, 2.8]), m("zai-org/GLM-4.7", 202_752, 8192), m("deepseek-ai/DeepSeek-V3.1", 131_072, 8192),
      m("deepseek-ai/DeepSeek-R1", 131_072, 8192, "R"), m("meta-llama/Llama-3.3-70B-Instruct-Turbo", 131_072, 8192),
    ],
  },
  qianfan: {
    api: "openai-completions", baseUrl: "https://qianfan.baidubce.com/v2",
    models: [m("deepseek-v3.2", 98_304, 32_768, "R"), m("ernie-5.0-thinking-preview", 119 * K, 64 * K, "Ri")],
  },
  nvidia: {
    api: "openai-completions", baseUrl: "https://integrate.api.nvidia.com/v1",
    models: [m("nvidia/llama-3.1-nemotron-70b-instruct", 131_072, 4096), m("meta/llama-3.3-70b-instruct", 131_072, 4096)],
  },
  kilocode: {
    api: "openai-completions", baseUrl: "https://api.kilo.ai/api/gateway/",
    models: [
      m("anthropic/claude-opus-4.6", 1000 * K, 128 * K, "Ri"), m("anthropic/claude-sonnet-4.5", 1000 * K, 64 * K, "Ri"), m("openai/gpt-5.2", 400 * K, 128 * K, "Ri"),
      m("google/gemini-3-pro-preview", 1_048_576, 65_536, "Ri"), m("moonshotai/kimi-k2.5", 262_144, 65_535, "Ri"),
    ],
  },
  litellm: { api: "openai-completions", baseUrl: "http://localhost:4000", models: [m("claude-opus-4-6", 128 * K, 8192, "Ri")] },
  "qwen-portal": {
    api: "openai-completions", baseUrl: "https://portal.qwen.ai/v1",
    models: [m("coder-model", 128 * K, 8192), m("vision-model", 128 * K, 8192, "i")],
  },
  "minimax-portal": {
    api: "anthropic-messages", baseUrl: "https://api.minimax.io/anthropic",
    models: [m("MiniMax-M2.5", 200 * K, 8192, "R", MINIMAX_PRICE), m("MiniMax-M2.1", 200 * K, 8192, "", MINIMAX_PRICE)],
  },
  // Providers that Pi has, with ids it lacks.
  minimax: { api: "anthropic-messages", baseUrl: "https://api.minimax.io/anthropic", models: MINIMAX_MODELS },
  "minimax-cn": { api: "anthropic-messages", baseUrl: "https://api.minimaxi.com/anthropic", models: MINIMAX_MODELS },
  "kimi-coding": {
    api: "anthropic-messages", baseUrl: "https://api.kimi.com/coding", headers: { "User-Agent": "KimiCLI/1.5" },
    models: [m("k2p5", 262_144, 32_768, "Ri")],
  },
  zai: {
    api: "openai-completions", baseUrl: "https://api.z.ai/api/paas/v4",
    models: [
      m("glm-5", 204_800, 131_072, "R"), m("glm-4.7", 204_800, 131_072, "R"), m("glm-4.7-flash", 204_800, 131_072, "R"), m("glm-4.7-flashx", 204_800, 131_072, "R"),
      m("glm-4.6", 204_800, 131_072, "R"), m("glm-4.6v", 128 * K, 32_768, "Ri", [0.3, 0.9]), m("glm-4.5", 131_072, 98_304, "R"), m("glm-4.5v", 64 * K, 16_384, "Ri"),
    ],
  },
  huggingface: { api: "openai-completions", baseUrl: "https://router.huggingface.co/v1", models: [m("deepseek-ai/DeepSeek-R1", 131_072, 8192, "R")] },
};

/** Providers that speak one format for any model id a person names. */
export const OPEN_PROVIDERS: Readonly<Record<string, { readonly api: ExtraProvider["api"]; readonly baseUrl: string; readonly window: number; readonly output: number }>> = {
  openrouter: { api: "openai-completions", baseUrl: "https://openrouter.ai/api/v1", window: 200 * K, output: 8192 },
  ollama: { api: "ollama", baseUrl: "http://127.0.0.1:11434", window: 128 * K, output: 8192 },
  vllm: { api: "openai-completions", baseUrl: "http://127.0.0.1:8000/v1", window: 128 * K, output: 8192 },
  chutes: { api: "openai-completions", baseUrl: "https://llm.chutes.ai/v1", window: 128 * K, output: 8192 },
  "copilot-proxy": { api: "openai-completions", baseUrl: "http://localhost:3000/v1", window: 128 * K, output: 8192 },
};
