import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { AssistantMessage, Usage } from "@mariozechner/pi-ai";
import type { SessionManager } from "@mariozechner/pi-coding-agent";
import { registerLiveTranscript, type TranscriptMessageBody } from "../../../sessions/index.ts";
import type { PreparedModel, ThinkLevel } from "../../models/types.ts";
import { classifyFailoverReason } from "../../pi-embedded-helpers.ts";
import type { AssistantText, PiSubscription } from "../../pi-embedded-subscribe.ts";
import { subscribeEmbeddedPiSession } from "../../pi-embedded-subscribe.ts";
import type { PiModules } from "../../pi.ts";
import { createLoopDetector, withLoopDetection } from "../../tool-loop-detection.ts";
import { repairPairingOnDisk } from "../branch-rewrite.ts";
import type { RunnerDeps } from "../deps.ts";
import { createRunRegistry } from "../model.ts";
import { applySystemPromptOverrideToSession, emptyResourceLoader, routeRequests, splitSdkTools, toPiTool } from "../pi-session.ts";
import { usesReasoningTags } from "../prompt-assembly.ts";
import type { OpenTranscript } from "../session-manager-init.ts";
import { storableResult } from "../tool-result-store.ts";
import type { Steer } from "../runs.ts";
import { prepareModelContext } from "./model-context.ts";
import type { RunEmbeddedPiAgentParams } from "./params.ts";
import { createSteering } from "./steering.ts";

export interface AttemptInput {
  readonly deps: RunnerDeps;
  readonly pi: PiModules;
  readonly params: RunEmbeddedPiAgentParams;
  readonly prepared: PreparedModel;
  readonly thinking: ThinkLevel;
  readonly transcript: OpenTranscript;
  readonly systemPrompt: string;
  /** undefined: continue from the leaf (a retry, or a replay after a restart). */
  readonly prompt: string | undefined;
  readonly signal: AbortSignal;
  onSteerable(steer: Steer | undefined): void;
  onPartial(text: string): void;
}

export interface AttemptResult {
  readonly texts: readonly AssistantText[];
  readonly messages: readonly AssistantMessage[];
  readonly toolErrors: PiSubscription["toolErrors"];
  readonly blocksSent: number;
  /** The provider's or transport's failure of the last call, if it failed. */
  readonly error: string | undefined;
  readonly stalled: boolean;
  /** The run was ended because the model went round in circles; what it was told. */
  readonly loopEnd: string | undefined;
  readonly usage: Usage | undefined;
}

/** Silence before the first event, then between two events, after which a call counts as hung. */
const FIRST_EVENT_MS = 300_000;
const IDLE_MS = 120_000;

