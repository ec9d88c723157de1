import { dirname } from "node:path";
import type { Executable } from "./resolve-executable.ts";

export interface SafeBinProfile {
  readonly minPositional?: number | undefined;
  readonly maxPositional?: number | undefined;
  /** Options that take a value, with their dashes. */
  readonly allowedValueFlags?: readonly string[] | undefined;
  readonly deniedFlags?: readonly string[] | undefined;
}

export interface SafeBinSettings {
  readonly bins: readonly string[];
  readonly trustedDirs: readonly string[];
  readonly profiles: Readonly<Record<string, SafeBinProfile>>;
}

/** Filters that read their input and write their output, and nothing else. Source: spec tools-and-automation §3.4. */
export const DEFAULT_SAFE_BINS: readonly string[] = ["jq", "cut", "uniq", "head", "tail", "tr", "wc"];
const TRUSTED_DIRS: readonly string[] = ["/bin", "/usr/bin"];

/** Options without a value that are known to change the output only. */
const PLAIN_FLAGS: Readonly<Record<string, RegExp>> = {
  jq: /^(-[cnrRjaSMCse]+|--(compact-output|null-input|raw-output|raw-input|join-output|ascii-output|sort-keys|monochrome-output|color-output|slurp|exit-status|tab))$/,
  grep: /^(-[EFGPivwxclLohHnsqzyb]+|--(extended-regexp|fixed-strings|basic-regexp|perl-regexp|ignore-case|invert-match|word-regexp|line-regexp|count|only-matching|line-number|no-messages|quiet|silent))$/,
  cut: /^(-[ns]+|--(complement|only-delimited|zero-terminated))$/,
  uniq: /^(-[cdDiuz]+|--(count|repeated|ignore-case|unique|zero-terminated))$/,
  head: /^(-\d+|-[qvz]+|--(quiet|silent|verbose|zero-terminated))$/,
  tail: /^(-\d+|-[qvz]+|--(quiet|silent|verbose|zero-terminated))$/,
  wc: /^(-[cmlLw]+|--(bytes|chars|lines|max-line-length|words))$/,
  sort: /^(-[bdfghiMnRrVcCmsuz]+|--(ignore-leading-blanks|dictionary-order|ignore-case|general-numeric-sort|human-numeric-sort|ignore-nonprinting|month-sort|numeric-sort|random-sort|reverse|version-sort|check|merge|stable|unique|zero-terminated))$/,
  tr: /^(-[cCdst]+|--(complement|delete|squeeze-repeats|truncate-set1))$/,
};

const PROFILES: Readonly<Record<string, SafeBinProfile>> = {
  jq: { maxPositional: 1, allowedValueFlags: ["--arg", "--argjson", "--argstr"], deniedFlags: ["--argfile", "--rawfile", "--slurpfile", "--from-file", "--library-path", "-L", "-f"] },
  grep: {
    maxPositional: 0, allowedValueFlags: ["-e", "--regexp", "-m", "--max-count", "-A", "-B", "-C", "--after-context", "--before-context", "--context"],
    deniedFlags: ["--file", "--exclude-from", "--dereference-recursive", "--directories", "--recursive", "-f", "-d", "-r", "-R"],
  },
  cut: { maxPositional: 0, allowedValueFlags: ["-b", "-c", "-d", "-f", "--bytes", "--characters", "--delimiter", "--fields", "--output-delimiter"] },
  uniq: { maxPositional: 0, allowedValueFlags: ["-f", "-s", "-w", "--skip-fields", "--skip-chars", "--check-chars"] },
  head: { maxPositional: 0, allowedValueFlags: ["-n", "-c", "--lines", "--bytes"] },
  tail: { maxPositional: 0, allowedValueFlags: ["-n", "-c", "--lines", "--bytes"] },
  wc: { maxPositional: 0, deniedFlags: ["--files0-from"] },
  sort: { maxPositional: 0, allowedValueFlags: ["-k", "-t", "-S", "--key", "--field-separator", "--buffer-size"], deniedFlags: ["--compress-program", "--files0-from", "--output", "--random-source", "--temporary-directory", "-T", "-o"] },
  tr: { minPositional: 1, maxPositional: 2 },
};

/** Whether a call is one of a safe bin that can reach no file, no network and no other program. An option that is not listed fails it. */
export function isSafeBinCall(executable: Executable, argv: readonly string[], settings: SafeBinSettings, platform: NodeJS.Platform): boolean {
  const { name } = executable;
  if (platform === "win32" || !settings.bins.includes(name)) return false;
  const profile = settings.profiles[name] ?? (Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined);
  if (!profile) return false;
  const dirs = [...TRUSTED_DIRS, ...settings.trustedDirs.map((dir) => dir.replace(/\/+$/, ""))];
  if (!dirs.includes(dirname(executable.path)) || !dirs.includes(dirname(executable.realPath))) return false;
  return areWordsSafe(name, argv.slice(1), profile);
}

function areWordsSafe(name: string, words: readonly string[], profile: SafeBinProfile): boolean {
  const valueFlags = profile.allowedValueFlags ?? [];
  const denied = profile.deniedFlags ?? [];
  let positional = 0;
  let onlyPositional = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (!onlyPositional && word === "--") onlyPositional = true;
    else if (!onlyPositional && word.startsWith("-") && word !== "-") {
      const [flag, value] = splitFlag(word, valueFlags);
      if (denied.includes(flag) || denied.includes(word)) return false;
      if (valueFlags.includes(flag)) {
        const count = value === undefined ? (name === "jq" ? 2 : 1) : 0;
        const values = value === undefined ? words.slice(at + 1, at + 1 + count) : [value];
        if (values.length < count || values.some((item) => isPathLike(item, name))) return false;
        at += count;
      } else if (!PLAIN_FLAGS[name]?.test(word)) return false;
    } else {
      positional++;
      if (isPathLike(word, name)) return false;
    }
  }
  return positional >= (profile.minPositional ?? 0) && positional <= (profile.maxPositional ?? 0);
}

/** `--lines=3` and `-n3` hold their value. */
function splitFlag(word: string, valueFlags: readonly string[]): [string, string?] {
  if (word.startsWith("--")) {
    const equals = word.indexOf("=");
    return equals < 0 ? [word] : [word.slice(0, equals), word.slice(equals + 1)];
  }
  const short = word.slice(0, 2);
  return word.length > 2 && valueFlags.includes(short) ? [short, word.slice(2)] : [word];
}

/** What a jq program could look outside of its input with. */
const JQ_OUTSIDE = /\$ENV|\b(env|import|include|modulemeta|get_search_list)\b/;

/** A jq program holds slashes and dots of its own; elsewhere nothing that could name a file passes. */
function isPathLike(word: string, name: string): boolean {
  if (word.length === 1) return word === "." ? name !== "jq" : word === "*" || word === "?" || word === "~";
  if (name === "jq") return /^(\/|~|\.\.?\/)/.test(word) || JQ_OUTSIDE.test(word);
  if (name === "tr") return /^(\/|\.\.?\/|~)/.test(word);
  return /[/\\~*?[]|^\.\.$/.test(word);
}
