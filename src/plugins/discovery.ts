import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, join, relative, resolve } from "node:path";
import type { OpenClawConfig } from "../config/index.ts";
import { ifExists, isErrno } from "../infra/atomic-file.ts";
import { errorText } from "../infra/errors.ts";
import { expandPath } from "../routing/index.ts";
import { readManifest, readPluginPackage } from "./manifest.ts";
import { PLUGIN_ORIGINS, type PluginCandidate, type PluginDiagnostic, type PluginOrigin } from "./types.ts";

export interface DiscoveryPlaces {
  readonly stateDir: string;
  /** Workspaces of the agents, the default agent's first. */
  readonly workspaceDirs: readonly string[];
  readonly bundledDir: string | undefined;
  /** Whether the person has said that this plugin of a workspace may run. Source: spec decisions §9.3. */
  isTrusted(root: string): Promise<boolean>;
}

export interface Discovery {
  /** In the order in which they are loaded; one whose id was taken says so. */
  readonly candidates: readonly PluginCandidate[];
  readonly diagnostics: readonly PluginDiagnostic[];
}

const SOURCE_FILE = /(?<!\.d)\.(ts|js|mts|cts|mjs|cjs)$/;
const INDEX_FILES = ["index.ts", "index.js", "index.mjs", "index.cjs"];

interface Found {
  readonly origin: PluginOrigin;
  readonly root: string;
  readonly entry: string;
  readonly idHint: string;
  readonly workspaceDir?: string | undefined;
}

/** Finds plugins without running any of their code. Source: spec plugin-sdk §1. */
export async function discoverPlugins(config: OpenClawConfig, places: DiscoveryPlaces): Promise<Discovery> {
  const diagnostics: PluginDiagnostic[] = [];
  const found: Found[] = [];
  for (const path of config.plugins?.load?.paths ?? []) found.push(...(await attempt(path, diagnostics, () => scanConfigured(expandPath(path), diagnostics))));
  for (const workspaceDir of places.workspaceDirs) {
    const all = await scanPlace(join(workspaceDir, ".openclaw", "extensions"), "workspace", diagnostics);
    for (const item of all) {
      // A repository that brings a plugin along must not run code by being opened (spec plugin-sdk §15.12).
      const path = pluginPath(item);
      try {
        if (await places.isTrusted(path)) found.push({ ...item, workspaceDir });
        else diagnostics.push({ level: "warn", message: `plugin of a workspace is not trusted; to run it: openclaw plugins trust ${path}`, source: item.entry });
      } catch (err) {
        diagnostics.push({ level: "error", message: `plugin of a workspace is not run; whether it is trusted cannot be told: ${errorText(err)}`, source: item.entry });
      }
    }
  }
  found.push(...(await scanPlace(join(places.stateDir, "extensions"), "global", diagnostics)));
  if (places.bundledDir !== undefined) found.push(...(await scanPlace(places.bundledDir, "bundled", diagnostics)));
  return { candidates: await toCandidates(found, diagnostics), diagnostics };
}

/** A place that cannot be read is named; the others count. */
async function attempt(path: string, diagnostics: PluginDiagnostic[], scan: () => Promise<Found[]>): Promise<Found[]> {
  try {
    return await scan();
  } catch (err) {
    diagnostics.push({ level: "error", message: `plugin path cannot be read: ${path}: ${errorText(err)}`, source: path });
    return [];
  }
}

const scanPlace = (dir: string, origin: PluginOrigin, diagnostics: PluginDiagnostic[]): Promise<Found[]> => attempt(dir, diagnostics, () => scanFolder(dir, origin, diagnostics));

/** What a trust entry is about: the plugin's folder, or the file where a folder holds several. */
const pluginPath = ({ root, entry }: Found): string => (dirname(entry) === root && !INDEX_FILES.includes(basename(entry)) && basename(root) === "extensions" ? entry : root);

async function scanConfigured(path: string, diagnostics: PluginDiagnostic[]): Promise<Found[]> {
  const info = await stat(path).catch((err: unknown) => {
    if (isErrno(err, "ENOENT", "ENOTDIR")) return undefined;
    throw err;
  });
  if (!info) {
    diagnostics.push({ level: "error", message: `plugin path not found: ${path}`, source: path });
    return [];
  }
  if (info.isFile()) {
    if (SOURCE_FILE.test(path)) return [{ origin: "config", root: dirname(path), entry: path, idHint: basename(path, extname(path)) }];
    diagnostics.push({ level: "error", message: `plugin path is not a supported file: ${path}`, source: path });
    return [];
  }
  const own = await scanPluginFolder(path, "config", diagnostics);
  return own.length > 0 ? own : scanFolder(path, "config", diagnostics);
}

