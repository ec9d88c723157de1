import { fileURLToPath } from "node:url";

const EXTENSIONS = "png|jpe?g|gif|webp|bmp|tiff?|heic|heif";
const NOTE = /\[media attached(?: \d+\/\d+)?: ([^\]\n|]+?)(?: \(([^)\n]+)\))?(?: \|[^\]\n]*)?\]/g;
const SOURCE = /\[Image: source: ([^\]\n]+?)\]/g;
const FILE_URL = new RegExp(`file://[^\\s<>"'\`)\\]]+\\.(?:${EXTENSIONS})\\b`, "gi");
const PATH = new RegExp(`(?:^|[\\s"'\`(\\[])((?:~?/|\\.{1,2}/)[^\\s"'\`)\\]<>|]+\\.(?:${EXTENSIONS}))(?=$|[\\s"'\`)\\],.;:!?])`, "gim");
const HAS_EXTENSION = new RegExp(`\\.(?:${EXTENSIONS})$`, "i");

export interface ImageRef {
  readonly path: string;
  /** The file was received or made here: it is missed when it is gone. A path in a sentence is not. */
  readonly isAttachment: boolean;
}

/**
 * Images that a text names, in order: media notes, `[Image: source: …]`, and in what a person writes also `file://` and
 * paths that begin with /, ./ or ~/. Never a web address. Source: spec agent-pipeline §5.4.
 */
export function findImageRefs(text: string, isFromPerson: boolean): ImageRef[] {
  const found: (ImageRef & { readonly at: number })[] = [];
  for (const match of text.matchAll(NOTE)) {
    const path = (match[1] ?? "").trim();
    const isImage = match[2] === undefined ? HAS_EXTENSION.test(path) : match[2].startsWith("image/");
    if (isImage) found.push({ at: match.index, path, isAttachment: true });
  }
  for (const match of text.matchAll(SOURCE)) if (!isWebAddress(match[1] ?? "")) found.push({ at: match.index, path: plainPath((match[1] ?? "").trim()), isAttachment: true });
  if (isFromPerson) {
    const prose = blank(blank(text, NOTE), SOURCE);
    for (const match of prose.matchAll(FILE_URL)) found.push({ at: match.index, path: plainPath(match[0]), isAttachment: false });
    for (const match of blank(prose, FILE_URL).matchAll(PATH)) if (match[1]) found.push({ at: match.index, path: match[1], isAttachment: false });
  }
  return found.filter((ref) => ref.path !== "").sort((a, b) => a.at - b.at).map(({ path, isAttachment }) => ({ path, isAttachment }));
}

function blank(text: string, pattern: RegExp): string {
  return text.replace(pattern, (hit) => " ".repeat(hit.length));
}

function isWebAddress(source: string): boolean {
  return /^\s*(?:https?|data):/i.test(source);
}

function plainPath(source: string): string {
  if (!source.startsWith("file://")) return source;
  try {
    return fileURLToPath(source);
  } catch {
    return ""; // another machine's file
  }
}

/** How many images may stand in one request, and how many stay when there were more, or when the provider's cache has expired. */
const MAX_IMAGES = 20;
const KEEP_WHEN_FULL = 10;
const KEEP_WHEN_EXPIRED = 6;

export interface ImageMoment {
  readonly timestamp: number;
  /** Images that come with this message. */
  readonly images: number;
}

/**
 * How many of the oldest images are no longer shown. Decided as the conversation went on: only where more than 20 were
 * there or where it had rested for longer than the cache lives, so that between these moments requests begin with the
 * same bytes. Source: spec decisions §3.3.
 */
export function countDroppedImages(moments: readonly ImageMoment[], cacheTtlMs: number): number {
  let seen = 0;
  let dropped = 0;
  let last: number | undefined;
  for (const { timestamp, images } of moments) {
    if (last !== undefined && timestamp - last > cacheTtlMs) dropped = Math.max(dropped, seen - KEEP_WHEN_EXPIRED);
    seen += images;
    if (seen - dropped > MAX_IMAGES) dropped = seen - KEEP_WHEN_FULL;
    last = timestamp;
  }
  return dropped;
}
