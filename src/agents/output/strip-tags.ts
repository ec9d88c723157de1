/** Removes what only the model should see. State is kept, so that a tag may arrive in pieces. */
export interface BlockTagState {
  /** Inside `<think>`. */
  thinking: boolean;
  /** Inside `<final>`. */
  final: boolean;
  /** Inside a code span or block: the run of back-ticks or tildes that closes it, else "". */
  code: string;
  /** A tail that may become a tag when more text arrives. */
  held: string;
}

export function createBlockTagState(): BlockTagState {
  return { thinking: false, final: false, code: "", held: "" };
}

export interface StripBlockTagsOptions {
  /** Only text inside `<final>` passes; without one nothing does. */
  readonly enforceFinalTag?: boolean | undefined;
  /** No more text follows: a held tail is text. */
  readonly flush?: boolean | undefined;
}

const TAG = /^<\s*(\/?)\s*(think|thinking|thought|antthinking|final)\s*>/i;
const TAG_START = /^<\s*\/?\s*[a-z]*\s*$/i;
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
    const ticks = /^(`+|~{3,})/.exec(rest)?.[0];
    if (ticks) {
      if (!options.flush && at + ticks.length === input.length) {
        state.held = rest;
        break;
      }
      if (state.code === "" && !state.thinking) state.code = ticks[0] === "`" || atLineStart(input, at, out) ? ticks : "";
      else if (closes(state.code, ticks)) state.code = "";
      keep(ticks);
      at += ticks.length;
      continue;
    }
    if (rest[0] === "\n" && state.code.length > 0 && state.code.length < 3) {
      // A code span ends at the latest with its paragraph: an odd back-tick must not hide everything after it.
      if (/^\n\s*\n/.test(rest)) state.code = "";
    }
    if (rest[0] === "<" && state.code === "") {
      const tag = TAG.exec(rest);
      if (tag) {
        applyTag(state, tag[1] === "/", (tag[2] ?? "").toLowerCase());
        at += tag[0].length;
        continue;
      }
      if (!options.flush && mayBecomeTag(rest)) {
        state.held = rest;
        break;
      }
    }
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
  if (rest.length > 24 || !TAG_START.test(rest)) return false;
  const name = rest.replace(/[<\s/]/g, "").toLowerCase();
  return name === "" || NAMES.some((full) => full.startsWith(name));
}

function closes(open: string, ticks: string): boolean {
  if (open === "") return false;
  if (open[0] !== ticks[0]) return false;
  return open.length >= 3 ? ticks.length >= open.length : ticks.length === open.length;
}

function atLineStart(input: string, at: number, out: string): boolean {
  const before = at > 0 ? input[at - 1] : out.at(-1);
  return before === undefined || before === "\n" || before === " ";
}
