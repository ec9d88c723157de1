import type { OpenClawConfig } from "../../config/index.ts";
import type { FailureCounter, ProfileFailure, ProfileUsage } from "./types.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** 1, 5, 25, then 60 minutes. Source: spec agent-pipeline §5.7. */
const cooldownMs = (failures: number): number => Math.min(60 * MINUTE_MS, MINUTE_MS * 5 ** Math.max(0, failures - 1));

/** 5 h, 10 h, 20 h, at most 24 h, unless `auth.cooldowns` says otherwise. */
function billingPauseMs(failures: number, provider: string, cfg: OpenClawConfig): number {
  const settings = cfg.auth?.cooldowns;
  const first = settings?.billingBackoffHoursByProvider?.[provider] ?? settings?.billingBackoffHours ?? 5;
  return Math.min((settings?.billingMaxHours ?? 24) * HOUR_MS, first * HOUR_MS * 2 ** Math.max(0, failures - 1));
}

/** Until when a profile should rest for `modelId`; 0 when it may be used now. */
export function restsUntil(usage: ProfileUsage | undefined, modelId: string, nowMs: number): number {
  const until = Math.max(usage?.disabledUntil ?? 0, usage?.cooldownUntil ?? 0, usage?.models?.[modelId]?.cooldownUntil ?? 0);
  return until > nowMs ? until : 0;
}

/** The new state after a failure. A pause still running is not made longer; old failures outside the window do not count. */
export function afterFailure(usage: ProfileUsage, failure: { reason: ProfileFailure; provider: string; modelId: string; nowMs: number; config: OpenClawConfig }): ProfileUsage {
  const { reason, nowMs, modelId } = failure;
  const windowMs = (failure.config.auth?.cooldowns?.failureWindowHours ?? 24) * HOUR_MS;
  const fresh = usage.lastFailureAt !== undefined && nowMs - usage.lastFailureAt < windowMs;
  const counts = { ...(fresh ? usage.failureCounts : {}) };
  counts[reason] = (counts[reason] ?? 0) + 1;
  const next: ProfileUsage = { ...usage, lastFailureAt: nowMs, failureCounts: counts };
  switch (reason) {
    case "billing":
    case "auth_permanent":
      if ((usage.disabledUntil ?? 0) > nowMs) return usage;
      return { ...next, disabledReason: reason, disabledUntil: nowMs + billingPauseMs(counts[reason] ?? 1, failure.provider, failure.config) };
    case "rate_limit": {
      const counter = step(usage.models?.[modelId], nowMs, windowMs);
      return counter ? { ...next, models: { ...usage.models, [modelId]: counter } } : usage;
    }
    case "auth": {
      const counter = step(usage, nowMs, windowMs);
      return counter ? { ...next, ...counter } : usage;
    }
  }
}

function step(counter: FailureCounter | undefined, nowMs: number, windowMs: number): FailureCounter | undefined {
  if ((counter?.cooldownUntil ?? 0) > nowMs) return undefined;
  const counts = counter?.lastFailureAt !== undefined && nowMs - counter.lastFailureAt < windowMs;
  const errorCount = (counts ? (counter.errorCount ?? 0) : 0) + 1;
  return { errorCount, lastFailureAt: nowMs, cooldownUntil: nowMs + cooldownMs(errorCount) };
}

/** Success clears what the profile, and this model of it, were paused for. */
export function afterSuccess(usage: ProfileUsage, modelId: string, nowMs: number): ProfileUsage {
  const { [modelId]: _cleared, ...models } = usage.models ?? {};
  return { lastUsed: nowMs, ...(Object.keys(models).length > 0 ? { models } : {}) };
}

export const hasFailures = (usage: ProfileUsage | undefined, modelId: string): boolean =>
  usage !== undefined && (usage.errorCount !== undefined || usage.disabledUntil !== undefined || usage.cooldownUntil !== undefined || usage.failureCounts !== undefined || usage.models?.[modelId] !== undefined);
