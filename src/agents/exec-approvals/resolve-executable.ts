import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { realFolderForm } from "./path-pattern.ts";

export interface Executable {
  /** What patterns are compared with: the real path; for one of many names of a multi-call binary that name in its real folder. */
  readonly path: string;
  /** The file behind all links. */
  readonly realPath: string;
  /** What is run: keeps the name that a multi-call binary goes by. */
  readonly runPath: string;
  /** Lower-case name without `.exe`, of the file as it was called. */
  readonly name: string;
  /** Lower-case name of the real file. */
  readonly realName: string;
}

export interface Surroundings {
  readonly cwd: string;
  /** PATH of the child. */
  readonly path: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** One file under many names, which does what its name says. */
const MULTI_CALL = new Set(["busybox", "toybox", "coreutils", "uutils"]);

const nameOf = (path: string): string => basename(path).toLowerCase().replace(/\.(exe|cmd|bat|com)$/, "");

/** The executable file that a command word means, or undefined when there is none. Relative folders of PATH do not count. */
export function resolveExecutable(word: string, place: Surroundings): Executable | undefined {
  if (word === "" || word.includes("\0")) return undefined;
  for (const candidate of candidates(word, place)) {
    const real = executableFile(candidate);
    if (real === undefined) continue;
    const isMultiCall = MULTI_CALL.has(nameOf(real));
    const own = realFolderForm(candidate);
    const path = isMultiCall ? own : real;
    return { path, realPath: real, runPath: path, name: nameOf(candidate), realName: isMultiCall ? nameOf(candidate) : nameOf(real) };
  }
  return undefined;
}

function candidates(word: string, place: Surroundings): string[] {
  if (word.startsWith("~/")) return [join(place.home, word.slice(2))];
  if (word.includes("/") || (place.platform === "win32" && word.includes("\\"))) return [isAbsolute(word) ? word : join(place.cwd, word)];
  const suffixes = place.platform === "win32" ? ["", ".exe", ".cmd", ".bat"] : [""];
  return place.path.split(delimiter).filter(isAbsolute).flatMap((dir) => suffixes.map((suffix) => join(dir, `${word}${suffix}`)));
}

function executableFile(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    if (!statSync(real).isFile()) return undefined;
    accessSync(real, constants.X_OK);
    return real;
  } catch {
    return undefined; // not there, or not for us to run
  }
}
