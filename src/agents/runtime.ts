import { randomUUID } from "node:crypto";
import type { OpenClawConfig } from "../config/index.ts";
import type { Clock } from "../infra/clock.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import type { FilesToSend } from "../media/index.ts";
import { agentIdOfKey, resolveAgent, resolveDefaultAgentId, sessionKeyKind, type AgentRoots, type ResolvedAgent } from "../routing/index.ts";
import type { SessionEntry, SkillsSnapshot } from "../sessions/index.ts";
import type { ModelRef, ModelService } from "./models/types.ts";
import { compactEmbeddedPiSessionDirect, manualCompactionSettings, resolveCompactionSettings, type CompactionOutcome } from "./pi-embedded-runner/compact.ts";
import { contextTokens } from "./pi-embedded-runner/compaction-plan.ts";
import type { RunnerDeps } from "./pi-embedded-runner/deps.ts";
import { createLanes, type Lanes } from "./pi-embedded-runner/lanes.ts";
import { createMachineFacts } from "./pi-embedded-runner/machine.ts";
import { assemblePrompt, createPromptCache } from "./pi-embedded-runner/prompt-assembly.ts";
import { createToolSchemas } from "./pi-embedded-runner/tool-schema.ts";
import { hookContextOf, runEmbeddedPiAgent } from "./pi-embedded-runner/run.ts";
import { announceCompaction, withCompactionHooks } from "./pi-embedded-runner/run/compaction.ts";
import { createImageStore } from "./pi-embedded-runner/run/images.ts";
import { openRunTranscript } from "./pi-embedded-runner/run/open.ts";
import type { RunEmbeddedPiAgentParams } from "./pi-embedded-runner/run/params.ts";
import type { EmbeddedPiRunResult, MessagingSend, SystemPromptReport } from "./pi-embedded-runner/run/types.ts";
import { createRunRegistry, type ActiveRun, type RunOutcome, type RunRegistry } from "./pi-embedded-runner/runs.ts";
import { createTranscriptCache } from "./pi-embedded-runner/session-manager-cache.ts";
import type { AgentHooks, PromptChange } from "./hooks.ts";
import type { McpService } from "./mcp/service.ts";
import { loadPi, type PiModules } from "./pi.ts";
import { createSandboxService, filesToSend } from "./sandbox/index.ts";
import { createSkillShelf, createSkillsWatcher, loadSkills, skillEnvironment, type Skill } from "./skills/index.ts";
import type { AgentTool } from "./tools/contract.ts";
import { createLoginPath } from "./tools/exec/environment.ts";
import { exitNotice, type ExitNoticeSettings } from "./tools/exec/exit-notice.ts";
import { keepMs, outputLimits } from "./tools/exec/limits.ts";
import { createProcessJobs, type ProcessJobs } from "./tools/exec/process-jobs.ts";
import { createToolSet, type RunRequest, type ToolSet, type ToolSources } from "./tool-set.ts";
import { ensureWorkspace } from "./workspace/ensure-workspace.ts";

/** ms that a run waits for MCP servers that are not connected yet. */
const MCP_WAIT_MS = 5000;

export interface AgentRuntimeOptions extends ToolSources {
  readonly mcp: McpService;
  readonly config: () => OpenClawConfig;
  readonly models: ModelService;
  readonly roots: AgentRoots;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly docsDir: string | undefined;
  readonly bundledSkillsDir: string;
  readonly messageChannels: () => readonly string[];
  readonly messageToolHints: () => readonly string[];
  /** Folders of skills that plugins bring. */
  readonly pluginSkillDirs: () => readonly string[];
  readonly hooks: AgentHooks;
  /** A background command of a session ended. */
  readonly onJobExit: (sessionKey: string, text: string, slug: string) => void;
  readonly sessions: RunnerDeps["sessions"];
  /** A conversation was compacted; `text` is for its next turn. */
  readonly onCompacted: RunnerDeps["onCompacted"];
}

