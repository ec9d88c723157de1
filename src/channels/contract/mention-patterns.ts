/**
 * Regular expressions that people write into the config or that come from a name. Bounded, so that no pattern and no text
 * can hold up the process. Source: spec agent-pipeline §1.5, security-record C8.
 */
export interface MentionPatterns {
  readonly patterns: readonly RegExp[];
  /** Patterns that are not used, each with the reason. */
  readonly rejected: readonly { readonly pattern: string; readonly reason: string }[];
}

const MAX_PATTERNS = 50;
const MAX_PATTERN_CHARS = 200;
/** Only the start of a text is searched. */
const MAX_TEXT_CHARS = 4000;
/** Bound on the product of all repeat counts in one pattern. */
const MAX_REPEAT_PRODUCT = 4096;
const MAX_QUANTIFIERS = 8;

const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f]/g;

/** Text as mention patterns see it. */
export function normalizeMentionText(text: string): string {
  return text.slice(0, MAX_TEXT_CHARS * 2).toLowerCase().normalize("NFC").replace(INVISIBLE, "").slice(0, MAX_TEXT_CHARS);
}

export function matchesMention(patterns: readonly RegExp[], text: string): boolean {
  if (patterns.length === 0 || text === "") return false;
  const normalized = normalizeMentionText(text);
  return patterns.some((pattern) => pattern.test(normalized));
}

/** Invalid, too long and explosive patterns are left out. A backspace character is read as a word boundary. */
export function compileMentionPatterns(sources: readonly string[]): MentionPatterns {
  const patterns: RegExp[] = [];
  const rejected: { pattern: string; reason: string }[] = [];
  for (const pattern of sources.slice(0, MAX_PATTERNS)) {
    const outcome = compileOne(pattern.normalize("NFC").replaceAll("\b", "\\b"));
    if (typeof outcome === "string") rejected.push({ pattern: pattern.slice(0, MAX_PATTERN_CHARS), reason: outcome });
    else patterns.push(outcome);
  }
  for (const pattern of sources.slice(MAX_PATTERNS)) rejected.push({ pattern, reason: `more than ${MAX_PATTERNS} patterns` });
  return { patterns, rejected };
}

/** A letter or digit that belongs to a word of several; scripts that write words without blanks have none. */
const WORD_CHAR = "[[\\p{L}\\p{M}\\p{N}_]--[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]]";
const IS_WORD_CHAR = new RegExp(`^${WORD_CHAR}$`, "v");

/** Patterns for an agent that has none of its own: its name as a word, blanks flexible, and its emoji. A name of mere punctuation is none. */
export function deriveMentionPatterns(identity: { readonly name?: string | undefined; readonly emoji?: string | undefined }): RegExp[] {
  const patterns: RegExp[] = [];
  const name = (identity.name ?? "").trim().toLowerCase().normalize("NFC").slice(0, MAX_PATTERN_CHARS);
  if (/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(name)) {
    const chars = [...name];
    const before = IS_WORD_CHAR.test(chars[0] ?? "") ? `(?<!${WORD_CHAR})` : "";
    const after = IS_WORD_CHAR.test(chars.at(-1) ?? "") ? `(?!${WORD_CHAR})` : "";
    patterns.push(new RegExp(`${before}@?${name.split(/\s+/).map(escapeRegExp).join("\\s{1,8}")}${after}`, "iv"));
  }
  const emoji = (identity.emoji ?? "").trim();
  if (emoji !== "" && emoji.length <= 32) patterns.push(new RegExp(escapeRegExp(emoji), "i"));
  return patterns;
}

/** For outside of brackets. */
const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

function compileOne(source: string): RegExp | string {
  if (source.trim() === "") return "empty";
  if (source.length > MAX_PATTERN_CHARS) return `longer than ${MAX_PATTERN_CHARS} characters`;
  try {
    new RegExp(source, "i");
  } catch {
    return "not a valid regular expression";
  }
  const bounded = boundRepeats(source);
  if (bounded.kind === "reject") return bounded.reason;
  try {
    return new RegExp(bounded.source, "i");
  } catch {
    return "not a valid regular expression";
  }
}

type Piece = { readonly text: string } | { readonly min: number; readonly max: number; readonly lazy: boolean };

/** Rewrites open-ended repeats to bounded ones; refuses what backtracks exponentially. */
function boundRepeats(source: string): { kind: "ok"; source: string } | { kind: "reject"; reason: string } {
  const pieces: Piece[] = [];
  const groups: { complex: boolean }[] = [];
  let closed: { complex: boolean } | undefined;
  const markComplex = (): void => groups.forEach((group) => (group.complex = true));
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at);
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(rest)?.[0];
    if (quantifier !== undefined && pieces.length > 0) {
      const repeat = readQuantifier(quantifier);
      if (closed?.complex && repeat.max > 1) return { kind: "reject", reason: "a repeated group holds another repeat or an alternative" };
      markComplex();
      pieces.push(repeat);
      closed = undefined;
      at += quantifier.length;
      continue;
    }
    closed = undefined;
    const unit = /^(?:\\[1-9k])/.test(rest) ? undefined : (/^(?:\\(?:u\{[^}]*\}|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<\w+>))?|[\s\S])/.exec(rest)?.[0] ?? rest);
    if (unit === undefined) return { kind: "reject", reason: "back references are not allowed" };
    if (unit.startsWith("(")) groups.push({ complex: false });
    else if (unit === ")") closed = groups.pop();
    else if (unit === "|") markComplex();
    pieces.push({ text: unit });
    at += unit.length;
  }
  const repeats = pieces.filter((piece) => "max" in piece);
  if (repeats.length > MAX_QUANTIFIERS) return { kind: "reject", reason: `more than ${MAX_QUANTIFIERS} repeats` };
  const fixed = repeats.reduce((product, repeat) => product * (Number.isFinite(repeat.max) ? repeat.max - repeat.min + 1 : 1), 1);
  if (fixed > MAX_REPEAT_PRODUCT || repeats.some((repeat) => repeat.min > 64)) return { kind: "reject", reason: "repeats too often" };
  const open = repeats.filter((repeat) => !Number.isFinite(repeat.max)).length;
  const bound = open === 0 ? 0 : Math.floor((MAX_REPEAT_PRODUCT / fixed) ** (1 / open));
  if (open > 0 && bound < 4) return { kind: "reject", reason: "too many open-ended repeats" };
  const text = pieces.map((piece) => ("text" in piece ? piece.text : `{${piece.min},${Number.isFinite(piece.max) ? piece.max : piece.min + bound}}${piece.lazy ? "?" : ""}`));
  return { kind: "ok", source: text.join("") };
}

function readQuantifier(text: string): { min: number; max: number; lazy: boolean } {
  const lazy = text.length > 1 && text.endsWith("?");
  const body = lazy ? text.slice(0, -1) : text;
  if (body === "*") return { min: 0, max: Number.POSITIVE_INFINITY, lazy };
  if (body === "+") return { min: 1, max: Number.POSITIVE_INFINITY, lazy };
  if (body === "?") return { min: 0, max: 1, lazy };
  const [, min = "0", comma, max] = /^\{(\d+)(,?)(\d*)\}$/.exec(body) ?? [];
  return { min: Number(min), max: comma ? (max ? Number(max) : Number.POSITIVE_INFINITY) : Number(min), lazy };
}
