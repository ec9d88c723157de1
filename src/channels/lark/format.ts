import { alignTable, markdownToText } from "../format/index.ts";
import { chunkMarkdownText, fenceAt, parseFenceSpans } from "../../infra/text/index.ts";
import type { OutboundButton } from "../contract/index.ts";
import type { LarkConfig } from "./config.ts";

/** Source: spec channels-cn §4.1, §4.5 (limits): a card holds 30 KB, a post 150 KB, of which JSON takes its share. */
export const DEFAULT_TEXT_LIMIT = 4000;
const MAX_CARD_BYTES = 24_000;
const MAX_POST_BYTES = 100_000;

export type TextFormat = "card" | "post";
export interface MentionTarget {
  readonly openId: string;
  readonly name: string;
}

export interface TextPart {
  readonly format: TextFormat;
  /** Markdown of the platform. */
  readonly text: string;
}

/** Whether this answer goes into a card: always, never, or for what a post cannot show. */
export function isCardText(markdown: string, renderMode: LarkConfig["renderMode"] = "auto"): boolean {
  if (renderMode !== "auto") return renderMode === "card";
  return /^\s{0,3}(?:```|~~~)/m.test(markdown) || TABLE_HEAD.test(markdown);
}

/** The answer as messages of the platform. */
export function toTextParts(markdown: string, config: LarkConfig, format: TextFormat): TextPart[] {
  const text = toLarkMarkdown(markdown, config, format);
  if (text === "") return [];
  const limit = Math.max(64, config.textChunkLimit ?? DEFAULT_TEXT_LIMIT);
  return chunkMarkdownText(text, limit, config.chunkMode).flatMap((chunk) => splitToBytes(chunk, format === "card" ? MAX_CARD_BYTES : MAX_POST_BYTES)).map((chunk) => ({ format, text: chunk }));
}

/** The answer as one card shows it, or undefined when it is too long for one. */
export function toCardText(markdown: string, config: LarkConfig): string | undefined {
  const text = toLarkMarkdown(markdown, config, "card");
  return Buffer.byteLength(JSON.stringify(text)) <= MAX_CARD_BYTES ? text : undefined;
}

function splitToBytes(text: string, maxBytes: number): string[] {
  if (Buffer.byteLength(JSON.stringify(text)) <= maxBytes || text.length < 128) return [text];
  return chunkMarkdownText(text, Math.max(64, Math.ceil(text.length / 2))).flatMap((part) => splitToBytes(part, maxBytes));
}

function toLarkMarkdown(markdown: string, { markdown: how = {} }: LarkConfig, format: TextFormat): string {
  if (how.mode === "strip") return markdownToText(markdown).trim();
  if (how.mode === "escape") return markdown.replace(/[\\`*_~[\]<>#|]/g, "\\$&").trim();
  return outsideFences(convertTables(markdown, tableStyle(how, format)), plainImages).trim();
}

type TableStyle = "native" | "code" | "bullets";

function tableStyle({ tableMode, tables }: NonNullable<LarkConfig["markdown"]>, format: TextFormat): TableStyle {
  if (tableMode !== undefined) return tableMode === "native" ? "native" : tableMode === "ascii" ? "code" : "bullets";
  if (tables !== undefined) return tables === "off" ? "native" : tables;
  // Cards have tables, posts have not.
  return format === "card" ? "native" : "code";
}

/** Pictures are shown by their keys only: an address becomes a link. */
const plainImages = (text: string): string => text.replace(/!\[([^\]\n]*)\]\((https?:[^)\s]+)[^)\n]*\)/g, (_whole, alt: string, url: string) => `[${alt || "image"}](${url})`);

function outsideFences(text: string, change: (part: string) => string): string {
  let at = 0;
  let out = "";
  for (const { start, end } of parseFenceSpans(text)) {
    out += change(text.slice(at, start)) + text.slice(start, end);
    at = end;
  }
  return out + change(text.slice(at));
}

const TABLE_HEAD = /^[ \t]*\|.*\|[ \t]*\r?\n[ \t]*\|[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/m;
const DELIMITER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

function convertTables(markdown: string, style: TableStyle): string {
  if (style === "native") return markdown;
  const spans = parseFenceSpans(markdown);
  const lines = markdown.split("\n");
  const out: string[] = [];
  let offset = 0;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const next = lines[i + 1] ?? "";
    const isTable = line.includes("|") && next.includes("|") && DELIMITER.test(next) && !fenceAt(spans, offset + 1);
    offset += line.length + 1;
    if (!isTable) {
      out.push(line);
      continue;
    }
    const rows: string[][] = [];
    for (i += 1, offset += next.length + 1; (lines[i + 1] ?? "").includes("|"); i++) {
      rows.push(cellsOf(lines[i + 1] ?? ""));
      offset += (lines[i + 1] ?? "").length + 1;
    }
    out.push(...renderTable(cellsOf(line), rows, style));
  }
  return out.join("\n");
}

function renderTable(header: readonly string[], rows: readonly (readonly string[])[], style: "code" | "bullets"): string[] {
  const cell = (text: string) => ({ text, styles: [], links: [] });
  if (style === "code") return ["```", alignTable({ header: header.map(cell), rows: rows.map((row) => row.map(cell)) }), "```"];
  return rows.flatMap(([first = "", ...rest]) => [`**${first}**`, ...rest.map((text, at) => `- ${header[at + 1] ? `${header[at + 1]}: ` : ""}${text}`), ""]);
}

const cellsOf = (line: string): string[] => line.trim().replace(/^\|/, "").replace(/\|$/, "").split(/(?<!\\)\|/).map((text) => text.trim().replaceAll("\\|", "|"));

/** People named at the beginning of an answer. Source: spec channels-cn §4.5. */
export function mentionText(targets: readonly MentionTarget[], format: TextFormat): string {
  return targets.map(({ openId, name }) => (format === "card" ? `<at id=${openId}></at>` : `<at user_id="${openId}">${name.replace(/[<>]/g, "")}</at>`)).join(" ");
}

/** `content` of a message of type post. */
export const postContent = (text: string): string => JSON.stringify({ zh_cn: { content: [[{ tag: "md", text }]] } });

/** `content` of a message of type interactive. */
export const cardContent = (text: string, buttons: readonly (readonly OutboundButton[])[] = []): string =>
  JSON.stringify({ schema: "2.0", config: { wide_screen_mode: true }, body: { elements: [{ tag: "markdown", content: text }, ...buttons.map(buttonRow)] } });

function buttonRow(row: readonly OutboundButton[]): object {
  const button = ({ text, callbackData }: OutboundButton): object => ({ tag: "button", type: "default", text: { tag: "plain_text", content: text }, behaviors: [{ type: "callback", value: { callback: callbackData } }] });
  return { tag: "column_set", flex_mode: "flow", columns: row.map((one) => ({ tag: "column", width: "auto", elements: [button(one)] })) };
}

export const STREAM_ELEMENT = "content";

/** A card that grows. */
export const streamingCard = (text: string): string =>
  JSON.stringify({
    schema: "2.0",
    config: { streaming_mode: true, summary: { content: "…" }, streaming_config: { print_frequency_ms: { default: 50 }, print_step: { default: 2 } } },
    body: { elements: [{ tag: "markdown", content: text, element_id: STREAM_ELEMENT }] },
  });
