import { basename, resolve } from "node:path";
import type { AgentHooks, BootstrapSource, ModelChange, PromptChange } from "../agents/index.ts";
import { awaitEvent, type HookRunner } from "./hooks.ts";
import { isRecord } from "./manifest.ts";

type ModelAndPrompt = { readonly providerOverride?: unknown; readonly modelOverride?: unknown; readonly systemPrompt?: unknown; readonly prependContext?: unknown };

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** The hooks of plugins as a run sees them: who is asked in which order, and how answers are joined. Source: spec plugin-sdk §7. */
export function createAgentHooks(hooks: HookRunner): AgentHooks {
  return {
    has: (...names) => names.some((name) => hooks.has(name)),
    async beforeModel(prompt, messages, ctx) {
      let providerOverride: string | undefined;
      let modelOverride: string | undefined;
      let change: PromptChange = {};
      // The first, so the one of highest priority, decides.
      const takeModel = (result: ModelAndPrompt): void => {
        providerOverride ??= textOf(result.providerOverride);
        modelOverride ??= textOf(result.modelOverride);
      };
      await hooks.ask<ModelAndPrompt>("before_model_resolve", { prompt }, ctx, takeModel);
      if (hooks.has("before_agent_start")) {
        await hooks.ask<ModelAndPrompt>("before_agent_start", { prompt, messages: await messages() }, ctx, (result) => {
          takeModel(result);
          change = joined(change, result);
        });
      }
      return { providerOverride, modelOverride, prompt: change } satisfies ModelChange;
    },
    async beforeBootstrap(files, cfg, { agentId, sessionKey, sessionId, workspaceDir = "" }) {
      const context: { bootstrapFiles: unknown } & Readonly<Record<string, unknown>> = { workspaceDir, bootstrapFiles: files.map((file) => ({ ...file })), cfg, sessionKey, sessionId, agentId };
      const wasHeard = await awaitEvent(hooks, { type: "agent", action: "bootstrap", sessionKey, context });
      return wasHeard && Array.isArray(context.bootstrapFiles) ? context.bootstrapFiles.flatMap((file) => readBootstrapFile(file, workspaceDir)) : files;
    },
    async beforePrompt(event, earlier, ctx) {
      let change: PromptChange = {};
      await hooks.ask<ModelAndPrompt>("before_prompt_build", event, ctx, (result) => {
        change = joined(change, result);
      });
      return earlier ? joined(change, { ...earlier, systemPrompt: change.systemPrompt ?? earlier.systemPrompt }) : change;
    },
    notify: (hook, event, ctx) => void hooks.notify(hook, event, ctx),
    async beforeToolCall({ toolName, params }, ctx) {
      let merged: Record<string, unknown> = params;
      let blocked: string | undefined;
      await hooks.ask<{ params?: unknown; block?: unknown; blockReason?: unknown }>(
        "before_tool_call", { toolName, params }, ctx,
        (result) => {
          if (typeof result.params === "object" && result.params !== null) merged = { ...merged, ...result.params };
          if (result.block !== undefined) blocked = result.block === true ? (textOf(result.blockReason) ?? "Tool call blocked by plugin hook") : undefined;
        },
        // Who wanted to look at the call and did not answer has not allowed it.
        (pluginId) => {
          blocked = `Tool call blocked: plugin ${pluginId} did not decide about it in time.`;
        },
      );
      return { params: merged, blocked };
    },
    beforeWrite(message, ctx) {
      let current = message;
      let blocked = false;
      const take = (result: { message?: unknown; block?: unknown }): void => {
        if (result.block === true) blocked = true;
        if (typeof result.message === "object" && result.message !== null) current = result.message as typeof message;
      };
      if (message.role === "toolResult" && hooks.has("tool_result_persist")) {
        const { toolName, toolCallId } = message as { toolName?: string; toolCallId?: string };
        const event = (): object => ({ toolName, toolCallId, message: current, isSynthetic: false });
        hooks.askSync<{ message?: unknown }>("tool_result_persist", event(), { agentId: ctx.agentId, sessionKey: ctx.sessionKey, toolName, toolCallId }, (result) => {
          take({ message: result.message });
          return event();
        });
      }
      const event = (): object => ({ message: current, sessionKey: ctx.sessionKey, agentId: ctx.agentId });
      hooks.askSync<{ message?: unknown; block?: unknown }>("before_message_write", event(), { agentId: ctx.agentId, sessionKey: ctx.sessionKey }, (result) => {
        take(result);
        return event();
      });
      return blocked ? undefined : current;
    },
  };
}

/** What a handler put into the list; an entry without a path, or with a content that is no text, is passed over. */
function readBootstrapFile(file: unknown, workspaceDir: string): BootstrapSource[] {
  if (!isRecord(file)) return [];
  const { content } = file;
  const path = textOf(file["path"]);
  if (path === undefined || (content !== undefined && content !== null && typeof content !== "string")) return [];
  const text = file["missing"] === true ? undefined : (content ?? undefined);
  return [{ name: textOf(file["name"]) ?? basename(path), path: resolve(workspaceDir, path), content: text, missing: text === undefined }];
}

/** A later system prompt replaces an earlier one; contexts stand one below the other. */
function joined(before: PromptChange, next: ModelAndPrompt): PromptChange {
  const parts = [before.prependContext, textOf(next.prependContext)].filter((part) => part !== undefined);
  return { systemPrompt: textOf(next.systemPrompt) ?? before.systemPrompt, prependContext: parts.length > 0 ? parts.join("\n\n") : undefined };
}
