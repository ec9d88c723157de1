import { sleep } from "../../infra/backoff.ts";
import { errorText } from "../../infra/errors.ts";
import { endsSoonAfter, OverdueError } from "../../infra/overdue.ts";
import type { AgentHookContext } from "../hooks.ts";
import { formatModelRef, ModelError, type FailoverReason, type ModelRef, type PreparedModel, type ThinkLevel } from "../models/types.ts";
import type { AssistantText } from "../pi-embedded-subscribe.ts";
import { classifyFailoverReason, errorKindOf, FailoverError, friendlyErrorText, isTransientReason, nextThinkLevel, retryAfterMs } from "../pi-embedded-helpers.ts";
import type { PiModules } from "../pi.ts";
import type { RunnerDeps } from "./deps.ts";
import { assemblePrompt, type PromptCache } from "./prompt-assembly.ts";
import { rewindFailedAnswer, runEmbeddedAttempt, type AttemptResult } from "./run/attempt.ts";
import { createRunCompaction, overflowText, type RunCompaction } from "./run/compaction.ts";
import { keepRoom, silentParams } from "./run/keep-room.ts";
import { beginRun, dropUnanswered, openRunTranscript, PROMPT_ERROR } from "./run/open.ts";
import type { RunEmbeddedPiAgentParams } from "./run/params.ts";
import type { Steer } from "./runs.ts";
import { buildEmbeddedRunPayloads } from "./run/payloads.ts";
import type { EmbeddedPiRunResult, MessagingSend, RunAttempt, RunError, RunFallback, RunUsage, SystemPromptReport } from "./run/types.ts";
import type { OpenTranscript } from "./session-manager-init.ts";

const TRANSIENT_DELAYS_MS = [2000, 4000, 8000];
const MAX_RETRY_AFTER_MS = 15_000;
const MAX_TURNS_OVER_ALL = 60;
const PREPARE_FAILURES: Readonly<Record<ModelError["code"], FailoverReason>> = {
  "no-key": "auth", "unknown-model": "model_not_found", unavailable: "rate_limit", "not-allowed": "unknown", "window-too-small": "unknown",
};
/** Custom entry that marks where a turn was left out. */
const DISCARDED_TURN = "openclaw.discarded-turn";
/** ms after the stop until a run that still goes on is given up; tools have 5 s of them. */
const STUCK_MS = 20_000;

export interface RunHooks {
  /** Sends made by tools of this run, collected by the message tool. */
  readonly messagingSends: MessagingSend[];
  onSteerable(steer: Steer | undefined): void;
  onPartial(text: string): void;
  /** The answer is there; what follows (saving memories, compaction) the person need not wait for. */
  onAnswer?(result: EmbeddedPiRunResult): void;
}

/**
 * Answers one prompt: opens the session, builds the prompt, then tries models and keys until one answers. Never rejects
 * for what a provider does; the failure is in `meta.error` with a text for the person. Source: spec agent-pipeline §5.
 */
