import { realpath } from "node:fs/promises";
import { acquireFileLock } from "../infra/file-lock.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import {
  type ConfigPath,
  formatConfigPath,
  getAtPath,
  parseConfigPath,
  setAtPath,
  unsetAtPath,
} from "./config-path.ts";
import { type DocumentEdit, diffConfig } from "./diff.ts";
import { editJson5 } from "./edit-text.ts";
import { includedFiles } from "./includes.ts";
import { type ConfigIssue, formatIssue } from "./issues.ts";
import { ConfigSyntaxError, parseJson5 } from "./json5-text.ts";
import { changedPaths, deepEqual, isPlainObject, type PlainObject } from "./json-value.ts";
import { type ConfigSnapshot, loadConfig, type LoadConfigDeps } from "./load.ts";
import { findLegacyKeys, migrateLegacyConfig } from "./legacy.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { RedactedValueError, restoreRedacted, restoreRedactedText } from "./redact-config.ts";
import {
  appendAudit,
  auditArgv,
  findAnomalies,
  readTextOrUndefined,
  replaceConfigFile,
  rotateBackups,
} from "./write-files.ts";

export type ConfigWriteErrorCode =
  | "base-hash-required"
  | "base-hash-stale"
  | "invalid"
  | "syntax"
  | "not-an-object"
  | "not-found"
  | "bad-path"
  | "redacted-unknown"
  | "not-editable"
  | "io";

