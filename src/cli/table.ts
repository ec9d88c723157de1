import { stripVTControlCharacters } from "node:util";

export interface Column {
  readonly title: string;
  /** Gives way when the table is too wide; others keep their width. */
  readonly flexible?: boolean | undefined;
}

const MIN_FLEXIBLE = 12;
const MIN_TOTAL = 40;
const WIDE = /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}\uFE0F]/u;

/** Columns of a terminal that the text takes: CJK and emoji two, colour codes and joiners none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of stripVTControlCharacters(text)) width += NO_WIDTH.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}

/** A box-drawn table that fits `width` columns as far as its flexible columns allow; long cells wrap. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  const cells = rows.map((row) => columns.map((_, i) => row[i] ?? ""));
  const widths = columns.map((column, i) => Math.max(displayWidth(column.title), ...cells.map((row) => widestLine(row[i] ?? ""))));
  const frame = columns.length * 3 + 1;
  let excess = widths.reduce((sum, w) => sum + w, frame) - Math.max(width, MIN_TOTAL);
  while (excess > 0) {
    const i = widest(widths, columns);
    if (i === undefined) break;
    widths[i] = (widths[i] ?? 0) - 1;
    excess--;
  }
  const rule = (left: string, middle: string, right: string): string => left + widths.map((w) => "─".repeat(w + 2)).join(middle) + right;
  const line = (row: readonly string[]): string[] => {
    const parts = row.map((cell, i) => wrapCell(cell, widths[i] ?? 1));
    const height = Math.max(...parts.map((p) => p.length));
    return Array.from({ length: height }, (_, y) => `│${parts.map((p, i) => ` ${pad(p[y] ?? "", widths[i] ?? 1)} `).join("│")}│`);
  };
  return [
    rule("┌", "┬", "┐"),
    ...line(columns.map((c) => c.title)),
    rule("├", "┼", "┤"),
    ...cells.flatMap(line),
    rule("└", "┴", "┘"),
  ].join("\n");
}

const widestLine = (cell: string): number => Math.max(...cell.split("\n").map(displayWidth));

function widest(widths: readonly number[], columns: readonly Column[]): number | undefined {
  let best: number | undefined;
  for (const [i, w] of widths.entries()) {
    if (columns[i]?.flexible === true && w > MIN_FLEXIBLE && w > (best === undefined ? 0 : (widths[best] ?? 0))) best = i;
  }
  return best;
}

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - displayWidth(text)));

/** Breaks at spaces, else inside a word. Colour codes are kept only where the cell fits in one line. */
function wrapCell(cell: string, width: number): string[] {
  return cell.split("\n").flatMap((line) => {
    if (displayWidth(line) <= width) return [line];
    const out: string[] = [];
    let current = "";
    for (const word of stripVTControlCharacters(line).split(/(?<= )/)) {
      if (displayWidth(current + word.trimEnd()) <= width) {
        current += word;
        continue;
      }
      if (current.trim() !== "") out.push(current.trimEnd());
      current = "";
      for (const char of word) {
        if (displayWidth(current + char) > width) {
          out.push(current);
          current = "";
        }
        current += char;
      }
    }
    out.push(current.trimEnd());
    return out;
  });
}
