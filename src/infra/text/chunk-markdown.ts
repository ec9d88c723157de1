import { type FenceSpan, fenceAt, parseFenceSpans } from "./fences.ts";
import { safeCutIndex } from "./graphemes.ts";

export type ChunkMode = "length" | "newline";

/** A piece of a longer text: text.slice(start, end) between an opening and a closing line that keep fences balanced. */
export interface MarkdownPiece {
  readonly start: number;
  readonly end: number;
  readonly prefix: string;
  readonly suffix: string;
}

/**
 * Splits Markdown into messages of at most `limit` UTF-16 units. A cut falls on the last line end, else on the last
 * blank outside parentheses, else where no character is torn; a code block that must be cut is closed and opened again
 * with its opening line. Only blanks at cuts are dropped. `newline`: one message per paragraph, longer ones cut as above.
 * Source: spec channels §2.6, agent-pipeline-output §6.3.
 * @throws RangeError when limit < 2, too small for one surrogate pair
 */
export function chunkMarkdownText(text: string, limit: number, mode: ChunkMode = "length"): string[] {
  return splitMarkdown(text, limit, mode).map((piece) => piece.prefix + text.slice(piece.start, piece.end) + piece.suffix);
}

/** `chunkMarkdownText` as ranges of the text; for callers that must know where each piece came from. */
export function splitMarkdown(text: string, limit: number, mode: ChunkMode = "length"): MarkdownPiece[] {
  if (limit < 2) throw new RangeError(`text limit must be at least 2, not ${limit}`);
  // A block whose own lines leave no room for content cannot be kept balanced: it is split like any text.
  const spans = parseFenceSpans(text).filter((s) => s.openLine.length + s.closeLine.length + MIN_FENCE_CONTENT <= limit);
  const ranges = mode === "newline" ? paragraphs(text, spans) : [{ start: 0, end: text.length }];
  return ranges.flatMap((range) => splitRange(text, spans, range, limit));
}

/** Splits text without markup in the same way; brackets and fences mean nothing here. @throws RangeError when limit < 2 */
export function chunkPlainText(text: string, limit: number): string[] {
  if (limit < 2) throw new RangeError(`text limit must be at least 2, not ${limit}`);
  return splitRange(text, [], { start: 0, end: text.length }, limit).map((piece) => text.slice(piece.start, piece.end));
}

/** Line ends and the least number of content characters in one piece of a code block. */
const MIN_FENCE_CONTENT = 10;

interface Range {
  readonly start: number;
  readonly end: number;
}

function paragraphs(text: string, spans: readonly FenceSpan[]): Range[] {
  const ranges: Range[] = [];
  let start = 0;
  for (const match of text.matchAll(/\n[ \t]*\n\s*/g)) {
    if (fenceAt(spans, match.index + 1)) continue;
    ranges.push({ start, end: match.index });
    // Blanks before the next line's text are its indent: kept.
    start = match.index + match[0].lastIndexOf("\n") + 1;
  }
  ranges.push({ start, end: text.length });
  return ranges.filter((range) => text.slice(range.start, range.end).trim() !== "");
}

function splitRange(text: string, spans: readonly FenceSpan[], range: Range, limit: number): MarkdownPiece[] {
  const pieces: MarkdownPiece[] = [];
  const push = (start: number, end: number, prefix = "", suffix = ""): void => {
    if (prefix !== "" || text.slice(start, end).trim() !== "") pieces.push({ start, end, prefix, suffix });
  };
  let at = range.start;
  let reopened: FenceSpan | undefined;
  while (text[at] === "\n" && at < range.end) at++;
  while (at < range.end) {
    const prefix = reopened ? `${reopened.openLine}\n` : "";
    const to = at + limit - prefix.length;
    if (range.end <= to) {
      push(at, range.end, prefix);
      break;
    }
    const outer = outerBreak(text, spans, at, to, reopened);
    if (outer !== undefined) {
      push(at, outer, prefix);
      at = skipBreak(text, outer, range.end);
      reopened = undefined;
      continue;
    }
    const fence = fenceAt(spans, to) ?? reopened;
    const inner = fence && innerBreak(text, fence, at, to);
    if (fence && inner !== undefined) {
      push(at, inner, prefix, `\n${fence.closeLine}`);
      const next = text[inner] === "\n" ? inner + 1 : inner;
      // Nothing but the closing line is left: it has just been written.
      const finished = text.slice(next, fence.contentEnd).trim() === "";
      at = finished ? skipBreak(text, fence.end, range.end) : next;
      reopened = finished ? undefined : fence;
      continue;
    }
    const hard = Math.min(safeCutIndex(text, to, at), to);
    push(at, hard, prefix);
    at = hard;
  }
  return pieces;
}

/** Last line end, else last blank outside parentheses, in (at, to], outside fences. */
function outerBreak(text: string, spans: readonly FenceSpan[], at: number, to: number, reopened: FenceSpan | undefined): number | undefined {
  let newline: number | undefined;
  let blank: number | undefined;
  let depth = 0;
  let index = at;
  if (reopened) {
    // The piece begins inside a block: only what follows that block counts.
    index = reopened.end;
    if (index > to) return undefined;
  }
  while (index <= to && index < text.length) {
    const fence = fenceAt(spans, index + 1);
    if (fence && fence.start >= index) {
      index = Math.max(fence.end, index + 1);
      continue;
    }
    const char = text[index];
    if (char === "\n") {
      depth = 0;
      if (index > at) newline = index;
    } else if (char === "(") depth++;
    else if (char === ")") depth = Math.max(0, depth - 1);
    else if (index > at && depth === 0 && (char === " " || char === "\t")) blank = index;
    index++;
  }
  return newline ?? blank;
}

/** Last line end of the block's content that leaves room for the closing line, else a cut that tears no character. */
function innerBreak(text: string, fence: FenceSpan, at: number, limit: number): number | undefined {
  const to = limit - fence.closeLine.length - 1;
  const from = Math.max(at, fence.contentStart);
  if (to <= from) return undefined;
  const newline = text.lastIndexOf("\n", to);
  if (newline > from) return newline;
  if (to >= fence.contentEnd) return undefined;
  const cut = safeCutIndex(text, to, from);
  return cut <= to ? cut : undefined;
}

function skipBreak(text: string, cut: number, end: number): number {
  let at = cut;
  if (at < end && /\s/.test(text[at] ?? "")) at++;
  while (at < end && (text[at] === "\n" || text[at] === "\r")) at++;
  return at;
}
