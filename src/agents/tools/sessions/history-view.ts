import { redactSecrets } from "../../../infra/redact.ts";
import { truncateText } from "../../../infra/text/index.ts";
import type { SessionToolMessage } from "./contract.ts";

const MAX_BLOCK_CHARS = 4000;
const MAX_TOTAL_BYTES = 80 * 1024;
const DROPPED = new Set(["details", "usage", "cost", "thinkingSignature", "textSignature"]);

export interface HistoryView {
  readonly messages: readonly unknown[];
  readonly truncated: boolean;
  readonly droppedMessages: number;
  readonly contentTruncated: boolean;
  readonly contentRedacted: boolean;
  readonly bytes: number;
}

/** Messages as another session may read them: short, without pictures and secrets. Source: spec tools-and-automation §1.4. */
export function viewHistory(messages: readonly SessionToolMessage[], includeTools: boolean): HistoryView {
  const state = { cut: false, redacted: false };
  const shown = messages
    .filter((message) => includeTools || (message.role !== "toolResult" && message.role !== "tool"))
    .map((message) => clean(message, state, includeTools) as Record<string, unknown>)
    .filter((message) => !Array.isArray(message["content"]) || message["content"].length > 0);
  const kept: unknown[] = [];
  let bytes = 0;
  for (const message of shown.toReversed()) {
    let item: unknown = message;
    let size = Buffer.byteLength(JSON.stringify(item));
    if (size > MAX_TOTAL_BYTES) {
      item = { role: message["role"], content: "[sessions_history omitted: message too large]" };
      size = Buffer.byteLength(JSON.stringify(item));
    }
    if (bytes + size > MAX_TOTAL_BYTES) break;
    bytes += size;
    kept.unshift(item);
  }
  return { messages: kept, truncated: kept.length < shown.length, droppedMessages: shown.length - kept.length, contentTruncated: state.cut, contentRedacted: state.redacted, bytes };
}

function clean(value: unknown, state: { cut: boolean; redacted: boolean }, includeTools: boolean): unknown {
  if (typeof value === "string") return cleanText(value, state);
  if (Array.isArray(value)) return value.filter((item) => includeTools || !isToolCall(item)).map((item) => clean(item, state, includeTools));
  if (typeof value !== "object" || value === null) return value;
  const record = value as Record<string, unknown>;
  if (record["type"] === "image" && typeof record["data"] === "string") {
    return { type: "image", mimeType: record["mimeType"], omitted: true, bytes: Math.floor((record["data"].length * 3) / 4) };
  }
  return Object.fromEntries(Object.entries(record).filter(([key]) => !DROPPED.has(key)).map(([key, item]) => [key, clean(item, state, includeTools)]));
}

const isToolCall = (item: unknown): boolean => typeof item === "object" && item !== null && "type" in item && item.type === "toolCall";

function cleanText(text: string, state: { cut: boolean; redacted: boolean }): string {
  const safe = redactSecrets(text);
  if (safe !== text) state.redacted = true;
  if (safe.length <= MAX_BLOCK_CHARS) return safe;
  state.cut = true;
  return `${truncateText(safe, MAX_BLOCK_CHARS)}…(truncated)…`;
}
