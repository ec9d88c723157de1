import { execOption, hasInlineCode, isInterpreter, isShell, scriptOperand, shellProgram } from "./interpreters.ts";
import { matchesPath } from "./path-pattern.ts";
import { resolveExecutable, type Executable, type Surroundings } from "./resolve-executable.ts";
import { isSafeBinCall, type SafeBinSettings } from "./safe-bins.ts";
import { quoteWord, splitCommand, type CommandPart } from "./split-command.ts";
import { MAX_WRAPPERS, unwrap } from "./wrappers.ts";

/** One program of a command; a wrapper and what it runs are two. */
export interface Program {
  readonly executable: Executable;
  /** From the program's own word on. */
  readonly argv: readonly string[];
}

export interface AnalyzedPart {
  readonly part: CommandPart;
  /** The wrappers, outermost first, then the command they run. */
  readonly programs: readonly Program[];
  /** Why no allow-list entry can pass it; undefined when entries decide. */
  readonly refusal: string | undefined;
}

export type Analysis =
  | { readonly kind: "parts"; readonly parts: readonly AnalyzedPart[] }
  | { readonly kind: "unknown"; readonly reason: string; readonly isHeredoc: boolean };

export function analyzeCommand(command: string, place: Surroundings): Analysis {
  const split = splitCommand(command);
  return split.kind === "unknown" ? split : { kind: "parts", parts: split.parts.map((part) => analyzePart(part, place)) };
}

function analyzePart(part: CommandPart, place: Surroundings): AnalyzedPart {
  const programs: Program[] = [];
  let argv = part.argv;
  for (let depth = 0; ; depth++) {
    const word = argv[0] ?? "";
    const executable = resolveExecutable(word, place);
    if (!executable) return { part, programs, refusal: `${word || "an empty word"} is no program that can be found` };
    const program = { executable, argv };
    programs.push(program);
    const refusal = refuse(program);
    if (refusal !== undefined) return { part, programs, refusal };
    const inside = unwrap(executable.name, argv);
    const realInside = inside.kind === "plain" ? unwrap(executable.realName, argv) : inside;
    if (realInside.kind === "refused") return { part, programs, refusal: realInside.reason };
    if (realInside.kind === "plain") return { part, programs, refusal: undefined };
    if (depth >= MAX_WRAPPERS) return { part, programs, refusal: `more than ${MAX_WRAPPERS} wrappers` };
    argv = realInside.argv;
  }
}

function refuse({ executable, argv }: Program): string | undefined {
  for (const name of new Set([executable.name, executable.realName])) {
    if (hasInlineCode(name, argv)) return `${name} is given its program on the command line or from its input`;
    const option = execOption(name, argv);
    if (option !== undefined) return `${name} with ${option} can run other programs`;
  }
  return undefined;
}

export interface AllowRules {
  readonly patterns: readonly string[];
  readonly safeBins: SafeBinSettings;
}

export interface AllowVerdict {
  readonly satisfied: boolean;
  /** Why not, for people. */
  readonly reason?: string | undefined;
  /** Entries that were used, with the path they passed. */
  readonly used: readonly { readonly pattern: string; readonly path: string }[];
}

/** Every program of every part must be named by an entry, wrappers too, or be a safe bin. Source: decisions §8.1. */
export function judgeAllowlist(analysis: Analysis, rules: AllowRules, place: Surroundings): AllowVerdict {
  if (analysis.kind === "unknown") return { satisfied: false, reason: analysis.reason, used: [] };
  const used: { pattern: string; path: string }[] = [];
  for (const { programs, refusal } of analysis.parts) {
    if (refusal !== undefined) return { satisfied: false, reason: refusal, used };
    for (const { executable, argv } of programs) {
      const pattern = rules.patterns.find((item) => matchesPath(item, executable.path, place));
      if (pattern !== undefined) used.push({ pattern, path: executable.path });
      else if (!isSafeBinCall(executable, argv, rules.safeBins, place.platform)) return { satisfied: false, reason: `${executable.path} is not on the allow-list`, used };
    }
  }
  return { satisfied: true, used };
}

/**
 * The command with absolute paths and single-quoted words: what runs is what was judged, whatever a shell would have made of
 * the original text.
 */
export function rebuildCommand(parts: readonly AnalyzedPart[]): string {
  return parts.map(({ part, programs }) => {
    const words = [...part.argv];
    for (const { executable, argv } of programs) words[part.argv.length - argv.length] = executable.runPath;
    return `${part.after === undefined ? "" : ` ${part.after} `}${words.map(quoteWord).join(" ")}`;
  }).join("");
}

/**
 * What "always" stores: each program of the command; of `sh -c '…'` those inside. Interpreters and shells are left out, since
 * an entry for one would allow anything.
 */
export function pathsToRemember(command: string, place: Surroundings, depth = 0): string[] {
  const analysis = analyzeCommand(command, place);
  if (analysis.kind === "unknown" || depth > MAX_WRAPPERS) return [];
  const paths = analysis.parts.flatMap(({ programs, refusal }) => {
    const last = programs.at(-1);
    const inner = last && shellProgram(last.executable.name, last.argv);
    if (inner !== undefined) return [...wrappersOf(programs), ...pathsToRemember(inner, place, depth + 1)];
    if (refusal !== undefined) return [];
    return programs.filter(isRememberable).map(({ executable }) => executable.path);
  });
  return [...new Set(paths)];
}

const wrappersOf = (programs: readonly Program[]): string[] => programs.slice(0, -1).map(({ executable }) => executable.path);
const isRememberable = ({ executable }: Program): boolean => ![executable.name, executable.realName].some((name) => isShell(name) || isInterpreter(name));

/** Files whose content decides what the command does: programs, and the scripts that interpreters among them run. */
export function filesOf(analysis: Analysis): { readonly programs: readonly string[]; readonly operands: readonly string[] } {
  if (analysis.kind === "unknown") return { programs: [], operands: [] };
  const all = analysis.parts.flatMap(({ programs }) => programs);
  return {
    programs: [...new Set(all.map(({ executable }) => executable.realPath))],
    operands: [...new Set(all.flatMap(({ executable, argv }) => [executable.name, executable.realName].map((name) => scriptOperand(name, argv)).filter((word) => word !== undefined)))],
  };
}