/** Files of the folder, then its sub-folders, in the order of their names. */
async function scanFolder(dir: string, origin: PluginOrigin, diagnostics: PluginDiagnostic[]): Promise<Found[]> {
  const entries = (await ifExists(readdir(dir, { withFileTypes: true }))) ?? [];
  const found: Found[] = [];
  for (const entry of entries.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const path = join(dir, entry.name);
    if (entry.isFile() && SOURCE_FILE.test(entry.name)) found.push({ origin, root: dir, entry: path, idHint: basename(path, extname(path)) });
    else if (entry.isDirectory() && !isPutAside(entry.name.toLowerCase())) found.push(...(await attempt(path, diagnostics, () => scanPluginFolder(path, origin, diagnostics))));
  }
  return found;
}

const isPutAside = (name: string): boolean => name === "" || name.endsWith(".bak") || name.includes(".backup-") || name.includes(".disabled") || name.startsWith(".");

async function scanPluginFolder(root: string, origin: PluginOrigin, diagnostics: PluginDiagnostic[]): Promise<Found[]> {
  const pack = await readPluginPackage(root);
  const unscoped = pack?.name?.split("/").at(-1) ?? basename(root);
  const entries = pack?.extensions ?? [];
  if (entries.length === 0) {
    for (const name of INDEX_FILES) if ((await ifExists(stat(join(root, name))))?.isFile()) return [{ origin, root, entry: join(root, name), idHint: unscoped }];
    return [];
  }
  const found: Found[] = [];
  for (const name of entries) {
    const entry = resolve(root, name);
    if (isInside(entry, root)) found.push({ origin, root, entry, idHint: entries.length === 1 ? unscoped : `${unscoped}/${basename(entry, extname(entry))}` });
    else diagnostics.push({ level: "error", message: `extension entry escapes package directory: ${name}`, source: root });
  }
  return found;
}

export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== "" && !way.startsWith("..") && !isAbsolute(way);
}

async function toCandidates(found: readonly Found[], diagnostics: PluginDiagnostic[]): Promise<PluginCandidate[]> {
  const byId = new Map<string, PluginCandidate[]>();
  for (const item of found) {
    const blocked = await blockedReason(item);
    if (blocked !== undefined) {
      diagnostics.push({ level: "warn", message: `blocked plugin candidate: ${blocked}`, source: item.entry });
      continue;
    }
    try {
      const manifest = await readManifest(item.root, await readPluginPackage(item.root));
      if (manifest.id !== item.idHint && !item.idHint.startsWith(`${manifest.id}/`)) {
        diagnostics.push({ level: "warn", message: `plugin id mismatch (manifest uses "${manifest.id}", entry hints "${item.idHint}")`, pluginId: manifest.id, source: item.entry });
      }
      byId.set(manifest.id, [...(byId.get(manifest.id) ?? []), { origin: item.origin, root: item.root, entry: item.entry, manifest, workspaceDir: item.workspaceDir }]);
    } catch (err) {
      diagnostics.push({ level: "error", message: errorText(err), source: item.entry });
    }
  }
  const all: PluginCandidate[] = [];
  for (const same of byId.values()) all.push(...(await withoutRepeats(same, diagnostics)));
  return all.toSorted((a, b) => PLUGIN_ORIGINS.indexOf(a.origin) - PLUGIN_ORIGINS.indexOf(b.origin));
}

/** One folder reached twice counts once; of different folders with one id the first wins. */
async function withoutRepeats([first, ...others]: readonly PluginCandidate[], diagnostics: PluginDiagnostic[]): Promise<PluginCandidate[]> {
  if (!first) return [];
  const kept = [first];
  const seen = new Set([await identityOf(first)]);
  for (const other of others) {
    const identity = await identityOf(other);
    if (seen.has(identity)) continue;
    seen.add(identity);
    diagnostics.push({ level: "warn", message: `duplicate plugin id detected; later plugin may be overridden (${other.entry})`, pluginId: other.manifest.id, source: other.entry });
    kept.push({ ...other, overriddenBy: first.origin });
  }
  return kept;
}

const identityOf = async ({ root, entry }: PluginCandidate): Promise<string> => `${await realpath(root)}|${basename(entry)}`;

/** The gate before anything is read from a plugin. Source: spec plugin-sdk §1. */
async function blockedReason({ root, entry, origin }: Found): Promise<string | undefined> {
  const [realRoot, realEntry] = await Promise.all([root, entry].map((path) => realpath(path).catch(() => undefined)));
  if (realRoot === undefined || realEntry === undefined) return `path_stat_failed: ${entry} cannot be read`;
  if (!isInside(realEntry, realRoot)) return `source_escapes_root: ${realEntry} is not inside ${realRoot}`;
  if (process.platform === "win32") return undefined;
  for (const path of [realRoot, realEntry]) {
    const info = await ifExists(stat(path));
    if (!info) return `path_stat_failed: ${path} cannot be read`;
    if ((info.mode & 0o002) !== 0) return `path_world_writable: every user may write ${path}; run chmod o-w ${path}`;
    const uid = process.getuid?.() ?? info.uid;
    if (origin !== "bundled" && info.uid !== uid && info.uid !== 0) return `path_suspicious_ownership: ${path} belongs to uid ${info.uid}, not to ${uid} or root`;
  }
  return undefined;
}
