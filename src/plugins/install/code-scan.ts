import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join, relative } from "node:path";

/** What in a plugin's code deserves a look before it is trusted. A hint, no proof either way. Source: spec plugin-sdk-survey §2. */
export interface CodeFinding {
  readonly level: "critical" | "warn";
  readonly rule: string;
  /** Inside of the plugin. */
  readonly file: string;
  readonly line: number;
}

interface Rule {
  readonly level: CodeFinding["level"];
  readonly rule: string;
  readonly pattern: RegExp;
  /** Must be somewhere in the file as well. */
  readonly context?: RegExp | undefined;
}

const NETWORK = /\bfetch\s*\(|\bhttps?\.request\b|\baxios\b|\.post\s*\(/;

const RULES: readonly Rule[] = [
  { level: "critical", rule: "starts programs", pattern: /\b(?:exec|execSync|spawn|spawnSync|execFile|execFileSync|fork)\s*\(/, context: /child_process/ },
  { level: "critical", rule: "runs text as code", pattern: /\beval\s*\(|\bnew\s+Function\s*\(/ },
  { level: "critical", rule: "mines coins", pattern: /stratum\+tcp|coinhive|cryptonight|xmrig/i },
  { level: "critical", rule: "reads the environment and sends", pattern: /process\.env\b/, context: NETWORK },
  { level: "warn", rule: "connects to an odd port", pattern: /new\s+WebSocket\s*\(\s*["'`]wss?:\/\/[^"'`]*:(?!(?:80|443|8080|8443|3000)\b)\d+/ },
  { level: "warn", rule: "reads files and sends", pattern: /\breadFile(?:Sync)?\s*\(/, context: NETWORK },
  { level: "warn", rule: "hides text", pattern: /(?:\\x[0-9a-fA-F]{2}){6,}|(?:atob|Buffer\.from)\s*\(\s*["'][A-Za-z0-9+/=]{200,}["']/ },
];

const EXTENSIONS = new Set([".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx"]);
const MAX_FILES = 500;
const MAX_BYTES = 1024 * 1024;

/** At most one finding for each rule and file; `node_modules` and hidden folders are not looked into. */
export async function scanCode(root: string): Promise<CodeFinding[]> {
  const findings: CodeFinding[] = [];
  for (const path of await sources(root)) {
    if ((await stat(path)).size > MAX_BYTES) continue;
    const text = await readFile(path, "utf8");
    for (const { level, rule, pattern, context } of RULES) {
      if (context && !context.test(text)) continue;
      const match = pattern.exec(text);
      if (match) findings.push({ level, rule, file: relative(root, path), line: text.slice(0, match.index).split("\n").length });
    }
  }
  return findings;
}

async function sources(root: string): Promise<string[]> {
  const found: string[] = [];
  const open = [root];
  for (let dir = open.pop(); dir !== undefined && found.length < MAX_FILES; dir = open.pop()) {
    for (const entry of await readdir(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith(".")) open.push(path);
      else if (entry.isFile() && EXTENSIONS.has(extname(entry.name)) && found.length < MAX_FILES) found.push(path);
    }
  }
  return found;
}

/** One line for people; undefined when nothing is critical. */
export function warnOfCode(id: string, findings: readonly CodeFinding[]): string | undefined {
  const critical = findings.filter((finding) => finding.level === "critical");
  if (critical.length === 0) return undefined;
  const shown = critical.slice(0, 5).map(({ rule, file, line }) => `${rule} (${file}:${line})`).join("; ");
  return `WARNING: Plugin "${id}" contains dangerous code patterns: ${shown}${critical.length > 5 ? `; +${critical.length - 5} more` : ""}`;
}
