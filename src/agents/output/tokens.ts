export const CHARS_PER_TOKEN = 4;
/** An image counts as this many characters everywhere (spec decisions §3.3). */
export const IMAGE_CHARS = 4800;

/** ceil(chars / 4). */
export function estimateTokensFromChars(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
