/** Removes what only the model should see. State is kept, so that a tag may arrive in pieces. */
export interface BlockTagState {
  /** Inside `<think>`. */
  thinking: boolean;
  /** Inside `<final>`. */
  final: boolean;
  /** Inside a code span or block: the run of back-ticks or tildes that closes it, else "". */
  code: string;
  /** The code goes on after the line that opened it with three or more: only a run at a line start closes it. */
  fenced: boolean;
  /** Nothing but blanks so far on the current line. */
  lineBlank: boolean;
  /** A tail that may become a tag when more text arrives. */
  held: string;
}

export function createBlockTagState(): BlockTagState {
  return { thinking: false, final: false, code: "", fenced: false, lineBlank: true, held: "" };
}

export interface StripBlockTagsOptions {
  /** Only text inside `<final>` passes; without one nothing does. */
  readonly enforceFinalTag?: boolean | undefined;
  /** No more text follows: a held tail is text. */
  readonly flush?: boolean | undefined;
}

const TAG = /^<\s*(\/?)\s*(think|thinking|thought|antthinking|final)\s*>/i;
const TAG_START = /^<\s*\/?\s*[a-z]*\s*$/i;
const MAX_TAG_CHARS = 24;
const NAMES = ["think", "thinking", "thought", "antthinking", "final"];

/** Source: spec agent-pipeline-output §6.1. Mutates `state`. */
export function stripBlockTags(text: string, state: BlockTagState, options: StripBlockTagsOptions = {}): string {
  const input = state.held + text;
  state.held = "";
  let out = "";
  let at = 0;
  const keep = (piece: string): void => {
    if (!state.thinking && (!options.enforceFinalTag || state.final)) out += piece;
  };
  while (at < input.length) {
    const rest = input.slice(at);
    const ticks = /^(`+|~+)/.exec(rest)?.[0];
    if (ticks) {
      if (!options.flush && at + ticks.length === input.length) {
        state.held = rest;
        break;
      }
      applyTicks(state, ticks);
      keep(ticks);
      at += ticks.length;
      continue;
    }
    if (rest[0] === "<" && state.code === "") {
      const tag = TAG.exec(rest);
      if (tag && tag[0].length <= MAX_TAG_CHARS) {
        applyTag(state, tag[1] === "/", (tag[2] ?? "").toLowerCase());
        at += tag[0].length;
        continue;
      }
      if (!options.flush && mayBecomeTag(rest)) {
        state.held = rest;
        break;
      }
    }
    trackLine(state, rest[0] as string);
    keep(rest[0] as string);
    at++;
  }
  return out;
}

function applyTag(state: BlockTagState, closing: boolean, name: string): void {
  if (name === "final") state.final = !closing;
  else state.thinking = !closing;
}

function mayBecomeTag(rest: string): boolean {
  if (rest.length > MAX_TAG_CHARS || !TAG_START.test(rest)) return false;
  const name = rest.replace(/[<\s/]/g, "").toLowerCase();
  return name === "" || NAMES.some((full) => full.startsWith(name));
}

function applyTicks(state: BlockTagState, ticks: string): void {
  const { code, lineBlank } = state;
  state.lineBlank = false;
  if (code !== "") {
    const closes = code[0] === ticks[0] && (state.fenced ? lineBlank && ticks.length >= code.length : ticks.length === code.length);
    if (closes) state.code = "";
  } else if (!state.thinking && (ticks[0] === "`" || (lineBlank && ticks.length >= 3))) {
    state.code = ticks;
    state.fenced = false;
  }
}

function trackLine(state: BlockTagState, char: string): void {
  if (char !== "\n") {
    state.lineBlank &&= /\s/.test(char);
    return;
  }
  if (state.code.length >= 3) state.fenced = true;
  // A code span ends at the latest with its paragraph: an odd back-tick must not hide everything after it.
  else if (state.lineBlank) state.code = "";
  state.lineBlank = true;
}
