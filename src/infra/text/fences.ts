/** One fenced code block of a Markdown text. All positions are UTF-16 indexes. Source: CommonMark §4.5. */
export interface FenceSpan {
  /** Start of the opening line. */
  readonly start: number;
  /** First index after the opening line's line end (equal to `end` when the block has no further line). */
  readonly contentStart: number;
  /** Start of the closing line; equal to `end` when the block is never closed. */
  readonly contentEnd: number;
  /** End of the closing line without its line end; the end of the text when never closed. */
  readonly end: number;
  /** The opening line as written, info string included. */
  readonly openLine: string;
  /** What closes it: indent and marker. */
  readonly closeLine: string;
  readonly closed: boolean;
}

const OPENING = /^( {0,3})(`{3,}|~{3,})([^\n]*)$/;

/** Fenced blocks in order of their start; an unclosed one runs to the end of the text. */
export function parseFenceSpans(text: string): FenceSpan[] {
  const spans: FenceSpan[] = [];
  let open: { start: number; contentStart: number; indent: string; marker: string; openLine: string } | undefined;
  let lineStart = 0;
  while (lineStart <= text.length) {
    const newline = text.indexOf("\n", lineStart);
    const lineEnd = newline === -1 ? text.length : newline;
    const line = text.slice(lineStart, lineEnd);
    if (open) {
      if (closes(line, open.marker)) {
        spans.push({ ...toSpan(open), contentEnd: lineStart, end: lineEnd, closed: true });
        open = undefined;
      }
    } else {
      const match = OPENING.exec(line);
      const [, indent = "", marker = "", info = ""] = match ?? [];
      if (match && !(marker.startsWith("`") && info.includes("`"))) {
        open = { start: lineStart, contentStart: Math.min(lineEnd + 1, text.length), indent, marker, openLine: line };
      }
    }
    if (newline === -1) break;
    lineStart = newline + 1;
  }
  if (open) spans.push({ ...toSpan(open), contentEnd: text.length, end: text.length, closed: false });
  return spans;
}

const toSpan = (open: { start: number; contentStart: number; indent: string; marker: string; openLine: string }) => ({
  start: open.start,
  contentStart: open.contentStart,
  openLine: open.openLine,
  closeLine: open.indent + open.marker,
});

function closes(line: string, marker: string): boolean {
  const trimmed = line.trimEnd();
  const bare = trimmed.trimStart();
  if (trimmed.length - bare.length > 3 || bare.length < marker.length) return false;
  for (const char of bare) if (char !== marker[0]) return false;
  return true;
}

/** The block that a cut at `index` would tear, if any: start < index < end. */
export function fenceAt(spans: readonly FenceSpan[], index: number): FenceSpan | undefined {
  let low = 0;
  let high = spans.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const span = spans[middle];
    if (!span) return undefined;
    if (index <= span.start) high = middle - 1;
    else if (index >= span.end) low = middle + 1;
    else return span;
  }
  return undefined;
}
