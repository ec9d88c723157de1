/**
 * What is known of providers without loading Pi: names, environment variables, and what is chosen when nothing names a
 * model. Source: spec providers §1–3.
 */
const PROVIDER_SYNONYMS: Readonly<Record<string, string>> = {
  "z.ai": "zai",
  "z-ai": "zai",
  "opencode-zen": "opencode",
  qwen: "qwen-portal",
  "kimi-code": "kimi-coding",
  bedrock: "amazon-bedrock",
  "aws-bedrock": "amazon-bedrock",
  bytedance: "volcengine",
  doubao: "volcengine",
};

export function normalizeProvider(text: string): string {
  const id = text.trim().toLowerCase();
  return Object.hasOwn(PROVIDER_SYNONYMS, id) ? (PROVIDER_SYNONYMS[id] ?? id) : id;
}

/** Variables that hold a key, best first. */
const PROVIDER_ENV: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  "google-vertex": ["GOOGLE_CLOUD_API_KEY"],
  "amazon-bedrock": ["AWS_BEARER_TOKEN_BEDROCK"],
  "github-copilot": ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
  zai: ["ZAI_API_KEY", "Z_AI_API_KEY"],
  xai: ["XAI_API_KEY"],
  mistral: ["MISTRAL_API_KEY"],
  groq: ["GROQ_API_KEY"],
  deepgram: ["DEEPGRAM_API_KEY"],
  cerebras: ["CEREBRAS_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
  "vercel-ai-gateway": ["AI_GATEWAY_API_KEY"],
  "cloudflare-ai-gateway": ["CLOUDFLARE_AI_GATEWAY_API_KEY"],
  huggingface: ["HUGGINGFACE_HUB_TOKEN", "HF_TOKEN"],
  opencode: ["OPENCODE_API_KEY", "OPENCODE_ZEN_API_KEY"],
  "opencode-go": ["OPENCODE_API_KEY", "OPENCODE_ZEN_API_KEY"],
  minimax: ["MINIMAX_API_KEY"],
  "minimax-cn": ["MINIMAX_CN_API_KEY", "MINIMAX_API_KEY"],
  "kimi-coding": ["KIMI_API_KEY", "KIMICODE_API_KEY"],
  xiaomi: ["XIAOMI_API_KEY"],
  "xiaomi-token-plan-cn": ["XIAOMI_TOKEN_PLAN_CN_API_KEY"],
  "xiaomi-token-plan-ams": ["XIAOMI_TOKEN_PLAN_AMS_API_KEY"],
  "xiaomi-token-plan-sgp": ["XIAOMI_TOKEN_PLAN_SGP_API_KEY"],
  deepseek: ["DEEPSEEK_API_KEY"],
  fireworks: ["FIREWORKS_API_KEY"],
  moonshot: ["MOONSHOT_API_KEY"],
  moonshotai: ["MOONSHOT_API_KEY"],
  "moonshotai-cn": ["MOONSHOT_API_KEY"],
  "azure-openai-responses": ["AZURE_OPENAI_API_KEY"],
  "cloudflare-workers-ai": ["CLOUDFLARE_API_KEY"],
  volcengine: ["VOLCANO_ENGINE_API_KEY"],
  "volcengine-plan": ["VOLCANO_ENGINE_API_KEY"],
  byteplus: ["BYTEPLUS_API_KEY"],
  "byteplus-plan": ["BYTEPLUS_API_KEY"],
  synthetic: ["SYNTHETIC_API_KEY"],
  venice: ["VENICE_API_KEY"],
  together: ["TOGETHER_API_KEY"],
  qianfan: ["QIANFAN_API_KEY"],
  nvidia: ["NVIDIA_API_KEY"],
  kilocode: ["KILOCODE_API_KEY"],
  litellm: ["LITELLM_API_KEY"],
  "qwen-portal": ["QWEN_OAUTH_TOKEN", "QWEN_PORTAL_API_KEY"],
  "minimax-portal": ["MINIMAX_OAUTH_TOKEN", "MINIMAX_API_KEY"],
  chutes: ["CHUTES_OAUTH_TOKEN", "CHUTES_API_KEY"],
  ollama: ["OLLAMA_API_KEY"],
  vllm: ["VLLM_API_KEY"],
};

