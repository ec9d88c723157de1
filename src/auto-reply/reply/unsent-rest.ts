import type { ReplyPayload } from "../../agents/index.ts";

/**
 * What of an answer is still to be sent when some of it went out in blocks before the process ended: the text behind the
 * last block. White space does not count, since blocks were joined and trimmed; a block that is not found is passed over.
 */
export function unsentRest(payloads: readonly ReplyPayload[], blocks: readonly string[]): ReplyPayload[] {
  let waiting = blocks.map(squeeze).filter((block) => block !== "");
  return payloads.flatMap((payload) => {
    const text = payload.text ?? "";
    const { chars, offsets } = squeezeWithOffsets(text);
    let done = 0;
    waiting = waiting.filter((block) => {
      const at = chars.indexOf(block, done);
      if (at >= 0) done = at + block.length;
      return at < 0;
    });
    if (done === 0) return [payload];
    const rest = text.slice((offsets[done - 1] ?? 0) + 1).trim();
    return rest === "" && !payload.mediaUrls?.length ? [] : [{ ...payload, text: rest === "" ? undefined : rest }];
  });
}

const squeeze = (text: string): string => text.replace(/\s+/g, "");

/** The text without white space, and where each of its UTF-16 units stood. */
function squeezeWithOffsets(text: string): { readonly chars: string; readonly offsets: readonly number[] } {
  const offsets: number[] = [];
  for (let i = 0; i < text.length; i++) if (!/\s/.test(text[i] as string)) offsets.push(i);
  return { chars: squeeze(text), offsets };
}
