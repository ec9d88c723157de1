import type { MarkdownIR } from "./ir.ts";

export type TableMode = "off" | "bullets" | "code";

export interface ParsedTable {
  readonly header: readonly MarkdownIR[];
  readonly rows: readonly (readonly MarkdownIR[])[];
}

/** Columns a monospaced font needs: East Asian wide characters and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code === 0x200d || (code >= 0x300 && code <= 0x36f) || (code >= 0xfe00 && code <= 0xfe0f)) continue;
    const wide =
      (code >= 0x1100 && code <= 0x115f) ||
      (code >= 0x2e80 && code <= 0xa4cf) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) ||
      (code >= 0xffe0 && code <= 0xffe6) ||
      (code >= 0x1f300 && code <= 0x1faff) ||
      (code >= 0x20000 && code <= 0x3fffd);
    width += wide ? 2 : 1;
  }
  return width;
}

/** The table as an aligned pipe table, one line per row, without a final line end. */
export function alignTable(table: ParsedTable): string {
  const rows = [table.header, ...table.rows].map((row) => row.map((cell) => cell.text.replace(/\s*\n\s*/g, " ").trim()));
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, c) => Math.max(3, ...rows.map((row) => displayWidth(row[c] ?? ""))));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, c) => (cells[c] ?? "") + " ".repeat(width - displayWidth(cells[c] ?? ""))).join(" | ")} |`;
  const [header = [], ...body] = rows;
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}
