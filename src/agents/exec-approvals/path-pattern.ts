import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

export interface PatternPlace {
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** Bare names never match: which file a name means depends on PATH. Source: spec tools-and-automation §3.4. */
export const isUsablePattern = (pattern: string): boolean => pattern === "*" || /[/\\~]/.test(pattern);

const expandHome = (pattern: string, home: string): string => (pattern === "~" || /^~[/\\]/.test(pattern) ? join(home, pattern.slice(1)) : pattern);

/**
 * A pattern as a regular expression over whole paths: `*` stays inside one part, `**` crosses parts, `?` is one character,
 * every other character means itself. Case counts except on darwin and win32.
 */
export function compilePattern(pattern: string, place: PatternPlace): RegExp {
  const text = place.platform === "win32" ? pattern.replaceAll("\\", "/") : pattern;
  const source = text.replace(/\*\*\/|\*\*|\*|\?|[^*?]+/g, (token) => {
    switch (token) {
      case "**/":
        return "(?:.*/)?";
      case "**":
        return ".*";
      case "*":
        return "[^/]*";
      case "?":
        return "[^/]";
      default:
        return token.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
    }
  });
  return new RegExp(`^${source}$`, place.platform === "darwin" || place.platform === "win32" ? "isu" : "su");
}

/** Whether a pattern names this executable; `path` is a real path. The pattern's own folder may be a symbolic link. */
export function matchesPath(pattern: string, path: string, place: PatternPlace): boolean {
  if (!isUsablePattern(pattern)) return false;
  if (pattern === "*") return true;
  const expanded = expandHome(pattern, place.home);
  const subject = place.platform === "win32" ? path.replaceAll("\\", "/") : path;
  const forms = [expanded, realForm(expanded)];
  return forms.some((form) => form !== undefined && compilePattern(form, place).test(subject));
}

/** The pattern with the links of its literal start resolved, since executables are compared by their real paths. */
function realForm(pattern: string): string | undefined {
  const firstGlob = pattern.search(/[*?]/);
  const literal = firstGlob < 0 ? pattern : dirname(`${pattern.slice(0, firstGlob)}x`);
  try {
    const real = realpathSync(resolve(literal));
    return firstGlob < 0 ? real : join(real, pattern.slice(literal.length));
  } catch {
    return undefined; // no such place: nothing of it can be run either
  }
}

/** The form of a file's name that its directory's links do not change. */
export function realFolderForm(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
