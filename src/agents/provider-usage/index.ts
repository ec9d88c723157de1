import type { Clock } from "../../infra/clock.ts";
import { errorText } from "../../infra/errors.ts";
import type { ModelService } from "../models/types.ts";
import { USAGE_SOURCES, type UsageAnswer, type UsageSource, type UsageWindow } from "./sources.ts";

export type { UsageWindow };

export interface ProviderUsage extends UsageAnswer {
  readonly provider: string;
  readonly displayName: string;
  /** Why it is not known. */
  readonly error?: string | undefined;
}

export interface ProviderUsageDeps {
  readonly models: Pick<ModelService, "credential">;
  readonly fetch?: typeof fetch | undefined;
  readonly clock: Clock;
  /** ms for one question; 5000 unless given. */
  readonly timeoutMs?: number | undefined;
}

/** What is left of the subscriptions that an agent is logged in with. */
export interface ProviderUsageService {
  /** undefined when the provider tells no windows, or there is no login for it. Never rejects. */
  of(provider: string, agentId: string): Promise<ProviderUsage | undefined>;
  /** Of every provider that can tell. */
  all(agentId: string): Promise<{ readonly updatedAt: number; readonly providers: readonly ProviderUsage[] }>;
}

/** An answer counts this long, also a failed one: /status may be asked often. */
const KEEP_MS = 60_000;
const TIMEOUT_MS = 5000;

/** Source: spec gateway-methods (usage.status), agent-pipeline-output §8.4 (provider usage windows). */
export function createProviderUsage({ models, clock, fetch: fetchFn = fetch, timeoutMs = TIMEOUT_MS }: ProviderUsageDeps): ProviderUsageService {
  const known = new Map<string, { readonly until: number; readonly answer: Promise<ProviderUsage | undefined> }>();

  async function ask(provider: string, source: UsageSource, agentId: string): Promise<ProviderUsage | undefined> {
    const named = { provider, displayName: source.displayName };
    try {
      const credential = await models.credential(provider, agentId);
      if (!credential || !source.accepts(credential)) return undefined;
      const { url, init } = source.request(credential);
      const response = await fetchFn(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
      if (!response.ok) return { ...named, windows: [], error: response.status === 401 || response.status === 403 ? `HTTP ${response.status}: this login may not read usage` : `HTTP ${response.status}` };
      return { ...named, ...source.read(await response.json()) };
    } catch (err) {
      return { ...named, windows: [], error: err instanceof SyntaxError || (err instanceof Error && err.name === "ZodError") ? "the answer has an unknown form" : errorText(err) };
    }
  }

  async function of(provider: string, agentId: string): Promise<ProviderUsage | undefined> {
    const source = USAGE_SOURCES[provider];
    if (!source) return undefined;
    const key = `${agentId}/${provider}`;
    const before = known.get(key);
    if (before && clock.now() < before.until) return before.answer;
    const answer = ask(provider, source, agentId);
    known.set(key, { until: clock.now() + KEEP_MS, answer });
    return answer;
  }

  return {
    of,
    async all(agentId) {
      const providers = await Promise.all(Object.keys(USAGE_SOURCES).map((provider) => of(provider, agentId)));
      return { updatedAt: clock.now(), providers: providers.filter((usage) => usage !== undefined) };
    },
  };
}

/** `Claude Week 12% left (resets in 3d)`; the windows that are nearest to their end first. */
export function formatUsageWindows({ displayName, windows, plan }: ProviderUsage, nowMs: number, max = 2): string | undefined {
  if (windows.length === 0) return undefined;
  const shown = windows.toSorted((a, b) => b.usedPercent - a.usedPercent).slice(0, max);
  const text = shown.map(({ label, usedPercent, resetAt }) => `${label} ${Math.round(100 - usedPercent)}% left${resetAt !== undefined && resetAt > nowMs ? ` (new in ${untilText(resetAt - nowMs)})` : ""}`);
  return `${displayName}${plan ? ` (${plan})` : ""}: ${text.join(" · ")}`;
}

function untilText(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h${minutes % 60 > 0 ? ` ${minutes % 60}m` : ""}`;
  return `${Math.floor(hours / 24)}d`;
}
