import type { Api, Model } from "@mariozechner/pi-ai";

type Compat = NonNullable<Model<"openai-completions">["compat"]>;

/** Loopback names and addresses, where no key is needed. */
export function isLoopbackUrl(url: string | undefined): boolean {
  if (!url || !URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\./.test(host) || host === "0.0.0.0";
}

/** A host of the person's own network, where servers rarely ask for a key. */
export function isHomeUrl(url: string | undefined): boolean {
  if (isLoopbackUrl(url)) return true;
  if (!url || !URL.canParse(url)) return false;
  const host = new URL(url).hostname;
  return /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)\d/.test(host) || host.endsWith(".local") || host === "host.docker.internal";
}

/** The address in the form Pi's client wants: Anthropic's appends `/v1/…` itself, Ollama's own API lives at the root. */
export function baseUrlFor(api: Api, url: string): string {
  const clean = url.trim().replace(/\/+$/, "");
  return api === "anthropic-messages" || api === "ollama" ? clean.replace(/\/v1$/, "") : clean;
}

/** `params` that change how a request is written. Source: spec providers §1.1, §4. */
export function withRequestParams(model: Model<Api>, params: Readonly<Record<string, unknown>>): Model<Api> {
  if (model.api !== "openai-completions") return model;
  if (params["tool_stream"] === false) return { ...model, compat: { ...model.compat, zaiToolStream: false } };
  const routing = params["provider"];
  return model.provider === "openrouter" && typeof routing === "object" && routing !== null ? { ...model, compat: { ...model.compat, openRouterRouting: { ...routing } } } : model;
}

/**
 * What an OpenAI-compatible server other than OpenAI may not know: the developer role, `store`, `max_completion_tokens`.
 * Everything understands the older spellings; OpenAI's own newer models behind a proxy need the newer one.
 */
export function completionsCompat(baseUrl: string, modelId: string, own: Compat | undefined): Compat | undefined {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  if (host === "api.openai.com" || host.endsWith(".openai.azure.com")) return own;
  const newOpenAi = /(^|\/)(gpt-5|o[134](-|$))/.test(modelId);
  return {
    supportsDeveloperRole: false,
    supportsStore: false,
    maxTokensField: newOpenAi ? "max_completion_tokens" : "max_tokens",
    ...(host.includes("dashscope") ? { thinkingFormat: "qwen" as const } : {}),
    ...(/(^|\.)bigmodel\.cn$|(^|\.)z\.ai$/.test(host) ? { thinkingFormat: "zai" as const, zaiToolStream: true } : {}),
    ...own,
  };
}
