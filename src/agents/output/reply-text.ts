import { parseReplyDirectives, type ReplyDirectives } from "./directives.ts";
import type { ReplyPayload } from "./payload.ts";
import { gateGrowingText, gateVisibleText } from "./silent.ts";
import { createBlockTagState, stripBlockTags } from "./strip-tags.ts";

/** What people may see of a model's text, and what it asks for beside. Every way out goes through one of these. */
export interface VisibleReply extends Omit<ReplyDirectives, "text"> {
  readonly text: string;
  /** Nothing is to be said; there may still be media. */
  readonly silent: boolean;
}

/** Of a complete message. Source: spec agent-pipeline-output §6.4–6.5. */
export function readReply(raw: string): VisibleReply {
  const directives = parseReplyDirectives(raw);
  return { ...directives, ...gateVisibleText(directives.text) };
}

/** Of a complete text with everything still in it, thoughts and `<final>` marks too. */
export const readRawReply = (raw: string): VisibleReply => readReply(stripBlockTags(raw, createBlockTagState(), { flush: true }));

/**
 * Of a message that is still being written: what may turn out to be a directive or a token is held back, so that the text
 * only ever grows, up to the text of `readReply`.
 */
export function readGrowingReply(raw: string): VisibleReply {
  const directives = parseReplyDirectives(raw.slice(0, raw.length - unfinishedDirective(raw)));
  const text = gateGrowingText(directives.text);
  return { ...directives, text, silent: text === "" };
}

const MAX_TAG_CHARS = 80;

/** Length of a tail that may become `[[…]]` or a MEDIA line. */
function unfinishedDirective(raw: string): number {
  const line = raw.slice(raw.lastIndexOf("\n") + 1);
  if (/^[ \t]*(?:M|ME|MED|MEDI|MEDIA|MEDIA:.*)$/.test(line)) return line.length;
  const open = line.lastIndexOf("[[");
  if (open >= 0 && !line.includes("]]", open) && line.length - open < MAX_TAG_CHARS) return line.length - open;
  if (/\]\][ \t]?$/.test(line)) return line.length - line.lastIndexOf("[["); // the blank or line end behind it may go with it
  return line.endsWith("[") ? 1 : 0;
}

/** undefined when there is nothing to send. */
export function toReplyPayload({ text, silent, mediaUrls, replyToId, replyToCurrent, audioAsVoice }: VisibleReply): ReplyPayload | undefined {
  if ((silent || text.trim() === "") && mediaUrls.length === 0) return undefined;
  return {
    text: silent || text.trim() === "" ? undefined : text,
    ...(mediaUrls.length > 0 ? { mediaUrls } : {}),
    ...(replyToId ? { replyToId, replyToTag: true } : {}),
    ...(replyToCurrent ? { replyToCurrent: true, replyToTag: true } : {}),
    ...(audioAsVoice ? { audioAsVoice: true } : {}),
  };
}
