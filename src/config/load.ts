import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { errorText } from "../infra/errors.ts";
import { isErrno } from "../infra/atomic-file.ts";
import { type ConfigPath, formatConfigPath, getAtPath, unsetAtPath } from "./config-path.ts";
import { applyDefaults } from "./defaults.ts";
import { createEnvView, type EnvLayer, type EnvView, readDotenvLayers, readEnvBlock } from "./env.ts";
import {
  type ConfigDocument,
  ConfigIncludeError,
  includedFiles,
  loadIncludes,
  mergeDocument,
  placesOf,
} from "./includes.ts";
import type { ConfigIssue } from "./issues.ts";
import { ConfigSyntaxError, findMember, locateJson5, parseJson5, positionAt, type ValueSpan } from "./json5-text.ts";
import { deepFreeze, isPlainObject, type PlainObject } from "./json-value.ts";
import { findLegacyKeys } from "./legacy.ts";
import { absolute, type EnvRecord, type StatePaths } from "./paths.ts";
import { findUnusedKeys } from "./schema/rooms.ts";
import { findNode, keyTable } from "./schema/table.ts";
import { validateValue } from "./schema/validate.ts";
import { checkSemantics, type ConfigKnowledge } from "./semantic.ts";
import { type ReadShellEnv, resolveShellEnvSettings, SHELL_ENV_NAMES } from "./shell-env.ts";
import { missingVariableText, substituteEnv } from "./substitute.ts";
import type { OpenClawConfig } from "./types.generated.ts";

export interface LoadConfigDeps {
  readonly paths: StatePaths;
  /** The environment of the process; only read. */
  readonly env: EnvRecord;
  /** Working directory whose `.env` may be read; undefined: none is. */
  readonly cwd?: string | undefined;
  readonly known?: ((config: unknown) => ConfigKnowledge | Promise<ConfigKnowledge>) | undefined;
  /** Asked only when `env.shellEnv` wants it and a name is missing; absent: never. */
  readonly readShellEnv?: ReadShellEnv | undefined;
  /** Version of this program; a file written by a newer one gets a warning. */
  readonly version?: string | undefined;
  /** Default: the file system. */
  readonly readText?: ((path: string) => Promise<string>) | undefined;
}

/** One reading of the configuration. Everything in it is frozen. */
export interface ConfigSnapshot {
  readonly path: string;
  readonly exists: boolean;
  /** Text of the root file; null when it cannot be read. */
  readonly raw: string | null;
  /** Value of the root file as written; null when it is no JSON5. */
  readonly parsed: unknown;
  /** With includes merged and variables put in; without defaults. */
  readonly resolved: PlainObject;
  /** Effective values. When invalid: what is left after the faulty parts, for callers that go on with port and auth. */
  readonly config: OpenClawConfig;
  /** sha256 hex of the root file's text ("" when missing). */
  readonly hash: string;
  readonly valid: boolean;
  readonly issues: readonly ConfigIssue[];
  readonly warnings: readonly ConfigIssue[];
  readonly legacyIssues: readonly ConfigIssue[];
  /** Absolute paths of included files. */
  readonly includes: readonly string[];
  /** Known keys in use that nothing honours yet. */
  readonly unusedKeys: readonly string[];
  readonly env: EnvView;
  /** Includes merged, `${VAR}` references as written. */
  readonly source: PlainObject;
  /** The files behind it; undefined when the root is no JSON5 or an include is broken. */
  readonly document: ConfigDocument | undefined;
}

export const hashConfigText = (raw: string): string => createHash("sha256").update(raw).digest("hex");

/** Reads and checks the configuration (spec: cli-and-ui §1.2-1.4). Faults become issues of the snapshot; nothing throws. */
export async function loadConfig(deps: LoadConfigDeps): Promise<ConfigSnapshot> {
  const path = deps.paths.configPath;
  const readText = deps.readText ?? ((file: string) => readFile(file, "utf8"));
  let raw: string | undefined;
  try {
    raw = await readText(path);
  } catch (err) {
    if (!isErrno(err, "ENOENT"))
      return brokenSnapshot(deps, { exists: true, raw: null, parsed: null }, readFault(err, path));
  }
  let parsed: unknown = {};
  try {
    if (raw !== undefined) parsed = await parseJson5(raw, path);
    if (!isPlainObject(parsed))
      throw new ConfigSyntaxError(path, "the configuration must be an object { … }", { line: 1, column: 1 });
  } catch (err) {
    return brokenSnapshot(deps, { exists: true, raw: raw ?? null, parsed: null }, fault(err));
  }
  try {
    const document = await loadIncludes(path, raw ?? "", parsed, { readText: deps.readText });
    return await evaluate(deps, document, raw);
  } catch (err) {
    if (err instanceof ConfigIncludeError || err instanceof ConfigSyntaxError) {
      return brokenSnapshot(deps, { exists: true, raw: raw ?? null, parsed }, fault(err));
    }
    throw err;
  }
}

