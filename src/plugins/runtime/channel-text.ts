import { alignTable, markdownToIR, type TableMode } from "../../channels/format/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { chunkMarkdownText as chunkMarkdown, chunkPlainText, fenceAt, parseFenceSpans, type ChunkMode } from "../../infra/text/index.ts";
import { accountFields, asFields, numberOf } from "./section.ts";

/** Texts on their way to a platform. A limit below 2 means none. Source: spec plugin-sdk §13, channels §2.6, §3. */

const DEFAULT_LIMIT = 4000;

const isWhole = (text: string, limit: number): boolean => !(limit >= 2) || text.length <= limit;
const whole = (text: string): string[] => (text === "" ? [] : [text]);

export const chunkText = (text: string, limit: number): string[] => (isWhole(text, limit) ? whole(text) : chunkPlainText(text, Math.trunc(limit)));
export const chunkMarkdownText = (text: string, limit: number): string[] => (isWhole(text, limit) ? whole(text) : chunkMarkdown(text, Math.trunc(limit)));

/** `newline`: one piece for each paragraph. */
export function chunkMarkdownTextWithMode(text: string, limit: number, mode: ChunkMode): string[] {
  if (mode !== "newline") return chunkMarkdownText(text, limit);
  return chunkMarkdown(text, limit >= 2 ? Math.trunc(limit) : Number.MAX_SAFE_INTEGER, "newline");
}

export function chunkTextWithMode(text: string, limit: number, mode: ChunkMode): string[] {
  if (mode !== "newline") return chunkText(text, limit);
  return text.split(/\n[ \t]*\n\s*/).filter((part) => part.trim() !== "").flatMap((part) => chunkText(part.trim(), limit));
}

/** Line by line; blank lines go to the line after them. */
export function chunkByNewline(text: string, maxLineLength: number, options: { readonly splitLongLines?: boolean | undefined; readonly trimLines?: boolean | undefined } = {}): string[] {
  const chunks: string[] = [];
  let blanks = 0;
  for (const raw of text.split("\n")) {
    const line = options.trimLines === false ? raw : raw.trim();
    if (line.trim() === "") {
      blanks++;
      continue;
    }
    const lead = chunks.length === 0 ? "" : "\n".repeat(blanks);
    blanks = 0;
    const parts = options.splitLongLines === false ? [line] : chunkText(line, maxLineLength);
    chunks.push(...parts.map((part, index) => (index === 0 ? lead + part : part)));
  }
  return chunks;
}

export function resolveTextChunkLimit(cfg: OpenClawConfig | undefined, channel?: string, accountId?: string | null, options: { readonly fallbackLimit?: number | undefined } = {}): number {
  const fallback = options.fallbackLimit !== undefined && options.fallbackLimit > 0 ? options.fallbackLimit : DEFAULT_LIMIT;
  const configured = cfg && channel ? numberOf(accountFields(cfg, channel, accountId)["textChunkLimit"]) : undefined;
  return configured !== undefined && configured > 0 ? configured : fallback;
}

export function resolveChunkMode(cfg: OpenClawConfig | undefined, channel?: string, accountId?: string | null): ChunkMode {
  return cfg && channel && accountFields(cfg, channel, accountId)["chunkMode"] === "newline" ? "newline" : "length";
}

const BULLET_CHANNELS: ReadonlySet<string> = new Set(["signal", "whatsapp"]);

export function resolveMarkdownTableMode({ cfg, channel, accountId }: { readonly cfg?: OpenClawConfig | undefined; readonly channel?: string | null | undefined; readonly accountId?: string | null | undefined }): TableMode {
  const fallback = channel && BULLET_CHANNELS.has(channel) ? "bullets" : "code";
  if (!cfg || !channel) return fallback;
  const configured = asFields(accountFields(cfg, channel, accountId)["markdown"])["tables"];
  return configured === "off" || configured === "bullets" || configured === "code" ? configured : fallback;
}

const DELIMITER = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const isRow = (line: string | undefined): line is string => line !== undefined && line.includes("|") && line.trim() !== "";

/** The cells of one row, without marks; a bar behind a backslash belongs to a cell. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => markdownToIR(cell.trim().replaceAll("\\|", "|"), { linkify: false, tables: "off" }).text.replace(/\s+/g, " ").trim());
}

/** Only the tables of a text are rewritten: as an aligned table in a code block, or as lists. */
export function convertMarkdownTables(markdown: string, mode: TableMode): string {
  if (mode === "off" || !markdown.includes("|")) return markdown;
  const spans = parseFenceSpans(markdown);
  const lines = markdown.split("\n");
  const out: string[] = [];
  let offset = 0;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const next = lines[at + 1];
    const startsTable = isRow(line) && next !== undefined && DELIMITER.test(next) && next.includes("-") && !fenceAt(spans, offset) && cellsOf(line).length === cellsOf(next).length;
    if (!startsTable) {
      out.push(line);
      offset += line.length + 1;
      continue;
    }
    let end = at + 2;
    while (isRow(lines[end])) end++;
    out.push(renderTable(cellsOf(line), lines.slice(at + 2, end).map(cellsOf), mode));
    offset += lines.slice(at, end).join("\n").length + 1;
    at = end - 1;
  }
  return out.join("\n");
}

function renderTable(header: readonly string[], rows: readonly (readonly string[])[], mode: Exclude<TableMode, "off">): string {
  if (mode === "code") {
    const cell = (text: string) => ({ text, styles: [], links: [] });
    return `\`\`\`\n${alignTable({ header: header.map(cell), rows: rows.map((row) => header.map((_, column) => cell(row[column] ?? ""))) })}\n\`\`\``;
  }
  // The first column names the row where there is more than one.
  const item = (name: string | undefined, value: string | undefined): string => `• ${name ? `${name}: ` : ""}${value ?? ""}`;
  if (header.length === 1) return rows.map((row) => item(header[0], row[0])).join("\n");
  return rows.map((row) => [row[0] ? `**${row[0]}**` : "", ...header.slice(1).map((name, column) => (row[column + 1] ? item(name, row[column + 1]) : ""))].filter(Boolean).join("\n")).join("\n\n");
}
