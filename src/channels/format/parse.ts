import MarkdownIt, { type Token } from "markdown-it";
import type { LinkSpan, MarkdownIR, StyleName, StyleSpan } from "./ir.ts";
import { alignTable, type ParsedTable, type TableMode } from "./tables.ts";

export interface MarkdownOptions {
  /** Default `plain`. */
  readonly headings?: "plain" | "bold" | undefined;
  /** Bare addresses become links. Default true. */
  readonly linkify?: boolean | undefined;
  /** `||text||` hides its text. Default false: the bars are literal. */
  readonly spoilers?: boolean | undefined;
  /** Default `code`. */
  readonly tables?: TableMode | undefined;
  /** Written before each line of a quote; without it a quote is a style. */
  readonly quotePrefix?: string | undefined;
}

/**
 * CommonMark (with strikethrough and tables, without raw HTML) as text and ranges.
 * Total: any string gives a result. Source: spec channels §3.
 */
export function markdownToIR(markdown: string, options: MarkdownOptions = {}): MarkdownIR {
  const parser = new MarkdownIt({ html: false, linkify: options.linkify !== false, breaks: false });
  if (options.tables === "off") parser.disable("table");
  const builder = new Builder(options);
  builder.blocks(parser.parse(markdown.replaceAll("\r\n", "\n"), {}));
  return builder.finish();
}

/** Only the visible text. */
export function markdownToText(markdown: string, options: MarkdownOptions = {}): string {
  return markdownToIR(markdown, options).text;
}

interface List {
  readonly ordered: boolean;
  next: number;
}

class Builder {
  private text = "";
  private readonly styles: StyleSpan[] = [];
  private readonly links: LinkSpan[] = [];
  private readonly open: { style: StyleName; start: number }[] = [];
  private readonly lists: List[] = [];
  private link: { start: number; href: string; auto: boolean } | undefined;
  /** Trailing blanks before this index belong to code and stay. */
  private keepUntil = 0;
  private readonly options: MarkdownOptions;

  constructor(options: MarkdownOptions) {
    this.options = options;
  }

