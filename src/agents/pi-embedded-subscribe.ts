import type { AgentSession, AgentSessionEvent } from "@mariozechner/pi-coding-agent";
import type { AssistantMessage } from "@mariozechner/pi-ai";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { createBlockStream } from "./output/block-stream.ts";
import type { ReplyPayload } from "./output/payload.ts";
import { readGrowingReply, readReply } from "./output/reply-text.ts";
import { withoutSent } from "./output/sent-already.ts";
import { createBlockTagState, stripBlockTags } from "./output/strip-tags.ts";
import { toolOutputBlock, toolSummary } from "./output/tool-summary.ts";
import type { RunEmbeddedPiAgentParams } from "./pi-embedded-runner/run/params.ts";
import type { AgentTool } from "./tools/contract.ts";

export interface AssistantText {
  /** Visible text of one assistant message, tags removed, directives still in. */
  readonly text: string;
  readonly thinking: string;
}

export interface PiSubscription {
  readonly texts: readonly AssistantText[];
  readonly messages: readonly AssistantMessage[];
  /** Blocks that were handed out, joined. */
  readonly blocksSent: number;
  /** The last tool error that no later call of the same tool made good. */
  readonly toolErrors: ReadonlyMap<string, { readonly name: string; readonly meta: string; readonly error: string }>;
  readonly lastEventAt: () => number;
  readonly toolsRunning: () => number;
  /** Text of the message that is being written. */
  readonly partialText: () => string;
  /** Resolves when every block is out. */
  drain(): Promise<void>;
  unsubscribe(): void;
}

export interface SubscribeOptions {
  readonly session: AgentSession;
  readonly params: RunEmbeddedPiAgentParams;
  readonly tools: ReadonlyMap<string, AgentTool>;
  readonly enforceFinalTag: boolean;
  readonly log: Logger;
  readonly now: () => number;
}

/** Turns Pi's events into agent events, partial text and blocks. Source: spec agent-pipeline-output §6.1–6.3. */
export function subscribeEmbeddedPiSession(options: SubscribeOptions): PiSubscription {
  const { params, log } = options;
  const texts: AssistantText[] = [];
  const messages: AssistantMessage[] = [];
  const toolErrors = new Map<string, { name: string; meta: string; error: string }>();
  const running = new Map<string, { name: string; meta: string }>();
  let lastEventAt = options.now();

  // State of the message that is being written.
  let tags = createBlockTagState();
  let visible = "";
  let shown = "";
  let thinking = "";

  const { blockReply, onBlockReply, channel } = params;
  const blocks = blockReply && onBlockReply && createBlockStream({
    config: blockReply, log: log.child({ runId: params.runId }), signal: params.signal, send: onBlockReply,
    withoutSent: (payload) => withoutSent(payload, params.messagingSends ?? [], channel),
  });

  /** Text that was shown is never taken back: it only grows. */
  function show(text: string): void {
    if (text.length <= shown.length || !text.startsWith(shown)) return;
    const delta = text.slice(shown.length);
    shown = text;
    params.onAgentEvent({ stream: "assistant", data: { text, delta } });
    params.onPartialReply?.(text);
  }

  function onDelta(delta: string, flush: boolean): void {
    visible += stripBlockTags(delta, tags, { enforceFinalTag: options.enforceFinalTag, flush });
    const reply = readGrowingReply(visible);
    blocks?.feed(reply);
    show(reply.text.trimStart());
  }

  function onMessageEnd(message: AssistantMessage): void {
    messages.push(message);
    onDelta("", true);
    const spoken = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    if (visible === "" && spoken !== "") onDelta(spoken, true); // a provider that sends no deltas
    const reply = readReply(visible);
    blocks?.end(reply);
    if (!reply.silent) show(reply.text.trim());
    const thought = message.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join("\n").trim();
    texts.push({ text: visible.trim(), thinking: thought || thinking });
  }

  function onToolStart(toolCallId: string, name: string, args: unknown): void {
    blocks?.flush();
    const meta = describeCall(options.tools.get(name), args);
    running.set(toolCallId, { name, meta });
    params.onToolStart?.(name);
    params.onAgentEvent({ stream: "tool", data: { phase: "start", name, toolCallId, args } });
    if (params.verbose !== "off" && params.onToolSummary) void sendSummary({ text: toolSummary(name, meta) });
  }

  function onToolEnd(toolCallId: string, name: string, isError: boolean, result: unknown): void {
    const started = running.get(toolCallId);
    running.delete(toolCallId);
    const text = resultText(result);
    if (isError) toolErrors.set(name, { name, meta: started?.meta ?? "", error: text.slice(0, 300) });
    else toolErrors.delete(name);
    params.onAgentEvent({ stream: "tool", data: { phase: "result", name, toolCallId, isError, meta: started?.meta ?? "", result } });
    if (params.verbose === "full" && params.onToolSummary && text !== "") void sendSummary({ text: toolOutputBlock(text) });
  }

  function sendSummary(payload: ReplyPayload): Promise<void> {
    return (params.onToolSummary?.(payload) ?? Promise.resolve()).catch((err: unknown) => log.warn("tool summary not delivered", { err }));
  }

  function handle(event: AgentSessionEvent): void {
    lastEventAt = options.now();
    switch (event.type) {
      case "message_start":
        if (event.message.role !== "assistant") return;
        tags = createBlockTagState();
        visible = "";
        shown = "";
        thinking = "";
        blocks?.begin();
        return;
      case "message_update": {
        const update = event.assistantMessageEvent;
        if (update.type === "text_delta") onDelta(update.delta, false);
        else if (update.type === "thinking_delta") {
          thinking += update.delta;
          if (params.reasoning === "stream") params.onAgentEvent({ stream: "thinking", data: { text: thinking, delta: update.delta } });
          params.onReasoningStream?.(thinking);
        }
        return;
      }
      case "message_end":
        if (event.message.role === "assistant") onMessageEnd(event.message);
        return;
      case "tool_execution_start":
        onToolStart(event.toolCallId, event.toolName, event.args);
        return;
      case "tool_execution_update":
        params.onAgentEvent({ stream: "tool", data: { phase: "update", name: event.toolName, toolCallId: event.toolCallId, partialResult: event.partialResult } });
        return;
      case "tool_execution_end":
        onToolEnd(event.toolCallId, event.toolName, event.isError, event.result);
        return;
      default:
        return;
    }
  }

  const unsubscribe = options.session.subscribe((event) => {
    try {
      handle(event);
    } catch (err) {
      log.error("run event not handled", { event: event.type, err });
    }
  });

  return {
    texts,
    messages,
    get blocksSent() {
      return blocks?.sent ?? 0;
    },
    toolErrors,
    lastEventAt: () => lastEventAt,
    toolsRunning: () => running.size,
    partialText: () => shown,
    drain: async () => blocks?.drain(),
    unsubscribe,
  };
}

function describeCall(tool: AgentTool | undefined, args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  try {
    return tool?.describe?.(args as Record<string, unknown>) ?? "";
  } catch (err) {
    return errorText(err);
  }
}

function resultText(result: unknown): string {
  if (typeof result !== "object" || result === null || !("content" in result) || !Array.isArray(result.content)) return "";
  return result.content.map((block: unknown) => (typeof block === "object" && block !== null && "text" in block ? String(block.text) : "")).join("\n");
}
