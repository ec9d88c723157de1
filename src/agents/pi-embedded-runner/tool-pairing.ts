import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { ToolResultMessage } from "@mariozechner/pi-ai";

type Assistant = Extract<AgentMessage, { role: "assistant" }>;

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
export const INTERRUPTED_RESULT_TEXT = "Interrupted: the run was stopped or the gateway restarted while this tool ran; whether it took effect is unknown. It was not run again.";

/**
 * Makes every tool call answered exactly once and every result belong to a call: results are moved behind their call,
 * duplicates and orphans dropped, missing ones replaced by an error result; a call without name, id or arguments goes.
 * Turns that failed or were stopped have made no calls; providers refuse them, so only what a person read of a stopped
 * one stays, as a finished message. Messages that need no change are the same objects. Source: spec agent-pipeline §5.3.
 */
export function repairToolPairing(messages: AgentMessage[]): AgentMessage[] {
  return pair(messages, (message) => {
    const text = message.content.filter((block) => block.type === "text" && block.text.trim() !== "");
    return message.stopReason === "aborted" && text.length > 0 ? { ...message, stopReason: "stop", content: text } : undefined;
  });
}

/** The same for the file: turns that failed stay as they are, since they tell people what happened. */
export function repairStoredPairing(messages: AgentMessage[]): AgentMessage[] {
  return pair(messages, (message) => message);
}

/** A run without any tool: providers refuse calls and results in a request that offers none. */
export function dropToolUse(messages: AgentMessage[]): AgentMessage[] {
  return messages.flatMap((message): AgentMessage[] => {
    if (message.role === "toolResult") return [];
    if (message.role !== "assistant" || !message.content.some((block) => block.type === "toolCall")) return [message];
    const content = message.content.filter((block) => block.type !== "toolCall");
    return content.some((block) => block.type === "text" && block.text.trim() !== "") ? [{ ...message, content, stopReason: "stop" }] : [];
  });
}

function pair(messages: AgentMessage[], failedTurn: (message: Assistant) => AgentMessage | undefined): AgentMessage[] {
  const results = resultsByCall(messages);
  const out: AgentMessage[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") continue;
    if (message.role !== "assistant") {
      out.push(message);
    } else if (message.stopReason === "error" || message.stopReason === "aborted") {
      const kept = failedTurn(message);
      if (kept) out.push(kept);
    } else {
      pushWithResults(out, message, results);
    }
  }
  return out;
}

/** Results in the order of their ids; several under one id (some servers count calls from 0 in each turn) in their own order. */
function resultsByCall(messages: readonly AgentMessage[]): Map<string, ToolResultMessage[]> {
  const results = new Map<string, ToolResultMessage[]>();
  for (const message of messages) {
    if (message.role !== "toolResult") continue;
    const list = results.get(message.toolCallId);
    if (list) list.push(message);
    else results.set(message.toolCallId, [message]);
  }
  return results;
}

function pushWithResults(out: AgentMessage[], message: Assistant, results: ReadonlyMap<string, ToolResultMessage[]>): void {
  const content = message.content.filter((block) => block.type !== "toolCall" || isWellFormed(block));
  if (content.length === 0 && message.content.length > 0) return;
  out.push(content.length === message.content.length ? message : { ...message, content });
  for (const block of content) {
    if (block.type === "toolCall") out.push(results.get(block.id)?.shift() ?? missingResult(block.id, block.name, message.timestamp));
  }
}

/** Transcripts of other programs may lack any of them. */
function isWellFormed(call: { readonly id: unknown; readonly name: unknown; readonly arguments: unknown }): boolean {
  return typeof call.id === "string" && call.id !== "" && typeof call.name === "string" && TOOL_NAME.test(call.name) && typeof call.arguments === "object" && call.arguments !== null;
}

function missingResult(toolCallId: string, toolName: string, timestamp: number): ToolResultMessage {
  return { role: "toolResult", toolCallId, toolName, isError: true, timestamp, content: [{ type: "text", text: INTERRUPTED_RESULT_TEXT }] };
}
