import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { ToolResultMessage } from "@mariozechner/pi-ai";

/** Keeps the last `limit` user turns with everything that follows them; 0 or undefined keeps all. */
export function limitHistoryTurns(messages: AgentMessage[], limit: number | undefined): AgentMessage[] {
  if (!limit || limit <= 0) return messages;
  let turns = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    if (messages[i]?.role === "user" && ++turns === limit) return messages.slice(i);
  }
  return messages;
}

/** Command answers and mirrored sends stand in the transcript for people; the model never said them. */
export function dropInjectedMessages(messages: AgentMessage[]): AgentMessage[] {
  return messages.filter(
    (message) => !(message.role === "assistant" && message.provider === "openclaw" && (message.model === "gateway-injected" || message.model === "delivery-mirror")),
  );
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
export const INTERRUPTED_RESULT_TEXT = "The gateway was restarted while this tool ran; whether it took effect is unknown. It was not run again.";

/**
 * Makes every tool call answered exactly once and every result belong to a call: results are moved behind their call,
 * duplicates and orphans dropped, missing ones replaced by an error result. Source: spec agent-pipeline §5.3.
 */
export function repairToolPairing(messages: AgentMessage[]): AgentMessage[] {
  const results = new Map<string, ToolResultMessage>();
  for (const message of messages) {
    if (message.role === "toolResult" && !results.has(message.toolCallId)) results.set(message.toolCallId, message);
  }
  const out: AgentMessage[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") continue;
    if (message.role !== "assistant") {
      out.push(message);
      continue;
    }
    if (message.stopReason === "error" || message.stopReason === "aborted") {
      // Half a turn: its text may stay, its calls were never made.
      const content = message.content.filter((block) => block.type !== "toolCall");
      const answered = message.content.filter((block) => block.type === "toolCall" && results.has(block.id));
      if (answered.length > 0) pushWithResults(out, message, results, message.timestamp);
      else if (content.some((block) => block.type === "text" && block.text.trim() !== "")) {
        out.push(content.length === message.content.length ? message : { ...message, content });
      }
      continue;
    }
    pushWithResults(out, message, results, message.timestamp);
  }
  return out;
}

function pushWithResults(
  out: AgentMessage[],
  message: Extract<AgentMessage, { role: "assistant" }>,
  results: ReadonlyMap<string, ToolResultMessage>,
  timestamp: number,
): void {
  const content = message.content.filter((block) => block.type !== "toolCall" || (block.id !== "" && TOOL_NAME.test(block.name)));
  if (content.length === 0) return;
  out.push(content.length === message.content.length ? message : { ...message, content });
  for (const block of content) {
    if (block.type !== "toolCall") continue;
    out.push(
      results.get(block.id) ?? {
        role: "toolResult", toolCallId: block.id, toolName: block.name, isError: true, timestamp,
        content: [{ type: "text", text: INTERRUPTED_RESULT_TEXT }],
      },
    );
  }
}

const MIN_RESULT_CHARS = 1024;
const CUT_NOTE = "\n[truncated: output exceeded context limit]";
const CLEARED_NOTE = "[compacted: tool output removed to free context]";

/**
 * Before a model call: one tool result may not fill the window, and all of them together give way, oldest first, until
 * the messages fit into three quarters of it. Source: spec agent-pipeline §5.5.
 */
export function guardToolResults(messages: AgentMessage[], contextTokens: number): AgentMessage[] {
  const perResult = Math.max(MIN_RESULT_CHARS, contextTokens);
  let out = messages;
  const replace = (index: number, text: string): void => {
    const message = out[index];
    if (message?.role !== "toolResult") return;
    if (out === messages) out = messages.slice();
    out[index] = { ...message, content: [{ type: "text", text }] };
  };
  for (const [index, message] of messages.entries()) {
    if (message.role !== "toolResult") continue;
    const text = resultText(message);
    if (text.length * 2 > perResult) replace(index, `${cutAtLine(text, Math.floor(perResult / 2) - CUT_NOTE.length)}${CUT_NOTE}`);
  }
  const budget = contextTokens * 4 * 0.75;
  let total = out.reduce((sum, message) => sum + weightedChars(message), 0);
  for (let index = 0; total > budget && index < out.length; index++) {
    const message = out[index];
    if (message?.role !== "toolResult" || resultText(message) === CLEARED_NOTE) continue;
    total -= weightedChars(message) - CLEARED_NOTE.length * 2;
    replace(index, CLEARED_NOTE);
  }
  return out;
}

function cutAtLine(text: string, max: number): string {
  const head = text.slice(0, Math.max(0, max));
  const line = head.lastIndexOf("\n");
  return line > head.length * 0.7 ? head.slice(0, line) : head;
}

function resultText(message: ToolResultMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

const IMAGE_WEIGHT = 8000;

function weightedChars(message: AgentMessage): number {
  if (message.role === "toolResult") {
    return message.content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length * 2 : IMAGE_WEIGHT), 0);
  }
  if (message.role === "user") {
    if (typeof message.content === "string") return message.content.length;
    return message.content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : IMAGE_WEIGHT), 0);
  }
  if (message.role === "assistant") return JSON.stringify(message.content).length;
  return 0;
}
