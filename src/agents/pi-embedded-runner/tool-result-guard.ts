import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { ToolResultMessage } from "@mariozechner/pi-ai";
import { CHARS_PER_TOKEN } from "../output/tokens.ts";

/** Longest text of one tool result in a transcript, in characters. */
export const MAX_STORED_RESULT_CHARS = 400_000;
const OVERFLOW_CHARS_PER_TOKEN = 0.25;
const MIN_RESULT_CHARS = 1024;
const CUT_NOTE = "[truncated: output exceeded context limit]";
/** Commands say at their end how they went; of everything else the beginning counts. */
const END_COUNTS: ReadonlySet<string> = new Set(["exec", "process"]);
const CLEARED_NOTE = "[compacted: tool output removed to free context]";
/** Share of the window, in characters, that messages may fill; cleared down to the second so that it is not done again at once. */
const FILL_SHARE = 0.75;
const CLEAR_TO_SHARE = 0.6;
const IMAGE_WEIGHT = 8000;

/**
 * Before a model call: one tool result may not fill the window, and all of them together give way, oldest first, when the
 * messages exceed three quarters of it. Decided message by message as the conversation grew, so that a longer
 * conversation begins with the same bytes. Source: spec agent-pipeline §5.5.
 */
export function guardToolResults(messages: AgentMessage[], contextTokens: number): AgentMessage[] {
  const perResult = Math.max(MIN_RESULT_CHARS, contextTokens);
  const budget = contextTokens * CHARS_PER_TOKEN * FILL_SHARE;
  const clearTo = contextTokens * CHARS_PER_TOKEN * CLEAR_TO_SHARE;
  const out = messages.slice();
  let changed = false;
  let total = 0;
  let oldest = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role === "toolResult" && (resultText(message).length + detailsChars(message)) * 2 > perResult) {
      const cut = cutResult(message, Math.floor(perResult / 2), CUT_NOTE);
      changed ||= cut !== message;
      out[index] = cut;
    }
    total += weightedChars(out[index] as AgentMessage);
    if (total <= budget) continue;
    for (; oldest <= index && total > clearTo; oldest++) {
      const candidate = out[oldest];
      if (candidate?.role !== "toolResult" || weightedChars(candidate) <= CLEARED_NOTE.length * 2) continue;
      total -= weightedChars(candidate) - CLEARED_NOTE.length * 2;
      out[oldest] = withText(candidate, CLEARED_NOTE);
      changed = true;
    }
  }
  return changed ? out : messages;
}

/** A result of more than `maxChars` cut to that, its note included, at a line end where one is near. */
export function cutResult(message: ToolResultMessage, maxChars: number, note: string = CUT_NOTE): ToolResultMessage {
  const text = resultText(message);
  if (text.length <= maxChars) return message;
  const room = maxChars - note.length - 1;
  return withText(message, END_COUNTS.has(message.toolName) ? `${note}\n${tailAtLine(text, room)}` : `${cutAtLine(text, room)}\n${note}`);
}

/**
 * Characters to which results are cut for good after the provider refused the conversation as too long: half of what the
 * guard had let pass in the refused request.
 */
export function overflowResultChars(contextTokens: number): number {
  return Math.max(MIN_RESULT_CHARS, Math.min(Math.floor(contextTokens * OVERFLOW_CHARS_PER_TOKEN), MAX_STORED_RESULT_CHARS));
}

export function cutAtLine(text: string, max: number): string {
  const head = text.slice(0, Math.max(0, max)).replace(/[\uD800-\uDBFF]$/, "");
  const line = head.lastIndexOf("\n");
  return line > head.length * 0.7 ? head.slice(0, line) : head;
}

function tailAtLine(text: string, max: number): string {
  const tail = text.slice(Math.max(0, text.length - max)).replace(/^[\uDC00-\uDFFF]/, "");
  const line = tail.indexOf("\n");
  return line >= 0 && line < tail.length * 0.3 ? tail.slice(line + 1) : tail;
}

export function resultText(message: ToolResultMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** Details never reach a model, but say how much a tool has brought. */
function detailsChars(message: ToolResultMessage): number {
  return message.details === undefined ? 0 : (JSON.stringify(message.details)?.length ?? 0);
}

function withText(message: ToolResultMessage, text: string): ToolResultMessage {
  return { ...message, content: [{ type: "text", text }] };
}

function weightedChars(message: AgentMessage): number {
  if (message.role === "toolResult") {
    return message.content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length * 2 : IMAGE_WEIGHT), 0);
  }
  if (message.role === "user") {
    if (typeof message.content === "string") return message.content.length;
    return message.content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : IMAGE_WEIGHT), 0);
  }
  if (message.role === "assistant") return JSON.stringify(message.content).length;
  return "summary" in message ? message.summary.length : 0;
}
