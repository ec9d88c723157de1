import type { ToolsWebSearchConfig } from "../../../config/index.ts";
import type { GuardedFetchInit } from "../../../infra/guarded-fetch.ts";
import type { SearchAnswer, SearchQuery } from "./search-tool.ts";

export type SearchProviderId = "brave" | "gemini" | "kimi" | "perplexity" | "grok" | "duckduckgo";

interface Access {
  readonly key: string | undefined;
  readonly model: string;
  readonly baseUrl: string | undefined;
  readonly inlineCitations: boolean;
}

interface SearchCall {
  readonly url: string;
  readonly init: Pick<GuardedFetchInit, "method" | "headers" | "body">;
  /** A further request that the answer asks for. */
  next?(body: string): SearchCall | undefined;
  /** @throws Error, or TypeError, for something else than an answer */
  read(body: string, count: number): SearchAnswer;
}

export type ChosenProvider =
  | { readonly kind: "use"; readonly id: SearchProviderId; readonly key: string | undefined; readonly model: string; readonly baseUrl: string | undefined }
  | { readonly kind: "missing-key"; readonly error: string; readonly message: string };

type Env = (name: string) => string | undefined;

interface KeySource {
  readonly id: Exclude<SearchProviderId, "duckduckgo">;
  readonly configured: (settings: ToolsWebSearchConfig | undefined) => string | undefined;
  readonly env: readonly string[];
  readonly model: string;
  readonly keyName: string;
}

/** In the order in which a key decides. Source: spec tools-and-automation §1.6. */
const SOURCES: readonly KeySource[] = [
  { id: "brave", configured: (settings) => settings?.apiKey, env: ["BRAVE_API_KEY"], model: "", keyName: "tools.web.search.apiKey" },
  { id: "gemini", configured: (settings) => settings?.gemini?.apiKey, env: ["GEMINI_API_KEY"], model: "gemini-2.5-flash", keyName: "tools.web.search.gemini.apiKey" },
  { id: "kimi", configured: (settings) => settings?.kimi?.apiKey, env: ["KIMI_API_KEY", "MOONSHOT_API_KEY"], model: "moonshot-v1-128k", keyName: "tools.web.search.kimi.apiKey" },
  { id: "perplexity", configured: (settings) => settings?.perplexity?.apiKey, env: ["PERPLEXITY_API_KEY", "OPENROUTER_API_KEY"], model: "perplexity/sonar-pro", keyName: "tools.web.search.perplexity.apiKey" },
  { id: "grok", configured: (settings) => settings?.grok?.apiKey, env: ["XAI_API_KEY"], model: "grok-4-1-fast", keyName: "tools.web.search.grok.apiKey" },
];

/** The configured provider; else the first with a key; else the one that needs none. */
export function chooseProvider(settings: ToolsWebSearchConfig | undefined, env: Env): ChosenProvider {
  const keyOf = (source: KeySource): string | undefined => source.configured(settings)?.trim() || source.env.map((name) => env(name)?.trim()).find(Boolean);
  const wanted = settings?.provider;
  const source = SOURCES.find((item) => (wanted === undefined ? keyOf(item) !== undefined : item.id === wanted));
  if (!source) return { kind: "use", id: "duckduckgo", key: undefined, model: "", baseUrl: undefined };
  const key = keyOf(source);
  if (key === undefined) {
    const name = source.id === "grok" ? "xai" : source.id;
    return { kind: "missing-key", error: `missing_${name}_api_key`, message: `tools.web.search.provider is ${source.id}, but there is no key. Set ${source.keyName}, or ${source.env.join(" or ")} in the environment.` };
  }
  const own = source.id === "brave" ? undefined : settings?.[source.id];
  const baseUrl = source.id === "kimi" || source.id === "perplexity" ? settings?.[source.id]?.baseUrl : undefined;
  return { kind: "use", id: source.id, key, model: own?.model ?? source.model, baseUrl: baseUrl ?? (source.id === "perplexity" ? perplexityBase(key) : undefined) };
}

/** Perplexity is also sold by OpenRouter; the key tells which. */
const perplexityBase = (key: string): string => (key.startsWith("pplx-") ? "https://api.perplexity.ai" : "https://openrouter.ai/api/v1");

type Provider = (query: SearchQuery, access: Access) => SearchCall;

export const PROVIDERS: Readonly<Record<SearchProviderId, Provider>> = { brave, gemini, kimi, perplexity, grok, duckduckgo };

