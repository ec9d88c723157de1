import { randomUUID } from "node:crypto";
import { cp, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OpenClawConfig } from "../../config/index.ts";
import { ifExists, isErrno } from "../../infra/atomic-file.ts";
import { errorText } from "../../infra/errors.ts";
import { acquireFileLock } from "../../infra/file-lock.ts";
import { warnOfCode } from "./code-scan.ts";
import { findInstall, withInstallRecord, withLoadPath, withMemorySlot, withoutPlugin, withPluginEnabled, type InstallRecord } from "./config-record.ts";
import { createNpmRunner, type NpmRunner } from "./npm.ts";
import { parseInstallSource, PluginInstallError, type InstallSource } from "./source.ts";
import { checkId, describePlugin, stagePlugin, type StagedPlugin } from "./stage.ts";

export interface PluginInstallerDeps {
  readonly stateDir: string;
  config(): OpenClawConfig;
  /** Validates and writes. @throws when it is not valid or the disk refuses; the install is then taken back */
  writeConfig(next: OpenClawConfig): Promise<void>;
  /** Default: the npm of this machine. */
  readonly npm?: NpmRunner | undefined;
  /** Loads the plugin on trial. */
  tryLoad?: ((dir: string, id: string) => Promise<PluginTrial>) | undefined;
  /** Ids of the plugins that could be the memory. */
  memoryPlugins?: (() => readonly string[]) | undefined;
  now(): number;
}

/** `unconfigured`: nothing is wrong but its settings, which come after the install. */
export type PluginTrial = { readonly kind: "ok" } | { readonly kind: "broken" | "unconfigured"; readonly reason: string };

export interface InstallOutcome {
  readonly id: string;
  readonly dir: string;
  readonly version?: string | undefined;
  /** Lines to show. */
  readonly notices: readonly string[];
}

export type UpdateOutcome =
  | { readonly id: string; readonly kind: "updated" | "would-update"; readonly from: string | undefined; readonly to: string | undefined }
  | { readonly id: string; readonly kind: "unchanged"; readonly version: string | undefined }
  | { readonly id: string; readonly kind: "skipped" | "failed"; readonly reason: string };

/** The registry gives other bytes than before for the same version. */
export interface IntegrityDrift {
  readonly id: string;
  readonly spec: string;
  readonly expected: string;
  readonly actual: string;
}

export interface UninstallOutcome {
  readonly id: string;
  readonly removed: readonly string[];
  /** The folder that is gone, or would be. */
  readonly dir?: string | undefined;
}

export interface PluginInstaller {
  /** @throws PluginInstallError; nothing is left behind then */
  install(text: string, options?: { readonly link?: boolean | undefined; readonly pin?: boolean | undefined }): Promise<InstallOutcome>;
  /** All that came from npm when no id is named. A plugin that fails keeps its old version. */
  update(ids: readonly string[] | "all", options?: { readonly dryRun?: boolean | undefined; readonly confirmDrift?: ((drift: IntegrityDrift) => Promise<boolean>) | undefined }): Promise<UpdateOutcome[]>;
  /** @throws PluginInstallError for a plugin that nobody knows */
  uninstall(id: string, options?: { readonly keepFiles?: boolean | undefined; readonly dryRun?: boolean | undefined }): Promise<UninstallOutcome>;
}

