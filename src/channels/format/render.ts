import type { LinkSpan, MarkdownIR, StyleSpan } from "./ir.ts";

/** How a channel writes markup. A mark is [opening, closing]; undefined leaves the range unmarked. */
export interface MarkupRenderer {
  escapeText(text: string): string;
  style(span: StyleSpan): readonly [string, string] | undefined;
  link(span: LinkSpan, label: string): readonly [string, string] | undefined;
}

interface Mark {
  readonly start: number;
  readonly end: number;
  readonly open: string;
  readonly close: string;
}

/**
 * Text with marks that always nest: where two ranges overlap without one holding the other, the later-opened one is closed
 * and opened again. Empty marks are never written.
 */
export function renderMarkup(ir: MarkdownIR, renderer: MarkupRenderer): string {
  const marks = collectMarks(ir, renderer);
  const edges = [...new Set([0, ir.text.length, ...marks.flatMap((mark) => [mark.start, mark.end])])].toSorted((a, b) => a - b);
  let out = "";
  let open: Mark[] = [];
  edges.forEach((at, index) => {
    const keep = open.findIndex((mark) => mark.end <= at);
    if (keep !== -1) {
      const closing = open.slice(keep);
      for (const mark of closing.toReversed()) out += mark.close;
      const survivors = closing.filter((mark) => mark.end > at);
      open = open.slice(0, keep);
      for (const mark of survivors) {
        out += mark.open;
        open.push(mark);
      }
    }
    for (const mark of marks) {
      if (mark.start !== at) continue;
      out += mark.open;
      open.push(mark);
    }
    const next = edges[index + 1];
    if (next !== undefined) out += renderer.escapeText(ir.text.slice(at, next));
  });
  return out;
}

function collectMarks(ir: MarkdownIR, renderer: MarkupRenderer): Mark[] {
  const marks: Mark[] = [];
  const add = (span: { start: number; end: number }, mark: readonly [string, string] | undefined): void => {
    if (mark && span.end > span.start) marks.push({ start: span.start, end: span.end, open: mark[0], close: mark[1] });
  };
  for (const link of ir.links) add(link, renderer.link(link, ir.text.slice(link.start, link.end)));
  for (const style of ir.styles) add(style, renderer.style(style));
  return marks.toSorted((a, b) => a.start - b.start || b.end - a.end);
}
