import type { OpenClawConfig } from "../config/index.ts";
import type { BootstrapSource } from "./bootstrap-files.ts";
import { toolError, type AgentTool } from "./tools/contract.ts";

/** Who a run is for, as plugins are told. Source: spec plugin-sdk §7. */
export interface AgentHookContext {
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly workspaceDir?: string | undefined;
  readonly messageProvider?: string | undefined;
}

export interface PromptChange {
  /** Replaces the system prompt of this run. */
  readonly systemPrompt?: string | undefined;
  /** Stands before the person's words, and is kept with them. */
  readonly prependContext?: string | undefined;
}

export interface ModelChange {
  readonly providerOverride?: string | undefined;
  readonly modelOverride?: string | undefined;
  /** What handlers of `before_agent_start` said about the prompt meanwhile. */
  readonly prompt?: PromptChange | undefined;
}

/**
 * Where plugins look into a run. Nothing here rejects: a handler that fails is passed over. Source: spec plugin-sdk §7,
 * decisions §9.4.
 */
export interface AgentHooks {
  has(...hooks: readonly string[]): boolean;
  /** `before_model_resolve`, then `before_agent_start`, which sees the conversation. */
  beforeModel(prompt: string, messages: () => Promise<readonly unknown[]>, ctx: AgentHookContext): Promise<ModelChange>;
  /** The internal event `agent:bootstrap`: the files of the workspace that go into a new session's prompt. */
  beforeBootstrap(files: readonly BootstrapSource[], cfg: OpenClawConfig, ctx: AgentHookContext): Promise<readonly BootstrapSource[]>;
  /** `before_prompt_build`; its words win over those of `earlier`. */
  beforePrompt(event: { readonly prompt: string; readonly messages: readonly unknown[] }, earlier: PromptChange | undefined, ctx: AgentHookContext): Promise<PromptChange>;
  /** Hooks that only look on: `llm_input`, `llm_output`, `agent_end`, `before_compaction`, `after_compaction`. */
  notify(hook: string, event: object, ctx: object): void;
  /** `before_tool_call`. `blocked`: why the call is not made. */
  beforeToolCall(event: { readonly toolName: string; readonly params: Record<string, unknown> }, ctx: AgentHookContext & { readonly toolName: string }): Promise<{ readonly params: Record<string, unknown>; readonly blocked?: string | undefined }>;
  /** `tool_result_persist`, then `before_message_write`; undefined: it is not written. */
  beforeWrite<M extends { readonly role: string }>(message: M, ctx: AgentHookContext): M | undefined;
}

export const NO_HOOKS: AgentHooks = {
  has: () => false,
  beforeModel: async () => ({}),
  beforeBootstrap: async (files) => files,
  beforePrompt: async (_event, earlier) => earlier ?? {},
  notify: () => undefined,
  beforeToolCall: async ({ params }) => ({ params }),
  beforeWrite: (message) => message,
};

/** A tool whose calls plugins see, change or refuse. */
export function withToolHooks(tool: AgentTool, hooks: AgentHooks, ctx: AgentHookContext, now: () => number): AgentTool {
  if (!hooks.has("before_tool_call", "after_tool_call")) return tool;
  const toolCtx = { ...ctx, toolName: tool.name };
  return {
    ...tool,
    async execute(args, call) {
      const { params, blocked } = await hooks.beforeToolCall({ toolName: tool.name, params: args }, toolCtx);
      if (blocked !== undefined) return toolError(blocked);
      const startedAt = now();
      const tell = (outcome: object): void => hooks.notify("after_tool_call", { toolName: tool.name, params, durationMs: now() - startedAt, ...outcome }, toolCtx);
      try {
        const result = await tool.execute(params, call);
        tell({ result });
        return result;
      } catch (err) {
        tell({ error: err instanceof Error ? err.message : String(err) });
        throw err;
      }
    },
  };
}
