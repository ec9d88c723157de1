import type { OpenClawConfig } from "../config/index.ts";

/** What is kept of old conversations. Source: spec agent-pipeline §3.3 (`session.maintenance`). */
export interface MaintenanceSettings {
  readonly mode: "warn" | "enforce";
  readonly pruneAfterMs: number;
  readonly maxEntries: number;
  readonly rotateBytes: number;
  /** undefined: archives are kept for ever. */
  readonly archiveRetentionMs: number | undefined;
  readonly disk: { readonly maxBytes: number; readonly highWaterBytes: number } | undefined;
}

const DAY_MS = 86_400_000;
const DEFAULT_PRUNE_MS = 30 * DAY_MS;
const DEFAULT_MAX_ENTRIES = 500;
const DEFAULT_ROTATE_BYTES = 10 * 1024 * 1024;
const HIGH_WATER_SHARE = 0.8;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
const UNIT_BYTES: Readonly<Record<string, number>> = { "": 1, b: 1, k: 1024, kb: 1024, m: 1024 ** 2, mb: 1024 ** 2, g: 1024 ** 3, gb: 1024 ** 3, t: 1024 ** 4, tb: 1024 ** 4 };

/** `30d`, `12h`, or a bare number of days; undefined for what is none. */
export function parseAgeMs(raw: string | number | undefined): number | undefined {
  const [, amount, unit = "d"] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)?\s*$/i.exec(String(raw ?? "")) ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? DAY_MS));
}

/** `10mb`, `500 KB`, or a bare number of bytes; undefined for what is none. */
export function parseSizeBytes(raw: string | number | undefined): number | undefined {
  const [, amount, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?b?)\s*$/i.exec(String(raw ?? "")) ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (UNIT_BYTES[unit.toLowerCase()] ?? 1));
}

export function resolveMaintenance(cfg: OpenClawConfig): MaintenanceSettings {
  const own = cfg.session?.maintenance;
  const pruneAfterMs = parseAgeMs(own?.pruneAfter) ?? parseAgeMs(own?.pruneDays) ?? DEFAULT_PRUNE_MS;
  const maxBytes = parseSizeBytes(own?.maxDiskBytes);
  const highWater = parseSizeBytes(own?.highWaterBytes);
  return {
    mode: own?.mode === "enforce" ? "enforce" : "warn",
    pruneAfterMs,
    maxEntries: own?.maxEntries ?? DEFAULT_MAX_ENTRIES,
    rotateBytes: parseSizeBytes(own?.rotateBytes) ?? DEFAULT_ROTATE_BYTES,
    archiveRetentionMs: own?.resetArchiveRetention === false ? undefined : (parseAgeMs(own?.resetArchiveRetention) ?? pruneAfterMs),
    disk: maxBytes === undefined ? undefined : { maxBytes, highWaterBytes: Math.min(maxBytes, highWater ?? Math.floor(maxBytes * HIGH_WATER_SHARE)) },
  };
}

export interface AgedEntry {
  readonly key: string;
  readonly updatedAt: number;
  /** At work or waited for: never taken away. */
  readonly isActive: boolean;
}

/** Keys that go: first what is too old, then the oldest above the count. */
export function planPrune(entries: readonly AgedEntry[], settings: Pick<MaintenanceSettings, "pruneAfterMs" | "maxEntries">, nowMs: number): { readonly stale: string[]; readonly excess: string[] } {
  const stale = entries.filter((entry) => !entry.isActive && entry.updatedAt < nowMs - settings.pruneAfterMs).map(({ key }) => key);
  const gone = new Set(stale);
  const left = entries.filter(({ key }) => !gone.has(key)).toSorted((a, b) => a.updatedAt - b.updatedAt);
  const excess = left.filter(({ isActive }) => !isActive).slice(0, Math.max(0, left.length - settings.maxEntries)).map(({ key }) => key);
  return { stale, excess };
}

export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  readonly mtimeMs: number;
}

const ARCHIVE = /\.jsonl\.(?:reset|deleted|bak)\.(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z)$/;

/** When a file was put away; undefined for files that are in use. */
export function archivedAtMs(name: string): number | undefined {
  const stamp = ARCHIVE.exec(name)?.[1];
  if (stamp === undefined) return undefined;
  const atMs = Date.parse(stamp.replace(/T(\d{2})-(\d{2})-(\d{2})/, "T$1:$2:$3"));
  return Number.isFinite(atMs) ? atMs : undefined;
}

export interface DiskPlan {
  /** Names of files that go: archives, then transcripts of no entry, each oldest first. */
  readonly files: string[];
  /** Entries that go with their transcripts, oldest first. */
  readonly keys: string[];
}

/** What to give up so that the folder is under its high water again; nothing while it is within its budget. */
export function planDisk(files: readonly StoredFile[], entries: readonly (AgedEntry & { readonly file: string })[], disk: NonNullable<MaintenanceSettings["disk"]>): DiskPlan {
  let total = files.reduce((sum, file) => sum + file.bytes, 0);
  const plan: DiskPlan = { files: [], keys: [] };
  if (total <= disk.maxBytes) return plan;
  const used = new Set(entries.map(({ file }) => file));
  const archives = files.filter(({ name }) => archivedAtMs(name) !== undefined).toSorted((a, b) => (archivedAtMs(a.name) ?? 0) - (archivedAtMs(b.name) ?? 0));
  const loose = files.filter(({ name }) => name.endsWith(".jsonl") && !used.has(name)).toSorted((a, b) => a.mtimeMs - b.mtimeMs);
  for (const file of [...archives, ...loose]) {
    if (total <= disk.highWaterBytes) return plan;
    plan.files.push(file.name);
    total -= file.bytes;
  }
  const sizes = new Map(files.map(({ name, bytes }) => [name, bytes]));
  for (const entry of entries.filter(({ isActive }) => !isActive).toSorted((a, b) => a.updatedAt - b.updatedAt)) {
    if (total <= disk.highWaterBytes) return plan;
    plan.keys.push(entry.key);
    total -= sizes.get(entry.file) ?? 0;
  }
  return plan;
}