/** A write that did not happen: nothing on disk changed. */
export class ConfigWriteError extends Error {
  override readonly name = "ConfigWriteError";
  readonly code: ConfigWriteErrorCode;
  readonly issues: readonly ConfigIssue[];
  constructor(
    code: ConfigWriteErrorCode,
    message: string,
    issues: readonly ConfigIssue[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.issues = issues;
  }
}

export interface ConfigWriteOptions {
  /** Hash the caller read; a differing file refuses the write. */
  readonly baseHash?: string | undefined;
  /** Refuse without `baseHash` when the file exists (RPC). */
  readonly requireBaseHash?: boolean | undefined;
}

export interface ConfigWriteResult {
  readonly snapshot: ConfigSnapshot;
  /** Effective keys that changed, dotted. Empty when the write had no effect (then no file is touched). */
  readonly changedPaths: readonly string[];
  /** Files that were replaced. */
  readonly files: readonly string[];
}

/**
 * The one way to change the configuration file. Every method validates before it writes, keeps comments and `${VAR}`
 * references, writes a key into the file that holds it, backs up, and leaves an audit line. Writers of all processes take turns.
 * @throws ConfigWriteError when nothing was written
 */
export interface ConfigWriter {
  /** Replaces the root file's text; placeholders of secrets are restored. Strict JSON without `$include` counts as values: see replace. */
  setRaw(raw: string, options?: ConfigWriteOptions): Promise<ConfigWriteResult>;
  /** Replaces all values; what equals the present effective value stays as it is written. */
  replace(config: unknown, options?: ConfigWriteOptions): Promise<ConfigWriteResult>;
  mergePatch(patch: unknown, options?: ConfigWriteOptions): Promise<ConfigWriteResult>;
  set(path: string | ConfigPath, value: unknown, options?: ConfigWriteOptions): Promise<ConfigWriteResult>;
  /** @throws ConfigWriteError "not-found" when the file has no such key */
  unset(path: string | ConfigPath, options?: ConfigWriteOptions): Promise<ConfigWriteResult>;
  /** Computes the new values from those as written (includes merged, `${VAR}` in place). */
  update(change: (source: PlainObject) => unknown, options?: ConfigWriteOptions): Promise<ConfigWriteResult>;
}

export interface ConfigWriterDeps extends LoadConfigDeps {
  /** Stamped as `meta.lastTouchedVersion`. */
  readonly version: string;
  readonly log: Logger;
  /** Called with every new snapshot, before the write's promise resolves. */
  readonly onWritten?: ((result: ConfigWriteResult) => void) | undefined;
  readonly now?: (() => Date) | undefined;
}

/** New texts of files, by path. */
type Texts = ReadonlyMap<string, string>;

type Plan = (current: ConfigSnapshot) => Promise<Texts> | Texts;

const LOCK_TIMEOUT_MS = 10_000;

export function createConfigWriter(deps: ConfigWriterDeps): ConfigWriter {
  let queue: Promise<unknown> = Promise.resolve();
  const run = (plan: Plan, options: ConfigWriteOptions): Promise<ConfigWriteResult> => {
    const mine = queue.then(() => write(deps, plan, options));
    queue = mine.catch(() => undefined); // the caller of `mine` sees the failure; the next writer starts anyway
    return mine;
  };
  const change = (
    compute: (source: PlainObject, current: ConfigSnapshot) => unknown,
    options: ConfigWriteOptions = {},
  ): Promise<ConfigWriteResult> => run((current) => editTo(deps, current, compute), options);
  return {
    setRaw: (raw, options = {}) => run((current) => planRaw(deps, raw, current), options),
    replace: (config, options) => change((source, current) => restoreRedacted(config, source, current.config), options),
    mergePatch: (patch, options) =>
      change(
        (source, current) =>
          withoutLegacy(applyMergePatch(source, restoreRedacted(objectPatch(patch), source, current.config))),
        options,
      ),
    set: (path, value, options) =>
      change(
        (source) => setAtPath(source, toPath(path), restoreRedacted(value, getAtPath(source, toPath(path)))),
        options,
      ),
    unset: (path, options) =>
      change((source) => {
        const segments = toPath(path);
        if (getAtPath(source, segments) === undefined)
          throw new ConfigWriteError("not-found", `Config path not found: ${formatConfigPath(segments)}`);
        return unsetAtPath(source, segments);
      }, options),
    update: (compute, options) => change(compute, options),
  };
}

const toPath = (path: string | ConfigPath): ConfigPath =>
  typeof path === "string" ? parseConfigPath(path) : parseConfigPath(formatConfigPath(path));

/** A patch also moves legacy keys to their places, so that an old file can be changed at all. */
const withoutLegacy = (config: unknown): unknown =>
  findLegacyKeys(config).length === 0 ? config : migrateLegacyConfig(config).config;

function objectPatch(patch: unknown): PlainObject {
  if (!isPlainObject(patch)) throw new ConfigWriteError("not-an-object", "config.patch raw must be an object");
  return patch;
}

async function write(deps: ConfigWriterDeps, plan: Plan, options: ConfigWriteOptions): Promise<ConfigWriteResult> {
  const path = await realpath(deps.paths.configPath).catch(() => deps.paths.configPath);
  await using _lock = await acquireFileLock(`${path}.lock`, { timeoutMs: LOCK_TIMEOUT_MS });
  const current = await loadConfig(deps);
  if (current.exists && options.requireBaseHash && options.baseHash === undefined) {
    throw new ConfigWriteError("base-hash-required", "config base hash required; re-run config.get and retry");
  }
  if (current.exists && options.baseHash !== undefined && options.baseHash !== current.hash) {
    throw new ConfigWriteError("base-hash-stale", "config changed since last load; re-run config.get and retry");
  }
  const planned = await asWriteError(() => plan(current));
  if (planned.size === 0) return { snapshot: current, changedPaths: [], files: [] };
  const texts = await stampMeta(deps, planned);
  const next = await loadConfig(withTexts(deps, texts));
  refuseInvalid(current, next);
  await persist(deps, current, next, texts);
  const result = { snapshot: next, changedPaths: changedPaths(current.config, next.config), files: [...texts.keys()] };
  deps.onWritten?.(result);
  return result;
}

async function asWriteError<T>(action: () => Promise<T> | T): Promise<T> {
  try {
    return await action();
  } catch (err) {
    if (err instanceof RedactedValueError)
      throw new ConfigWriteError("redacted-unknown", err.message, [{ path: err.path, message: err.message }], {
        cause: err,
      });
    if (err instanceof ConfigSyntaxError)
      throw new ConfigWriteError(
        "syntax",
        err.message,
        [{ path: "", message: err.message, line: err.line, column: err.column }],
        { cause: err },
      );
    if (err instanceof Error && err.name === "ConfigPathError")
      throw new ConfigWriteError("bad-path", err.message, [], { cause: err });
    throw err;
  }
}

/** The dependencies of a load that sees files as they will be. */
function withTexts(deps: ConfigWriterDeps, texts: Texts): LoadConfigDeps {
  const readText = async (path: string): Promise<string> => {
    const planned = texts.get(path);
    if (planned !== undefined) return planned;
    if (deps.readText) return deps.readText(path);
    const text = await readTextOrUndefined(path);
    if (text === undefined) throw Object.assign(new Error(`${path} does not exist`), { code: "ENOENT" });
    return text;
  };
  return { ...deps, readText };
}

function refuseInvalid(current: ConfigSnapshot, next: ConfigSnapshot): void {
  // An unknown key that was there before does not stop an unrelated write; a new one does (spec: decisions §1.3).
  const known = new Set(current.warnings.map((issue) => `${issue.path}\n${issue.message}`));
  const fresh = next.warnings.filter(
    (issue) => isRefusedOnWrite(issue) && !known.has(`${issue.path}\n${issue.message}`),
  );
  const issues = [...next.issues, ...fresh];
  if (issues.length > 0)
    throw new ConfigWriteError("invalid", `Config validation failed: ${issues.map(formatIssue).join("; ")}`, issues);
}

const isRefusedOnWrite = (issue: ConfigIssue): boolean =>
  /^(?:Unrecognized key|unknown |plugin not found)/.test(issue.message);

function planRaw(deps: ConfigWriterDeps, raw: string, current: ConfigSnapshot): Promise<Texts> {
  const path = deps.paths.configPath;
  return parseJson5(raw, path).then((value) => {
    if (!isPlainObject(value)) throw new ConfigWriteError("not-an-object", "the configuration must be an object { … }");
    // A machine's rendering of values (a form, `config.get`'s config) carries no comments: keep ours and the includes.
    if (current.document && current.raw !== null && isMachineText(raw, value)) {
      return editTo(deps, current, (source) => restoreRedacted(value, source, current.config));
    }
    const text = restoreRedactedText(raw, value, current.parsed, current.source, current.config);
    return text === current.raw ? new Map<string, string>() : new Map([[path, text]]);
  });
}

function isMachineText(text: string, value: unknown): boolean {
  if (JSON.stringify(value)?.includes('"$include"')) return false;
  const squeeze = (json: string): string => json.replace(/\s+/g, "");
  return squeeze(text) === squeeze(JSON.stringify(value) ?? "");
}

/** The texts after `compute` has had its way with the values as written. */
async function editTo(
  deps: ConfigWriterDeps,
  current: ConfigSnapshot,
  compute: (source: PlainObject, current: ConfigSnapshot) => unknown,
): Promise<Texts> {
  if (!current.document) {
    throw new ConfigWriteError(
      "syntax",
      `The present file must be repaired first: ${current.issues.map(formatIssue).join("; ")}`,
      current.issues,
    );
  }
  const target = compute(current.source, current);
  if (!isPlainObject(target)) throw new ConfigWriteError("not-an-object", "the configuration must be an object { … }");
  const edits = diffConfig(
    current.document,
    { source: current.source, resolved: current.resolved, effective: current.config },
    target,
  );
  if (edits.length === 0) return new Map();
  const texts = applyEdits(edits);
  await proveEdits(deps, current, target, texts);
  return texts;
}

function applyEdits(edits: readonly DocumentEdit[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { document, ...edit } of edits) {
    const text = texts.get(document.file) ?? (document.raw.trim() === "" ? "{\n}\n" : document.raw);
    texts.set(document.file, editJson5(text, [edit]));
  }
  return texts;
}

/** Reads the new texts as a start would and compares with what was wanted. */
async function proveEdits(
  deps: ConfigWriterDeps,
  current: ConfigSnapshot,
  target: PlainObject,
  texts: Texts,
): Promise<void> {
  const next = await loadConfig(withTexts(deps, texts));
  if (!next.document)
    throw new ConfigWriteError(
      "invalid",
      `Config validation failed: ${next.issues.map(formatIssue).join("; ")}`,
      next.issues,
    );
  const left = diffConfig(
    next.document,
    { source: next.source, resolved: next.resolved, effective: current.config },
    target,
  );
  if (left.length === 0) return;
  const paths = left.map((edit) => formatConfigPath(edit.path) || "<root>").join(", ");
  const files = [deps.paths.configPath, ...includedFiles(next.document)].join(", ");
  throw new ConfigWriteError(
    "not-editable",
    `${paths} comes from several files (${files}) and cannot be changed in one of them; edit the files by hand`,
  );
}

/** Adds `meta.lastTouched*` to the root file. */
async function stampMeta(deps: ConfigWriterDeps, texts: Texts): Promise<Texts> {
  const path = deps.paths.configPath;
  const stamped = new Map(texts);
  const raw = texts.get(path) ?? (await readTextOrUndefined(path)) ?? "{\n}\n";
  const value = await asWriteError(() => parseJson5(raw, path));
  if (!isPlainObject(value) || (value["meta"] !== undefined && !isPlainObject(value["meta"]))) return stamped;
  const at = (deps.now?.() ?? new Date()).toISOString();
  stamped.set(
    path,
    editJson5(raw, [
      { op: "set", path: ["meta", "lastTouchedVersion"], value: deps.version },
      { op: "set", path: ["meta", "lastTouchedAt"], value: at },
    ]),
  );
  return stamped;
}

async function persist(
  deps: ConfigWriterDeps,
  current: ConfigSnapshot,
  next: ConfigSnapshot,
  texts: Texts,
): Promise<void> {
  const { configPath } = deps.paths;
  const facts = {
    path: configPath,
    before: current.exists ? (current.raw ?? "") : undefined,
    after: next.raw ?? "",
    valueBefore: current.source,
    valueAfter: next.source,
  };
  const suspicious = findAnomalies(facts);
  const changed = changedPaths(current.source, next.source);
  const line = auditLine(deps, current, next, changed.length, suspicious);
  try {
    // Included files first: the root's new stamp then tells that all are in place.
    for (const [path, text] of texts) if (path !== configPath) await replaceWithBackup(path, text);
    await replaceWithBackup(configPath, texts.get(configPath) ?? next.raw ?? "");
  } catch (err) {
    await audit(deps, {
      ...line,
      result: "failed",
      errorCode: (err as NodeJS.ErrnoException).code,
      errorMessage: errorText(err),
    });
    throw new ConfigWriteError("io", `The configuration was not written: ${errorText(err)}`, [], { cause: err });
  }
  if (current.exists && !deepEqual(current.raw, next.raw)) {
    deps.log.info(
      `Config overwrite: ${configPath} (sha256 ${current.hash} -> ${next.hash}, backup=${configPath}.bak, changedPaths=${changed.length})`,
    );
  }
  if (suspicious.length > 0) deps.log.warn(`Config write anomaly: ${configPath} (${suspicious.join(", ")})`);
  await audit(deps, { ...line, result: "rename" });
}

async function replaceWithBackup(path: string, text: string): Promise<void> {
  await rotateBackups(await realpath(path).catch(() => path));
  await replaceConfigFile(path, text);
}

function auditLine(
  deps: ConfigWriterDeps,
  current: ConfigSnapshot,
  next: ConfigSnapshot,
  changedPathCount: number,
  suspicious: readonly string[],
): Record<string, unknown> {
  return {
    ts: (deps.now?.() ?? new Date()).toISOString(),
    source: "config-io",
    event: "config.write",
    configPath: deps.paths.configPath,
    pid: process.pid,
    ppid: process.ppid,
    cwd: process.cwd(),
    argv: auditArgv(process.argv),
    execArgv: auditArgv(process.execArgv),
    existsBefore: current.exists,
    previousHash: current.exists ? current.hash : null,
    nextHash: next.hash,
    previousBytes: current.raw === null ? null : Buffer.byteLength(current.raw),
    nextBytes: Buffer.byteLength(next.raw ?? ""),
    changedPathCount,
    hasMetaBefore: getAtPath(current.source, ["meta"]) !== undefined,
    hasMetaAfter: getAtPath(next.source, ["meta"]) !== undefined,
    gatewayModeBefore: getAtPath(current.source, ["gateway", "mode"]) ?? null,
    gatewayModeAfter: getAtPath(next.source, ["gateway", "mode"]) ?? null,
    suspicious,
  };
}

/** The audit trail must not stop a write that is already on disk. */
async function audit(deps: ConfigWriterDeps, line: Record<string, unknown>): Promise<void> {
  try {
    await appendAudit(deps.paths.logsDir, line);
  } catch (err) {
    deps.log.warn("config audit line not written", { err });
  }
}