/** One try with one model and one key. Never rejects for what the model or a tool does; rejects when the disk refuses. */
export async function runEmbeddedAttempt(input: AttemptInput): Promise<AttemptResult> {
  const { deps, pi, params, prepared, transcript } = input;
  const { manager } = transcript;
  const tools = new Map(params.tools.map((tool) => [tool.name, tool]));
  const callMessages = new Map<string, object>();
  const steering = createSteering(() => deps.clock.now());
  const loops = createLoopDetector({ ...deps.config().tools?.loopDetection, ...params.agent.config?.tools?.loopDetection });
  let loopEnd: string | undefined;
  const { custom } = splitSdkTools(params.tools.map((tool) => ({ ...tool, parameters: deps.toolSchemas.of(tool.parameters, prepared.model).schema })), (tool) =>
    toPiTool(
      steering.guard(withLoopDetection(tool, loops, (text) => {
        loopEnd ??= text;
        agent.abort();
      })),
      async (toolCallId) => {
        // A tool takes effect only when the call is on disk: a restart then knows that it may have run.
        const message = callMessages.get(toolCallId);
        if (message) await transcript.persisted(message);
      },
      (result) => storableResult(result, deps.stateDir),
      input.signal,
    ),
  );

  const { authStorage, modelRegistry } = createRunRegistry(pi, prepared.model);
  const { session } = await pi.codingAgent.createAgentSession({
    cwd: params.agent.workspaceDir,
    agentDir: params.agent.agentDir,
    authStorage,
    modelRegistry,
    model: prepared.model,
    thinkingLevel: input.thinking,
    noTools: "builtin",
    customTools: custom,
    resourceLoader: emptyResourceLoader(pi),
    sessionManager: manager,
    settingsManager: pi.codingAgent.SettingsManager.inMemory({ compaction: { enabled: false }, retry: { enabled: false } }),
  });
  const { agent } = session;
  agent.sessionId = params.sessionId;
  // One call after another: what one changes the next one sees, and a new message comes before those that are left.
  agent.toolExecution = "sequential";

  routeRequests(agent, pi, prepared, { ready: () => transcript.flush() });
  applySystemPromptOverrideToSession(session, input.systemPrompt);
  prepareModelContext(agent, deps, params, prepared);
  let { provenance } = params;
  const stopDurability = agent.subscribe(async (event) => {
    if (event.type === "message_start" && event.message.role === "user" && provenance) {
      Object.assign(event.message, { provenance });
      provenance = undefined; // what is steered in later is from somebody else
    }
    if (event.type !== "message_end") return;
    const { message } = event;
    if (message.role !== "user" && message.role !== "assistant" && message.role !== "toolResult") return;
    if (message.role === "assistant") {
      for (const block of message.content) if (block.type === "toolCall") callMessages.set(block.id, message);
    }
    await transcript.persisted(message);
    steering.persisted(message);
  });

  const sub = subscribeEmbeddedPiSession({
    session, params: { ...params, onPartialReply: (text) => { input.onPartial(text); params.onPartialReply?.(text); } },
    tools, enforceFinalTag: usesReasoningTags(prepared.ref.provider) && prepared.model.reasoning, log: deps.log, now: () => deps.clock.now(),
  });
  const unregister = registerLiveTranscript(params.sessionFile, {
    appendMessage: (message: TranscriptMessageBody) => manager.appendMessage(message as never),
    flush: () => transcript.flush(),
  });
  const onAbort = (): void => {
    agent.clearSteeringQueue(); // else the stopped turn would still take the messages in, and never answer them
    agent.abort();
  };
  input.signal.addEventListener("abort", onAbort, { once: true });
  let stalled = false;
  const watchdog = setInterval(() => {
    if (sub.toolsRunning() > 0) return;
    const limit = sub.messages.length === 0 && sub.partialText() === "" ? FIRST_EVENT_MS : IDLE_MS;
    if (deps.clock.now() - sub.lastEventAt() < limit) return;
    stalled = true;
    agent.abort();
  }, 5000);
  watchdog.unref();
  input.onSteerable(steering.steer({ session, agent }));

  let thrown: unknown;
  try {
    if (input.signal.aborted) agent.abort();
    else if (input.prompt === undefined) await continueFromLeaf(manager, agent);
    else await session.prompt(input.prompt, { expandPromptTemplates: false });
  } catch (err) {
    thrown = err;
  } finally {
    clearInterval(watchdog);
    input.signal.removeEventListener("abort", onAbort);
    input.onSteerable(undefined);
    await sub.drain();
    await transcript.flush();
    stopDurability();
    sub.unsubscribe();
    unregister();
    session.dispose();
  }
  const last = sub.messages.at(-1);
  const failed = last && failureOf(pi, last, prepared.contextTokens);
  return {
    // What a failed call had begun to say is no answer: the next try says it whole.
    texts: failed === undefined && !stalled ? sub.texts : sub.texts.slice(0, -1),
    messages: sub.messages,
    toolErrors: sub.toolErrors,
    blocksSent: sub.blocksSent,
    error: stalled ? "the model stopped sending (idle timeout)" : (failed ?? (thrown === undefined ? undefined : thrown instanceof Error ? thrown.message : String(thrown))),
    stalled,
    loopEnd,
    usage: last?.usage,
  };
}

async function continueFromLeaf(manager: SessionManager, agent: { state: { messages: AgentMessage[] }; continue(): Promise<void> }): Promise<void> {
  rewindFailedAnswer(manager);
  repairPairingOnDisk(manager); // calls that a restart interrupted get an error result; they are never run again
  agent.state.messages = manager.buildSessionContext().messages;
  await agent.continue();
}

/** Refusing a conversation as too long has many wordings, and some providers only give an answer that ends before it begins. */
function failureOf(pi: PiModules, last: AssistantMessage, contextTokens: number): string | undefined {
  if (last.stopReason === "length" && last.content.length === 0) {
    return pi.ai.isContextOverflow(last, contextTokens) ? "context window exceeded: the conversation left no room for an answer" : undefined;
  }
  if (last.stopReason !== "error") return undefined;
  const text = last.errorMessage ?? "the model call failed";
  const isUnknownWording = pi.ai.isContextOverflow(last) && classifyFailoverReason(text) !== "context_overflow";
  return isUnknownWording ? `context window exceeded: ${text}` : text;
}

/** An answer that failed or was cut off stays in the file as a branch of its own; the next try hangs on what came before it. */
export function rewindFailedAnswer(manager: SessionManager): void {
  let target: string | null | undefined;
  for (let entry = manager.getLeafEntry(); entry; entry = entry.parentId ? manager.getEntry(entry.parentId) : undefined) {
    if (entry.type === "compaction") break;
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role !== "assistant") break;
    const isEmpty = message.stopReason === "length" && message.content.length === 0;
    if (!isEmpty && message.stopReason !== "error" && message.stopReason !== "aborted") break;
    target = entry.parentId;
  }
  if (target === null) manager.resetLeaf();
  else if (target !== undefined) manager.branch(target);
}