async function evaluate(
  deps: LoadConfigDeps,
  document: ConfigDocument,
  raw: string | undefined,
): Promise<ConfigSnapshot> {
  const merged = mergeDocument(document);
  if (!isPlainObject(merged))
    throw new ConfigSyntaxError(document.file, "the configuration must be an object { … }", { line: 1, column: 1 });
  const warnings: ConfigIssue[] = [];
  const env = await buildEnv(deps, merged, warnings);
  const substituted = substituteEnv(merged, env.get);
  const resolved = substituted.value as PlainObject;
  const known = (await deps.known?.(resolved)) ?? {};
  const findings = judge(resolved, deps, known);
  const place = createLocator(document);
  const issues = [
    ...substituted.missing.map((missing) => place(missing.path, missingVariableText(missing))),
    ...findings.issues.map((found) => place(found.path, found.message, found.at)),
  ];
  warnings.push(...findings.warnings.map((found) => place(found.path, found.message, found.at)));
  const faulty = [
    ...substituted.missing.map((missing) => missing.path),
    ...findings.issues.map((found) => found.at ?? found.path),
  ];
  const sound = faulty.reduce<unknown>((config, at) => (at.length === 0 ? {} : unsetAtPath(config, at)), resolved);
  return freezeSnapshot({
    path: document.file,
    exists: raw !== undefined,
    raw: raw ?? null,
    parsed: document.value,
    resolved,
    config: applyDefaults(sound, env) as OpenClawConfig,
    hash: hashConfigText(raw ?? ""),
    valid: issues.length === 0,
    issues,
    warnings,
    legacyIssues: findings.legacy.map((found) => place(found.path, found.message)),
    includes: includedFiles(document),
    unusedKeys: findUnusedKeys(resolved, known.channelIds).flatMap((keys) => (findNode(keys) === undefined ? [] : [keys.join(".")])),
    env,
    source: merged,
    document,
  });
}

interface Finding {
  readonly path: ConfigPath;
  readonly message: string;
  /** Where to point in the text, when that is not `path`. */
  readonly at?: ConfigPath | undefined;
}

interface Judgement {
  readonly issues: Finding[];
  readonly warnings: Finding[];
  readonly legacy: Finding[];
}

/** Legacy keys, schema and semantic checks of a resolved configuration. */
function judge(resolved: PlainObject, deps: LoadConfigDeps, known: ConfigKnowledge): Judgement {
  const issues: Finding[] = [];
  const warnings: Finding[] = [];
  const legacy = findLegacyKeys(resolved);
  // A legacy key that the table still knows keeps working; one that it does not know must be moved first.
  const isStillKnown = (path: ConfigPath): boolean => findNode(path) !== undefined;
  for (const found of legacy) (isStillKnown(found.path) ? warnings : issues).push(found);
  const isLegacy = (path: ConfigPath): boolean =>
    legacy.some((found) => formatConfigPath(found.path).startsWith(formatConfigPath(path)));
  for (const found of validateValue(resolved, keyTable())) {
    const at = found.unknownKey === undefined ? undefined : [...found.path, found.unknownKey];
    if (at && isLegacy(at)) continue;
    (at && !found.isSecurityRelevant ? warnings : issues).push({ path: found.path, message: found.message, at });
  }
  for (const found of checkSemantics(resolved, deps.paths, known))
    (found.severity === "error" ? issues : warnings).push(found);
  if (getAtPath(resolved, ["gateway", "token"]) !== undefined) {
    warnings.push({ path: ["gateway", "token"], message: "gateway.token is ignored; the key is gateway.auth.token" });
  }
  const touchedBy = getAtPath(resolved, ["meta", "lastTouchedVersion"]);
  if (typeof touchedBy === "string" && deps.version !== undefined && isNewerVersion(touchedBy, deps.version)) {
    const message = `the file was written by version ${touchedBy}, this is ${deps.version}; newer keys may have no effect`;
    warnings.push({ path: ["meta", "lastTouchedVersion"], message });
  }
  return { issues, warnings, legacy };
}

