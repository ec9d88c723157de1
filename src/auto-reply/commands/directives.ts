import { fenceAt, parseFenceSpans } from "../../infra/text/index.ts";
import type { CommandContext, CommandDefinition } from "./contract.ts";

export interface DirectiveUse {
  readonly command: CommandDefinition;
  readonly invokedAs: string;
  readonly args: string;
}

export interface TakenDirectives {
  readonly uses: readonly DirectiveUse[];
  /** The text without them; every other character as it was. */
  readonly rest: string;
}

const WORD = /\/([a-z0-9_.-]+)(?::|(?=\s)|$)/iy;

/**
 * Takes directives out of a message: at its start or after white space, outside code blocks, and only with a value of
 * theirs, so that `/think about it` stays text. `find` names the directive of a word; a model alias is one of /model.
 */
export async function takeDirectives(
  text: string, find: (word: string) => { readonly command: CommandDefinition; readonly args?: string | undefined } | undefined,
  context: Pick<CommandContext, "services" | "agentId">,
): Promise<TakenDirectives> {
  if (!text.includes("/")) return { uses: [], rest: text };
  const spans = parseFenceSpans(text);
  const uses: DirectiveUse[] = [];
  let rest = "";
  let from = 0;
  for (let at = text.indexOf("/"); at >= 0; at = text.indexOf("/", at + 1)) {
    if (at < from || fenceAt(spans, at) || (at > 0 && !/\s/.test(text[at - 1] ?? ""))) continue;
    WORD.lastIndex = at;
    const match = WORD.exec(text);
    const word = match?.[1];
    if (!match || word === undefined) continue;
    const found = find(word.toLowerCase());
    if (!found) continue;
    const end = match.index + match[0].length;
    const length = found.args === undefined ? ((await found.command.directive?.take(text.slice(end), context)) ?? 0) : 0;
    if (found.args === undefined && length === 0) continue;
    uses.push({ command: found.command, invokedAs: word.toLowerCase(), args: found.args ?? text.slice(end, end + length).trim() });
    rest += text.slice(from, at);
    from = end + length;
    // One blank of the two around it goes too, or its line when it stood alone; indentation stays.
    const alone = rest === "" || rest.endsWith("\n");
    if ((alone && text[from] === "\n") || (/[ \t]/.test(text[from] ?? "") && (alone || /\s$/.test(rest)))) from++;
    else if (from === text.length) rest = rest.replace(/[ \t]$/, "");
  }
  return { uses, rest: rest + text.slice(from) };
}

/** Length of blanks and the one word behind them, when it is one of `words`. */
export function takeWord(after: string, isValue: (word: string) => boolean): number {
  const match = /^[ \t]*([^\s]+)/.exec(after);
  return match?.[1] !== undefined && isValue(match[1].toLowerCase()) ? match[0].length : 0;
}

/** Length of the leading words that are all values. */
export function takeWords(after: string, isValue: (word: string) => boolean): number {
  let length = 0;
  for (;;) {
    const next = takeWord(after.slice(length), isValue);
    if (next === 0) return length;
    length += next;
  }
}
