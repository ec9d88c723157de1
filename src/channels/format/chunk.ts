import { type ChunkMode, safeCutIndex } from "../../infra/text/index.ts";
import { type MarkdownIR, sliceIR } from "./ir.ts";

/**
 * Splits by the length of the visible text: pieces of at most `limit` UTF-16 units, each with the styles that cover it, so
 * that a renderer closes and reopens its tags by itself. Cuts on line ends, then blanks outside parentheses, then between
 * characters; blanks at cuts are dropped, code keeps all but the line end at the cut. @throws RangeError when limit < 2
 */
export function chunkIR(ir: MarkdownIR, limit: number, mode: ChunkMode = "length"): MarkdownIR[] {
  if (limit < 2) throw new RangeError(`text limit must be at least 2, not ${limit}`);
  const pieces: MarkdownIR[] = [];
  for (const [from, to] of mode === "newline" ? paragraphs(ir) : [[0, ir.text.length] as const]) {
    let at = from;
    while (at < to) {
      if (to - at <= limit) {
        push(pieces, ir, at, to);
        break;
      }
      const cut = Math.min(findCut(ir, at, at + limit), at + limit);
      push(pieces, ir, at, cut);
      at = skip(ir, cut, to);
    }
  }
  return pieces;
}

function push(pieces: MarkdownIR[], ir: MarkdownIR, start: number, end: number): void {
  if (ir.text.slice(start, end).trim() !== "") pieces.push(sliceIR(ir, start, end));
}

const inCode = (ir: MarkdownIR, index: number): boolean =>
  ir.styles.some((span) => span.style === "code_block" && span.start < index && index < span.end);

function paragraphs(ir: MarkdownIR): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  let start = 0;
  for (const match of ir.text.matchAll(/\n[ \t]*\n\s*/g)) {
    if (inCode(ir, match.index + 1)) continue;
    ranges.push([start, match.index]);
    start = match.index + match[0].lastIndexOf("\n") + 1;
  }
  ranges.push([start, ir.text.length]);
  return ranges;
}

function findCut(ir: MarkdownIR, at: number, to: number): number {
  let outside: number | undefined;
  let newline: number | undefined;
  let blank: number | undefined;
  let depth = 0;
  for (let index = at; index <= to; index++) {
    const char = ir.text[index];
    if (char === "\n") {
      depth = 0;
      if (index > at) {
        newline = index;
        if (!inCode(ir, index)) outside = index;
      }
    } else if (char === "(") depth++;
    else if (char === ")") depth = Math.max(0, depth - 1);
    else if (index > at && depth === 0 && (char === " " || char === "\t")) blank = index;
  }
  return outside ?? newline ?? blank ?? safeCutIndex(ir.text, to, at);
}

function skip(ir: MarkdownIR, cut: number, end: number): number {
  const code = inCode(ir, cut) || inCode(ir, cut + 1);
  let at = cut;
  if (code) return ir.text[at] === "\n" ? at + 1 : at;
  if (at < end && /\s/.test(ir.text[at] ?? "")) at++;
  while (at < end && ir.text[at] === "\n" && !inCode(ir, at + 1)) at++;
  return at;
}
