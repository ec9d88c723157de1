import { isTranscriptHeader, parseTranscriptLine, readLinesBackwards, type TranscriptEntry } from "../../sessions/index.ts";
import { IMAGE_CHARS } from "../output/tokens.ts";

/** Base64 characters of images that are loaded from older transcripts, which hold them inline; the newest win. */
const MAX_INLINE_IMAGE_CHARS = 16 * 1024 * 1024;
const LEFT_OUT = { type: "text", text: "[image no longer in context]" };

/**
 * The active branch from its end back to the last compaction's first kept entry, or to the budget, then to the user
 * message that starts the turn there (a turn of twice the budget is cut at a message of the model). Undefined when a
 * damaged line hides where the branch goes on.
 */
export async function readContextEntries(path: string, budgetChars: number): Promise<TranscriptEntry[] | undefined> {
  const kept: TranscriptEntry[] = [];
  const seen = new Set<string>();
  const images = { left: MAX_INLINE_IMAGE_CHARS };
  let wanted: string | null | undefined;
  let stopAt: string | undefined;
  let chars = 0;
  let sawDamage = false;
  for await (const line of readLinesBackwards(path)) {
    const entry = parseTranscriptLine(line);
    if (!entry || (!isTranscriptHeader(entry) && typeof entry.id !== "string")) sawDamage = true;
    if (!entry || isTranscriptHeader(entry) || typeof entry.id !== "string") continue;
    if (wanted !== undefined && entry.id !== wanted) continue;
    if (seen.has(entry.id)) break; // two entries of one id
    seen.add(entry.id);
    const slim = withoutOldImages(entry, images);
    kept.push(slim.entry);
    wanted = entry.parentId;
    chars += line.length - slim.base64Chars;
    if (stopAt === undefined && entry.type === "compaction" && typeof entry["firstKeptEntryId"] === "string") {
      stopAt = entry["firstKeptEntryId"];
    }
    const role = entry.message?.role;
    const isFull = (chars > budgetChars && role === "user") || (chars > 2 * budgetChars && role === "assistant");
    if (entry.id === stopAt || wanted === null || isFull) return kept.reverse();
  }
  const oldest = kept.at(-1);
  // A branch that leads back into itself would be followed for ever.
  if (oldest && typeof wanted === "string" && seen.has(wanted)) return [{ ...oldest, parentId: null }, ...kept.slice(0, -1).reverse()];
  return sawDamage && typeof wanted === "string" ? undefined : kept.reverse();
}

/** Counts an inline image as any other; beyond the limit it is left out of memory, not out of the file. */
function withoutOldImages(entry: TranscriptEntry, images: { left: number }): { readonly entry: TranscriptEntry; readonly base64Chars: number } {
  const content = entry.message?.content;
  if (!entry.message || !Array.isArray(content)) return { entry, base64Chars: 0 };
  let base64Chars = 0;
  let isChanged = false;
  const next: unknown[] = content.map((block: unknown) => {
    if (typeof block !== "object" || block === null || !("data" in block) || typeof block.data !== "string") return block;
    base64Chars += block.data.length - IMAGE_CHARS;
    images.left -= block.data.length;
    if (images.left >= 0) return block;
    isChanged = true;
    return LEFT_OUT;
  });
  return { entry: isChanged ? { ...entry, message: { ...entry.message, content: next } } : entry, base64Chars: Math.max(0, base64Chars) };
}
