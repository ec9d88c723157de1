import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { t } from "../i18n/index.ts";

/** Beyond these, Markdown is not worth its cost: the text is shown as it is, then cut. */
const MAX_MARKDOWN_CHARS = 40_000;
const MAX_PLAIN_CHARS = 140_000;
const MAX_CACHED_BLOCKS = 600;

const TAGS =
  "a b blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr i img li ol p pre s span strong sub sup table tbody td th thead tr ul".split(" ");
const ATTRIBUTES = "href title target rel class src alt start type data-copy".split(" ");

const sanitizer = DOMPurify(window);
const md = new MarkdownIt({ html: false, linkify: true, breaks: true });
const escape = md.utils.escapeHtml;

// No look-ups of bare words such as "file.md": only written-out addresses become links.
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

md.renderer.rules["fence"] = (tokens, index) => codeBlock(tokens[index]?.content ?? "", (tokens[index]?.info ?? "").trim().split(/\s+/)[0] ?? "");
md.renderer.rules["code_block"] = (tokens, index) => codeBlock(tokens[index]?.content ?? "", "");
// markdown-it aligns by style attributes, which the page's policy forbids.
for (const cell of ["th_open", "td_open"]) {
  md.renderer.rules[cell] = (tokens, index) => {
    const align = /text-align:(\w+)/.exec(String(tokens[index]?.attrGet("style") ?? ""))?.[1];
    return `<${cell.slice(0, 2)}${align ? ` class="align-${align}"` : ""}>`;
  };
}
md.renderer.rules["table_open"] = () => '<div class="table-wrap"><table>';
md.renderer.rules["table_close"] = () => "</table></div>";
md.renderer.rules["link_open"] = (tokens, index, options, _env, self) => {
  tokens[index]?.attrSet("target", "_blank");
  tokens[index]?.attrSet("rel", "noopener noreferrer");
  return self.renderToken(tokens, index, options);
};
// A picture elsewhere would tell its owner that the message was read: it becomes a link.
md.renderer.rules["image"] = (tokens, index) => {
  const token = tokens[index];
  const src = String(token?.attrGet("src") ?? "");
  const alt = token?.content || src;
  if (src.startsWith("data:image/")) return `<img src="${escape(src)}" alt="${escape(alt)}">`;
  return `<a class="image-link" href="${escape(src)}" target="_blank" rel="noopener noreferrer">${escape(alt)}</a>`;
};

function codeBlock(code: string, language: string): string {
  const label = t("chat.copyCode");
  return (
    `<div class="code"><div class="code-head"><span class="code-lang">${escape(language)}</span>` +
    `<button type="button" class="code-copy" data-copy="">${escape(label)}</button></div>` +
    `<pre><code>${escape(code.replace(/\n$/, ""))}</code></pre></div>`
  );
}

const blocks = new Map<string, string>();

function clean(html: string): string {
  const known = blocks.get(html);
  if (known !== undefined) return known;
  const safe = sanitizer.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    // Their values are no addresses; the pattern below is for those that are.
    ADD_URI_SAFE_ATTR: ["target", "rel", "type", "start", "data-copy"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|tel:|#|data:image\/(?:png|jpeg|gif|webp);base64,)/i,
  });
  blocks.set(html, safe);
  const eldest = blocks.keys().next().value;
  if (blocks.size > MAX_CACHED_BLOCKS && eldest !== undefined) blocks.delete(eldest);
  return safe;
}

/**
 * Safe HTML of each top-level block of a Markdown text. While a text grows, all but its last blocks stay the same
 * strings, so their elements are not touched.
 */
export function renderMarkdown(text: string): readonly string[] {
  if (text.length > MAX_MARKDOWN_CHARS) return [plainBlock(text)];
  const env = {};
  const tokens = md.parse(text, env);
  const out: string[] = [];
  let start = 0;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    depth += token.nesting;
    if (depth > 0) continue;
    out.push(clean(md.renderer.render(tokens.slice(start, index + 1), md.options, env)));
    start = index + 1;
  }
  return out;
}

function plainBlock(text: string): string {
  const shown = text.slice(0, MAX_PLAIN_CHARS);
  const note = text.length > MAX_PLAIN_CHARS ? `<p><em>${escape(t("chat.truncated", { count: text.length - MAX_PLAIN_CHARS }))}</em></p>` : "";
  return `<pre class="plain">${escape(shown)}</pre>${note}`;
}