export function envNamesOf(provider: string): readonly string[] {
  return Object.hasOwn(PROVIDER_ENV, provider) ? (PROVIDER_ENV[provider] ?? []) : [];
}

/** Variables whose value is an OAuth or setup token rather than an API key. */
export const isTokenVariable = (name: string): boolean => /_OAUTH_TOKEN$/.test(name) || name === "COPILOT_GITHUB_TOKEN" || name === "GH_TOKEN" || name === "GITHUB_TOKEN";

/** Providers whose wire format left Pi, with what to use in their place. */
export const REMOVED_PROVIDERS: Readonly<Record<string, string>> = {
  "google-gemini-cli": "google/gemini-3-pro-preview",
  "google-antigravity": "google/gemini-3-pro-preview",
};

interface AutoChoice {
  readonly provider: string;
  readonly modelId: string;
  /** Only these variables count, not the whole list of the provider. */
  readonly env?: readonly string[];
}

/** What a key or profile alone selects, first hit wins. Source: spec providers §3 row 3. */
export const AUTO_CHOICES: readonly AutoChoice[] = [
  { provider: "anthropic", modelId: "claude-opus-4-6" },
  { provider: "openai-codex", modelId: "gpt-5.3-codex" },
  { provider: "openai", modelId: "gpt-5.1-codex" },
  { provider: "google", modelId: "gemini-3-pro-preview" },
  { provider: "openrouter", modelId: "openrouter/auto" },
  { provider: "vercel-ai-gateway", modelId: "anthropic/claude-opus-4.6" },
  { provider: "opencode", modelId: "claude-opus-4-6" },
  { provider: "xai", modelId: "grok-4" },
  { provider: "zai", modelId: "glm-4.7" },
  { provider: "minimax", modelId: "MiniMax-M2.5" },
  { provider: "kimi-coding", modelId: "k2p5" },
  { provider: "mistral", modelId: "mistral-large-latest" },
  { provider: "groq", modelId: "llama-3.3-70b-versatile" },
  { provider: "cerebras", modelId: "zai-glm-4.7" },
  { provider: "deepseek", modelId: "deepseek-v4-flash" },
  { provider: "xiaomi", modelId: "mimo-v2-flash" },
  { provider: "huggingface", modelId: "deepseek-ai/DeepSeek-V3.2" },
  { provider: "moonshot", modelId: "kimi-k2.5" },
  { provider: "volcengine-plan", modelId: "ark-code-latest" },
  { provider: "byteplus-plan", modelId: "ark-code-latest" },
  { provider: "synthetic", modelId: "hf:MiniMaxAI/MiniMax-M2.1" },
  { provider: "venice", modelId: "llama-3.3-70b" },
  { provider: "together", modelId: "moonshotai/Kimi-K2.5" },
  { provider: "qianfan", modelId: "deepseek-v3.2" },
  { provider: "nvidia", modelId: "nvidia/llama-3.1-nemotron-70b-instruct" },
  { provider: "kilocode", modelId: "anthropic/claude-opus-4.6" },
  { provider: "qwen-portal", modelId: "coder-model" },
  { provider: "minimax-portal", modelId: "MiniMax-M2.5", env: ["MINIMAX_OAUTH_TOKEN"] },
  { provider: "minimax-cn", modelId: "MiniMax-M2.5", env: ["MINIMAX_CN_API_KEY"] },
  { provider: "fireworks", modelId: "accounts/fireworks/models/kimi-k2p5" },
  { provider: "github-copilot", modelId: "gpt-4o", env: ["COPILOT_GITHUB_TOKEN"] },
  { provider: "amazon-bedrock", modelId: "us.anthropic.claude-opus-4-6-v1" },
];

/** AWS credentials the SDK will find by itself; the name of the variable that shows it. */
export function awsVariable(get: (name: string) => string | undefined): string | undefined {
  if (get("AWS_BEARER_TOKEN_BEDROCK")) return "AWS_BEARER_TOKEN_BEDROCK";
  if (get("AWS_ACCESS_KEY_ID") && get("AWS_SECRET_ACCESS_KEY")) return "AWS_ACCESS_KEY_ID";
  return ["AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_WEB_IDENTITY_TOKEN_FILE"].find((name) => get(name));
}
