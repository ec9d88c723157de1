const MARKDOWN_LINK = /\[[^[\]\n]{0,500}\]\([^)\s]{0,2048}\)/g;
const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;
const BARE = /\bhttps?:\/\/[^\s<>"'`，。；、！？）】」』]{1,2048}/gi;
const CLOSERS: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/**
 * Links that stand in the text as themselves, each once, in order: not those of Markdown links or of code, which quote an
 * address rather than point at it. Source: spec tools-and-automation-part2 §10 (Links).
 */
export function findLinks(text: string, max: number): string[] {
  const plain = text.replace(CODE, " ").replace(MARKDOWN_LINK, " ");
  const found = new Set<string>();
  for (const [match] of plain.matchAll(BARE)) {
    if (found.size >= max) break;
    const link = trimEnd(match);
    if (URL.canParse(link) && new URL(link).hostname !== "") found.add(link);
  }
  return [...found];
}

/** Without the punctuation of the sentence; a bracket stays when it was opened inside. */
function trimEnd(link: string): string {
  let end = link.length;
  for (; end > 0; end--) {
    const last = link.charAt(end - 1);
    const opener = CLOSERS[last];
    if (opener !== undefined) {
      const rest = link.slice(0, end);
      if (rest.split(opener).length >= rest.split(last).length) break;
    } else if (!/[.,;:!?*_~]/.test(last)) break;
  }
  return link.slice(0, end);
}
