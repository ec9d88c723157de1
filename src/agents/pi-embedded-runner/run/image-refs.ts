import { fileURLToPath } from "node:url";

const HAS_EXTENSION = /\.(?:png|jpe?g|gif|webp|bmp|tiff?|heic|heif)$/i;
const WORD = /[^\s"'`()[\]<>|]+/g;
const PATH_START = /^(?:~?\/|\.{1,2}\/)/;
const MEDIA_NOTE = "[media attached";
const IMAGE_SOURCE = "[Image: source: ";
const MAX_NOTE_CHARS = 2048;

export interface ImageRef {
  readonly path: string;
  /** The file was received or made here: it is missed when it is gone. A path in a sentence is not. */
  readonly isAttachment: boolean;
}

interface Found extends ImageRef {
  readonly at: number;
}

/**
 * Images that a text names, in order: media notes, `[Image: source: …]`, and in what a person writes also `file://` and
 * paths that begin with /, ./ or ~/. Never a web address. Linear in the text, which may be an attacker's page.
 * Source: spec agent-pipeline §5.4.
 */
export function findImageRefs(text: string, isFromPerson: boolean): ImageRef[] {
  const found: Found[] = [];
  const notes: { readonly at: number; readonly end: number }[] = [];
  for (const { at, end, inner } of bracketed(text, MEDIA_NOTE)) {
    const path = noteImage(inner);
    if (path !== undefined) found.push({ at, path, isAttachment: true });
    notes.push({ at, end });
  }
  for (const { at, end, inner } of bracketed(text, IMAGE_SOURCE)) {
    if (!/^(?:https?|data):/i.test(inner)) found.push({ at, path: plainPath(inner.trim()), isAttachment: true });
    notes.push({ at, end });
  }
  if (isFromPerson) found.push(...pathsIn(blank(text, notes)));
  return found.filter((ref) => ref.path !== "").sort((a, b) => a.at - b.at).map(({ path, isAttachment }) => ({ path, isAttachment }));
}

/** Texts from `opener` to the next `]` on the same line. */
function* bracketed(text: string, opener: string): Generator<{ at: number; end: number; inner: string }> {
  for (let at = text.indexOf(opener); at >= 0; ) {
    const from = at + opener.length;
    const close = text.slice(from, from + MAX_NOTE_CHARS).search(/[\]\n]/);
    const end = from + close;
    const isNote = close >= 0 && text[end] === "]";
    if (isNote) yield { at, end: end + 1, inner: text.slice(from, end) };
    at = text.indexOf(opener, isNote ? end : from);
  }
}

/** The path of a note ` 1/2: <path> (<type>) | <url>` (what stands behind `[media attached`), if it is an image's. */
function noteImage(inner: string): string | undefined {
  const lead = /^(?: \d{1,4}\/\d{1,4})?: /.exec(inner)?.[0];
  if (lead === undefined) return undefined;
  const [named = ""] = inner.slice(lead.length).split("|", 1);
  const typeAt = named.trimEnd().endsWith(")") ? named.lastIndexOf(" (") : -1;
  if (typeAt < 0) return HAS_EXTENSION.test(named.trim()) ? named.trim() : undefined;
  return named.startsWith("image/", typeAt + 2) ? named.slice(0, typeAt).trim() : undefined;
}

function pathsIn(prose: string): Found[] {
  const found: Found[] = [];
  for (const { 0: word, index } of prose.matchAll(WORD)) {
    const path = word.replace(/[,.;:!?]{1,8}$/, "");
    if (HAS_EXTENSION.test(path) && (PATH_START.test(path) || path.startsWith("file://"))) found.push({ at: index, path: plainPath(path), isAttachment: false });
  }
  return found;
}

function blank(text: string, ranges: readonly { readonly at: number; readonly end: number }[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { at, end } of ranges.toSorted((a, b) => a.at - b.at)) {
    if (end <= from) continue;
    parts.push(text.slice(from, Math.max(from, at)), " ".repeat(end - Math.max(from, at)));
    from = end;
  }
  return `${parts.join("")}${text.slice(from)}`;
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
