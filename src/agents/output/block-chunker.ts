import { fenceAt, parseFenceSpans, safeCutIndex, type FenceSpan } from "../../infra/text/index.ts";

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
  /** End of the emitted text in the buffer. */
  readonly at: number;
  /** The code block that the cut falls into. */
  readonly fence?: FenceSpan | undefined;
}

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
      this.#cut(emit, found);
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
      if (this.#buffer.length < this.#options.maxChars) return;
      const hard = this.#findBreak(false, 1);
      if (!hard) return;
      this.#cut(emit, hard);
    }
  }

  #findBreak(force: boolean, min = this.#options.minChars): Break | undefined {
    const { maxChars, breakPreference } = this.#options;
    const buffer = this.#buffer;
    const spans = parseFenceSpans(buffer);
    const end = Math.min(buffer.length, maxChars);
    const least = force ? 1 : min;
    const open = (at: number): boolean => at >= least && at <= end && at < buffer.length && !fenceAt(spans, at);
    if (breakPreference === "paragraph") {
      const at = lastMatch(buffer, end, PARAGRAPH_BREAK, open);
      if (at !== undefined) return { at };
    }
    if (breakPreference !== "sentence" && (breakPreference === "newline" || buffer.length >= maxChars)) {
      const at = lastIndexWhere(buffer, end, (i) => buffer[i] === "\n" && open(i));
      if (at !== undefined) return { at };
    }
    if (breakPreference === "sentence" || buffer.length >= maxChars) {
      const at = lastIndexWhere(buffer, end, (i) => isSentenceEnd(buffer, i) && open(i));
      if (at !== undefined) return { at };
    }
    if (buffer.length < maxChars && !force) return undefined;
    const space = lastIndexWhere(buffer, end, (i) => /\s/.test(buffer[i] ?? "") && open(i));
    if (space !== undefined) return { at: space };
    return this.#hardBreak(spans, end, least);
  }

  /** Inside a code block: at a line end that leaves room for the closing line; else where no character is torn. */
  #hardBreak(spans: readonly FenceSpan[], end: number, least: number): Break {
    const buffer = this.#buffer;
    const fence = fenceAt(spans, Math.min(end, buffer.length - 1)) ?? fenceAt(spans, end);
    if (!fence) return { at: Math.max(safeCutIndex(buffer, end), Math.min(least, end)) };
    if (fence.start >= least) return { at: fence.start };
    const room = end - closingLine(buffer, fence).length - 1;
    const content = buffer.indexOf("\n", fence.start) + 1;
    const line = lastIndexWhere(buffer, room, (i) => buffer[i] === "\n" && i > content);
    const at = line ?? safeCutIndex(buffer, Math.max(room, content + 1), content);
    return at > content ? { at, fence } : { at: safeCutIndex(buffer, end) };
  }

  #cut(emit: (block: string) => void, { at, fence }: Break): void {
    const buffer = this.#buffer;
    if (fence) {
      const head = buffer.slice(0, at).replace(/\n$/, "");
      const firstLine = buffer.slice(fence.start, buffer.indexOf("\n", fence.start));
      this.#emit(emit, `${head}\n${closingLine(buffer, fence)}\n`);
      this.#buffer = `${firstLine}\n${buffer.slice(at).replace(/^\n/, "")}`;
      return;
    }
    this.#emit(emit, buffer.slice(0, at));
    this.#buffer = buffer.slice(at).replace(/^\s?\n*/, "");
  }

  #emit(emit: (block: string) => void, text: string): void {
    if (text.trim() !== "") emit(text);
  }
}

function closingLine(buffer: string, fence: FenceSpan): string {
  const match = /^[ ]{0,3}(`{3,}|~{3,})/.exec(buffer.slice(fence.start, fence.start + 64));
  return match?.[0] ?? "```";
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
