import type { SessionManager } from "@mariozechner/pi-coding-agent";
import type { OpenClawConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import type { PreparedModel } from "../models/types.ts";
import { CHARS_PER_TOKEN } from "../output/tokens.ts";
import type { PiModules } from "../pi.ts";
import { fileDetails, readAgentsMd, summaryAppendix, withoutAppendix } from "./compaction-appendix.ts";
import { planCompaction, type CompactionPlan } from "./compaction-plan.ts";
import { summariseConversation, type SummaryRequest } from "./compaction-summary.ts";

export interface CompactionSettings {
  /** Tokens at which a finished turn triggers compaction; undefined switches that off. */
  readonly thresholdTokens: number | undefined;
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
  readonly maxHistoryShare: number;
}

export const RESERVE_FLOOR_TOKENS = 20_000;
const KEEP_RECENT_TOKENS = 20_000;
const MAX_HISTORY_SHARE = 0.5;
const TIME_LIMIT_MS = 300_000;
const MIN_MANUAL_TOKENS = 2000;
const RETRY_DELAYS_MS = [500, 5000];

/** `aggressive` compacts at half of the window, `off` only on overflow or /compact (spec decisions §1.4). */
export function resolveCompactionSettings(cfg: OpenClawConfig, windowTokens: number): CompactionSettings {
  const settings = cfg.agents?.defaults?.compaction;
  const floor = settings?.reserveTokensFloor ?? RESERVE_FLOOR_TOKENS;
  // A small window must not be reserved away whole.
  const reserveTokens = Math.min(Math.max(settings?.reserveTokens ?? 0, floor), Math.floor(windowTokens / 2));
  const keepRecentTokens = Math.min(settings?.keepRecentTokens ?? KEEP_RECENT_TOKENS, Math.floor(windowTokens / 4));
  const mode = settings?.mode ?? "safeguard";
  const thresholdTokens = mode === "off" ? undefined : mode === "aggressive" ? Math.floor(windowTokens / 2) : windowTokens - reserveTokens;
  return { thresholdTokens, reserveTokens, keepRecentTokens, maxHistoryShare: settings?.maxHistoryShare ?? MAX_HISTORY_SHARE };
}

export type CompactionOutcome =
  | { readonly kind: "compacted"; readonly tokensBefore: number; readonly tokensAfter: number; readonly summaryChars: number; readonly degraded: boolean }
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

export interface CompactionInput {
  readonly pi: PiModules;
  readonly manager: SessionManager;
  readonly prepared: PreparedModel;
  readonly settings: CompactionSettings;
  readonly workspaceDir: string;
  /** What the person wants the summary to dwell on. */
  readonly focus?: string | undefined;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly log: Logger;
  readonly retryDelaysMs?: readonly number[] | undefined;
}

const NOTHING_OLDER = "there is nothing older to summarise";

/**
 * Replaces the older part of the conversation by a summary entry; on any failure the history stays as it is. Ends within
 * 300 s. Source: spec agent-pipeline §5.6, pains #17–18.
 */
export async function compactEmbeddedPiSessionDirect(input: CompactionInput): Promise<CompactionOutcome> {
  const plan = planCompaction(input.manager.getBranch(), input.settings.keepRecentTokens);
  if (!plan) return { kind: "skipped", reason: NOTHING_OLDER };
  const limit = AbortSignal.timeout(TIME_LIMIT_MS);
  const request: SummaryRequest = {
    pi: input.pi, prepared: input.prepared, reserveTokens: input.settings.reserveTokens, maxHistoryShare: input.settings.maxHistoryShare, focus: input.focus,
    retryDelaysMs: input.retryDelaysMs ?? RETRY_DELAYS_MS, signal: AbortSignal.any([input.signal, limit]), now: input.now, log: input.log,
  };
  try {
    const { text, degraded } = await summarise(request, plan);
    const replaced = [...plan.older, ...plan.turnPrefix];
    const files = fileDetails(replaced, plan.previous?.details);
    const summary = `${text}${summaryAppendix(replaced, files, await readAgentsMd(input.workspaceDir))}`;
    return append(input.manager, plan, summary, files, degraded);
  } catch (err) {
    if (input.signal.aborted) return { kind: "failed", reason: "stopped" };
    return { kind: "failed", reason: limit.aborted ? `it took longer than ${TIME_LIMIT_MS / 1000} s` : errorText(err) };
  }
}

async function summarise(request: SummaryRequest, plan: CompactionPlan): Promise<{ text: string; degraded: boolean }> {
  const previous = plan.previous && withoutAppendix(plan.previous.summary);
  const history = plan.older.length > 0 ? await summariseConversation(request, plan.older, previous) : { text: previous ?? "", degraded: false };
  if (plan.turnPrefix.length === 0) return history;
  const prefix = await summariseConversation(request, plan.turnPrefix, undefined);
  const text = [history.text, `## Beginning of the current turn (its end follows in full)\n${prefix.text}`].filter(Boolean).join("\n\n");
  return { text, degraded: history.degraded || prefix.degraded };
}

/** The last resort, without a model: the older part goes, and a note says so. Source: pains #17. */
export function cutHistory(manager: SessionManager, keepTokens: number, reason: string): CompactionOutcome {
  const plan = planCompaction(manager.getBranch(), keepTokens);
  if (!plan) return { kind: "skipped", reason: NOTHING_OLDER };
  const replaced = [...plan.older, ...plan.turnPrefix];
  const files = fileDetails(replaced, plan.previous?.details);
  const previous = plan.previous && withoutAppendix(plan.previous.summary).slice(0, Math.max(2000, keepTokens));
  const note = `(${replaced.length} older messages, about ${plan.tokensBefore - plan.tokensKept} tokens, were removed from context without a summary: ${reason}. Ask the person where something is missing.)`;
  return append(manager, plan, `${[previous, note].filter(Boolean).join("\n\n")}${summaryAppendix([], files, undefined)}`, files, true);
}

function append(manager: SessionManager, plan: CompactionPlan, summary: string, details: unknown, degraded: boolean): CompactionOutcome {
  manager.appendCompaction(summary, plan.firstKeptId, plan.tokensBefore, details);
  return {
    kind: "compacted", tokensBefore: plan.tokensBefore, tokensAfter: plan.tokensKept + Math.ceil(summary.length / CHARS_PER_TOKEN), summaryChars: summary.length, degraded,
  };
}

/** A person who asks for it wants a shorter conversation, also one that is far from full; a tiny one stays as it is. */
export function manualCompactionSettings(settings: CompactionSettings, totalTokens: number): CompactionSettings {
  if (totalTokens < MIN_MANUAL_TOKENS) return settings;
  return { ...settings, keepRecentTokens: Math.min(settings.keepRecentTokens, Math.floor(totalTokens / 4)) };
}
