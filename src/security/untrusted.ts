import { randomBytes } from "node:crypto";

const MARKER = "EXTERNAL_UNTRUSTED_CONTENT";
/** What looks like one of the brackets, or like nothing at all, to a reader and perhaps to a model. */
const OPENERS = "<\uFF1C\u2039\u3008\u27E8\uFE64\u2329\u276C\u2770";
const CLOSERS = ">\uFF1E\u203A\u3009\u27E9\uFE65\u232A\u276D\u2771";
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Between the words of the marker anything may stand that separates words, also with the backslashes of Markdown. */
const GAP = "[\\s_\\-\\\\.\u2010-\u2015\u2212\uFF3F]*";
const WORDS = ["EXTERNAL", "UNTRUSTED", "CONTENT"].join(GAP);
const LOOKALIKE = new RegExp(`(?:\\\\?[${OPENERS}]){2,}\\s*(?:END${GAP})?${WORDS}[^${CLOSERS}\\n]{0,80}(?:\\\\?[${CLOSERS}]){0,8}`, "giu");

export interface ExternalContent {
  /** Who wrote it: `Web page`, `Web search`, `Browser`, `Webhook`, `Email`. */
  readonly source: string;
  readonly text: string;
  /** 16 hex digits; random unless given. */
  readonly id?: string | undefined;
}

/**
 * Text from outside between markers that the model knows and the text cannot close. Source: spec tools-and-automation part 2
 * §8.2, decisions §7.
 */
export function wrapExternalContent({ source, text, id = randomBytes(8).toString("hex") }: ExternalContent): string {
  return `<<<${MARKER} id="${id}">>>\nSource: ${source.replace(/[\r\n]+/g, " ")}\n---\n${neutralizeMarkers(text)}\n<<<END_${MARKER} id="${id}">>>`;
}

/** The text without invisible characters and without anything that could be read as a marker. */
export function neutralizeMarkers(text: string): string {
  const visible = text.replace(INVISIBLE, "");
  const { folded, starts } = foldLetters(visible);
  let out = "";
  let from = 0;
  for (const match of folded.matchAll(LOOKALIKE)) {
    out += `${visible.slice(from, starts[match.index])}[marker removed]`;
    from = starts[match.index + match[0].length] ?? visible.length;
  }
  return out + visible.slice(from);
}

/** Full-width and mathematical letters as plain ones, and Cyrillic or Greek ones that look like Latin; `starts`: where each stood. */
function foldLetters(text: string): { folded: string; starts: number[] } {
  let folded = "";
  const starts: number[] = [];
  let at = 0;
  for (const char of text) {
    const plain = LOOKS_LIKE[char] ?? char.normalize("NFKC");
    folded += plain;
    for (let i = 0; i < plain.length; i++) starts.push(at);
    at += char.length;
  }
  starts.push(at);
  return { folded, starts };
}

const LOOKS_LIKE: Readonly<Record<string, string>> = {
  А: "A", В: "B", Е: "E", К: "K", М: "M", Н: "H", О: "O", Р: "P", С: "C", Т: "T", У: "Y", Х: "X", а: "a", е: "e", о: "o", р: "p", с: "c", у: "y", х: "x", І: "I", і: "i", Ѕ: "S", ѕ: "s", Ј: "J", Ԁ: "D",
  Α: "A", Β: "B", Ε: "E", Η: "H", Ι: "I", Κ: "K", Μ: "M", Ν: "N", Ο: "O", Ρ: "P", Τ: "T", Υ: "Y", Χ: "X", Ζ: "Z", ο: "o", υ: "u", ν: "v",
};
