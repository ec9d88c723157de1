import { MAX_PARAM_BYTES } from "./api.ts";

export const DEFAULT_CHUNK_CHARS = 3800;
const TITLE_CHARS = 20;
/** Room for `title`, the mention and the JSON around the text. */
const PARAM_RESERVE_BYTES = 600;

export interface TextPart {
  readonly title: string;
  readonly text: string;
  readonly isMarkdown: boolean;
}

export interface FormatOptions {
  readonly limit: number;
  readonly convertTables: boolean;
  /** Hosts whose images may be shown; undefined: all. */
  readonly imageHosts?: readonly string[] | undefined;
}

/** Markdown as DingTalk shows it, cut into messages. Source: spec channels-cn §3.5 (Text). */
export function toTextParts(markdown: string, options: FormatOptions): TextPart[] {
  const text = cleanImages(options.convertTables ? convertTables(markdown) : markdown, options.imageHosts).trim();
  if (text === "") return [];
  const chunks = splitMarkdown(text, options.limit).flatMap((chunk) => splitToBytes(chunk));
  return chunks.map((chunk, index) => ({
    title: `${titleOf(chunk)}${chunks.length > 1 ? ` (${index + 1}/${chunks.length})` : ""}`,
    text: chunk, isMarkdown: isMarkdown(text),
  }));
}

export const isMarkdown = (text: string): boolean => /^[#*>-]|[*_`#[\]]/.test(text) || text.includes("\n");

function titleOf(text: string): string {
  const line = text.split("\n").map((one) => one.replace(/^```.*$/, "").replace(/!\[[^\]]*\]\([^)]*\)/g, "").replace(/^[#>\s*-]+|[*_`]/g, "").trim()).find(Boolean) ?? "";
  return [...line].slice(0, TITLE_CHARS).join("") || "OpenClaw";
}

/** `| a | b |` tables become a bold first cell with one line for each further column: the robot's Markdown has no tables. */
export function convertTables(markdown: string): string {
  const lines = markdown.split("\n");
  const out: string[] = [];
  let fence: string | undefined;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    fence = fenceAfter(line, fence);
    if (fence !== undefined || !line.includes("|") || !/^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[i + 1] ?? "") || !(lines[i + 1] ?? "").includes("-")) {
      out.push(line);
      continue;
    }
    const header = cellsOf(line);
    const rows: string[][] = [];
    for (i += 2; i < lines.length && (lines[i] ?? "").includes("|"); i++) rows.push(cellsOf(lines[i] ?? ""));
    i--;
    out.push(...rows.flatMap((row) => tableRow(header, row)));
  }
  return out.join("\n");
}

function tableRow(header: readonly string[], row: readonly string[]): string[] {
  const [first = "", ...rest] = row;
  const [label = "", ...labels] = header;
  const head = rest.length === 0 ? `- ${first}` : `**${label === "" ? first : `${label}: ${first}`}**`;
  return [head, ...rest.map((cell, at) => `- ${labels[at] ? `${labels[at]}: ` : ""}${cell}`), ""];
}

const cellsOf = (line: string): string[] => line.trim().replace(/^\|/, "").replace(/\|$/, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

/** Images on this machine and on hosts that are not allowed keep their words only. Media ids stand. */
function cleanImages(text: string, hosts: readonly string[] | undefined): string {
  return text.replace(/!\[([^\]\n]*)\]\(([^)\s]+)[^)\n]*\)/g, (whole, alt: string, target: string) => {
    if (target.startsWith("@")) return whole;
    const url = /^https?:/i.test(target) && URL.canParse(target) ? new URL(target) : undefined;
    if (!url) return alt;
    const isAllowed = hosts === undefined || hosts.some((host) => url.hostname === host || url.hostname.endsWith(`.${host.replace(/^\*?\./, "")}`));
    return isAllowed ? whole : alt;
  });
}

const fenceAfter = (line: string, open: string | undefined): string | undefined => {
  const mark = /^\s{0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  if (!mark?.[1]) return open;
  if (open === undefined) return line.trim();
  const openMark = /^[`~]+/.exec(open)?.[0] ?? "```";
  return mark[1].startsWith(openMark) && (mark[2] ?? "").trim() === "" ? undefined : open;
};

/**
 * Parts of at most `limit` UTF-16 units, cut after a line end, else at a blank, else anywhere but inside of a surrogate pair. A
 * fence that is open at a cut is closed and opened again. @throws RangeError when limit < 64
 */
export function splitMarkdown(text: string, limit: number): string[] {
  if (limit < 64) throw new RangeError("limit must be at least 64");
  const parts: string[] = [];
  let rest = text;
  let fence: string | undefined;
  while (true) {
    const prefix = fence === undefined ? "" : `${fence.length > limit / 4 ? "```" : fence}\n`;
    if (prefix.length + rest.length <= limit) {
      parts.push(prefix + rest);
      return parts;
    }
    const room = limit - prefix.length - 4;
    const cut = cutAt(rest, room);
    const piece = rest.slice(0, cut).replace(/\n$/, "");
    for (const line of piece.split("\n")) fence = fenceAfter(line, fence);
    const close = fence === undefined ? "" : `\n${/^[`~]{3}/.exec(fence)?.[0] ?? "```"}`;
    parts.push(prefix + piece + close);
    rest = fence === undefined ? rest.slice(cut).replace(/^\n+/, "") : rest.slice(cut);
    if (rest === "") return parts;
  }
}

function cutAt(text: string, room: number): number {
  const window = text.slice(0, room);
  const newline = window.lastIndexOf("\n");
  if (newline > 0) return newline + 1;
  const blank = window.lastIndexOf(" ");
  if (blank > room / 2) return blank + 1;
  const isPair = /[\uD800-\uDBFF]$/.test(window);
  return isPair ? room - 1 : room;
}

/** Text of few characters may still be many bytes as JSON. */
function splitToBytes(chunk: string): string[] {
  if (Buffer.byteLength(JSON.stringify(chunk)) <= MAX_PARAM_BYTES - PARAM_RESERVE_BYTES || chunk.length < 128) return [chunk];
  return splitMarkdown(chunk, Math.max(64, Math.ceil(chunk.length / 2))).flatMap(splitToBytes);
}
