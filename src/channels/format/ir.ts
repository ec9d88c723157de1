/** Markdown in a form that every channel can render: plain text plus ranges. Source: spec channels §3. */
export type StyleName = "bold" | "italic" | "strikethrough" | "code" | "code_block" | "spoiler" | "blockquote";

export interface StyleSpan {
  readonly start: number;
  readonly end: number;
  readonly style: StyleName;
  /** Of a code block, when its fence names one. */
  readonly language?: string | undefined;
}

export interface LinkSpan {
  readonly start: number;
  readonly end: number;
  readonly href: string;
  /** Written as a bare address, not as [label](address). */
  readonly auto?: boolean | undefined;
}

/** Positions are UTF-16 indexes into `text`; spans never are empty. */
export interface MarkdownIR {
  readonly text: string;
  readonly styles: readonly StyleSpan[];
  readonly links: readonly LinkSpan[];
}

/** The part of `ir` between two positions, with its own positions. */
export function sliceIR(ir: MarkdownIR, start: number, end: number): MarkdownIR {
  const cut = <T extends { readonly start: number; readonly end: number }>(spans: readonly T[]): T[] =>
    spans
      .filter((span) => span.start < end && span.end > start)
      .map((span) => ({ ...span, start: Math.max(span.start, start) - start, end: Math.min(span.end, end) - start }));
  return { text: ir.text.slice(start, end), styles: cut(ir.styles), links: cut(ir.links) };
}
