import type { Agent } from "@mariozechner/pi-agent-core";
import type { AssistantMessageEventStream, SimpleStreamOptions } from "@mariozechner/pi-ai";
import type { AgentSession, ResourceLoader, ToolDefinition } from "@mariozechner/pi-coding-agent";
import { endsSoonAfter } from "../../infra/overdue.ts";
import { maskSecret, redactSecrets } from "../../infra/redact.ts";
import type { PreparedModel } from "../models/types.ts";
import type { PiModules } from "../pi.ts";
import type { AgentTool, ToolResult } from "../tools/contract.ts";

/** Nothing of Pi's own discovery: no extensions, skills, prompts, themes or context files from disk. */
export function emptyResourceLoader(pi: PiModules): ResourceLoader {
  return {
    getExtensions: () => ({ extensions: [], errors: [], runtime: pi.codingAgent.createExtensionRuntime() }),
    getSkills: () => ({ skills: [], diagnostics: [] }),
    getPrompts: () => ({ prompts: [], diagnostics: [] }),
    getThemes: () => ({ themes: [], diagnostics: [] }),
    getAgentsFiles: () => ({ agentsFiles: [] }),
    getSystemPrompt: () => undefined,
    getAppendSystemPrompt: () => [],
    extendResources: () => undefined,
    reload: () => Promise.resolve(),
  };
}

/** Pi's built-in tools are never used: everything is a custom tool behind one policy (spec decisions §4.1). */
export function splitSdkTools(tools: readonly AgentTool[], toDefinition: (tool: AgentTool) => ToolDefinition): { builtIn: []; custom: ToolDefinition[] } {
  return { builtIn: [], custom: tools.map(toDefinition) };
}

/**
 * Sends exactly `systemPrompt` with every request of the session: Pi would append the date and the directory, which
 * breaks prompt caching.
 */
export function applySystemPromptOverrideToSession(session: AgentSession, systemPrompt: string): void {
  const inner = session.agent.streamFn;
  session.agent.streamFn = (model, context, options) => inner(model, { ...context, systemPrompt }, options);
}

/** Requests go out with the key, headers and parameters of the prepared model, and only after `ready`. */
export function routeRequests(agent: Agent, pi: PiModules, prepared: PreparedModel, options: { ready: () => Promise<void>; onPayload?: ((payload: unknown) => void) | undefined }): void {
  const stream = prepared.stream ?? pi.ai.streamSimple;
  agent.streamFn = async (model, context, streamOptions) => {
    await options.ready();
    return withoutSecrets(stream(model, context, { ...streamOptions, ...requestOptions(prepared), ...payloadTap(options.onPayload) }), prepared.apiKey);
  };
}

/** Providers repeat the refused key in their errors, which are kept in the transcript and shown (security record C1). */
function withoutSecrets(stream: AssistantMessageEventStream, apiKey: string | undefined): AssistantMessageEventStream {
  const push = stream.push.bind(stream);
  stream.push = (event) => {
    if (event.type === "error" && event.error.errorMessage !== undefined) {
      const own = apiKey !== undefined && apiKey.length >= 8 ? event.error.errorMessage.replaceAll(apiKey, maskSecret(apiKey)) : event.error.errorMessage;
      event.error.errorMessage = redactSecrets(own);
    }
    push(event);
  };
  return stream;
}

function payloadTap(onPayload: ((payload: unknown) => void) | undefined): SimpleStreamOptions {
  if (!onPayload) return {};
  return {
    onPayload: (payload) => {
      onPayload(payload);
      return undefined;
    },
  };
}

/** The prepared model's own settings; retries are ours, so the client makes none. */
export function requestOptions(prepared: PreparedModel): SimpleStreamOptions {
  const { params } = prepared;
  const retention = cacheRetentionOf(prepared);
  return {
    ...(prepared.apiKey === undefined ? {} : { apiKey: prepared.apiKey }),
    ...(prepared.headers === undefined ? {} : { headers: { ...prepared.headers } }),
    ...(typeof params["temperature"] === "number" ? { temperature: params["temperature"] } : {}),
    ...(typeof params["maxTokens"] === "number" ? { maxTokens: params["maxTokens"] } : {}),
    ...(retention === undefined ? {} : { cacheRetention: retention }),
    maxRetries: 0,
  };
}

/** How long the provider is asked to keep the prompt; `cacheControlTtl` is the older spelling. */
function cacheRetentionOf({ params }: PreparedModel): "none" | "short" | "long" | undefined {
  const wanted = params["cacheRetention"];
  if (wanted === "none" || wanted === "short" || wanted === "long") return wanted;
  const ttl = params["cacheControlTtl"];
  return ttl === "1h" ? "long" : ttl === "5m" ? "short" : undefined;
}

/** ms after which a prompt that was not used is no longer in the provider's cache. */
export function cacheTtlMs(prepared: PreparedModel): number {
  return cacheRetentionOf(prepared) === "long" ? 3_600_000 : 300_000;
}

/** One of our tools as Pi's: errors become error results, `guard` runs before anything takes effect, `storable` after it. */
export function toPiTool(
  tool: AgentTool, guard: (toolCallId: string) => Promise<void>, storable: (result: ToolResult) => Promise<ToolResult>, signal: AbortSignal,
): ToolDefinition {
  const { prepare } = tool;
  return {
    name: tool.name,
    label: tool.label,
    description: tool.description,
    parameters: tool.parameters,
    ...(prepare ? { prepareArguments: (args: unknown) => prepare(isRecord(args) ? args : {}) as never } : {}),
    async execute(toolCallId, params, callSignal, onUpdate) {
      await guard(toolCallId);
      const stop = callSignal ? AbortSignal.any([callSignal, signal]) : signal;
      stop.throwIfAborted();
      const call = tool.execute(isRecord(params) ? params : {}, { toolCallId, signal: stop, onUpdate: (partial) => onUpdate?.(toPiResult(partial)) });
      const result = await storable(await endsSoonAfter(stop, call, STOP_GRACE_MS, `${tool.name} was told to stop and did not; what it still does is not waited for.`));
      if (result.isError) throw new ToolFailure(result);
      return toPiResult(result);
    },
  };
}

/** ms that work may go on after it was told to stop; a command's process group is killed within 3 s. */
const STOP_GRACE_MS = 5000;

/** Pi turns a thrown error into an error result; the message is what the model reads. */
class ToolFailure extends Error {
  override readonly name = "ToolFailure";
  constructor(result: ToolResult) {
    super(result.content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n"));
  }
}

function toPiResult(result: ToolResult): { content: ({ type: "text"; text: string } | { type: "image"; data: string; mimeType: string })[]; details: unknown } {
  return { content: result.content.map((block) => ({ ...block })), details: result.details };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
