import type { OpenClawConfig } from "../../../config/index.ts";
import type { GuardedFetch } from "../../../infra/guarded-fetch.ts";
import type { AgentTool } from "../contract.ts";
import { createTtlCache } from "./cache.ts";
import { createWebFetchTool, type WebPage } from "./fetch-tool.ts";
import { createWebSearchTool, type SearchAnswer, type WebSearchOptions } from "./search-tool.ts";

const CACHE_ENTRIES = 100;

/** The tools of the web, with one cache for all runs. */
export function createWebTools(options: { readonly fetch: GuardedFetch; readonly env: Readonly<Record<string, string | undefined>>; readonly now: () => number; readonly baseUrls?: WebSearchOptions["baseUrls"] }): (config: OpenClawConfig) => AgentTool[] {
  const { fetch, now } = options;
  const pages = createTtlCache<WebPage>(CACHE_ENTRIES, now);
  const answers = createTtlCache<SearchAnswer>(CACHE_ENTRIES, now);
  return (config) => {
    const web = config.tools?.web;
    const env = (name: string): string | undefined => options.env[name] ?? config.env?.vars?.[name];
    return [
      ...(web?.search?.enabled === false ? [] : [createWebSearchTool({ fetch, settings: web?.search, env, cache: answers, now, baseUrls: options.baseUrls })]),
      ...(web?.fetch?.enabled === false ? [] : [createWebFetchTool({ fetch, settings: web?.fetch, cache: pages, now })]),
    ];
  };
}
