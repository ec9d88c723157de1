import { readReply, toReplyPayload, type ReplyPayload } from "../../agents/index.ts";

/** Final payloads of an answer that is read back from the transcript. */
export function buildFinalPayloads(texts: readonly string[]): ReplyPayload[] {
  return texts.flatMap((raw) => {
    const reply = readReply(raw);
    return toReplyPayload({ ...reply, text: reply.text.trim() }) ?? [];
  });
}
