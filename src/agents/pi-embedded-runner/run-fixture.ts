import { mkdtemp, readFile, rm } from "node:fs/promises";
import { NO_HOOKS } from "../hooks.ts";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AssistantMessageEventStream, Context, Model, Api } from "@mariozechner/pi-ai";
import type { OpenClawConfig } from "../../config/index.ts";
import { silentLogger } from "../../infra/log.ts";
import type { SessionEntry, SessionPatch } from "../../sessions/index.ts";
import { createModelService } from "../models/index.ts";
import { createMessageWriter } from "../models/message-stream.ts";
import type { ModelService, PreparedModel } from "../models/types.ts";
import { loadPi, type PiModules } from "../pi.ts";
import { createSkillShelf, createSkillsWatcher } from "../skills/index.ts";
import type { AgentTool } from "../tools/contract.ts";
import { TEST_MODEL } from "./conversation-fixture.ts";
import type { RunnerDeps } from "./deps.ts";
import { createLanes } from "./lanes.ts";
import { createMachineFacts } from "./machine.ts";
import { createPromptCache, type PromptCache } from "./prompt-assembly.ts";
import { createToolSchemas } from "./tool-schema.ts";
import { runEmbeddedPiAgent } from "./run.ts";
import { createImageStore } from "./run/images.ts";
import type { RunEmbeddedPiAgentParams } from "./run/params.ts";
import type { EmbeddedPiRunResult } from "./run/types.ts";
import { createTranscriptCache } from "./session-manager-cache.ts";

/** One answer of a scripted model. */
export interface ScriptedTurn {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: Record<string, unknown> }[];
  readonly error?: string;
  readonly stopReason?: "length";
  /** Tokens that the provider counts for this call. */
  readonly totalTokens?: number;
}

export interface RunWorld extends AsyncDisposable {
  readonly dir: string;
  readonly path: string;
  readonly pi: PiModules;
  /** Every request, as Pi's transport would have got it. */
  readonly requests: Context[];
  /** The conversation's entry of sessions.json. */
  readonly entry: SessionEntry;
  readonly events: { readonly stream: string; readonly data: Readonly<Record<string, unknown>> }[];
  readonly compactedTexts: string[];
  /** One message of the person; resolves when the conversation is ready for the next. */
  say(prompt: string | undefined, more?: Partial<RunEmbeddedPiAgentParams>): Promise<EmbeddedPiRunResult & { readonly answeredWith: readonly string[] }>;
  /** As after a restart of the process. */
  restart(): void;
  lines(): Promise<Record<string, unknown>[]>;
}

export interface RunWorldOptions {
  readonly config?: OpenClawConfig;
  readonly contextTokens?: number;
  readonly tools?: readonly AgentTool[];
  readonly model?: Partial<Model<Api>>;
  reply(context: Context, call: number): ScriptedTurn;
  onSkillsChange?(): void;
}

/** The runner over a temporary folder with a scripted model: real files, no network. */
export async function createRunWorld(options: RunWorldOptions): Promise<RunWorld> {
  const dir = await mkdtemp(join(tmpdir(), "run-world-"));
  const pi = await loadPi();
  const clock = { now: () => Date.now() };
  const service = createModelService({ config: () => ({}), env: {}, stateDir: dir, agentDir: () => join(dir, "agent"), clock, log: silentLogger, probeLocalhost: false });
  const model = { ...TEST_MODEL, ...options.model };
  const requests: Context[] = [];
  const events: RunWorld["events"] = [];
  const compactedTexts: string[] = [];
  const entry: SessionEntry = { sessionId: "s", updatedAt: 0 };
  const path = join(dir, "s.jsonl");
  let transcripts = createTranscriptCache();
  let prompts: PromptCache = createPromptCache();
  const images = createImageStore();
  const skillsWatcher = createSkillsWatcher({ log: silentLogger, onChange: () => options.onSkillsChange?.() });
  let runs = 0;

  function stream(context: Context): AssistantMessageEventStream {
    requests.push(structuredClone({ systemPrompt: context.systemPrompt ?? "", messages: context.messages }));
    const turn = options.reply(context, requests.length);
    const writer = createMessageWriter(pi.ai, model, Date.now());
    writer.message.usage = { ...writer.message.usage, input: turn.totalTokens ?? 0, totalTokens: turn.totalTokens ?? 0 };
    if (turn.error !== undefined) writer.fail(turn.error, turn.error === "aborted");
    else {
      if (turn.text !== undefined) writer.text(turn.text);
      for (const call of turn.calls ?? []) writer.toolCall(call);
      writer.done(turn.stopReason ?? (turn.calls ? "toolUse" : "stop"));
    }
    return writer.stream;
  }

  const prepared: PreparedModel = {
    ref: { provider: model.provider, modelId: model.id }, model, contextTokens: options.contextTokens ?? model.contextWindow, authMode: "none", profileId: undefined, apiKey: undefined,
    headers: undefined, params: {}, priced: false, stream: (_model, context) => stream(context),
  };
  const models: ModelService = { ...service, prepare: async () => prepared };
  const deps = (): RunnerDeps => ({
    config: () => options.config ?? {}, models, pi: async () => pi, lanes: createLanes({ width: () => 1, log: silentLogger }), transcripts, clock, log: silentLogger,
    stateDir: dir, docsDir: undefined, bundledSkillsDir: join(dir, "skills"), pluginSkillDirs: () => [], hooks: NO_HOOKS, env: {}, messageChannels: () => [], messageToolHints: () => [], images, skillsWatcher, skillShelf: createSkillShelf(clock), toolSchemas: createToolSchemas(), machine: createMachineFacts(), stuckMs: 5000,
    sessions: {
      get: async () => entry,
      update: async (_key: string, patch: SessionPatch) => Object.assign(entry, patch),
    },
    onCompacted: (_key, text) => compactedTexts.push(text),
  });

  return {
    dir, path, pi, requests, entry, events, compactedTexts,
    async say(prompt, more = {}) {
      const params: RunEmbeddedPiAgentParams = {
        runId: `r${++runs}`, agent: { id: "main", name: undefined, isDefault: true, workspaceDir: dir, agentDir: join(dir, "agent"), sessionsDir: dir, config: undefined },
        sessionKey: "agent:main:main", sessionId: "s", sessionFile: path, prompt, model: prepared.ref, fallbacks: [], thinking: "off", reasoning: "off", verbose: "off", timeoutMs: 0,
        lane: "main", promptMode: "full", channel: undefined, isOwner: true, ownerIds: [], includeMemory: false, tools: options.tools ?? [], signal: new AbortController().signal,
        onAgentEvent: (event) => events.push(event), ...more,
      };
      const result = await runEmbeddedPiAgent(deps(), prompts, params, { messagingSends: [], onSteerable: () => undefined, onPartial: () => undefined });
      return { ...result, answeredWith: result.payloads.map((payload) => payload.text ?? "") };
    },
    restart() {
      transcripts = createTranscriptCache();
      prompts = createPromptCache();
    },
    lines: async () => (await readFile(path, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>),
    async [Symbol.asyncDispose]() {
      service.close();
      skillsWatcher.close();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The messages of a request as `role: text`. */
export function spoken(context: Context): string[] {
  return context.messages.map((m) => {
    const text = typeof m.content === "string" ? m.content : m.content.map((block) => (block.type === "text" ? block.text : block.type === "toolCall" ? `→${block.name}` : `[${block.type}]`)).join("");
    return `${m.role}: ${text}`;
  });
}