/** Puts plugins in, renews and removes them. One at a time, also between processes. Source: spec plugin-sdk-survey §2, decisions §9.2. */
export function createPluginInstaller(deps: PluginInstallerDeps): PluginInstaller {
  const npm = deps.npm ?? createNpmRunner();
  const workRoot = join(deps.stateDir, "plugins");
  const backups = join(workRoot, ".openclaw-install-backups");
  const placeOf = (id: string): string => join(deps.stateDir, "extensions", checkId(id));
  const stamp = (): string => new Date(deps.now()).toISOString();

  /** `work` is a fresh folder on the same disk as the plugins; it is gone afterwards. */
  async function exclusively<T>(task: (work: string) => Promise<T>): Promise<T> {
    await mkdir(workRoot, { recursive: true, mode: 0o700 });
    await using _lock = await acquireFileLock(join(workRoot, "install.lock"), { timeoutMs: 10_000 });
    await clearLeftovers();
    const work = join(workRoot, `.staging-${randomUUID()}`);
    await mkdir(work, { recursive: true, mode: 0o700 });
    try {
      return await task(work);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  /** What its settings lack, or undefined. @throws PluginInstallError when it cannot be loaded with any */
  async function missingSettings(dir: string, id: string): Promise<string | undefined> {
    const trial = (await deps.tryLoad?.(dir, id)) ?? { kind: "ok" };
    if (trial.kind === "broken") throw new PluginInstallError(`plugin "${id}" cannot be loaded: ${trial.reason}`);
    return trial.kind === "unconfigured" ? trial.reason : undefined;
  }

  /** What a process that was killed has left. Whoever holds the lock is alone. */
  async function clearLeftovers(): Promise<void> {
    for (const name of await readdir(workRoot)) if (name.startsWith(".staging-")) await rm(join(workRoot, name), { recursive: true, force: true });
    for (const id of (await ifExists(readdir(backups))) ?? []) {
      // Without its successor the old version is the plugin.
      if (findInstall(deps.config(), id) && !(await exists(placeOf(id)))) await move(join(backups, id), placeOf(id));
      else await rm(join(backups, id), { recursive: true, force: true });
    }
  }

  async function stage(source: InstallSource, work: string): Promise<StagedPlugin & { readonly missing: string | undefined }> {
    const staged = await stagePlugin(source, work, npm);
    return { ...staged, missing: await missingSettings(staged.dir, staged.id) };
  }

  /** The config with the plugin in it, and what to say. One that cannot work yet does not take the place of a memory that does. */
  function configure({ id, kind, missing }: { readonly id: string; readonly kind: string | undefined; readonly missing: string | undefined }, record: InstallRecord): { cfg: OpenClawConfig; notices: string[] } {
    const cfg = withInstallRecord(withPluginEnabled(deps.config(), id), id, record);
    if (missing !== undefined) {
      const then = kind === "memory" ? `, then make it the memory: openclaw plugins enable ${id}` : "";
      return { cfg, notices: [`Plugin "${id}" does not run yet: ${missing}. Its settings go to plugins.entries.${id}.config${then}`] };
    }
    return kind === "memory" ? withMemorySlot(cfg, id, deps.memoryPlugins?.() ?? []) : { cfg, notices: [] };
  }

  const done = (id: string): string[] => [`Installed plugin: ${id}`, "Restart the gateway to load plugins."];

  async function link(source: InstallSource): Promise<InstallOutcome> {
    if (source.kind !== "folder") throw new PluginInstallError("--link needs a local folder");
    const { id, kind, version } = await describePlugin(source.path);
    const missing = await missingSettings(source.path, id);
    const { cfg, notices } = configure({ id, kind, missing }, { source: "path", sourcePath: source.path, installPath: source.path, version, installedAt: stamp() });
    await deps.writeConfig(withLoadPath(cfg, source.path));
    return { id, dir: source.path, version, notices: [...notices, ...done(id)] };
  }

  function recordOf(source: InstallSource, staged: StagedPlugin, dir: string, pin: boolean): InstallRecord {
    const { packed } = staged;
    const resolvedSpec = packed && `${packed.name}@${packed.version}`;
    return {
      source: source.kind === "npm" ? "npm" : source.kind === "archive" ? "archive" : "path",
      ...(source.kind === "npm" ? { spec: pin ? resolvedSpec : source.spec } : { sourcePath: source.path }),
      installPath: dir, version: staged.version ?? packed?.version, shasum: staged.shasum, installedAt: stamp(),
      ...(packed ? { resolvedName: packed.name, resolvedVersion: packed.version, resolvedSpec, integrity: packed.integrity, resolvedAt: stamp() } : {}),
    };
  }

  async function install(text: string, options: { readonly link?: boolean | undefined; readonly pin?: boolean | undefined } = {}): Promise<InstallOutcome> {
    const source = parseInstallSource(text);
    if (options.link) return exclusively(() => link(source));
    return exclusively(async (work) => {
      if (source.kind === "folder") await refuseExisting(placeOf((await describePlugin(source.path)).id)); // before npm takes its time
      const staged = await stage(source, work);
      const dir = placeOf(staged.id);
      await refuseExisting(dir);
      const { cfg, notices } = configure(staged, recordOf(source, staged, dir, options.pin === true));
      await mkdir(dirname(dir), { recursive: true, mode: 0o700 });
      await move(staged.dir, dir);
      try {
        await deps.writeConfig(cfg);
      } catch (err) {
        await rm(dir, { recursive: true, force: true });
        throw new PluginInstallError(`the config was not written, so the plugin was taken out again: ${errorText(err)}`, { cause: err });
      }
      const warning = warnOfCode(staged.id, staged.findings);
      return { id: staged.id, dir, version: staged.version, notices: [...(warning ? [warning] : []), ...notices, ...done(staged.id)] };
    });
  }

  async function updateOne(id: string, options: Parameters<PluginInstaller["update"]>[1] = {}): Promise<UpdateOutcome> {
    const record = findInstall(deps.config(), id);
    if (!record) return { id, kind: "skipped", reason: "it was not installed by openclaw plugins install" };
    const spec = record.spec ?? record.resolvedName;
    if (record.source !== "npm" || spec === undefined) return { id, kind: "skipped", reason: `it came from a ${record.source}; only packages of npm are updated` };
    const source = parseNpm(spec);
    return exclusively(async (work) => {
      const staged = await stage(source, work);
      if (staged.id !== id) throw new PluginInstallError(`the package now calls itself "${staged.id}"; install it anew`);
      const [from, to] = [record.resolvedVersion ?? record.version, staged.packed?.version];
      const drifted = from === to && record.integrity !== undefined && staged.packed?.integrity !== undefined && record.integrity !== staged.packed.integrity;
      if (from === to && !drifted && (await exists(placeOf(id)))) return { id, kind: "unchanged", version: to };
      if (options.dryRun) return { id, kind: "would-update", from, to };
      if (drifted && !(await options.confirmDrift?.({ id, spec, expected: record.integrity ?? "", actual: staged.packed?.integrity ?? "" }))) {
        return { id, kind: "failed", reason: `the registry gives other content for ${spec} than when it was installed; nothing was changed` };
      }
      await replace(id, staged.dir, withInstallRecord(deps.config(), id, { ...recordOf(source, staged, placeOf(id), false), spec, installedAt: record.installedAt }));
      return { id, kind: "updated", from, to };
    });
  }

  /** The old folder waits aside until the new one and the config are in place. */
  async function replace(id: string, next: string, cfg: OpenClawConfig): Promise<void> {
    const [dir, backup] = [placeOf(id), join(backups, id)];
    await mkdir(dirname(backup), { recursive: true, mode: 0o700 });
    const had = await exists(dir);
    if (had) await rename(dir, backup);
    try {
      await move(next, dir);
      await deps.writeConfig(cfg);
    } catch (err) {
      await rm(dir, { recursive: true, force: true });
      if (had) await rename(backup, dir);
      throw err;
    }
    await rm(backup, { recursive: true, force: true });
  }

  return {
    install,
    async update(ids, options) {
      const all = Object.entries(deps.config().plugins?.installs ?? {}).filter(([, record]) => record?.source === "npm").map(([id]) => id);
      const outcomes: UpdateOutcome[] = [];
      for (const id of ids === "all" ? all : ids) {
        outcomes.push(await updateOne(id, options).catch((err: unknown): UpdateOutcome => ({ id, kind: "failed", reason: errorText(err) })));
      }
      return outcomes;
    },
    uninstall: (id, options = {}) =>
      exclusively(async (work) => {
        const { cfg, removed } = withoutPlugin(deps.config(), id);
        const dir = placeOf(id);
        // A linked folder is its author's.
        const isOurs = !options.keepFiles && (await exists(dir));
        if (removed.length === 0 && !isOurs) throw new PluginInstallError(`Plugin not found: ${id}`);
        const outcome: UninstallOutcome = { id, removed, ...(isOurs ? { dir } : {}) };
        if (options.dryRun) return outcome;
        const aside = join(work, "removed");
        if (isOurs) await rename(dir, aside);
        try {
          if (removed.length > 0) await deps.writeConfig(cfg);
        } catch (err) {
          if (isOurs) await rename(aside, dir);
          throw err;
        }
        return outcome;
      }),
  };
}

function parseNpm(spec: string): InstallSource {
  // A folder of the same name must not take the place of a package.
  const source = parseInstallSource(`${spec}`);
  if (source.kind !== "npm") throw new PluginInstallError(`${spec} is a file here; run the update in another folder`);
  return source;
}

const exists = async (path: string): Promise<boolean> => (await ifExists(stat(path))) !== undefined;

async function refuseExisting(dir: string): Promise<void> {
  if (await exists(dir)) throw new PluginInstallError(`plugin already exists: ${dir} (delete it first)`);
}

/** A rename; a copy where the state directory is spread over several disks. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (err) {
    if (!isErrno(err, "EXDEV")) throw err;
    try {
      await cp(from, to, { recursive: true, verbatimSymlinks: true });
    } catch (copyError) {
      await rm(to, { recursive: true, force: true });
      throw copyError;
    }
  }
}
