export const SILENT_REPLY_TOKEN = "NO_REPLY";
export const HEARTBEAT_TOKEN = "HEARTBEAT_OK";

/**
 * The one gate for text that people may see. `silent`: nothing is sent. A token is one only when it stands alone or on
 * a line of its own at an edge; text that merely ends in the word is kept. Source: spec agent-pipeline-output §6.5, pains #30–31.
 */
export function gateVisibleText(raw: string): { readonly text: string; readonly silent: boolean } {
  let text = stripEdgeToken(raw, SILENT_REPLY_TOKEN);
  const wasSilent = text !== raw && text.trim() === "";
  text = stripEdgeToken(text, HEARTBEAT_TOKEN, true);
  return { text, silent: wasSilent || text.trim() === "" };
}

const MARKUP = "[*`~_\"'\\s]*";

/** `sameLine`: the token may share the first or last line with text (HEARTBEAT_OK all quiet). */
export function stripEdgeToken(raw: string, token: string, sameLine = false): string {
  if (!raw.includes(token)) return raw;
  const tail = "[^\\w\\n]{0,4}";
  if (new RegExp(`^${MARKUP}(?:<[^>]+>\\s*)*${token}${tail}(?:</[^>]+>\\s*)*${MARKUP}$`).test(raw.trim())) return "";
  const start = sameLine ? new RegExp(`^\\s*${MARKUP}${token}(?!\\w)[*\`~_]*[^\\w\\n]{0,4}?(?=\\s|$)\\s*`) : new RegExp(`^\\s*${token}[^\\w\\n]{0,4}\\n+`);
  const end = sameLine ? new RegExp(`(?:^|\\s)[*\`~_]*${token}${tail}\\s*$`) : new RegExp(`\\n+[ \\t]*${token}${tail}\\s*$`);
  return raw.replace(start, "").replace(end, "");
}

/** While text still grows: could it yet turn out to be a token? Then it is not shown. */
export function mayBecomeSilent(text: string): boolean {
  const head = text.trim();
  if (head === "") return true;
  return [SILENT_REPLY_TOKEN, HEARTBEAT_TOKEN].some((token) => token.startsWith(head) || (head.startsWith(token) && head.length <= token.length + 4));
}

/** Withholds a last line that may become a token. */
export function holdBackTokenTail(text: string): string {
  const from = text.lastIndexOf("\n") + 1;
  const last = text.slice(from).trim();
  if (last.length < 2) return text;
  return [SILENT_REPLY_TOKEN, HEARTBEAT_TOKEN].some((token) => token.startsWith(last) || last.startsWith(token)) ? text.slice(0, from) : text;
}
