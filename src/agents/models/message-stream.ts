import type { Api, AssistantMessage, AssistantMessageEventStream, Model, StopReason, ToolCall } from "@mariozechner/pi-ai";
import type { PiModules } from "../pi.ts";

/** Writes one assistant message as Pi's event stream; for transports that Pi does not have. */
export interface MessageWriter {
  readonly stream: AssistantMessageEventStream;
  readonly message: AssistantMessage;
  text(delta: string): void;
  thinking(delta: string): void;
  toolCall(call: Omit<ToolCall, "type">): void;
  done(reason: Extract<StopReason, "stop" | "length" | "toolUse">): void;
  fail(error: string, aborted: boolean): void;
}

export function createMessageWriter(ai: PiModules["ai"], model: Model<Api>, nowMs: number): MessageWriter {
  const stream = ai.createAssistantMessageEventStream();
  const message: AssistantMessage = {
    role: "assistant", content: [], api: model.api, provider: model.provider, model: model.id, stopReason: "stop", timestamp: nowMs,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  };
  let started = false;
  const start = (): void => {
    if (started) return;
    started = true;
    stream.push({ type: "start", partial: message });
  };
  const closeBlock = (): void => {
    const contentIndex = message.content.length - 1;
    const block = message.content[contentIndex];
    if (block?.type === "text") stream.push({ type: "text_end", contentIndex, content: block.text, partial: message });
    if (block?.type === "thinking") stream.push({ type: "thinking_end", contentIndex, content: block.thinking, partial: message });
  };
  const openBlock = (type: "text" | "thinking"): void => {
    start();
    if (message.content.at(-1)?.type === type) return;
    closeBlock();
    message.content.push(type === "text" ? { type, text: "" } : { type, thinking: "" });
    stream.push({ type: `${type}_start`, contentIndex: message.content.length - 1, partial: message });
  };
  return {
    stream,
    message,
    text(delta) {
      openBlock("text");
      const block = message.content.at(-1);
      if (block?.type === "text") block.text += delta;
      stream.push({ type: "text_delta", contentIndex: message.content.length - 1, delta, partial: message });
    },
    thinking(delta) {
      openBlock("thinking");
      const block = message.content.at(-1);
      if (block?.type === "thinking") block.thinking += delta;
      stream.push({ type: "thinking_delta", contentIndex: message.content.length - 1, delta, partial: message });
    },
    toolCall(call) {
      start();
      closeBlock();
      const toolCall: ToolCall = { type: "toolCall", ...call };
      message.content.push(toolCall);
      const contentIndex = message.content.length - 1;
      stream.push({ type: "toolcall_start", contentIndex, partial: message });
      stream.push({ type: "toolcall_delta", contentIndex, delta: JSON.stringify(call.arguments), partial: message });
      stream.push({ type: "toolcall_end", contentIndex, toolCall, partial: message });
    },
    done(reason) {
      start();
      closeBlock();
      message.stopReason = reason;
      stream.push({ type: "done", reason, message });
    },
    fail(error, aborted) {
      start();
      message.stopReason = aborted ? "aborted" : "error";
      message.errorMessage = error;
      stream.push({ type: "error", reason: message.stopReason, error: message });
    },
  };
}
