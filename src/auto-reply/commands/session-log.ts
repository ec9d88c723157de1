import { readRawReply } from "../../agents/index.ts";
import { isTranscriptMessage, readRecentMessages } from "../../sessions/index.ts";
import { stripPromptScaffolding } from "../user-prompt.ts";

const MAX_LOG_BYTES = 512 * 1024;
const LINE_CHARS = 200;
const MAX_LINES = 50;

/** The last messages of a transcript, a line each: who, and how it begins. */
export async function readLog(path: string, lines: number): Promise<string[]> {
  const entries = await readRecentMessages(path, { limit: Math.min(MAX_LINES, Math.max(1, lines)), maxBytes: MAX_LOG_BYTES });
  return entries.filter(isTranscriptMessage).flatMap(({ message: { role, content } }) => {
    const blocks: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
    const text = blocks.map((block) => blockText(block, role)).filter(Boolean).join(" ").replace(/\s+/g, " ").trim();
    return text === "" ? [] : [`${role}: ${text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS).toWellFormed()}…` : text}`];
  });
}

function blockText(block: unknown, role: string): string {
  if (typeof block !== "object" || block === null) return "";
  const { type, text, name } = block as Readonly<Record<string, unknown>>;
  if (type === "toolCall") return `→ ${String(name)}`;
  if (typeof text !== "string") return "";
  if (role === "user") return stripPromptScaffolding(text);
  return role === "assistant" ? readRawReply(text).text : text;
}
