import type TurndownService from "turndown";

/** What is used of the document object model. */
interface DomNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<DomNode>;
  readonly parentNode: { removeChild(child: DomNode): void } | null;
}

interface DomElement extends DomNode {
  readonly innerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  remove(): void;
}

interface DomDocument {
  readonly body: DomElement | null;
  querySelector(selector: string): DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
  createTreeWalker(root: unknown, whatToShow: number): { readonly currentNode: DomNode; nextNode(): unknown };
}

export interface Extracted {
  readonly title: string | undefined;
  readonly text: string;
  readonly extractor: "readability" | "raw";
}

/** Larger pages, or deeper ones, are not parsed: their tags are only cut out. */
const MAX_HTML_CHARS = 1_000_000;
const MAX_DEPTH = 3000;
const INVISIBLE = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]/gu;
const HIDDEN = "script, style, noscript, template, iframe, object, embed, svg, canvas, [hidden], [aria-hidden='true'], input[type='hidden']";
const HIDDEN_STYLE = /(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)|font-size\s*:\s*0(?:px|em|rem|%)?\s*(?:;|$)|(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*(?:;|$)|clip-path\s*:\s*inset\(\s*(?:50|100)%|text-indent\s*:\s*-\d{4,}|(?:left|top)\s*:\s*-\d{4,})/i;

/**
 * The readable part of a page, without what a person does not see: hidden elements, comments, invisible characters.
 * Source: spec tools-and-automation part 2 §11.1.
 */
export async function extractHtml(html: string, url: string, mode: "markdown" | "text"): Promise<Extracted> {
  if (html.length > MAX_HTML_CHARS || depthOf(html) > MAX_DEPTH) return { title: titleOf(html), text: tidy(stripTags(html)), extractor: "raw" };
  const [{ parseHTML }, { Readability }, { default: Turndown }] = await Promise.all([import("linkedom"), import("@mozilla/readability"), import("turndown")]);
  const parse = (text: string): DomDocument => parseHTML(text).document as unknown as DomDocument;
  const document = parse(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  removeHidden(document);
  absolutize(document, url);
  const title = document.querySelector("title")?.textContent?.trim() || undefined;
  const whole = document.body?.innerHTML ?? "";
  const article = readArticle(() => new Readability(document as never, { charThreshold: 200 }).parse());
  const source = article?.content || whole;
  const shown = parse(`<html><body>${source}</body></html>`).body;
  const text = !shown ? "" : mode === "text" ? blockText(shown) : toMarkdown(Turndown, shown);
  return { title: article?.title?.trim() || title, text: tidy(text), extractor: article?.content ? "readability" : "raw" };
}

function readArticle<T>(parse: () => T | null): T | undefined {
  try {
    return parse() ?? undefined;
  } catch {
    return undefined; // not a page it understands: the whole of it is taken
  }
}

function removeHidden(document: DomDocument): void {
  for (const element of document.querySelectorAll(HIDDEN)) element.remove();
  for (const element of document.querySelectorAll("[style]")) if (HIDDEN_STYLE.test(element.getAttribute("style") ?? "")) element.remove();
  const walker = document.createTreeWalker(document, 128 /* comments */);
  const comments: DomNode[] = [];
  while (walker.nextNode()) comments.push(walker.currentNode);
  for (const comment of comments) comment.parentNode?.removeChild(comment);
}

function absolutize(document: DomDocument, base: string): void {
  for (const [selector, attribute] of [["a[href]", "href"], ["img[src]", "src"]] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const value = element.getAttribute(attribute) ?? "";
      const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(value)?.[1]?.toLowerCase();
      if (scheme !== undefined && scheme !== "http" && scheme !== "https" && scheme !== "mailto") element.removeAttribute(attribute);
      else if (URL.canParse(value, base)) element.setAttribute(attribute, new URL(value, base).href);
    }
  }
}

function toMarkdown(Turndown: typeof TurndownService, body: DomElement): string {
  const service = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-", emDelimiter: "*" });
  service.addRule("tables", { filter: "tr", replacement: (_content, node) => `| ${[...(node as unknown as DomNode).childNodes].filter((cell) => /^T[DH]$/.test(cell.nodeName)).map((cell) => (cell.textContent ?? "").replace(/\s+/g, " ").trim()).join(" | ")} |\n` });
  service.addRule("images without a place", { filter: (node) => (node as unknown as DomNode).nodeName === "IMG" && !(node as unknown as DomElement).getAttribute("src"), replacement: () => "" });
  return service.turndown(body as never);
}

const BLOCKS = new Set(["P", "DIV", "SECTION", "ARTICLE", "H1", "H2", "H3", "H4", "H5", "H6", "LI", "TR", "BLOCKQUOTE", "PRE", "UL", "OL", "TABLE", "BR", "HR", "DT", "DD", "FIGURE", "HEADER", "FOOTER"]);

function blockText(element: DomElement): string {
  let out = "";
  const visit = (node: DomNode): void => {
    if (node.nodeType === 3) out += node.textContent ?? "";
    const isBlock = BLOCKS.has(node.nodeName);
    if (isBlock) out += "\n";
    for (const child of node.childNodes) visit(child);
    if (isBlock) out += "\n";
  };
  visit(element);
  return out;
}

function stripTags(html: string): string {
  return decodeEntities(
    html.replace(/<!--[\s\S]*?(?:-->|$)/g, "").replace(/<(script|style|noscript|template)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, "").replace(/<(?:br|\/p|\/div|\/h[1-6]|\/li|\/tr)\b[^>]*>/gi, "\n").replace(/<[^>]{0,10000}>/g, ""),
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole: string, decimal?: string, hex?: string, name?: string) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : undefined;
    if (code !== undefined) return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
    return ENTITIES[name?.toLowerCase() ?? ""] ?? whole;
  });
}

function titleOf(html: string): string | undefined {
  const title = /<title[^>]*>([^<]{1,500})/i.exec(html)?.[1];
  return title === undefined ? undefined : decodeEntities(title).replace(/\s+/g, " ").trim() || undefined;
}

/** Deepest nesting, by counting tags; void elements do not count. */
function depthOf(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const match of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)\b[^>]{0,2000}?(\/?)>/gi)) {
    if (/^(?:br|hr|img|input|meta|link|area|base|col|embed|source|track|wbr)$/i.test(match[2] ?? "") || match[3] === "/") continue;
    depth = Math.max(0, depth + (match[1] === "/" ? -1 : 1));
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const tidy = (text: string): string => text.replace(INVISIBLE, "").replace(/[ \t\u00A0]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").trim();