export async function runEmbeddedPiAgent(deps: RunnerDeps, cache: PromptCache, params: RunEmbeddedPiAgentParams, hooks: RunHooks): Promise<EmbeddedPiRunResult> {
  const startedAt = deps.clock.now();
  const timeout = new AbortController();
  const timer = params.timeoutMs > 0 ? setTimeout(() => timeout.abort(new Error("run timeout")), params.timeoutMs) : undefined;
  const signal = AbortSignal.any([params.signal, timeout.signal]);
  let givenUp = false;
  try {
    const pi = await deps.pi();
    const run = new Run(deps, pi, cache, silencedWhen(params, () => givenUp), hooks, signal, () => timeout.signal.aborted, startedAt);
    try {
      return await endsSoonAfter(signal, run.execute(() => clearTimeout(timer)), deps.stuckMs ?? STUCK_MS, "the run did not end after it was told to");
    } catch (err) {
      if (!(err instanceof OverdueError)) throw err;
      deps.log.error("a run hangs and has been given up", { runId: params.runId, sessionKey: params.sessionKey, err });
      const result = run.abandon();
      givenUp = true;
      return result;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The same request, whose callbacks lead nowhere once the run is given up. */
function silencedWhen(params: RunEmbeddedPiAgentParams, isSilent: () => boolean): RunEmbeddedPiAgentParams {
  const { onBlockReply, onToolSummary, onPartialReply, onReasoningStream, onToolStart, onAgentEvent } = params;
  return {
    ...params,
    ...(onBlockReply && { onBlockReply: async (payload) => (isSilent() ? undefined : onBlockReply(payload)) }),
    ...(onToolSummary && { onToolSummary: async (payload) => (isSilent() ? undefined : onToolSummary(payload)) }),
    ...(onPartialReply && { onPartialReply: (text) => (isSilent() ? undefined : onPartialReply(text)) }),
    ...(onReasoningStream && { onReasoningStream: (text) => (isSilent() ? undefined : onReasoningStream(text)) }),
    ...(onToolStart && { onToolStart: (name) => (isSilent() ? undefined : onToolStart(name)) }),
    onAgentEvent: (event) => (isSilent() ? undefined : onAgentEvent(event)),
  };
}

export function hookContextOf(params: Pick<RunEmbeddedPiAgentParams, "sessionKey" | "sessionId" | "agent" | "channel">): AgentHookContext {
  return { agentId: params.agent.id, sessionKey: params.sessionKey, sessionId: params.sessionId, workspaceDir: params.agent.workspaceDir, messageProvider: params.channel?.channel ?? "webchat" };
}

type Step = { readonly kind: "done" } | { readonly kind: "next-profile" } | { readonly kind: "next-model" } | { readonly kind: "again" };

class Run {
  readonly deps: RunnerDeps;
  readonly pi: PiModules;
  readonly cache: PromptCache;
  readonly params: RunEmbeddedPiAgentParams;
  readonly hooks: RunHooks;
  readonly signal: AbortSignal;
  readonly timedOut: () => boolean;
  readonly startedAt: number;
  readonly attempts: RunAttempt[] = [];
  readonly usage: RunUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0, cost: 0 };
  lastUsage: RunUsage | undefined;
  texts: AssistantText[] = [];
  toolErrors: AttemptResult["toolErrors"] = new Map();
  blocksSent = 0;
  transient = 0;
  thinking: ThinkLevel;
  /** Levels that a model refused in this run. */
  readonly thinkLevels = new Set<ThinkLevel>();
  promptPending: boolean;
  /** Logins of the current model that failed in this run. */
  tried = new Set<string>();
  report: SystemPromptReport | undefined;
  systemPrompt = "";
  compaction: RunCompaction | undefined;
  error: RunError | undefined;
  fallback: RunFallback | undefined;
  current: PreparedModel | undefined;
  transcript: OpenTranscript | undefined;
  /** What is asked, with what plugins have put before it. */
  prompt: string | undefined;
  /** A system prompt of a plugin's, for this run. */
  ownSystemPrompt: string | undefined;

  constructor(deps: RunnerDeps, pi: PiModules, cache: PromptCache, params: RunEmbeddedPiAgentParams, hooks: RunHooks, signal: AbortSignal, timedOut: () => boolean, startedAt: number) {
    this.deps = deps;
    this.pi = pi;
    this.cache = cache;
    this.params = params;
    this.hooks = hooks;
    this.signal = signal;
    this.timedOut = timedOut;
    this.startedAt = startedAt;
    this.thinking = params.thinking;
    this.prompt = params.prompt;
    this.promptPending = params.prompt !== undefined;
  }

  /** Ends a run that hangs: its session is free, and nothing it may still do reaches the transcript or the person. */
  abandon(): EmbeddedPiRunResult {
    this.transcript?.abandon();
    const endedAt = this.deps.clock.now();
    this.params.onAgentEvent({ stream: "lifecycle", data: { phase: "end", startedAt: this.startedAt, endedAt, aborted: true } });
    return this.#result(true, endedAt);
  }

  /** `stopClock` ends the time limit of the run: what follows the answer has its own. */
  async execute(stopClock: () => void): Promise<EmbeddedPiRunResult> {
    const { params, deps } = this;
    params.onAgentEvent({ stream: "lifecycle", data: { phase: "start", startedAt: this.startedAt } });
    const { sessionFile, sessionId } = params;
    const transcript = await openRunTranscript(deps, this.pi, { agentId: params.agent.id, sessionKey: params.sessionKey, sessionFile, sessionId, workspaceDir: params.agent.workspaceDir });
    this.transcript = transcript;
    this.compaction = createRunCompaction({ deps, pi: this.pi, params, transcript, signal: this.signal });
    try {
      await this.#askPromptHooks(transcript);
      const leafBefore = this.promptPending ? beginRun(deps, transcript, params) : transcript.manager.getLeafId();
      await this.#tryModels(transcript);
      await transcript.flush();
      stopClock();
      const finished = this.#finish();
      const discarded = this.#discard(transcript, leafBefore, finished);
      const result = discarded ? { ...finished, meta: { ...finished.meta, discarded } } : finished;
      this.#tellHooks(transcript, result);
      this.hooks.onAnswer?.(result);
      if (discarded) await transcript.flush();
      else await this.#afterwards(transcript);
      return result;
    } finally {
      // After a compaction the file is read anew: what came before it need not stay in memory.
      if (!transcript.isAbandoned() && this.compaction?.count() === 0) deps.transcripts.put(sessionFile, transcript);
    }
  }

  async #askPromptHooks({ manager }: OpenTranscript): Promise<void> {
    const { params, deps, prompt } = this;
    if (prompt === undefined || (params.promptChange === undefined && !deps.hooks.has("before_prompt_build"))) return;
    const { systemPrompt, prependContext } = await deps.hooks.beforePrompt({ prompt, messages: manager.buildSessionContext().messages }, params.promptChange, hookContextOf(params));
    this.ownSystemPrompt = systemPrompt;
    if (prependContext !== undefined) this.prompt = `${prependContext}\n\n${prompt}`;
  }

  /** Plugins that look on hear how it ended; nobody waits for them. */
  #tellHooks({ manager }: OpenTranscript, { meta }: EmbeddedPiRunResult): void {
    const { hooks } = this.deps;
    if (!hooks.has("agent_end", "llm_output")) return;
    const ctx = hookContextOf(this.params);
    const { messages } = manager.buildSessionContext();
    hooks.notify("agent_end", { messages, success: meta.error === undefined && !meta.aborted, error: meta.error?.message, durationMs: meta.durationMs }, ctx);
    const { input, output, cacheRead, cacheWrite, total } = meta.agentMeta.usage;
    hooks.notify("llm_output", {
      runId: this.params.runId, sessionId: this.params.sessionId, provider: meta.agentMeta.provider, model: meta.agentMeta.model, assistantTexts: this.texts.map(({ text }) => text),
      lastAssistant: messages.findLast(({ role }) => role === "assistant"), usage: { input, output, cacheRead, cacheWrite, total },
    }, ctx);
  }

  /** Leaves the turn as a branch of its own when nobody needs to know of it: the conversation goes on from before it. */
  #discard({ manager }: OpenTranscript, leafBefore: string | null, result: EmbeddedPiRunResult): boolean {
    if (this.signal.aborted || this.error || result.meta.compactionCount > 0 || this.params.heartbeat?.discard(result) !== true) return false;
    if (leafBefore === null) manager.resetLeaf();
    else manager.branch(leafBefore);
    manager.appendCustomEntry(DISCARDED_TURN, { runId: this.params.runId });
    return true;
  }

  #finish(): EmbeddedPiRunResult {
    const { params } = this;
    const aborted = this.signal.aborted;
    const endedAt = this.deps.clock.now();
    if (this.error && !aborted) params.onAgentEvent({ stream: "lifecycle", data: { phase: "error", error: this.error.message, endedAt } });
    else params.onAgentEvent({ stream: "lifecycle", data: { phase: "end", startedAt: this.startedAt, endedAt, ...(aborted ? { aborted: true } : {}) } });
    return this.#result(aborted, endedAt);
  }

  /** When the conversation is nearly full, memories are saved and it is compacted. */
  async #afterwards(transcript: OpenTranscript): Promise<void> {
    const { current: prepared, deps, params, compaction, systemPrompt, thinking, signal, pi } = this;
    if (this.error || signal.aborted || !prepared || !compaction) return;
    await keepRoom({
      deps, params, transcript, prepared, compaction, lastTotal: this.lastUsage?.total, systemPrompt,
      ask: (prompt) => runEmbeddedAttempt({
        deps, pi, params: silentParams(params), prepared, transcript, systemPrompt, thinking, signal, prompt, onSteerable: () => undefined, onPartial: () => undefined,
      }),
    });
    await transcript.flush();
  }

  async #tryModels(transcript: OpenTranscript): Promise<void> {
    const candidates = [this.params.model, ...this.params.fallbacks];
    let turns = 0;
    for (const [index, ref] of candidates.entries()) {
      this.tried = new Set();
      let profileId = index === 0 ? this.params.pinnedProfileId : undefined;
      for (;;) {
        if (this.signal.aborted || ++turns > MAX_TURNS_OVER_ALL) return;
        const prepared = await this.#prepare(ref, index === 0, profileId);
        if (!prepared) break;
        this.current = prepared;
        if (index > 0) this.#announceFallback(prepared);
        const step = await this.#attempt(transcript, prepared);
        if (step.kind === "done") return;
        if (step.kind === "again") continue;
        if (step.kind === "next-model") break;
        if (prepared.profileId) this.tried.add(prepared.profileId);
        profileId = await this.#spareProfile(prepared);
        if (profileId === undefined) break;
      }
    }
    this.#giveUp();
  }

  /** Another login for the same model; none when the person has pinned one. */
  async #spareProfile(prepared: PreparedModel): Promise<string | undefined> {
    return this.params.pinnedProfileId === undefined ? this.deps.models.nextProfile(prepared, this.params.agent.id, this.tried) : undefined;
  }

  async #prepare(ref: ModelRef, selected: boolean, profileId: string | undefined): Promise<PreparedModel | undefined> {
    try {
      const prepared = this.deps.models.prepare(ref, this.params.agent.id, {
        profileId, asFallback: !selected,
        ...(selected ? { preferredProfileId: this.params.preferredProfileId, afterProfileId: this.params.afterProfileId } : {}),
      });
      return await endsSoonAfter(this.signal, prepared, 0, "stopped while the key was fetched");
    } catch (err) {
      if (this.signal.aborted) return undefined;
      const reason = err instanceof ModelError ? PREPARE_FAILURES[err.code] : "unknown";
      const fix = err instanceof ModelError ? ` ${err.fix}` : "";
      this.attempts.push({ provider: ref.provider, model: ref.modelId, reason, error: `${errorText(err)}${fix}` });
      this.error = { kind: err instanceof ModelError && err.code === "no-key" ? "auth" : "no_model", message: `⚠️ ${errorText(err)}${fix}` };
      return undefined;
    }
  }

  #announceFallback(prepared: PreparedModel): void {
    const last = this.attempts.at(-1);
    const active = formatModelRef(prepared.ref);
    if (this.fallback?.active === active) return;
    this.fallback = { active, reason: last?.reason ?? "unknown" };
    this.params.onAgentEvent({
      stream: "lifecycle",
      data: {
        phase: "fallback", selectedProvider: this.params.model.provider, selectedModel: this.params.model.modelId,
        activeProvider: prepared.ref.provider, activeModel: prepared.ref.modelId, reasonSummary: last?.reason ?? "unknown",
        attemptSummaries: this.attempts.map((attempt) => `${attempt.provider}/${attempt.model}: ${attempt.reason}`), attempts: this.attempts.length,
      },
    });
    this.deps.log.warn("model fallback", { from: formatModelRef(this.params.model), to: active, reason: last?.reason });
  }

  async #attempt(transcript: OpenTranscript, prepared: PreparedModel): Promise<Step> {
    const { deps, params } = this;
    const { systemPrompt: built, report } = await assemblePrompt(deps, { ...params, thinking: this.thinking }, params.tools, prepared, this.cache, "run");
    const systemPrompt = this.ownSystemPrompt ?? built;
    const prompt = this.promptPending ? this.prompt : undefined;
    this.report = report;
    if (deps.hooks.has("llm_input")) {
      deps.hooks.notify("llm_input", {
        runId: params.runId, sessionId: params.sessionId, provider: prepared.ref.provider, model: prepared.ref.modelId, systemPrompt, prompt: prompt ?? "",
        historyMessages: transcript.manager.buildSessionContext().messages, imagesCount: 0,
      }, hookContextOf(params));
    }
    this.systemPrompt = systemPrompt;
    const result = await runEmbeddedAttempt({
      deps, pi: this.pi, params, prepared, transcript, systemPrompt, thinking: this.thinking, signal: this.signal,
      prompt, onSteerable: this.hooks.onSteerable, onPartial: this.hooks.onPartial,
    });
    this.promptPending = false;
    this.#count(result, prepared);
    this.texts = [...this.texts, ...result.texts];
    this.toolErrors = result.toolErrors;
    this.blocksSent += result.blocksSent;
    if (this.signal.aborted) return { kind: "done" };
    if (result.loopEnd !== undefined) {
      this.error = { kind: "tool_loop", message: `⚠️ The model went round in circles, so the run was ended: ${result.loopEnd}` };
      return { kind: "done" };
    }
    if (result.error === undefined) {
      this.error = undefined;
      await deps.models.reportSuccess(prepared, params.agent.id);
      return { kind: "done" };
    }
    return this.#afterFailure(transcript, prepared, result);
  }

  async #afterFailure(transcript: OpenTranscript, prepared: PreparedModel, result: AttemptResult): Promise<Step> {
    const { deps, params } = this;
    const raw = result.error ?? "";
    const reason = result.stalled ? "timeout" : classifyFailoverReason(raw);
    const model = formatModelRef(prepared.ref);
    deps.log.warn("model call failed", { model, reason, profileId: prepared.profileId, error: raw.slice(0, 500) });
    this.attempts.push({ provider: prepared.ref.provider, model: prepared.ref.modelId, reason, error: raw });
    const askedMs = retryAfterMs(raw) ?? deps.models.askedToWaitMs(prepared);
    this.error = { kind: errorKindOf(reason), message: friendlyErrorText(reason, raw, model, askedMs) };
    if (reason === "context_overflow") {
      rewindFailedAnswer(transcript.manager);
      if (await this.compaction?.afterOverflow(prepared)) return { kind: "again" };
      dropUnanswered(transcript.manager); // it would be refused again with every later message
      const { provider, modelId } = prepared.ref;
      transcript.manager.appendCustomEntry(PROMPT_ERROR, { timestamp: deps.clock.now(), runId: params.runId, sessionId: params.sessionId, provider, model: modelId, api: prepared.model.api, error: raw });
      this.error = { kind: "context_overflow", message: overflowText(model, this.compaction?.attempts() ?? 0) };
      return { kind: "done" };
    }
    if (this.blocksSent > 0) return { kind: "done" }; // part of an answer is out: a second one would repeat it
    rewindFailedAnswer(transcript.manager);
    const level = nextThinkLevel(raw, this.thinking, this.thinkLevels.add(this.thinking));
    if (level !== undefined) {
      this.thinking = level;
      return { kind: "again" };
    }
    const changesKey = reason === "rate_limit" && (await this.#spareProfile(prepared)) !== undefined;
    if (!changesKey && isTransientReason(reason) && this.transient < TRANSIENT_DELAYS_MS.length) {
      if (askedMs === undefined || askedMs <= MAX_RETRY_AFTER_MS) {
        await sleep(askedMs ?? TRANSIENT_DELAYS_MS[this.transient] ?? 2000, this.signal);
        this.transient++;
        return this.signal.aborted ? { kind: "done" } : { kind: "again" };
      }
    }
    await deps.models.reportFailure(prepared, params.agent.id, reason);
    if (reason === "model_not_found" || reason === "format") return { kind: "next-model" };
    return { kind: "next-profile" };
  }

  #giveUp(): void {
    if (this.signal.aborted || this.attempts.length <= 1) return;
    const list = this.attempts.map((attempt) => `${attempt.provider}/${attempt.model}: ${attempt.error.slice(0, 120)} (${attempt.reason})`);
    const last = this.attempts.at(-1) as RunAttempt;
    this.deps.log.error("all models failed", { err: new FailoverError(last.reason, last.provider, last.model, list.join(" | ")) });
    const distinct = new Set(this.attempts.map((attempt) => `${attempt.provider}/${attempt.model}`));
    if (distinct.size > 1) this.error = { kind: this.error?.kind ?? "internal", message: `⚠️ All models failed (${distinct.size}). Last: ${this.error?.message.replace(/^⚠️ /, "") ?? "unknown"}` };
  }

  #count(result: AttemptResult, prepared: PreparedModel): void {
    for (const { usage } of result.messages) {
      this.usage.input += usage.input;
      this.usage.output += usage.output;
      this.usage.cacheRead += usage.cacheRead;
      this.usage.cacheWrite += usage.cacheWrite;
      this.usage.total += usage.totalTokens;
      this.usage.cost = prepared.priced && this.usage.cost !== undefined ? this.usage.cost + usage.cost.total : undefined;
    }
    const last = result.messages.findLast((message) => message.usage.totalTokens > 0)?.usage;
    if (last) {
      this.lastUsage = {
        input: last.input, output: last.output, cacheRead: last.cacheRead, cacheWrite: last.cacheWrite, total: last.totalTokens,
        cost: prepared.priced ? last.cost.total : undefined,
      };
    }
  }

  #result(aborted: boolean, endedAt: number): EmbeddedPiRunResult {
    const { params } = this;
    const timedOut = aborted && this.timedOut();
    const error: RunError | undefined = timedOut
      ? { kind: "timeout", message: `⚠️ The run took longer than ${Math.round(params.timeoutMs / 1000)} s and was stopped. Raise agents.defaults.timeoutSeconds for longer work.` }
      : aborted ? undefined : this.error;
    const empty = !error && !aborted && !this.texts.some((text) => text.text !== "") && this.hooks.messagingSends.length === 0;
    const payloads = buildEmbeddedRunPayloads({
      texts: error && !timedOut ? [] : this.texts,
      errorText: error?.message ?? (empty ? "⚠️ The model gave an empty answer. Please try again." : undefined),
      reasoning: params.reasoning, messagingSends: this.hooks.messagingSends,
      current: params.channel && { channel: params.channel.channel, to: params.channel.to, accountId: params.channel.accountId },
      toolErrors: params.heartbeat?.hideToolErrors ? new Map() : this.toolErrors, verbose: params.verbose,
      suppressToolErrors: this.deps.config().messages?.suppressToolErrors === true,
    });
    const model = this.current?.ref ?? params.model;
    return {
      payloads, lastText: this.texts.at(-1)?.text ?? "", messagingSends: this.hooks.messagingSends, blocksSent: this.blocksSent > 0,
      meta: {
        durationMs: endedAt - this.startedAt, aborted, abortReason: timedOut ? "timeout" : aborted ? "user" : undefined,
        error: error ?? (empty ? { kind: "empty", message: "empty answer" } : undefined), attempts: this.attempts,
        fallback: error ? undefined : this.fallback,
        agentMeta: {
          sessionId: params.sessionId, provider: model.provider, model: model.modelId, usage: this.usage, lastCallUsage: this.lastUsage,
          promptTokens: this.lastUsage && this.lastUsage.input + this.lastUsage.cacheRead + this.lastUsage.cacheWrite,
          contextTokens: this.current?.contextTokens ?? 0, profileId: this.current?.profileId,
        },
        compactionCount: this.compaction?.count() ?? 0, compactionAttempts: this.compaction?.attempts() ?? 0, systemPromptReport: this.report,
      },
    };
  }
}