  blocks(tokens: readonly Token[]): void {
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i];
      if (!token) continue;
      switch (token.type) {
        case "inline":
          this.inline(token.children ?? []);
          break;
        case "paragraph_close":
          this.text += token.hidden ? (this.lists.length > 0 ? "\n" : "") : "\n\n";
          break;
        case "heading_open":
          if (this.options.headings === "bold") this.push("bold");
          break;
        case "heading_close":
          if (this.options.headings === "bold") this.pop("bold");
          this.text += "\n\n";
          break;
        case "bullet_list_open":
        case "ordered_list_open":
          if (this.lists.length > 0) this.endLine();
          this.lists.push({ ordered: token.type === "ordered_list_open", next: Number(token.attrGet("start") ?? 1) });
          break;
        case "bullet_list_close":
        case "ordered_list_close":
          this.lists.pop();
          this.endLine();
          if (this.lists.length === 0 && !this.text.endsWith("\n\n")) this.text += "\n";
          break;
        case "list_item_open":
          this.item();
          break;
        case "list_item_close":
          this.endLine();
          break;
        case "blockquote_open":
          this.push("blockquote");
          break;
        case "blockquote_close":
          this.pop("blockquote");
          break;
        case "fence":
        case "code_block":
          this.code(token.content, token.info.trim().split(/\s+/)[0]);
          break;
        case "hr":
          this.text += "───\n\n";
          break;
        case "table_open": {
          const end = tokens.findIndex((t, at) => at > i && t.type === "table_close");
          this.table(tokens.slice(i + 1, end));
          i = end;
          break;
        }
        default:
      }
    }
  }

  finish(): MarkdownIR {
    let end = this.text.length;
    while (end > this.keepUntil && /\s/.test(this.text[end - 1] ?? "")) end--;
    const clamp = <T extends { readonly start: number; readonly end: number }>(spans: readonly T[]): T[] =>
      spans.map((span) => ({ ...span, end: Math.min(span.end, end) })).filter((span) => span.end > span.start);
    const byPlace = (a: StyleSpan, b: StyleSpan): number => a.start - b.start || b.end - a.end;
    const ir = { text: this.text.slice(0, end), styles: clamp(this.styles).toSorted(byPlace), links: clamp(this.links) };
    return this.options.quotePrefix === undefined ? ir : prefixQuotes(ir, this.options.quotePrefix);
  }

  private inline(tokens: readonly Token[]): void {
    const bars = this.options.spoilers ? countBars(tokens) : 0;
    let usableBars = bars - (bars % 2);
    let spoiler = false;
    for (const token of tokens) {
      switch (token.type) {
        case "text": {
          const parts = usableBars > 0 ? token.content.split("||") : [token.content];
          parts.forEach((part, index) => {
            if (index > 0) {
              if (usableBars > 0) {
                usableBars--;
                if (spoiler) this.pop("spoiler");
                else this.push("spoiler");
                spoiler = !spoiler;
              } else this.text += "||";
            }
            this.text += part;
          });
          break;
        }
        case "softbreak":
        case "hardbreak":
          this.text += "\n";
          break;
        case "code_inline":
          this.push("code");
          this.text += token.content;
          this.pop("code");
          break;
        case "strong_open":
          this.push("bold");
          break;
        case "strong_close":
          this.pop("bold");
          break;
        case "em_open":
          this.push("italic");
          break;
        case "em_close":
          this.pop("italic");
          break;
        case "s_open":
          this.push("strikethrough");
          break;
        case "s_close":
          this.pop("strikethrough");
          break;
        case "link_open":
          this.link = { start: this.text.length, href: String(token.attrGet("href") ?? ""), auto: token.markup === "linkify" || token.markup === "autolink" };
          break;
        case "link_close":
          this.closeLink();
          break;
        case "image":
          this.text += token.content;
          break;
        default:
          this.text += token.content;
      }
    }
  }

  private closeLink(): void {
    const { link } = this;
    this.link = undefined;
    if (!link || link.href === "" || link.start === this.text.length) return;
    this.links.push({ start: link.start, end: this.text.length, href: link.href, ...(link.auto ? { auto: true } : {}) });
  }

  private item(): void {
    const list = this.lists.at(-1);
    if (!list) return;
    this.text += "  ".repeat(this.lists.length - 1) + (list.ordered ? `${list.next++}. ` : "• ");
  }

  private endLine(): void {
    if (this.text !== "" && !this.text.endsWith("\n")) this.text += "\n";
  }

  private code(content: string, language: string | undefined): void {
    const start = this.text.length;
    this.text += content.endsWith("\n") ? content : `${content}\n`;
    this.styles.push({ start, end: this.text.length, style: "code_block", ...(language ? { language } : {}) });
    this.keepUntil = this.text.length;
    this.text += "\n";
  }

  private table(tokens: readonly Token[]): void {
    const table = this.readTable(tokens);
    if (this.options.tables === "bullets") this.bullets(table);
    else this.code(alignTable(table), undefined);
  }

  private readTable(tokens: readonly Token[]): ParsedTable {
    const rows: MarkdownIR[][] = [];
    for (const token of tokens) {
      if (token.type === "tr_open") rows.push([]);
      else if (token.type === "inline") {
        const cell = new Builder({ ...this.options, quotePrefix: undefined });
        cell.inline(token.children ?? []);
        rows.at(-1)?.push(cell.finish());
      }
    }
    const [header = [], ...body] = rows;
    return { header, rows: body };
  }

  /** Each row as its first cell in bold and one bullet per further column. */
  private bullets(table: ParsedTable): void {
    for (const row of table.rows) {
      const [first, ...others] = row;
      this.push("bold");
      if (first) this.append(first);
      this.pop("bold");
      this.text += "\n";
      others.forEach((cell, index) => {
        const label = table.header[index + 1]?.text ?? "";
        if (cell.text === "") return;
        this.text += label === "" ? "• " : `• ${label}: `;
        this.append(cell);
        this.text += "\n";
      });
      this.text += "\n";
    }
  }

  private append(ir: MarkdownIR): void {
    const at = this.text.length;
    this.text += ir.text;
    for (const span of ir.styles) this.styles.push({ ...span, start: span.start + at, end: span.end + at });
    for (const span of ir.links) this.links.push({ ...span, start: span.start + at, end: span.end + at });
  }

  private push(style: StyleName): void {
    this.open.push({ style, start: this.text.length });
  }

  private pop(style: StyleName): void {
    const index = this.open.findLastIndex((entry) => entry.style === style);
    const entry = this.open[index];
    if (!entry) return;
    this.open.splice(index, 1);
    if (entry.start < this.text.length) this.styles.push({ start: entry.start, end: this.text.length, style });
  }
}

function countBars(tokens: readonly Token[]): number {
  return tokens.reduce((sum, token) => sum + (token.type === "text" ? token.content.split("||").length - 1 : 0), 0);
}

/** Writes `prefix` before every line of every quote and drops the style. */
function prefixQuotes(ir: MarkdownIR, prefix: string): MarkdownIR {
  const inserts: number[] = [];
  for (const quote of ir.styles.filter((span) => span.style === "blockquote")) {
    const end = quote.start + ir.text.slice(quote.start, quote.end).trimEnd().length;
    inserts.push(quote.start);
    for (let at = ir.text.indexOf("\n", quote.start); at !== -1 && at < end; at = ir.text.indexOf("\n", at + 1)) inserts.push(at + 1);
  }
  inserts.sort((a, b) => a - b);
  const shift = (position: number, isStart: boolean): number =>
    position + prefix.length * inserts.filter((at) => (isStart ? at <= position : at < position)).length;
  let text = "";
  let from = 0;
  for (const at of inserts) {
    text += ir.text.slice(from, at) + prefix;
    from = at;
  }
  text += ir.text.slice(from);
  const move = <T extends { readonly start: number; readonly end: number }>(span: T): T => ({ ...span, start: shift(span.start, true), end: shift(span.end, false) });
  return { text, styles: ir.styles.filter((span) => span.style !== "blockquote").map(move), links: ir.links.map(move) };
}
