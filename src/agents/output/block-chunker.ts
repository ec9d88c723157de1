import { fenceAt, parseFenceSpans, splitMarkdown } from "../../infra/text/index.ts";

export type BreakPreference = "paragraph" | "newline" | "sentence";

export interface BlockChunkerOptions {
  /** Least and greatest block size in UTF-16 units; min ≤ max. */
  readonly minChars: number;
  readonly maxChars: number;
  readonly breakPreference: BreakPreference;
  /** `channels.<id>.chunkMode: "newline"`: every paragraph is a block of its own. */
  readonly flushOnParagraph?: boolean | undefined;
}

interface Break {
  readonly block: string;
  /** What stays in the buffer; begins with the opening line of a code block that was cut. */
  readonly rest: string;
}

/** How far past `maxChars` one must see before a forced cut: a closing line or a joined character may still be coming. */
const LOOKAHEAD_CHARS = 64;
/** Blank lines at a cut, else the one blank there; the indentation of the next line stays. */
const CUT_BLANKS = /^(?:(?:[ \t]*\n)+|\s)/;
const PARAGRAPH_BREAK = /\n[ \t]*\n+/g;

/**
 * Cuts a growing text into blocks. Without `force` a block is only emitted at the preferred kind of break, or at
 * `maxChars`; a code block that must be cut is closed and opened again. Source: spec agent-pipeline-output §6.3.
 */
export class BlockChunker {
  #buffer = "";
  readonly #options: BlockChunkerOptions;

  constructor(options: BlockChunkerOptions) {
    const maxChars = Math.max(2, options.maxChars);
    this.#options = { ...options, maxChars, minChars: Math.min(Math.max(1, options.minChars), maxChars) };
  }

  append(text: string): void {
    this.#buffer += text;
  }

  get hasBuffered(): boolean {
    return this.#buffer.trim() !== "";
  }

  reset(): void {
    this.#buffer = "";
  }

  /** Emits what is ready; with `force` everything. Blank blocks are never emitted. */
  drain(emit: (block: string) => void, force = false): void {
    const { minChars, maxChars } = this.#options;
    if (this.#options.flushOnParagraph && !force) return this.#drainParagraphs(emit);
    for (;;) {
      const length = this.#buffer.length;
      if (length === 0 || (!force && length < minChars)) return;
      if (force && length <= maxChars) {
        this.#emit(emit, this.#buffer);
        this.#buffer = "";
        return;
      }
      const found = this.#findBreak(force);
      if (!found) return;
      this.#take(emit, found);
    }
  }

  #drainParagraphs(emit: (block: string) => void): void {
    for (;;) {
      const spans = parseFenceSpans(this.#buffer);
      PARAGRAPH_BREAK.lastIndex = 0;
      const found = [...this.#buffer.matchAll(PARAGRAPH_BREAK)].find(
        (match) => match.index > 0 && match.index <= this.#options.maxChars && !fenceAt(spans, match.index),
      );
      if (found && found.index + found[0].length < this.#buffer.length) {
        this.#emit(emit, this.#buffer.slice(0, found.index));
        this.#buffer = this.#buffer.slice(found.index + found[0].length).replace(/^\n+/, "");
        continue;
      }
      const hard = this.#isFull() ? this.#findBreak(false, 1) : undefined;
      if (!hard) return;
      this.#take(emit, hard);
    }
  }

  #isFull(): boolean {
    return this.#buffer.length >= this.#options.maxChars + LOOKAHEAD_CHARS;
  }

  #findBreak(force: boolean, min = this.#options.minChars): Break | undefined {
    const { maxChars, breakPreference } = this.#options;
    const buffer = this.#buffer;
    const spans = parseFenceSpans(buffer);
    const end = Math.min(buffer.length, maxChars);
    const least = force ? 1 : min;
    const full = force || this.#isFull();
    const open = (at: number): boolean => at >= least && at <= end && at < buffer.length && !fenceAt(spans, at);
    let at: number | undefined;
    if (breakPreference === "paragraph") at = lastMatch(buffer, end, PARAGRAPH_BREAK, open);
    if (breakPreference === "newline" || (breakPreference === "paragraph" && full)) {
      at ??= lastIndexWhere(buffer, end, (i) => buffer[i] === "\n" && open(i));
    }
    if (breakPreference === "sentence" || full) at ??= lastIndexWhere(buffer, end, (i) => isSentenceEnd(buffer, i) && open(i));
    if (at !== undefined) return { block: buffer.slice(0, at), rest: buffer.slice(at).replace(CUT_BLANKS, "") };
    return full ? this.#hardBreak(force) : undefined;
  }

  /** At the last blank, inside a code block at a line end that leaves room for the closing line, else between characters. */
  #hardBreak(force: boolean): Break | undefined {
    const [piece, next] = splitMarkdown(this.#buffer, this.#options.maxChars);
    // Nothing but blanks follows so far: they may be part of a code block that goes on.
    if (!piece || (!next && !force)) return undefined;
    const block = piece.prefix + this.#buffer.slice(piece.start, piece.end) + piece.suffix;
    if (!next) return { block, rest: "" };
    const rest = this.#buffer.slice(next.start);
    return { block, rest: next.prefix === "" ? rest.replace(CUT_BLANKS, "") : next.prefix + rest };
  }

  #take(emit: (block: string) => void, { block, rest }: Break): void {
    this.#buffer = rest;
    this.#emit(emit, block);
  }

  #emit(emit: (block: string) => void, text: string): void {
    if (text.trim() !== "") emit(text);
  }
}

function lastIndexWhere(text: string, end: number, test: (index: number) => boolean): number | undefined {
  for (let i = Math.min(end, text.length - 1); i > 0; i--) if (test(i)) return i;
  return undefined;
}

function lastMatch(text: string, end: number, pattern: RegExp, test: (index: number) => boolean): number | undefined {
  let last: number | undefined;
  for (const match of text.slice(0, end + 2).matchAll(pattern)) if (test(match.index)) last = match.index;
  return last;
}

/** A cut here comes after `.`, `!` or `?` (also full-width) and before white space. */
function isSentenceEnd(text: string, index: number): boolean {
  return /[.!?。！？]/.test(text[index - 1] ?? "") && (/\s/.test(text[index] ?? "") || /[。！？]/.test(text[index - 1] ?? ""));
}
