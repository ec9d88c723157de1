import { readFile } from "node:fs/promises";
import { join, relative, isAbsolute } from "node:path";
import { isErrno } from "../infra/atomic-file.ts";
import { isPlainObject } from "./json-value.ts";
import type { EnvRecord } from "./paths.ts";

export type EnvSource = "process" | "cwd-dotenv" | "state-dotenv" | "config" | "shell";

/** The environment as the configuration sees it; a value, never `process.env` itself. */
export interface EnvView {
  readonly get: (name: string) => string | undefined;
  readonly vars: Readonly<Record<string, string>>;
  readonly sourceOf: (name: string) => EnvSource | undefined;
}

export interface EnvLayer {
  readonly source: EnvSource;
  readonly vars: EnvRecord;
}

/** Joins layers; an earlier layer wins, an empty value counts as not set. */
export function createEnvView(layers: readonly EnvLayer[]): EnvView {
  const vars: Record<string, string> = Object.create(null) as Record<string, string>;
  const sources = new Map<string, EnvSource>();
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer.vars)) {
      if (value === undefined || value === "" || sources.has(name)) continue;
      vars[name] = value;
      sources.set(name, layer.source);
    }
  }
  return { get: (name) => vars[name], vars: Object.freeze(vars), sourceOf: (name) => sources.get(name) };
}

/** Parses the usual `.env` notation: `export` prefix, comments, single, double and no quotes. Bad lines are passed over. */
export function parseDotenv(text: string): Record<string, string> {
  const vars: Record<string, string> = {};
  const line =
    /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(?:'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\r\n]*))/gm;
  for (const [, name = "", single, double, bare] of text.matchAll(line)) {
    if (single !== undefined) vars[name] = single;
    else if (double !== undefined)
      vars[name] = double.replace(/\\([\s\S])/g, (_, c: string) =>
        c === "n" ? "\n" : c === "r" ? "\r" : c === "t" ? "\t" : c,
      );
    else vars[name] = (bare ?? "").replace(/\s+#.*$|^#.*$/, "").trim();
  }
  return vars;
}

/**
 * Variables that decide what code a process loads or runs. They are taken from the process environment only, never from a
 * file (spec: security-record A6).
 */
export function isLoaderVariable(name: string): boolean {
  return (
    /^(?:LD_|DYLD_|NODE_|npm_|GIT_(?:SSH|EXEC|CONFIG|TEMPLATE|EXTERNAL)|PYTHON(?:PATH|HOME|STARTUP)|PERL5|RUBY(?:OPT|LIB)|JAVA_TOOL)/i.test(
      name,
    ) || /^(?:PATH|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|IFS|HGRCPATH|RUSTC_WRAPPER)$/.test(name)
  );
}

/** Whether a `.env` of the working directory may set a name (spec: decisions §1.7). */
export function isCwdDotenvName(name: string): boolean {
  return /(?:_API_KEY|_TOKEN|_BASE_URL)$/.test(name) && !name.startsWith("OPENCLAW_") && !isLoaderVariable(name);
}

export interface DotenvDeps {
  readonly cwd: string;
  readonly stateDir: string;
  /** A working directory in one of these never has its `.env` read. */
  readonly workspaces: readonly string[];
  readonly readText?: (path: string) => Promise<string>;
}

/** The layers of `<cwd>/.env` (a few harmless names) and `<state>/.env`. Files that cannot be read count as absent. */
export async function readDotenvLayers(deps: DotenvDeps): Promise<EnvLayer[]> {
  const readText = deps.readText ?? ((path: string) => readFile(path, "utf8"));
  const layers: EnvLayer[] = [];
  if (!deps.workspaces.some((workspace) => isInside(deps.cwd, workspace))) {
    const vars = await readDotenv(join(deps.cwd, ".env"), readText, isCwdDotenvName);
    if (vars) layers.push({ source: "cwd-dotenv", vars });
  }
  const state = await readDotenv(join(deps.stateDir, ".env"), readText, (name) => !isLoaderVariable(name));
  if (state) layers.push({ source: "state-dotenv", vars: state });
  return layers;
}

async function readDotenv(
  path: string,
  readText: (path: string) => Promise<string>,
  allowed: (name: string) => boolean,
): Promise<Record<string, string> | undefined> {
  try {
    return Object.fromEntries(Object.entries(parseDotenv(await readText(path))).filter(([name]) => allowed(name)));
  } catch (err) {
    if (isErrno(err, "ENOENT", "EACCES", "EPERM", "EISDIR", "ENOTDIR")) return undefined;
    throw err;
  }
}

/** Whether a path is the directory or lies in it. */
export function isInside(path: string, dir: string): boolean {
  const way = relative(dir, path);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}

export interface EnvBlock {
  readonly vars: Readonly<Record<string, string>>;
  /** Names the block may not set. */
  readonly refused: readonly string[];
}

/** The variables of the `env` block: `env.vars.K` and direct `env.K` strings, before `${VAR}` substitution. */
export function readEnvBlock(config: unknown): EnvBlock {
  const env = isPlainObject(config) ? config["env"] : undefined;
  if (!isPlainObject(env)) return { vars: {}, refused: [] };
  const all = { ...env, ...(isPlainObject(env["vars"]) ? env["vars"] : {}) };
  const vars: Record<string, string> = {};
  const refused: string[] = [];
  for (const [name, value] of Object.entries(all)) {
    if (name === "vars" || name === "shellEnv" || typeof value !== "string") continue;
    if (isLoaderVariable(name)) refused.push(name);
    else vars[name] = value;
  }
  return { vars, refused };
}