function isNewerVersion(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => (/\d+(?:\.\d+)*/.exec(text)?.[0] ?? "0").split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** Layers the environment: process, `.env` files, `env` block, login shell (spec: cli-and-ui §1.2). */
async function buildEnv(deps: LoadConfigDeps, merged: PlainObject, warnings: ConfigIssue[]): Promise<EnvView> {
  const layers: EnvLayer[] = [{ source: "process", vars: deps.env }];
  const dotenv = {
    cwd: deps.cwd ?? deps.paths.stateDir,
    stateDir: deps.paths.stateDir,
    workspaces: workspaces(merged, deps.paths),
  };
  const files = await readDotenvLayers({ ...dotenv, ...(deps.readText ? { readText: deps.readText } : {}) });
  layers.push(...(deps.cwd === undefined ? files.filter((layer) => layer.source === "state-dotenv") : files));
  const block = readEnvBlock(merged);
  const outer = createEnvView(layers);
  layers.push({ source: "config", vars: substituteEnv(block.vars, outer.get).value as EnvRecord });
  for (const name of block.refused)
    warnings.push({
      path: "env",
      message: `env.${name} is ignored: it decides what code a process loads; set it outside of the configuration`,
    });
  const shell = resolveShellEnvSettings(merged, deps.env);
  if (shell.enabled && deps.readShellEnv) {
    const soFar = createEnvView(layers);
    if (SHELL_ENV_NAMES.some((name) => soFar.get(name) === undefined)) {
      try {
        layers.push({ source: "shell", vars: await deps.readShellEnv(shell.timeoutMs) });
      } catch (err) {
        warnings.push({ path: "env.shellEnv", message: errorText(err) });
      }
    }
  }
  return createEnvView(layers);
}

function workspaces(config: PlainObject, paths: StatePaths): string[] {
  const list = getAtPath(config, ["agents", "list"]);
  const named = [
    getAtPath(config, ["agents", "defaults", "workspace"]),
    ...(Array.isArray(list) ? list.map((agent) => getAtPath(agent, ["workspace"])) : []),
  ];
  return [
    paths.defaultWorkspace,
    ...named
      .filter((dir): dir is string => typeof dir === "string" && dir !== "")
      .map((dir) => absolute(dir, paths.home, paths.stateDir)),
  ];
}

/** Finds the line of a key; texts are scanned only when something is to be reported. */
function createLocator(document: ConfigDocument): (path: ConfigPath, message: string, at?: ConfigPath) => ConfigIssue {
  const spans = new Map<string, ValueSpan>();
  return (path, message, at = path) => {
    const issue = { path: formatConfigPath(path), message };
    for (let length = at.length; length > 0; length--) {
      const found = placesOf(document, at.slice(0, length)).at(-1);
      if (!found || found.document.raw === "") continue;
      const root = spans.get(found.document.file) ?? locateJson5(found.document.raw);
      spans.set(found.document.file, root);
      const member = findMember(root, found.path);
      if (member) return { ...issue, file: found.document.file, ...positionAt(found.document.raw, member.start) };
    }
    return issue;
  };
}

function fault(err: unknown): ConfigIssue {
  if (err instanceof ConfigSyntaxError)
    return { path: "", message: err.message, file: err.file, line: err.line, column: err.column };
  return { path: "", message: errorText(err) };
}

function readFault(err: unknown, path: string): ConfigIssue {
  if (isErrno(err, "EACCES", "EPERM")) {
    return {
      path: "",
      message: `${path} cannot be read: permission denied. Make the file yours: sudo chown "$(id -un)" ${JSON.stringify(path)}`,
    };
  }
  return { path: "", message: `${path} cannot be read: ${errorText(err)}` };
}

function brokenSnapshot(
  deps: LoadConfigDeps,
  read: Pick<ConfigSnapshot, "exists" | "raw" | "parsed">,
  issue: ConfigIssue,
): ConfigSnapshot {
  const env = createEnvView([{ source: "process", vars: deps.env }]);
  return freezeSnapshot({
    ...read,
    path: deps.paths.configPath,
    resolved: {},
    config: applyDefaults(salvage(read.parsed, env), env) as OpenClawConfig,
    hash: hashConfigText(read.raw ?? ""),
    valid: false,
    issues: [issue],
    warnings: [],
    legacyIssues: [],
    includes: [],
    unusedKeys: [],
    env,
    source: {},
    document: undefined,
  });
}

/** What a client command still needs of a root whose includes are broken. */
function salvage(parsed: unknown, env: EnvView): unknown {
  if (!isPlainObject(parsed) || !isPlainObject(parsed["gateway"])) return {};
  const { value, missing } = substituteEnv({ gateway: parsed["gateway"] }, env.get);
  const faulty = [
    ...missing.map((found) => found.path),
    ...validateValue(value, keyTable()).map((found) =>
      found.unknownKey === undefined ? found.path : [...found.path, found.unknownKey],
    ),
  ];
  return faulty.reduce<unknown>((config, at) => unsetAtPath(config, at), value);
}

function freezeSnapshot(snapshot: ConfigSnapshot): ConfigSnapshot {
  for (const part of [
    snapshot.parsed,
    snapshot.resolved,
    snapshot.config,
    snapshot.issues,
    snapshot.warnings,
    snapshot.legacyIssues,
    snapshot.source,
  ])
    deepFreeze(part);
  return Object.freeze(snapshot);
}
