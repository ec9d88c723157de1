import type { AgentHookContext, AgentHooks } from "../../hooks.ts";
import type { PreparedModel } from "../../models/types.ts";
import type { PiModules } from "../../pi.ts";
import { rewriteBranch } from "../branch-rewrite.ts";
import { compactEmbeddedPiSessionDirect, cutHistory, resolveCompactionSettings, type CompactionOutcome } from "../compact.ts";
import { postCompactionEvent, readAgentsMd } from "../compaction-appendix.ts";
import { planCompaction } from "../compaction-plan.ts";
import type { RunnerDeps } from "../deps.ts";
import type { OpenTranscript } from "../session-manager-init.ts";
import { cutResult, overflowResultChars } from "../tool-result-guard.ts";
import type { RunEmbeddedPiAgentParams } from "./params.ts";

export interface RunCompactionInput {
  readonly deps: RunnerDeps;
  readonly pi: PiModules;
  readonly params: Pick<RunEmbeddedPiAgentParams, "agent" | "sessionKey" | "onAgentEvent">;
  readonly transcript: OpenTranscript;
  readonly signal: AbortSignal;
}

/** How one run keeps its conversation inside the window. */
export interface RunCompaction {
  /** Compactions that took effect. */
  readonly count: () => number;
  /** Times that something was tried after the provider refused the conversation as too long. */
  readonly attempts: () => number;
  /** Whether there is anything older than what a compaction keeps. */
  isPossible(prepared: PreparedModel): boolean;
  /** After a finished turn of `total` tokens; undefined when that is below the threshold, or nothing can be gained. */
  ifFull(prepared: PreparedModel, total: number): Promise<CompactionOutcome | undefined>;
  /** Makes the refused conversation shorter, by harder means each time. false: nothing is left to take away. */
  afterOverflow(prepared: PreparedModel): Promise<boolean>;
}

type Stage = (prepared: PreparedModel) => Promise<boolean>;

/** In the last two stages, how much of the window stays, and how long one tool result may be. */
const CUT_KEEP_SHARE = 0.1;
const LAST_RESULT_CHARS = 4096;

/**
 * Overflow goes through stages, each at most once, so that it ends: long tool results are cut, the older part is
 * summarised, more of it is, it is dropped, all but the last message is dropped. Source: spec agent-pipeline §5.6, pains #17–18.
 */
export function createRunCompaction(input: RunCompactionInput): RunCompaction {
  const { deps, params, transcript } = input;
  const { manager } = transcript;
  let count = 0;
  let attempts = 0;

  function settings(prepared: PreparedModel): ReturnType<typeof resolveCompactionSettings> {
    return resolveCompactionSettings(deps.config(), prepared.contextTokens);
  }

  async function compact(prepared: PreparedModel, trigger: "threshold" | "overflow", keepShare: number): Promise<CompactionOutcome> {
    const base = settings(prepared);
    return announced(trigger, () => compactEmbeddedPiSessionDirect({
      pi: input.pi, manager, prepared, settings: { ...base, keepRecentTokens: Math.floor(base.keepRecentTokens * keepShare) },
      workspaceDir: params.agent.workspaceDir, signal: input.signal, now: () => deps.clock.now(), log: deps.log,
    }));
  }

  async function announced(trigger: "threshold" | "overflow", work: () => Promise<CompactionOutcome> | CompactionOutcome): Promise<CompactionOutcome> {
    params.onAgentEvent({ stream: "compaction", data: { phase: "start", trigger, attempt: attempts } });
    const outcome = await withCompactionHooks(deps.hooks, manager, { agentId: params.agent.id, sessionKey: params.sessionKey, workspaceDir: params.agent.workspaceDir }, work);
    if (outcome.kind === "compacted") {
      count++;
      await announceCompaction(deps, params.sessionKey, params.agent.workspaceDir);
    }
    params.onAgentEvent({ stream: "compaction", data: { phase: "end", willRetry: trigger === "overflow" && outcome.kind === "compacted", outcome: outcome.kind } });
    deps.log.info("compaction", { ...outcome, trigger, attempts, sessionKey: params.sessionKey });
    return outcome;
  }

  function cutResults(maxChars: number): boolean {
    return rewriteBranch(manager, (messages) => messages.map((message) => (message.role === "toolResult" ? cutResult(message, maxChars) : message)));
  }

  async function cut(keepTokens: number, resultChars: number): Promise<boolean> {
    const shortened = cutResults(resultChars);
    const outcome = await announced("overflow", () => cutHistory(manager, keepTokens, "the conversation was longer than the model takes"));
    return shortened || outcome.kind === "compacted";
  }

  function isPossible(prepared: PreparedModel): boolean {
    return planCompaction(manager.getBranch(), settings(prepared).keepRecentTokens) !== undefined;
  }

  const stages: Stage[] = [
    async (prepared) => cutResults(overflowResultChars(prepared.contextTokens)),
    async (prepared) => (await compact(prepared, "overflow", 0.5)).kind === "compacted",
    async (prepared) => (await compact(prepared, "overflow", 0.25)).kind === "compacted",
    (prepared) => cut(Math.floor(prepared.contextTokens * CUT_KEEP_SHARE), Math.floor(prepared.contextTokens * CUT_KEEP_SHARE)),
    () => cut(1, LAST_RESULT_CHARS),
  ];

  return {
    count: () => count,
    attempts: () => attempts,
    isPossible,
    async ifFull(prepared, total) {
      const { thresholdTokens } = settings(prepared);
      if (thresholdTokens === undefined || total <= thresholdTokens || !isPossible(prepared)) return undefined;
      return compact(prepared, "threshold", 1);
    },
    async afterOverflow(prepared) {
      for (let stage = stages.shift(); stage; stage = stages.shift()) {
        if (input.signal.aborted) return false;
        attempts++;
        if (await stage(prepared)) return true;
      }
      return false;
    },
  };
}

/** A compaction that plugins hear of, before and after. */
export async function withCompactionHooks(hooks: AgentHooks, manager: OpenTranscript["manager"], ctx: AgentHookContext, work: () => Promise<CompactionOutcome> | CompactionOutcome): Promise<CompactionOutcome> {
  if (!hooks.has("before_compaction", "after_compaction")) return work();
  const before = manager.buildSessionContext().messages;
  hooks.notify("before_compaction", { messageCount: before.length, messages: before }, ctx);
  const outcome = await work();
  if (outcome.kind === "compacted") {
    const messageCount = manager.buildSessionContext().messages.length;
    hooks.notify("after_compaction", { messageCount, compactedCount: Math.max(0, before.length - messageCount) }, ctx);
  }
  return outcome;
}

/** The next turn is told to follow the workspace's startup rules again. */
export async function announceCompaction(deps: Pick<RunnerDeps, "onCompacted">, sessionKey: string, workspaceDir: string): Promise<void> {
  const text = postCompactionEvent(await readAgentsMd(workspaceDir));
  if (text !== undefined) deps.onCompacted(sessionKey, text);
}

/** What a person reads when nothing helped: by then only the newest message is left. */
export function overflowText(model: string, attempts: number): string {
  const tried = attempts > 0 ? ` even after ${attempts} ${attempts === 1 ? "attempt" : "attempts"} to shorten the conversation` : "";
  return `⚠️ ${model} refuses the conversation as too long${tried}. Send a shorter message, or /new to start afresh, or choose a model with a larger window with /model.`;
}
