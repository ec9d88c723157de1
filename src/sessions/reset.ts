import type { OpenClawConfig } from "../config/index.ts";
import type { SessionEntry } from "./types.ts";

export type ResetMode = "daily" | "idle";
export type ResetType = "direct" | "group" | "thread";

export interface ResetPolicy {
  readonly mode: ResetMode;
  /** Hour of the host's local day, 0–23. */
  readonly atHour: number;
  readonly idleMinutes: number | undefined;
}

const DEFAULT_AT_HOUR = 4;
const DEFAULT_IDLE_MINUTES = 60;

/** Source: spec agent-pipeline §3.2. */
export function resolveResetPolicy(cfg: OpenClawConfig, type: ResetType, channel: string | undefined): ResetPolicy {
  const session = cfg.session;
  const byChannel = channel === undefined ? undefined : session?.resetByChannel?.[channel];
  const byType = type === "direct" ? (session?.resetByType?.direct ?? session?.resetByType?.dm) : session?.resetByType?.[type];
  const merged = byChannel ?? { ...session?.reset, ...byType };
  const legacyIdle = session?.idleMinutes;
  const mode = merged.mode ?? (merged.idleMinutes === undefined && legacyIdle !== undefined && session?.reset === undefined ? "idle" : "daily");
  const idle = merged.idleMinutes ?? (byChannel ? undefined : legacyIdle);
  return {
    mode,
    atHour: merged.atHour ?? DEFAULT_AT_HOUR,
    idleMinutes: idle ?? (mode === "idle" ? DEFAULT_IDLE_MINUTES : undefined),
  };
}

/** Start of the current "day" that begins at `atHour`, host local time. */
export function lastDailyBoundaryMs(nowMs: number, atHour: number): number {
  const boundary = new Date(nowMs);
  boundary.setHours(atHour, 0, 0, 0);
  if (boundary.getTime() > nowMs) boundary.setDate(boundary.getDate() - 1);
  return boundary.getTime();
}

export type Freshness = { readonly fresh: true } | { readonly fresh: false; readonly reason: ResetMode };

export function sessionFreshness(updatedAt: number, policy: ResetPolicy, nowMs: number): Freshness {
  if (policy.mode === "daily" && updatedAt < lastDailyBoundaryMs(nowMs, policy.atHour)) return { fresh: false, reason: "daily" };
  if (policy.idleMinutes !== undefined && nowMs > updatedAt + policy.idleMinutes * 60_000) return { fresh: false, reason: "idle" };
  return { fresh: true };
}

/** Settings that belong to the person, not to one conversation: kept over every kind of reset. */
const KEPT_FIELDS = [
  "thinkingLevel", "verboseLevel", "reasoningLevel", "elevatedLevel", "ttsAuto", "execHost", "execSecurity", "execAsk", "execNode",
  "responseUsage", "providerOverride", "modelOverride", "authProfileOverride", "authProfileOverrideSource", "groupActivation",
  "groupActivationNeedsSystemIntro", "forkedFromParent",
  "sendPolicy", "queueMode", "queueDebounceMs", "queueCap", "queueDrop", "label", "displayName", "spawnedBy", "spawnDepth",
  "chatType", "channel", "groupId", "subject", "groupChannel", "space", "origin", "deliveryContext", "lastChannel", "lastTo",
  "lastAccountId", "lastThreadId",
] as const satisfies readonly (keyof SessionEntry)[];

/** The entry of the new session: settings and route kept, counters and the skills snapshot gone. */
export function resetEntry(entry: SessionEntry | undefined, next: { sessionId: string; sessionFile: string; nowMs: number }): SessionEntry {
  const kept: Partial<Record<keyof SessionEntry, unknown>> = {};
  for (const field of KEPT_FIELDS) if (entry?.[field] !== undefined) kept[field] = entry[field];
  return {
    ...(kept as Partial<SessionEntry>),
    sessionId: next.sessionId,
    sessionFile: next.sessionFile,
    updatedAt: next.nowMs,
    systemSent: false,
    abortedLastRun: false,
    compactionCount: 0,
  };
}

/** `2026-11-30T21-15-02.181Z`: an ISO time that may stand in a file name. */
export function archiveStamp(nowMs: number): string {
  return new Date(nowMs).toISOString().replaceAll(":", "-");
}
