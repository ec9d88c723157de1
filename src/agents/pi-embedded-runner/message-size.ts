import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { SessionEntry as PiEntry } from "@mariozechner/pi-coding-agent";
import { CHARS_PER_TOKEN, IMAGE_CHARS } from "../output/tokens.ts";

/** Estimated tokens: ceil(chars / 4), an image as 4,800 characters (spec decisions §3.3). */
export function messageTokens(message: AgentMessage): number {
  return Math.ceil(messageChars(message) / CHARS_PER_TOKEN);
}

export function entryTokens(entry: PiEntry): number {
  return entry.type === "message" ? messageTokens(entry.message) : Math.ceil(JSON.stringify(entry).length / CHARS_PER_TOKEN);
}

function messageChars(message: AgentMessage): number {
  if (!("content" in message)) return JSON.stringify(message).length;
  const { content } = message;
  if (typeof content === "string") return content.length;
  return content.reduce((sum, block) => {
    switch (block.type) {
      case "text":
        return sum + block.text.length;
      case "image":
        return sum + IMAGE_CHARS;
      case "thinking":
        return sum + block.thinking.length;
      case "toolCall":
        return sum + block.name.length + JSON.stringify(block.arguments).length;
    }
  }, 0);
}
