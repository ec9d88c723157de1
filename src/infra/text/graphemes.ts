/** How far back a safe starting point for the segmenter is looked for; longer runs of joined marks are cut by code point. */
const MAX_LOOKBACK = 512;
const LOOKAHEAD = 32;

let segmenter: Intl.Segmenter | undefined;

/** Made at first need: its tables take 20 ms to load, and plain text never needs them. */
const graphemes = (text: string): Intl.Segments => (segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" })).segment(text);

/** Code units that never combine with a neighbour of the same kind (CR LF is looked at by the caller). */
function standsAlone(unit: number): boolean {
  return unit < 0x300 || (unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0x3041 && unit <= 0x3096) || (unit >= 0x3000 && unit <= 0x3029);
}

function isPlainBoundary(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return standsAlone(before) && standsAlone(after) && !(before === 13 && after === 10);
}

const splitsSurrogates = (text: string, index: number): boolean => {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
};

/**
 * The greatest index in (floor, index] at which `text` may be cut without tearing a character as people see it
 * (surrogate pair, combining mark, variation selector, joined emoji, flag). When one such character fills the whole
 * range, it is cut between code points; `index` itself is returned only when not even that fits.
 */
export function safeCutIndex(text: string, index: number, floor = 0): number {
  if (index >= text.length) return text.length;
  if (index <= floor + 1) return splitsSurrogates(text, index) ? index + 1 : index;
  if (isPlainBoundary(text, index)) return index;
  let start = index - 1;
  const least = Math.max(floor, index - MAX_LOOKBACK);
  while (start > least && !isPlainBoundary(text, start)) start--;
  if (start > floor && splitsSurrogates(text, start)) start++;
  let best = -1;
  for (const { index: at, segment } of graphemes(text.slice(start, index + LOOKAHEAD))) {
    const from = start + at;
    if (from > floor && from <= index) best = from;
    if (from + segment.length > index) break;
  }
  if (best > floor) return best;
  const cut = splitsSurrogates(text, index) ? index - 1 : index;
  return cut > floor ? cut : index;
}

/** The longest start of `text` with at most `max` UTF-16 units that tears no character. */
export function truncateText(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return "";
  const cut = safeCutIndex(text, max);
  return text.slice(0, cut <= max ? cut : max - 1);
}
