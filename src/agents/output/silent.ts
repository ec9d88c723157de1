export const SILENT_REPLY_TOKEN = "NO_REPLY";
export const HEARTBEAT_TOKEN = "HEARTBEAT_OK";

/**
 * The one gate for text that people may see. `silent`: nothing is sent. A token is one only when it stands alone or on
 * a line of its own at an edge; text that merely ends in the word is kept. Source: spec agent-pipeline-output §6.5, pains #30–31.
 */
export function gateVisibleText(raw: string): { readonly text: string; readonly silent: boolean } {
  let text = raw;
  for (let before; text !== before; ) {
    before = text;
    text = stripEdgeToken(stripEdgeToken(before, SILENT_REPLY_TOKEN), HEARTBEAT_TOKEN, true);
  }
  return { text, silent: text.trim() === "" };
}

const MARKUP = "[*`~_\"'\\s]*";

const TAIL = "[^\\w\\n]{0,4}";

/** `sameLine`: the token may share the first or last line with text (HEARTBEAT_OK all quiet). */
export function stripEdgeToken(raw: string, token: string, sameLine = false): string {
  if (!raw.includes(token)) return raw;
  if (new RegExp(`^${MARKUP}(?:<[^>]+>\\s*)*${token}${TAIL}(?:</[^>]+>\\s*)*${MARKUP}$`).test(raw.trim())) return "";
  const end = sameLine ? new RegExp(`(?:^|\\s)[*\`~_]*${token}${TAIL}\\s*$`) : new RegExp(`\\n+[ \\t]*${token}${TAIL}\\s*$`);
  return stripStart(raw, token, sameLine).replace(end, "");
}

function stripStart(raw: string, token: string, sameLine: boolean): string {
  const start = sameLine ? new RegExp(`^\\s*${MARKUP}${token}(?!\\w)[*\`~_]*[^\\w\\n]{0,4}?(?=\\s|$)\\s*`) : new RegExp(`^\\s*${token}[^\\w\\n]{0,4}\\n+`);
  return raw.replace(start, "");
}

function stripStartTokens(raw: string): string {
  const text = stripStart(stripStart(raw, SILENT_REPLY_TOKEN, false), HEARTBEAT_TOKEN, true);
  return text === raw ? text : stripStartTokens(text);
}

const TOKENS: readonly string[] = [SILENT_REPLY_TOKEN, HEARTBEAT_TOKEN];
/** Markup and HTML around a token that does not make it text. */
const LEADING_MARKUP = /^(?:<[^>]*>?|[*`~_"'\s])+/;
const TRAILING_MARKUP = /^(?:<\/?[a-z]*>?|[\W_]){0,8}$/i;

/** While text still grows: could it yet turn out to be a token and no more? */
export function mayBecomeSilent(text: string): boolean {
  const head = text.trim().replace(LEADING_MARKUP, "");
  return head === "" || TOKENS.some((token) => token.startsWith(head) || (head.startsWith(token) && TRAILING_MARKUP.test(head.slice(token.length))));
}

/**
 * The part of a growing text that may be shown at once: nothing while it may be a token alone, and never a last word that
 * may become one. It only grows, up to what `gateVisibleText` leaves of the whole.
 */
export function gateGrowingText(raw: string): string {
  if (mayBecomeSilent(raw)) return "";
  const text = stripStartTokens(raw);
  let shown = text;
  for (let tail = tokenTail(shown); tail > 0; tail = tokenTail(shown)) shown = shown.slice(0, -tail);
  return mayBecomeSilent(text) || mayBecomeSilent(shown) ? "" : shown;
}

/** Longest tail that is looked at: a token with all that may stand around it. */
const MAX_TAIL_CHARS = 64;

/** Length of a last word that may be a token or the beginning of one, with the blanks and markup around it. */
function tokenTail(text: string): number {
  const end = text.slice(-MAX_TAIL_CHARS);
  const match = /\s*[*`~_"'<>]*?([A-Z][A-Z_]*)([^\w\n]{0,8}\s*)$/.exec(end);
  const word = match?.[1];
  if (!match || word === undefined) return /\s+[*`~_"'<>]{1,8}$/.exec(end)?.[0].length ?? 0;
  const isComplete = TOKENS.includes(word.replace(/_+$/, ""));
  return isComplete || (match[2] === "" && TOKENS.some((token) => token.startsWith(word))) ? match[0].length : 0;
}
