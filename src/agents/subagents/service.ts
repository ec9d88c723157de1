import { randomUUID } from "node:crypto";
import type { OpenClawConfig } from "../../config/index.ts";
import { sleep } from "../../infra/backoff.ts";
import type { Clock } from "../../infra/clock.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import { agentIdOfKey, isKnownAgentId, normalizeAgentId, resolveDefaultAgentId, subagentDepth } from "../../routing/index.ts";
import type { SessionService } from "../../sessions/index.ts";
import type { ModelRef, ThinkLevel } from "../models/types.ts";
import { inspectRunProgress } from "../pi-embedded-runner/replay.ts";
import type { EmbeddedPiRunResult } from "../pi-embedded-runner/run/types.ts";
import type { SubagentRegistry } from "./registry.ts";
import { announcement, chatNotice, subagentMessage, subagentSystemPrompt } from "./texts.ts";
import type { SpawnRequest, SpawnResult, SubagentOutcome, SubagentRun } from "./types.ts";

export interface SubagentTurn {
  readonly runId: string;
  readonly sessionKey: string;
  /** undefined: go on from where a restart interrupted it. */
  readonly message: string | undefined;
  readonly extraSystemPrompt?: string | undefined;
  readonly model?: ModelRef | undefined;
  readonly thinking?: ThinkLevel | undefined;
  readonly timeoutMs?: number | undefined;
  readonly isOwner: boolean;
  readonly senderId?: string | undefined;
  readonly lane: "subagent" | "main";
}

export interface SubagentServiceOptions {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: SubagentRegistry;
  readonly sessions: SessionService;
  readonly runTurn: (turn: SubagentTurn) => Promise<EmbeddedPiRunResult>;
  readonly abort: (runId: string) => void;
  /** Resolves when the session has no run, at the latest after `timeoutMs`. */
  readonly whenIdle: (sessionKey: string, timeoutMs: number) => Promise<unknown>;
  /** Sends a text to a chat, once per id, and puts it into the session's conversation. @throws Error when it cannot be sent */
  readonly tellChat: (run: SubagentRun, id: string, text: string) => Promise<void>;
  readonly parseModel: (text: string, agentId: string) => Promise<ModelRef | undefined>;
  readonly thinkingLevels: readonly string[];
  /** Answered, failed or was stopped. */
  onEnded?(run: SubagentRun): void;
}

export interface SubagentService {
  /** Takes up what an earlier process left. */
  start(): Promise<void>;
  /** Nothing new begins; what runs is left for the next process. */
  stop(): Promise<void>;
  spawn(request: SpawnRequest): Promise<SpawnResult>;
  /** Those that the session asked for, the newest first; ended ones only if they ended in the last `recentMs`. */
  list(requesterSessionKey: string, recentMs: number): SubagentRun[];
  /** With everything it has delegated itself. Returns how many were running. */
  kill(runId: string): Promise<number>;
  /** All that a session asked for, recursively. */
  killAll(requesterSessionKey: string): Promise<number>;
  /** Ends the run and begins it anew with a further message. @throws Error when it was steered a moment ago */
  steer(runId: string, message: string): Promise<SpawnResult>;
  get(runId: string): SubagentRun | undefined;
}

const DEFAULT_MAX_CHILDREN = 5;
const ANNOUNCE_DELAYS_MS = [5000, 10_000, 20_000];
const GIVE_UP_MS = 5 * 60_000;
const SWEEP_MS = 60_000;
const DEFAULT_ARCHIVE_MIN = 60;
const STEER_EVERY_MS = 2000;
const STEER_WAIT_MS = 5000;
const CHILDREN_POLL_MS = 250;
const BUSY_WAIT_MS = 60_000;
const SKIP = "ANNOUNCE_SKIP";

