/** parse_mode HTML as strictly as Telegram reads it. */
export type ParsedHtml = { readonly ok: true; readonly text: string; readonly tags: readonly string[] } | { readonly ok: false; readonly error: string };

const TAGS = new Set(["b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "span", "tg-spoiler", "a", "code", "pre", "blockquote", "tg-emoji"]);
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

export function parseTelegramHtml(html: string): ParsedHtml {
  let text = "";
  const tags: string[] = [];
  const open: string[] = [];
  const fail = (error: string): ParsedHtml => ({ ok: false, error: `Bad Request: can't parse entities: ${error}` });
  let at = 0;
  while (at < html.length) {
    const char = html[at];
    if (char === "&") {
      const match = /^&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/i.exec(html.slice(at, at + 12));
      const value = match?.[1] ? String.fromCodePoint(Number(match[1])) : match?.[2] ? String.fromCodePoint(Number.parseInt(match[2], 16)) : ENTITIES[match?.[3] ?? ""];
      text += value ?? "&";
      at += value !== undefined && match ? match[0].length : 1;
      continue;
    }
    if (char !== "<") {
      text += char;
      at++;
      continue;
    }
    const close = /^<\/([a-z-]*)\s*>/i.exec(html.slice(at));
    if (close) {
      const name = (close[1] ?? "").toLowerCase();
      const expected = open.pop();
      if (expected === undefined) return fail(`unexpected end tag at byte offset ${at}`);
      if (expected !== name) return fail(`unmatched end tag at byte offset ${at}, expected "</${expected}>", found "</${name}>"`);
      at += close[0].length;
      continue;
    }
    const start = /^<([a-z][a-z-]*)((?:\s+[a-z-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*))?)*)\s*>/i.exec(html.slice(at));
    const name = start?.[1]?.toLowerCase() ?? "";
    if (!start || !TAGS.has(name)) return fail(`unsupported start tag "${/^<([^\s>]*)/.exec(html.slice(at))?.[1] ?? ""}" at byte offset ${at}`);
    const attributes = start[2] ?? "";
    if (name === "span" && !/class\s*=\s*["']?tg-spoiler/.test(attributes)) return fail(`tag "span" must have class "tg-spoiler" at byte offset ${at}`);
    if (name === "a" && !/href\s*=/.test(attributes)) return fail(`tag "a" must have attribute "href" at byte offset ${at}`);
    if (name === "blockquote" && open.includes("blockquote")) return fail(`tag "blockquote" must not be nested at byte offset ${at}`);
    if (attributes.trim() !== "" && !["a", "code", "span", "tg-emoji", "blockquote"].includes(name)) return fail(`tag "${name}" has no attributes at byte offset ${at}`);
    open.push(name);
    tags.push(name);
    at += start[0].length;
  }
  const unclosed = open.pop();
  if (unclosed !== undefined) return fail(`can't find end tag corresponding to start tag "${unclosed}"`);
  return { ok: true, text, tags };
}
