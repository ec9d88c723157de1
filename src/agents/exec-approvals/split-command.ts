import { hasUnseen } from "./display.ts";

/** How a command's parts follow each other; `|` joins the parts of one pipeline. */
export type Operator = "&&" | "||" | ";" | "|";

export interface CommandPart {
  /** Words without their quotes. Nothing in them is expanded: `$HOME` and `*.txt` are just those characters. */
  readonly argv: readonly string[];
  /** What stands between this part and the one before; undefined for the first. */
  readonly after?: Operator | undefined;
}

export type SplitResult =
  | { readonly kind: "parts"; readonly parts: readonly CommandPart[] }
  /** Not fully understood. `isHeredoc`: asked about even where an allow-list would not be. */
  | { readonly kind: "unknown"; readonly reason: string; readonly isHeredoc: boolean };

/** Each of these begins something that a shell does, and that this parser does not follow. */
const UNQUOTED_STOP = new Map([
  ["`", "command substitution"], ["(", "subshell"], [")", "subshell"], [">", "redirection"], ["<", "redirection"], ["&", "background operator"], ["\n", "more than one line"],
]);

const unknown = (reason: string, isHeredoc = false): SplitResult => ({ kind: "unknown", reason, isHeredoc });

/**
 * Splits a shell command into its simple commands. Anything beyond words, quotes and `&& || ; |` makes the whole unknown:
 * what is not understood is never run without being asked about. Source: spec tools-and-automation §3.4, security-record A5.
 */
export function splitCommand(command: string): SplitResult {
  if (command.includes("\n")) return unknown("more than one line", /<<-?\s*["'\\]?[A-Za-z_]/.test(command));
  if (hasUnseen(command)) return unknown("invisible or control characters");
  const parts: CommandPart[] = [];
  let argv: string[] = [];
  let word: string | undefined;
  let after: Operator | undefined;
  const endWord = (): void => {
    if (word !== undefined) argv.push(word);
    word = undefined;
  };
  const endPart = (next: Operator | undefined): boolean => {
    endWord();
    if (argv.length === 0) return false;
    parts.push({ argv, ...(after ? { after } : {}) });
    argv = [];
    after = next;
    return true;
  };
  for (let at = 0; at < command.length; ) {
    const char = command[at] as string;
    const two = command.slice(at, at + 2);
    if (char === "'" || char === '"') {
      const quoted = char === "'" ? singleQuoted(command, at) : doubleQuoted(command, at);
      if (typeof quoted === "string") return unknown(quoted);
      word = (word ?? "") + quoted.text;
      at = quoted.end;
    } else if (char === "\\") {
      if (at + 1 >= command.length) return unknown("line continuation");
      word = (word ?? "") + (command[at + 1] as string);
      at += 2;
    } else if (char === " " || char === "\t") {
      endWord();
      at++;
    } else if (two === "&&" || two === "||") {
      if (!endPart(two)) return unknown("an operator without a command");
      at += 2;
    } else if (two === "|&") {
      return unknown("redirection");
    } else if (char === "|" || char === ";") {
      if (!endPart(char)) return unknown("an operator without a command");
      at++;
    } else if (two === "$(" || two === "$'" || two === '$"' || two === "${") {
      return unknown(two === "$(" ? "command substitution" : "a special quoting or expansion");
    } else if (UNQUOTED_STOP.has(char)) {
      return unknown(UNQUOTED_STOP.get(char) as string, command.slice(at).startsWith("<<"));
    } else if (char === "#" && word === undefined) {
      return unknown("a comment");
    } else {
      word = (word ?? "") + char;
      at++;
    }
  }
  if (!endPart(undefined)) return unknown(parts.length === 0 ? "no command" : "an operator without a command");
  return { kind: "parts", parts };
}

type Quoted = { readonly text: string; readonly end: number };

function singleQuoted(command: string, start: number): Quoted | string {
  const end = command.indexOf("'", start + 1);
  return end < 0 ? "an unterminated quote" : { text: command.slice(start + 1, end), end: end + 1 };
}

function doubleQuoted(command: string, start: number): Quoted | string {
  let text = "";
  for (let at = start + 1; at < command.length; at++) {
    const char = command[at] as string;
    const next = command[at + 1] ?? "";
    if (char === '"') return { text, end: at + 1 };
    if (char === "`" || (char === "$" && (next === "(" || next === "{"))) return "command substitution";
    if (char === "\\" && ['"', "\\", "$", "`"].includes(next)) {
      text += next;
      at++;
    } else text += char;
  }
  return "an unterminated quote";
}

/** One word for a POSIX shell, whatever is in it. */
export const quoteWord = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