/** Runs tasks in sessions of their own and brings the results back. Source: spec tools-and-automation part 2 §9, pains #37. */
export function createSubagentService(options: SubagentServiceOptions): SubagentService {
  const { clock, log, registry, sessions } = options;
  const settings = (): NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["subagents"]> => options.config().agents?.defaults?.subagents ?? {};
  const active = new Map<string, Promise<void>>();
  const announcing = new Map<string, Promise<void>>();
  const steeredAt = new Map<string, number>();
  let stopped = false;
  let sweeper: NodeJS.Timeout | undefined;

  const isActive = (run: SubagentRun): boolean => run.endedAt === undefined;
  const childrenOf = (sessionKey: string): SubagentRun[] => registry.all().filter((run) => run.requesterSessionKey === sessionKey);
  const hasActiveBelow = (sessionKey: string): boolean => childrenOf(sessionKey).some((run) => isActive(run) || !run.cleanupHandled || hasActiveBelow(run.childSessionKey));

  async function depthOf(sessionKey: string): Promise<number> {
    return (await sessions.get(sessionKey))?.spawnDepth ?? subagentDepth(sessionKey);
  }

  // ── Spawning ───────────────────────────────────────────────────────────

  async function spawn(request: SpawnRequest): Promise<SpawnResult> {
    const cfg = options.config();
    const defaults = settings();
    const maxDepth = defaults.maxSpawnDepth ?? 1;
    const depth = await depthOf(request.requesterSessionKey);
    if (depth >= maxDepth) return { status: "forbidden", error: `sessions_spawn is not allowed at this depth (current depth: ${depth}, max: ${maxDepth})` };
    const maxChildren = defaults.maxChildrenPerAgent ?? DEFAULT_MAX_CHILDREN;
    const busy = childrenOf(request.requesterSessionKey).filter(isActive).length;
    if (busy >= maxChildren) return { status: "forbidden", error: `sessions_spawn has reached max active children for this session (${busy}/${maxChildren})` };
    const agentId = request.agentId === undefined ? request.requesterAgentId : normalizeAgentId(request.agentId);
    const refusal = refuseAgent(cfg, request.requesterAgentId, agentId);
    if (refusal) return refusal;
    if (request.mode === "session") return { status: "error", error: "mode=session needs a thread of its own, which this chat has not; use mode=run" };
    const own = cfg.agents?.list?.find((agent) => normalizeAgentId(agent.id) === agentId)?.subagents;
    const thinking = request.thinking ?? own?.thinking ?? defaults.thinking;
    if (thinking !== undefined && !options.thinkingLevels.includes(thinking)) return { status: "error", error: `Invalid thinking level "${thinking}". Use one of: ${options.thinkingLevels.join(", ")}` };
    const wanted = request.model ?? modelText(own?.model) ?? modelText(defaults.model);
    const model = wanted === undefined ? undefined : await options.parseModel(wanted, agentId);
    const childSessionKey = `agent:${agentId}:subagent:${randomUUID()}`;
    const run: SubagentRun = {
      runId: randomUUID(), childSessionKey, requesterSessionKey: request.requesterSessionKey, requesterOrigin: request.origin, requesterDisplayKey: request.requesterSessionKey, task: request.task,
      cleanup: request.cleanup ?? "keep", spawnMode: "run", label: request.label, model: model ? `${model.provider}/${model.modelId}` : undefined, thinking,
      runTimeoutSeconds: request.runTimeoutSeconds ?? defaults.runTimeoutSeconds ?? 0, isOwner: request.isOwner, senderId: request.senderId, createdAt: clock.now(),
    };
    await sessions.update(childSessionKey, { chatType: "direct", spawnedBy: request.requesterSessionKey, spawnDepth: depth + 1, ...(request.label ? { label: request.label } : {}) });
    await registry.put(run);
    begin(run, subagentMessage(request.task, depth + 1, maxDepth));
    return {
      status: "accepted", childSessionKey, runId: run.runId, mode: "run", note: "The result comes to this session by itself when the task is done; do not poll for it.",
      ...(wanted === undefined ? {} : { modelApplied: model !== undefined }),
    };
  }

  function refuseAgent(cfg: OpenClawConfig, requester: string, wanted: string): SpawnResult | undefined {
    if (wanted === requester) return undefined;
    const allowed = cfg.agents?.list?.find((agent) => normalizeAgentId(agent.id) === requester)?.subagents?.allowAgents ?? [];
    if (!isKnownAgentId(cfg, wanted)) return { status: "forbidden", error: `agentId is not allowed for sessions_spawn (there is no agent ${wanted})` };
    if (allowed.includes("*") || allowed.map(normalizeAgentId).includes(wanted)) return undefined;
    return { status: "forbidden", error: `agentId is not allowed for sessions_spawn (allowed: ${allowed.join(", ") || "none"})` };
  }

  // ── Running ────────────────────────────────────────────────────────────

  function begin(run: SubagentRun, message: string | undefined): void {
    const work = perform(run, message)
      .catch((err: unknown) => log.error("sub-agent not recorded", { runId: run.runId, err }))
      .finally(() => active.delete(run.runId));
    active.set(run.runId, work);
  }

  async function perform(run: SubagentRun, message: string | undefined): Promise<void> {
    const agentId = agentIdOfKey(run.childSessionKey, resolveDefaultAgentId(options.config()));
    const depth = await depthOf(run.childSessionKey);
    await registry.update(run.runId, { startedAt: clock.now() });
    let outcome: SubagentOutcome;
    let result: EmbeddedPiRunResult | undefined;
    try {
      result = await options.runTurn({
        runId: run.runId, sessionKey: run.childSessionKey, message, extraSystemPrompt: subagentSystemPrompt(run, depth, settings().maxSpawnDepth ?? 1),
        model: run.model === undefined ? undefined : await options.parseModel(run.model, agentId), thinking: run.thinking as ThinkLevel | undefined,
        // 0 means none: the task may take as long as it takes.
        timeoutMs: run.runTimeoutSeconds > 0 ? run.runTimeoutSeconds * 1000 : 0, isOwner: run.isOwner, senderId: run.senderId, lane: "subagent",
      });
      const { error, aborted, abortReason } = result.meta;
      outcome = aborted ? { status: abortReason === "timeout" ? "timeout" : "unknown" } : error && error.kind !== "empty" ? { status: "error", error: error.message } : { status: "ok" };
    } catch (err) {
      outcome = { status: "error", error: errorText(err) };
    }
    const current = registry.get(run.runId);
    if (!current || current.endedAt !== undefined) return; // killed or steered: that is told by who did it
    if (stopped && outcome.status !== "ok") return; // ended by the stop: the next process goes on
    await end(run.runId, outcome, result);
  }

  async function end(runId: string, outcome: SubagentOutcome, result: EmbeddedPiRunResult | undefined): Promise<void> {
    const usage = result?.meta.agentMeta.usage;
    const run = await registry.update(runId, {
      endedAt: clock.now(), outcome, endedReason: outcome.status === "ok" ? "subagent-complete" : "subagent-error",
      ...(result ? { resultText: result.payloads.filter((payload) => !payload.isReasoning && payload.text).map((payload) => payload.text).join("\n\n") } : {}),
      ...(usage ? { usage: { input: usage.input, output: usage.output, total: usage.total } } : {}),
      archiveAtMs: clock.now() + (settings().archiveAfterMinutes ?? DEFAULT_ARCHIVE_MIN) * 60_000,
    });
    if (!run) return;
    options.onEnded?.(run);
    announce(run);
  }

  // ── Announcing ─────────────────────────────────────────────────────────

  function announce(run: SubagentRun): void {
    if (run.cleanupHandled || announcing.has(run.runId)) return;
    const work = tell(run)
      .catch((err: unknown) => log.error("the result of a sub-agent is not told", { runId: run.runId, err }))
      .finally(() => announcing.delete(run.runId));
    announcing.set(run.runId, work);
  }

  /** At least once, and shown once: the id of the message is the same at every try. */
  async function tell(run: SubagentRun): Promise<void> {
    while (!stopped && hasActiveBelow(run.childSessionKey)) await sleep(CHILDREN_POLL_MS);
    const isSkipped = run.resultText?.trim() === SKIP;
    const giveUpAt = clock.now() + GIVE_UP_MS;
    for (let tries = run.announceRetryCount ?? 0; !isSkipped && !stopped; tries++) {
      try {
        await deliver(run);
        break;
      } catch (err) {
        if (tries >= ANNOUNCE_DELAYS_MS.length || clock.now() >= giveUpAt) {
          log.error("the result of a sub-agent could not be told and is given up", { runId: run.runId, error: errorText(err) });
          break;
        }
        await registry.update(run.runId, { announceRetryCount: tries + 1 });
        await sleep(ANNOUNCE_DELAYS_MS[tries] ?? 5000);
      }
    }
    if (stopped && !isSkipped && !registry.get(run.runId)?.cleanupHandled) return;
    await registry.update(run.runId, { cleanupHandled: true, cleanupCompletedAt: clock.now() });
    if (run.cleanup === "delete") await archive(run);
  }

  async function deliver(run: SubagentRun): Promise<void> {
    const id = `announce:v1:${run.childSessionKey}:${run.runId}`;
    const agentId = agentIdOfKey(run.childSessionKey, resolveDefaultAgentId(options.config()));
    if (run.requesterOrigin) {
      // The turn that asked may still be speaking: its words come first, and nothing is put between its calls and results.
      await options.whenIdle(run.requesterSessionKey, BUSY_WAIT_MS);
      return options.tellChat(run, id, chatNotice(run, agentId));
    }
    const requester = await sessions.get(run.requesterSessionKey);
    const told = requester ? await inspectRunProgress(sessions.transcriptPath(run.requesterSessionKey, requester), id) : ({ kind: "absent" } as const);
    if (told.kind === "answered") return;
    const result = await options.runTurn({
      runId: id, sessionKey: run.requesterSessionKey, message: told.kind === "open" ? undefined : announcement(run, (await sessions.get(run.childSessionKey))?.sessionId),
      isOwner: run.isOwner, senderId: run.senderId, lane: "main",
    });
    if (result.meta.error && result.meta.error.kind !== "empty") throw new Error(result.meta.error.message);
  }

  // ── Control ────────────────────────────────────────────────────────────

  async function kill(runId: string): Promise<number> {
    const run = registry.get(runId);
    if (!run) return 0;
    let count = await killAll(run.childSessionKey);
    if (!isActive(run)) return count;
    count++;
    const killed = await registry.update(runId, { endedAt: clock.now(), outcome: { status: "unknown" }, endedReason: "subagent-killed", cleanupHandled: true, archiveAtMs: clock.now() + (settings().archiveAfterMinutes ?? DEFAULT_ARCHIVE_MIN) * 60_000 });
    options.abort(runId);
    if (killed) options.onEnded?.(killed);
    return count;
  }

  async function killAll(requesterSessionKey: string): Promise<number> {
    let count = 0;
    for (const run of childrenOf(requesterSessionKey)) count += await kill(run.runId);
    return count;
  }

  async function steer(runId: string, message: string): Promise<SpawnResult> {
    const run = registry.get(runId);
    if (!run) return { status: "error", error: `There is no sub-agent ${runId}.` };
    const last = steeredAt.get(run.childSessionKey) ?? 0;
    if (clock.now() - last < STEER_EVERY_MS) return { status: "error", error: "It was steered a moment ago; wait 2 seconds." };
    steeredAt.set(run.childSessionKey, clock.now());
    await registry.update(runId, { endedAt: run.endedAt ?? clock.now(), endedReason: "subagent-killed", cleanupHandled: true });
    options.abort(runId);
    await Promise.race([active.get(runId), sleep(STEER_WAIT_MS)]);
    await registry.remove(runId);
    const { endedAt: _ended, outcome: _outcome, endedReason: _reason, cleanupHandled: _handled, cleanupCompletedAt: _completed, archiveAtMs: _archive, announceRetryCount: _retries, resultText: _result, usage: _usage, ...rest } = run;
    const next: SubagentRun = { ...rest, runId: randomUUID(), createdAt: clock.now(), startedAt: undefined };
    await registry.put(next);
    begin(next, message);
    return { status: "accepted", childSessionKey: run.childSessionKey, runId: next.runId, mode: "run", note: "It goes on with your message." };
  }

  async function archive(run: SubagentRun): Promise<void> {
    await sessions.remove(run.childSessionKey, { deleteTranscript: true });
    await registry.remove(run.runId);
    steeredAt.delete(run.childSessionKey);
  }

  async function sweep(): Promise<void> {
    const now = clock.now();
    for (const run of registry.all()) if (run.cleanupHandled && run.archiveAtMs !== undefined && run.archiveAtMs <= now) await archive(run);
  }

  async function resume(run: SubagentRun): Promise<void> {
    if (!isActive(run)) return announce(run);
    const entry = await sessions.get(run.childSessionKey);
    if (!entry) return registry.remove(run.runId); // its session is gone
    const progress = await inspectRunProgress(sessions.transcriptPath(run.childSessionKey, entry), run.runId);
    if (progress.kind === "answered") {
      const done = await registry.update(run.runId, { endedAt: clock.now(), outcome: { status: "ok" }, endedReason: "subagent-complete", resultText: progress.texts.join("\n\n"), archiveAtMs: clock.now() + DEFAULT_ARCHIVE_MIN * 60_000 });
      if (done) announce(done);
      return;
    }
    log.info("a sub-agent goes on after the restart", { runId: run.runId, progress: progress.kind });
    const depth = await depthOf(run.childSessionKey);
    begin(run, progress.kind === "open" ? undefined : subagentMessage(run.task, depth, settings().maxSpawnDepth ?? 1));
  }

  return {
    async start() {
      await registry.load();
      for (const run of registry.all()) await resume(run).catch((err: unknown) => log.error("a sub-agent was not taken up again", { runId: run.runId, err }));
      sweeper = setInterval(() => void sweep().catch((err: unknown) => log.error("sub-agents not swept", { err })), SWEEP_MS);
      sweeper.unref();
    },
    async stop() {
      stopped = true;
      clearInterval(sweeper);
      await Promise.race([Promise.allSettled([...active.values(), ...announcing.values()]), sleep(2000)]);
    },
    spawn,
    list: (requesterSessionKey, recentMs) =>
      childrenOf(requesterSessionKey).filter((run) => run.endedAt === undefined || clock.now() - run.endedAt <= recentMs).toSorted((a, b) => b.createdAt - a.createdAt),
    kill,
    killAll,
    steer,
    get: (runId) => registry.get(runId),
  };
}

const modelText = (model: string | { readonly primary?: string | undefined } | undefined): string | undefined => (typeof model === "string" ? model : model?.primary);
