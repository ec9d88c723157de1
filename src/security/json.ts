/** Deep enough for any real request, shallow enough that recursive code never overflows the stack. */
export const MAX_JSON_DEPTH = 128;

/**
 * Nesting depth of a JSON text, without parsing it; stops counting past `limit`.
 * Strings are skipped by search, so that megabytes of base64 cost almost nothing.
 */
export function exceedsJsonDepth(text: string, limit: number = MAX_JSON_DEPTH): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) i = endOfString(text, i);
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > limit) return true;
    } else if (c === 0x7d || c === 0x5d) depth--;
  }
  return false;
}

/** Index of the quote that closes the string opened at `start`, or the text's length. */
function endOfString(text: string, start: number): number {
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let backslashes = 0;
    while (quote - 1 - backslashes > start && text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return quote;
    from = quote + 1;
  }
}

/** JSON.parse for text from outside. @throws SyntaxError on bad JSON or on nesting deeper than MAX_JSON_DEPTH */
export function parseUntrustedJson(text: string): unknown {
  if (exceedsJsonDepth(text)) throw new SyntaxError(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels`);
  return JSON.parse(text);
}