/** The agent room's one door for conversations, cron and RPC. */
export interface AgentRuntime {
  readonly models: ModelService;
  readonly lanes: Lanes;
  readonly runs: RunRegistry;
  /** Runs in the session's lane. `onBegin` is called when the run leaves the queue. @throws CommandLaneClearedError */
  run(request: RunRequest, onBegin?: (run: ActiveRun) => void): Promise<EmbeddedPiRunResult>;
  /** Call while no run of the session is active. */
  compact(request: { agentId: string; sessionKey: string; entry: Pick<SessionEntry, "sessionId">; sessionFile: string; model: ModelRef; focus: string | undefined; signal: AbortSignal }): Promise<CompactionOutcome & { contextTokens: number }>;
  /** The prompt that a run like this would send, with its report. */
  previewPrompt(request: Omit<RunRequest, "prompt" | "onAgentEvent">): Promise<{ readonly systemPrompt: string; readonly report: SystemPromptReport; readonly tools: readonly AgentTool[] }>;
  skills(agentId: string): Promise<Skill[]>;
  skillsSnapshot(sessionId: string): SkillsSnapshot | undefined;
  tools(request: Omit<RunRequest, "prompt" | "onAgentEvent">): ReturnType<ToolSet>;
  agent(agentId: string): ResolvedAgent;
  /** Where files lie that this session may send into chats. */
  filesToSend(agentId: string, sessionKey: string): FilesToSend;
  /** Loads Pi now; at the first connect, message or idle moment. */
  warm(): Promise<void>;
  forgetSession(sessionId: string, sessionFile: string): void;
  /** Resolves when no command is running any more. */
  close(): Promise<void>;
}

