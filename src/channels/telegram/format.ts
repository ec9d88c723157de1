import { chunkIR, type MarkdownIR, markdownToIR, renderMarkup, type StyleSpan, type TableMode } from "../format/index.ts";
import type { ChunkMode } from "../../infra/text/index.ts";

/** What Telegram counts: characters after entities are parsed. */
export const TELEGRAM_TEXT_MAX = 4096;
export const TELEGRAM_CAPTION_MAX = 1024;

/** One message: HTML for parse_mode HTML, and the same without markup for when Telegram refuses the HTML. */
export interface TelegramText {
  readonly html: string;
  readonly plain: string;
}

export interface TelegramFormatOptions {
  readonly tables?: TableMode | undefined;
  readonly limit?: number | undefined;
  readonly mode?: ChunkMode | undefined;
}

/** Markdown → Telegram messages, each at most `limit` visible characters with balanced tags. Source: spec channels §3. */
export function toTelegramTexts(markdown: string, options: TelegramFormatOptions = {}): TelegramText[] {
  const ir = toTelegramIR(markdown, options.tables);
  return chunkIR(ir, Math.min(options.limit ?? TELEGRAM_TEXT_MAX, TELEGRAM_TEXT_MAX), options.mode).map((piece) => ({
    html: renderTelegramHtml(piece),
    plain: piece.text,
  }));
}

/** The whole text as one piece of HTML, however long. */
export function toTelegramHtml(markdown: string, tables?: TableMode): string {
  return renderTelegramHtml(toTelegramIR(markdown, tables));
}

function toTelegramIR(markdown: string, tables: TableMode = "code"): MarkdownIR {
  return protectFileNames(markdownToIR(markdown, { linkify: true, spoilers: true, tables }));
}

const escapeText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const escapeAttribute = (text: string): string => escapeText(text).replaceAll('"', "&quot;");

function renderTelegramHtml(ir: MarkdownIR): string {
  // Quotes do not nest on Telegram, and code holds nothing else: only the outermost of such ranges is written.
  const styles = ir.styles.filter((span) => !isNested(span, ir.styles));
  const code = styles.filter((span) => span.style === "code" || span.style === "code_block");
  const outsideCode = (span: { start: number; end: number }): boolean => !code.some((c) => c !== span && c.start <= span.start && span.end <= c.end);
  return renderMarkup(
    { text: ir.text, styles: styles.filter(outsideCode), links: ir.links.filter(outsideCode) },
    {
      escapeText,
      style: markOf,
      link: (link) => [`<a href="${escapeAttribute(link.href)}">`, "</a>"],
    },
  );
}

/** Within another range of its style; of equal ranges all but the first. */
const isNested = (span: StyleSpan, all: readonly StyleSpan[]): boolean =>
  all.some((other, index) => {
    if (other === span || other.style !== span.style || other.start > span.start || other.end < span.end) return false;
    return other.start < span.start || other.end > span.end || index < all.indexOf(span);
  });

function markOf(span: StyleSpan): readonly [string, string] {
  switch (span.style) {
    case "bold":
      return ["<b>", "</b>"];
    case "italic":
      return ["<i>", "</i>"];
    case "strikethrough":
      return ["<s>", "</s>"];
    case "code":
      return ["<code>", "</code>"];
    case "spoiler":
      return ["<tg-spoiler>", "</tg-spoiler>"];
    case "blockquote":
      return ["<blockquote>", "</blockquote>"];
    case "code_block":
      return span.language ? [`<pre><code class="language-${escapeAttribute(span.language)}">`, "</code></pre>"] : ["<pre><code>", "</code></pre>"];
  }
}

/** Endings of file names that are also country domains: Telegram's clients would make links of such names. */
const FILE_NAME = /(?<![\w@/:.-])[\w-][\w.-]*\.(?:md|go|py|pl|sh|am|at|be|cc)(?![\w-]|\.\w|[/:@])/gi;

function protectFileNames(ir: MarkdownIR): MarkdownIR {
  const links = ir.links.filter((link) => !(link.auto === true && isFileName(ir.text.slice(link.start, link.end))));
  const taken = [...links, ...ir.styles.filter((span) => span.style === "code" || span.style === "code_block")];
  const added: StyleSpan[] = [];
  for (const match of ir.text.matchAll(FILE_NAME)) {
    const start = match.index;
    const end = start + match[0].length;
    if (!taken.some((span) => span.start < end && start < span.end)) added.push({ start, end, style: "code" });
  }
  return { text: ir.text, styles: added.length === 0 ? ir.styles : [...ir.styles, ...added], links };
}

function isFileName(text: string): boolean {
  const match = new RegExp(FILE_NAME.source, "i").exec(text);
  return match !== null && match[0] === text;
}