function brave(query: SearchQuery, { key, baseUrl }: Access): SearchCall {
  const url = new URL(`${baseUrl ?? "https://api.search.brave.com"}/res/v1/web/search`);
  const params = { q: query.query, count: String(query.count), country: query.country, search_lang: query.searchLang, ui_lang: query.uiLang, freshness: query.freshness };
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
  return {
    url: url.href,
    init: { headers: { accept: "application/json", "x-subscription-token": key ?? "" } },
    read(body) {
      const { web } = parse(body) as { web?: { results?: readonly Record<string, unknown>[] } };
      return {
        kind: "results",
        results: (web?.results ?? []).map((item) => ({ title: text(item["title"]), url: text(item["url"]), description: text(item["description"]), published: optional(item["age"]), siteName: hostOf(text(item["url"])) })),
      };
    },
  };
}

function gemini(query: SearchQuery, { key, model, baseUrl }: Access): SearchCall {
  return {
    url: `${baseUrl ?? "https://generativelanguage.googleapis.com"}/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    init: json({ contents: [{ role: "user", parts: [{ text: ask(query) }] }], tools: [{ google_search: {} }] }, { "x-goog-api-key": key ?? "" }),
    read(body) {
      const { candidates } = parse(body) as { candidates?: readonly { content?: { parts?: readonly { text?: string }[] }; groundingMetadata?: { groundingChunks?: readonly { web?: { uri?: string } }[] } }[] };
      const [first] = candidates ?? [];
      return answer(model, (first?.content?.parts ?? []).map((part) => part.text ?? "").join(""), (first?.groundingMetadata?.groundingChunks ?? []).map((chunk) => chunk.web?.uri));
    },
  };
}

/** Moonshot searches when the model calls its built-in function and gets its own arguments back. */
function kimi(query: SearchQuery, { key, model, baseUrl }: Access, messages: readonly unknown[] = [{ role: "user", content: ask(query) }]): SearchCall {
  return {
    url: `${baseUrl ?? "https://api.moonshot.ai/v1"}/chat/completions`,
    init: json({ model, messages, tools: [{ type: "builtin_function", function: { name: "$web_search" } }] }, bearer(key)),
    next(body) {
      const { choices } = parse(body) as { choices?: readonly { message?: { tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[] } }[] };
      const message = choices?.[0]?.message;
      const calls = message?.tool_calls ?? [];
      if (calls.length === 0) return undefined;
      const results = calls.map((call) => ({ role: "tool", tool_call_id: call.id, name: call.function.name, content: call.function.arguments }));
      return kimi(query, { key, model, baseUrl, inlineCitations: false }, [...messages, message, ...results]);
    },
    read: (body) => chatAnswer(body, model),
  };
}

function perplexity(query: SearchQuery, { key, model, baseUrl }: Access): SearchCall {
  const direct = baseUrl?.includes("api.perplexity.ai") === true;
  const recency = { pd: "day", pw: "week", pm: "month", py: "year" }[query.freshness ?? ""];
  return {
    url: `${baseUrl ?? "https://api.perplexity.ai"}/chat/completions`,
    init: json({ model: direct ? model.replace(/^perplexity\//, "") : model, messages: [{ role: "user", content: ask(query) }], ...(recency ? { search_recency_filter: recency } : {}) }, bearer(key)),
    read: (body) => chatAnswer(body, model),
  };
}

function grok(query: SearchQuery, { key, model, baseUrl, inlineCitations }: Access): SearchCall {
  return {
    url: `${baseUrl ?? "https://api.x.ai"}/v1/responses`,
    init: json({ model, input: [{ role: "user", content: ask(query) }], tools: [{ type: "web_search" }], ...(inlineCitations ? { include: ["inline_citations"] } : {}) }, bearer(key)),
    read(body) {
      const { output, citations } = parse(body) as { output?: readonly { type?: string; content?: readonly { text?: string; annotations?: readonly { url?: string }[] }[] }[]; citations?: readonly string[] };
      const parts = (output ?? []).filter((item) => item.type === "message").flatMap((item) => item.content ?? []);
      return answer(model, parts.map((part) => part.text ?? "").join(""), citations ?? parts.flatMap((part) => (part.annotations ?? []).map((note) => note.url)));
    },
  };
}

/** Without a key: the HTML page that is made for browsers without scripts. */
function duckduckgo(query: SearchQuery, { baseUrl }: Access): SearchCall {
  const url = new URL(`${baseUrl ?? "https://html.duckduckgo.com"}/html/`);
  url.searchParams.set("q", query.query);
  const region = query.country && query.searchLang ? `${query.country.toLowerCase()}-${query.searchLang}` : undefined;
  if (region) url.searchParams.set("kl", region);
  const period = { pd: "d", pw: "w", pm: "m", py: "y" }[query.freshness ?? ""] ?? query.freshness?.replace("to", "..");
  if (period) url.searchParams.set("df", period);
  return {
    url: url.href,
    init: { headers: { accept: "text/html", "accept-language": query.uiLang ?? "en-US", "user-agent": "Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/122.0.0.0 Safari/537.36" } },
    read(body, count) {
      if (/anomaly-modal|challenge-form/i.test(body)) throw new Error("DuckDuckGo wants to see a person; set a key in tools.web.search");
      const results = body.split(/(?=<div[^>]+class="[^"]*\bresult\b[^"]*")/).slice(1).filter((block) => !/^<div[^>]*\bresult--ad\b/.test(block)).flatMap((block) => {
        const link = /<a[^>]+class="[^"]*\bresult__a\b[^"]*"[^>]*href="([^"]+)"[^>]*>([\s\S]*?)<\/a>/.exec(block) ?? /<a[^>]+href="([^"]+)"[^>]*class="[^"]*\bresult__a\b[^"]*"[^>]*>([\s\S]*?)<\/a>/.exec(block);
        const target = link && targetOf(decode(link[1] ?? ""));
        if (!target) return [];
        return [{ title: plain(link[2] ?? ""), url: target, description: plain(/class="[^"]*\bresult__snippet\b[^"]*"[^>]*>([\s\S]*?)<\/(?:a|div|td)>/.exec(block)?.[1] ?? ""), siteName: hostOf(target) }];
      });
      if (results.length === 0 && !/no-results|No\s+results/i.test(body) && !/result__/.test(body) && !/<form/i.test(body)) throw new Error("the page has another form than expected");
      return { kind: "results", results: results.slice(0, count) };
    },
  };
}

/** Links lead through a redirect page that names their target. */
function targetOf(href: string): string | undefined {
  if (!URL.canParse(href, "https://duckduckgo.com")) return undefined;
  const url = new URL(href, "https://duckduckgo.com");
  const target = url.searchParams.get("uddg") ?? url.href;
  return /^https?:\/\//i.test(target) && !/duckduckgo\.com\/y\.js/.test(target) ? target : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'", nbsp: " " };
const decode = (html: string): string => html.replace(/&(#x27|#39|[a-z]+);/gi, (whole: string, name: string) => ENTITIES[name.toLowerCase()] ?? whole);
const plain = (html: string): string => decode(html.replace(/<[^>]+>/g, "")).replace(/\s+/g, " ").trim();

/** What a model with a search of its own is asked. */
function ask(query: SearchQuery): string {
  const limits = [
    query.country && `Prefer sources of the country ${query.country}.`, query.searchLang && `Prefer sources in the language "${query.searchLang}".`,
    query.freshness && `Only what was published ${{ pd: "in the last day", pw: "in the last week", pm: "in the last month", py: "in the last year" }[query.freshness] ?? `from ${query.freshness.replace("to", " to ")}`}.`,
  ].filter(Boolean);
  return ["Search the web and answer briefly, with sources.", ...limits, "", query.query].join("\n");
}

function chatAnswer(body: string, model: string): SearchAnswer {
  const { choices, citations, search_results: found } = parse(body) as { choices?: readonly { message?: { content?: string; annotations?: readonly { url_citation?: { url?: string } }[] } }[]; citations?: readonly string[]; search_results?: readonly { url?: string }[] };
  const message = choices?.[0]?.message;
  return answer(model, message?.content ?? "", citations ?? found?.map((item) => item.url) ?? (message?.annotations ?? []).map((note) => note.url_citation?.url));
}

function answer(model: string, content: string, citations: readonly (string | undefined)[]): SearchAnswer {
  if (content === "") throw new Error("an empty answer");
  return { kind: "answer", model, content, citations: [...new Set(citations.filter((url): url is string => url !== undefined && /^https?:\/\//i.test(url)))] };
}

const json = (body: unknown, headers: Record<string, string>): SearchCall["init"] => ({ method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
const bearer = (key: string | undefined): Record<string, string> => ({ authorization: `Bearer ${key ?? ""}` });
const parse = (body: string): unknown => JSON.parse(body) as unknown;
const text = (value: unknown): string => (typeof value === "string" ? value.replace(/<\/?strong>/g, "") : "");
const optional = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).hostname : undefined);