export function createAgentRuntime(options: AgentRuntimeOptions): AgentRuntime {
  const { config, clock, log } = options;
  let pi: Promise<PiModules> | undefined;
  const lanes = createLanes({
    log,
    width: (lane) => {
      const defaults = config().agents?.defaults;
      switch (lane) {
        case "main":
          return defaults?.maxConcurrent ?? 4;
        case "subagent":
          return defaults?.subagents?.maxConcurrent ?? 8;
        case "cron":
          return config().cron?.maxConcurrentRuns ?? 1;
        case "nested":
          return 1;
      }
    },
  });
  const runs = createRunRegistry(() => clock.now());
  const promptCache = createPromptCache();
  const skillsWatcher = createSkillsWatcher({ log });
  const execSettings = (sessionKey: string): ExitNoticeSettings => ({ ...config().tools?.exec, ...agentOf(agentIdOfKey(sessionKey, resolveDefaultAgentId(config()))).config?.tools?.exec });
  const jobs: ProcessJobs = createProcessJobs({
    now: () => clock.now(),
    keepMs: () => keepMs(config().tools?.exec?.cleanupMs, options.env),
    limits: outputLimits(options.env),
    onExit: (job) => {
      const text = exitNotice(job, execSettings(job.scope));
      if (text !== undefined) options.onJobExit(job.scope, text, job.slug);
    },
  });
  const deps: RunnerDeps = {
    config, models: options.models, pi: () => (pi ??= loadPi()), lanes, transcripts: createTranscriptCache(), clock, log,
    stateDir: options.roots.stateDir, docsDir: options.docsDir, bundledSkillsDir: options.bundledSkillsDir, env: options.env,
    messageChannels: options.messageChannels, messageToolHints: options.messageToolHints,
    pluginSkillDirs: options.pluginSkillDirs, hooks: options.hooks, images: createImageStore(), skillsWatcher, skillShelf: createSkillShelf(clock), toolSchemas: createToolSchemas(), machine: createMachineFacts(), sessions: options.sessions, onCompacted: options.onCompacted,
  };
  const sandboxes = createSandboxService({ config, roots: options.roots, clock, log, env: options.env, bundledSkillsDir: options.bundledSkillsDir, pluginSkillDirs: options.pluginSkillDirs, docsDir: options.docsDir });
  const toolSet: ToolSet = createToolSet({ ...options, sandboxes, jobs, loginPath: createLoginPath(options.env), skillEnv: (agentId) => skillEnvironment(config(), () => readSkills(agentId)), pi: () => deps.pi(), mcpTools: () => options.mcp.tools() });
  const agentOf = (id: string): ResolvedAgent => resolveAgent(config(), id, options.roots);
  const readSkills = (agentId: string): Promise<Skill[]> =>
    loadSkills({ workspaceDir: agentOf(agentId).workspaceDir, stateDir: options.roots.stateDir, bundledDir: options.bundledSkillsDir, pluginDirs: options.pluginSkillDirs(), env: options.env, config: config(), log });
  const seeded = new Set<string>();

  async function ensureAgentWorkspace(agent: ResolvedAgent): Promise<void> {
    if (seeded.has(agent.workspaceDir)) return;
    await ensureWorkspace(agent.workspaceDir, { seed: config().agents?.defaults?.skipBootstrap !== true, clock, log });
    seeded.add(agent.workspaceDir);
  }

  function toParams(request: RunRequest, tools: readonly AgentTool[], signal: AbortSignal): RunEmbeddedPiAgentParams {
    const kind = sessionKeyKind(request.sessionKey);
    return {
      ...request, agent: agentOf(request.agentId), tools, signal,
      promptMode: kind === "subagent" ? "minimal" : "full",
      includeMemory: kind === "main" || (kind === "direct" && request.isOwner),
    };
  }

  /** Plugins may choose another model, before tools and prompt are made for it. Source: spec plugin-sdk §7. */
  async function askHooks(request: RunRequest): Promise<{ readonly request: RunRequest; readonly promptChange: PromptChange | undefined }> {
    const { hooks } = options;
    if (request.prompt === undefined || !hooks.has("before_model_resolve", "before_agent_start")) return { request, promptChange: undefined };
    const agent = agentOf(request.agentId);
    const messages = async (): Promise<readonly unknown[]> => {
      const transcript = await openRunTranscript(deps, await deps.pi(), { agentId: agent.id, sessionKey: request.sessionKey, sessionFile: request.sessionFile, sessionId: request.sessionId, workspaceDir: agent.workspaceDir });
      try {
        return transcript.manager.buildSessionContext().messages;
      } finally {
        deps.transcripts.put(request.sessionFile, transcript);
      }
    };
    const change = await hooks.beforeModel(request.prompt, messages, hookContextOf({ ...request, agent }));
    const { providerOverride, modelOverride } = change;
    if (providerOverride === undefined && modelOverride === undefined) return { request, promptChange: change.prompt };
    const model = { provider: providerOverride ?? request.model.provider, modelId: modelOverride ?? request.model.modelId };
    return { request: { ...request, model, pinnedProfileId: undefined, preferredProfileId: undefined }, promptChange: change.prompt };
  }

  async function runInLane(asked: RunRequest, onBegin: ((run: ActiveRun) => void) | undefined, onAnswer: (result: EmbeddedPiRunResult) => void): Promise<EmbeddedPiRunResult> {
    // From here on it can be stopped, also while plugins still look at it.
    const run = runs.begin(asked.runId, asked.sessionKey);
    onBegin?.(run);
    const sends: MessagingSend[] = [];
    let outcome: RunOutcome = { status: "ok" };
    let isAnswered = false;
    try {
      await ensureAgentWorkspace(agentOf(asked.agentId));
      const { request, promptChange } = await askHooks(asked);
      await options.mcp.ready(MCP_WAIT_MS);
      const { offered, removed, sandbox } = toolSet(request, sends);
      // Without its sandbox the run ends here, before a model is asked; who stops the run does not wait for it.
      if (sandbox) await Promise.race([sandbox.ready(), once(run.controller.signal)]);
      const result = await runEmbeddedPiAgent(deps, promptCache, { ...toParams(request, offered, run.controller.signal), removedTools: removed, messagingSends: sends, promptChange }, {
        messagingSends: sends,
        onSteerable: (steer) => {
          run.steer = steer;
        },
        onPartial: (text) => {
          run.partialText = text;
        },
        onAnswer: (result) => {
          isAnswered = true;
          outcome = outcomeOf(result);
          runs.answered(request.runId, outcome);
          onAnswer(result);
        },
      });
      if (!isAnswered) outcome = outcomeOf(result);
      return result;
    } catch (err) {
      if (isAnswered) log.error("the conversation was not put in order after the answer", { sessionKey: asked.sessionKey, err });
      else outcome = { status: "error", error: errorText(err) };
      throw err;
    } finally {
      runs.end(asked.runId, outcome);
    }
  }

  return {
    models: options.models,
    lanes,
    runs,
    run(request, onBegin) {
      return new Promise((resolve, reject) => {
        // The lane is held until the conversation is ready for the next message; the answer is there earlier.
        void lanes.run(request.sessionKey, request.lane, () => runInLane(request, onBegin, resolve)).then(resolve, reject);
      });
    },
    async compact(request) {
      const modules = await deps.pi();
      const prepared = await options.models.prepare(request.model, request.agentId);
      const agent = agentOf(request.agentId);
      return lanes.run(request.sessionKey, "main", async () => {
        const transcript = await openRunTranscript(deps, modules, {
          agentId: request.agentId, sessionKey: request.sessionKey, sessionFile: request.sessionFile, sessionId: request.entry.sessionId, workspaceDir: agent.workspaceDir,
        });
        // Whoever stops the session stops this too.
        const run = runs.begin(`compact:${randomUUID()}`, request.sessionKey);
        const signal = AbortSignal.any([request.signal, run.controller.signal]);
        try {
          const outcome = await withCompactionHooks(options.hooks, transcript.manager, { agentId: agent.id, sessionKey: request.sessionKey, sessionId: request.entry.sessionId, workspaceDir: agent.workspaceDir }, () => compactEmbeddedPiSessionDirect({
            pi: modules, manager: transcript.manager, prepared, settings: manualCompactionSettings(resolveCompactionSettings(config(), prepared.contextTokens), contextTokens(transcript.manager.getBranch())),
            workspaceDir: agent.workspaceDir, focus: request.focus, signal, now: () => clock.now(), log,
          }));
          if (outcome.kind === "compacted") await announceCompaction(deps, request.sessionKey, agent.workspaceDir);
          await transcript.flush();
          if (outcome.kind !== "compacted") deps.transcripts.put(request.sessionFile, transcript);
          return { ...outcome, contextTokens: prepared.contextTokens };
        } catch (err) {
          deps.transcripts.put(request.sessionFile, transcript);
          throw err;
        } finally {
          runs.end(run.runId, { status: "ok" });
        }
      });
    },
    async previewPrompt(request) {
      await ensureAgentWorkspace(agentOf(request.agentId));
      const { offered, removed } = toolSet(request, []);
      const params = toParams({ ...request, prompt: undefined, onAgentEvent: () => undefined }, offered, new AbortController().signal);
      const { systemPrompt, report } = await assemblePrompt(deps, { ...params, removedTools: removed }, offered, { ref: request.model }, promptCache, "estimate");
      return { systemPrompt, report, tools: offered };
    },
    skills: readSkills,
    skillsSnapshot: (sessionId) => promptCache.get(`${sessionId}||true`)?.skills ?? promptCache.get(`${sessionId}||false`)?.skills,
    tools: (request) => toolSet(request, []),
    agent: agentOf,
    filesToSend: (agentId, sessionKey) => filesToSend(sandboxes.session(agentId, sessionKey), agentOf(agentId).workspaceDir),
    async warm() {
      const modules = await deps.pi();
      const agentId = resolveDefaultAgentId(config());
      const { ref } = await options.models.selectDefault(agentId);
      const prepared = await options.models.prepare(ref, agentId).catch(() => undefined); // no key: said when somebody asks
      await ensureAgentWorkspace(agentOf(agentId));
      if (!prepared || prepared.stream) return;
      // Loads the provider's transport; the call is aborted before anything is sent.
      await modules.ai.streamSimple(prepared.model, { messages: [] }, { signal: AbortSignal.abort(), apiKey: "warm-up", maxRetries: 0 }).result();
    },
    forgetSession(sessionId, sessionFile) {
      promptCache.delete(`${sessionId}||true`);
      promptCache.delete(`${sessionId}||false`);
      deps.transcripts.drop(sessionFile);
    },
    async close() {
      for (const run of runs.all()) runs.abort({ runId: run.runId }, "shutdown");
      skillsWatcher.close();
      sandboxes.close();
      options.models.close();
      await jobs.killAll();
    },
  };
}

const once = (signal: AbortSignal): Promise<void> => new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));

function outcomeOf(result: EmbeddedPiRunResult): RunOutcome {
  const { aborted, error } = result.meta;
  if (aborted) return { status: "timeout" };
  return error && error.kind !== "empty" ? { status: "error", error: error.message } : { status: "ok" };
}
