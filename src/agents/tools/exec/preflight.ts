import { open } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";

const MAX_SCRIPT_BYTES = 512 * 1024;
const CALL = /^\s*(?:\S*\/)?(python[\d.]*|node|nodejs)\s+(?!-)(?:"([^"]+)"|'([^']+)'|([^\s;|&<>]+))/;

/**
 * Models write shell variables into scripts of other languages, where they mean nothing.
 * @throws Error naming the line, before such a script is run
 */
export async function preflightScript(command: string, cwd: string): Promise<void> {
  const call = CALL.exec(command);
  const script = call?.[2] ?? call?.[3] ?? call?.[4];
  if (!call || script === undefined || !/\.(py|js|mjs|cjs)$/.test(script)) return;
  const path = isAbsolute(script) ? script : join(cwd, script);
  if (relative(cwd, path).startsWith("..")) return;
  const text = await readSmall(path);
  if (text === undefined) return;
  const isPython = path.endsWith(".py");
  const found = findShellVariable(text, isPython);
  if (found) throw new Error(`exec preflight: detected likely shell variable injection (${found.variable}) in ${script}:${found.line}. In ${isPython ? "Python use os.environ" : "JavaScript use process.env"} instead.`);
}

function findShellVariable(text: string, isPython: boolean): { readonly variable: string; readonly line: number } | undefined {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const leading = /^NODE\b/.exec(lines[first]?.trim() ?? "");
  if (!isPython && leading) return { variable: "NODE", line: first + 1 };
  for (const [index, line] of lines.entries()) {
    const code = line.replace(isPython ? /#.*$/ : /\/\/.*$/, "").replace(/(["'`])(?:\\.|(?!\1).)*\1/g, "");
    const variable = /\$[A-Z_][A-Z0-9_]{1,}/.exec(code)?.[0];
    if (variable !== undefined) return { variable, line: index + 1 };
  }
  return undefined;
}

async function readSmall(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, "r");
    try {
      const info = await file.stat();
      return info.isFile() && info.size <= MAX_SCRIPT_BYTES ? await file.readFile("utf8") : undefined;
    } finally {
      await file.close();
    }
  } catch {
    return undefined; // not there or not readable: the interpreter says so itself
  }
}
