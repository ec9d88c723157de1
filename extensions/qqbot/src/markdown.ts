const IMAGE = /!\[([^\]\n]*)\]\((https?:\/\/[^\s)]+)(?:\s+"[^"\n]*")?\)/g;
const BARE_IMAGE = /(^|\s)(https?:\/\/[^\s<>()]+\.(?:png|jpe?g|gif|webp|bmp)(?:\?[^\s<>()]*)?)(?=\s|$)/gi;
const DEFAULT_SIZE = "#512px #512px";

/**
 * Markdown as QQ shows it: a picture needs a size in place of its name, and a bare address of a picture becomes one at the
 * end. Code stays as it is. Source: spec channels-cn §1.6 (Markdown mode).
 */
export function toQQMarkdown(text: string): string {
  const moved: string[] = [];
  const body = outsideCode(text, (plain) =>
    plain
      .replace(IMAGE, (_image, name: string, url: string) => `![${/#\d+px\s+#\d+px/.test(name) ? name : DEFAULT_SIZE}](${url})`)
      .replace(BARE_IMAGE, (_match, before: string, url: string) => {
        moved.push(url);
        return before;
      }),
  );
  if (moved.length === 0) return body;
  return [body.trim(), ...moved.map((url) => `![${DEFAULT_SIZE}](${url})`)].filter(Boolean).join("\n");
}

/** Plain text has no pictures: they go as files, in their place. */
export function splitByImages(text: string): ({ readonly text: string } | { readonly link: string; readonly as: "image" })[] {
  const parts: ReturnType<typeof splitByImages> = [];
  let done = 0;
  for (const match of text.matchAll(IMAGE)) {
    parts.push({ text: text.slice(done, match.index) }, { link: match[2] ?? "", as: "image" });
    done = match.index + match[0].length;
  }
  parts.push({ text: text.slice(done) });
  return parts.filter((part) => !("text" in part) || part.text.trim() !== "");
}

function outsideCode(text: string, work: (plain: string) => string): string {
  return text.split(/(^[ \t]*(?:```|~~~)[\s\S]*?(?:^[ \t]*(?:```|~~~)[ \t]*$|$(?![\s\S]))|`[^`\n]+`)/m).map((piece, index) => (index % 2 === 1 ? piece : work(piece))).join("");
}
