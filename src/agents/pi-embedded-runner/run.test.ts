import { mkdtemp, readFile, rm } from "node:fs/promises";
import { NO_HOOKS } from "../hooks.ts";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import { createModelService } from "../models/index.ts";
import type { ModelService, PreparedModel } from "../models/types.ts";
import { loadPi, type PiModules } from "../pi.ts";
import type { AgentTool } from "../tools/contract.ts";
import type { RunnerDeps } from "./deps.ts";
import { createLanes } from "./lanes.ts";
import { createSkillShelf } from "../skills/index.ts";
import { createMachineFacts } from "./machine.ts";
import { createPromptCache } from "./prompt-assembly.ts";
import { createToolSchemas } from "./tool-schema.ts";
import { runEmbeddedPiAgent } from "./run.ts";
import { createImageStore } from "./run/images.ts";
import type { RunEmbeddedPiAgentParams } from "./run/params.ts";
import { createTranscriptCache } from "./session-manager-cache.ts";

interface World extends AsyncDisposable {
  run(stream: NonNullable<PreparedModel["stream"]>, options: { signal: AbortSignal; tools?: AgentTool[]; events?: string[] }): ReturnType<typeof runEmbeddedPiAgent>;
  readonly pi: PiModules;
  transcript(): Promise<string>;
}

async function world(stuckMs: number): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), "run-"));
  const pi = await loadPi();
  const clock = { now: () => Date.now() };
  const service = createModelService({ config: () => ({}), env: {}, stateDir: dir, agentDir: () => join(dir, "agent"), clock, log: silentLogger, probeLocalhost: false });
  const path = join(dir, "s.jsonl");
  return {
    pi,
    transcript: () => readFile(path, "utf8"),
    run(stream, { signal, tools = [], events = [] }) {
      const models: ModelService = { ...service, prepare: async (ref, agentId) => ({ ...(await service.prepare({ provider: "offline", modelId: "guide" }, agentId)), ref, stream }) };
      const deps: RunnerDeps = {
        config: () => ({}), models, pi: async () => pi, lanes: createLanes({ width: () => 1, log: silentLogger }), transcripts: createTranscriptCache(), clock, log: silentLogger,
        stateDir: dir, docsDir: undefined, bundledSkillsDir: join(dir, "skills"), pluginSkillDirs: () => [], hooks: NO_HOOKS, env: {}, messageChannels: () => [], messageToolHints: () => [], images: createImageStore(), skillsWatcher: { version: () => 0, close: () => undefined }, skillShelf: createSkillShelf(clock), toolSchemas: createToolSchemas(), machine: createMachineFacts(), stuckMs,
        sessions: { get: async () => undefined, update: async (_key, patch) => ({ sessionId: "s", updatedAt: 0, ...patch }) as never }, onCompacted: () => undefined,
      };
      const params: RunEmbeddedPiAgentParams = {
        runId: "r", agent: { id: "main", name: undefined, isDefault: true, workspaceDir: dir, agentDir: join(dir, "agent"), sessionsDir: dir, config: undefined }, sessionKey: "agent:main:main", sessionId: "s",
        sessionFile: path, prompt: "hello", model: { provider: "offline", modelId: "guide" }, fallbacks: [], thinking: "off", reasoning: "off", verbose: "off", timeoutMs: 0, lane: "main",
        promptMode: "none", channel: undefined, isOwner: true, ownerIds: [], includeMemory: false, tools, signal,
        onAgentEvent: (event) => events.push(`${event.stream}:${String(event.data["phase"] ?? "")}`),
      };
      return runEmbeddedPiAgent(deps, createPromptCache(), params, { messagingSends: [], onSteerable: () => undefined, onPartial: () => undefined });
    },
    async [Symbol.asyncDispose]() {
      service.close();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

it("a model call that ignores the stop does not hold the session: the run ends as stopped, and what comes later is not written", async () => {
  await using w = await world(50);
  const stop = new AbortController();
  const events: string[] = [];
  const stream = w.pi.ai.createAssistantMessageEventStream();
  const running = w.run(() => {
    stop.abort();
    return stream;
  }, { signal: stop.signal, events });
  expect((await running).meta).toMatchObject({ aborted: true, abortReason: "user" });
  expect(events.at(-1)).toBe("lifecycle:end");
  const before = [await w.transcript(), events.length];
  stream.push({ type: "done", reason: "stop", message: {
    role: "assistant", content: [{ type: "text", text: "too late" }], api: "openai-completions", provider: "offline", model: "guide", stopReason: "stop", timestamp: 1,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  } });
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect([await w.transcript(), events.length]).toEqual(before);
  expect(before[0]).toContain("hello");
});
