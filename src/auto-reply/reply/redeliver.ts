import { gateVisibleText, parseReplyDirectives, type ReplyPayload } from "../../agents/index.ts";

/** Final payloads of an answer that is read back from the transcript. */
export function buildFinalPayloads(texts: readonly string[]): ReplyPayload[] {
  const payloads: ReplyPayload[] = [];
  for (const raw of texts) {
    const directives = parseReplyDirectives(raw);
    const gated = gateVisibleText(directives.text);
    if (gated.silent && directives.mediaUrls.length === 0) continue;
    payloads.push({ text: gated.text.trim(), mediaUrls: directives.mediaUrls, replyToId: directives.replyToId, replyToCurrent: directives.replyToCurrent });
  }
  return payloads;
}
