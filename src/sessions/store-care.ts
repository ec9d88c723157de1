import { copyFile, link, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { OpenClawConfig } from "../config/index.ts";
import { ifExists, isErrno } from "../infra/atomic-file.ts";
import type { Clock } from "../infra/clock.ts";
import type { Logger } from "../infra/log.ts";
import { archivedAtMs, planDisk, planPrune, resolveMaintenance, type AgedEntry, type MaintenanceSettings, type StoredFile } from "./maintenance.ts";
import { resolveTranscriptPath } from "./paths.ts";
import { archiveStamp } from "./reset.ts";
import { createPauser } from "./store-file.ts";
import type { SessionStore, SessionStoreHooks } from "./session-store.ts";

export interface StoreCareDeps {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs, or has messages waiting. */
  readonly isActive: (sessionKey: string) => boolean;
  /** Where the transcripts of a session lie. */
  readonly sessionsDir: (sessionKey: string) => string;
}

/** Between two looks at a store that stays within its bounds, ms. */
const CARE_INTERVAL_MS = 60_000;
const WARN_INTERVAL_MS = 60 * 60_000;
const ROTATE_INTERVAL_MS = 60 * 60_000;
const KEPT_ROTATIONS = 3;

interface Slot extends AgedEntry {
  /** Of the transcript; worked out when it is needed. */
  path(): string;
}

/** Keeps one agent's sessions within `session.maintenance`, after writes of its store. */
export function createStoreCare(deps: StoreCareDeps): SessionStoreHooks {
  const { clock, log } = deps;
  let caredAt = 0;
  let warnedAt = 0;
  let rotatedAt = 0;

  async function slotsOf(store: SessionStore): Promise<Slot[]> {
    const entries = await store.entries();
    const newest = entries.reduce((latest, [, { updatedAt }]) => Math.max(latest, updatedAt), 0);
    const pause = createPauser();
    const slots: Slot[] = [];
    for (const [key, entry] of entries) {
      slots.push({
        key, updatedAt: entry.updatedAt, isActive: deps.isActive(key) || entry.updatedAt === newest,
        path: () => resolveTranscriptPath(deps.sessionsDir(key), entry.sessionId, entry.sessionFile),
      });
      await pause();
    }
    return slots;
  }

  async function care(store: SessionStore, settings: MaintenanceSettings): Promise<void> {
    const nowMs = clock.now();
    const slots = await slotsOf(store);
    const { stale, excess } = planPrune(slots, settings, nowMs);
    if (settings.mode === "warn") {
      if (stale.length + excess.length > 0 && nowMs - warnedAt >= WARN_INTERVAL_MS) {
        warnedAt = nowMs;
        log.warn("old sessions are kept; session.maintenance.mode \"enforce\" would archive them", { path: store.path, stale: stale.length, excess: excess.length, entries: slots.length });
      }
      return;
    }
    const gone = new Set([...stale, ...excess]);
    if (gone.size > 0) await prune(store, slots, gone, nowMs);
    const left = Map.groupBy(slots.filter(({ key }) => !gone.has(key)), ({ key }) => deps.sessionsDir(key));
    for (const folder of new Set([dirname(store.path), ...left.keys()])) await careForFolder(store, folder, left.get(folder) ?? [], settings, nowMs);
    if (gone.size > 0) log.info("old sessions archived", { path: store.path, stale: stale.length, excess: excess.length });
  }

  /** Entries go; their transcripts are archived unless another entry uses them. */
  async function prune(store: SessionStore, slots: readonly Slot[], gone: ReadonlySet<string>, nowMs: number): Promise<void> {
    const used = new Set(slots.filter(({ key }) => !gone.has(key)).map((slot) => slot.path()));
    for (const slot of slots) {
      if (!gone.has(slot.key) || deps.isActive(slot.key)) continue; // it may have woken up since
      store.delete(slot.key);
      const path = slot.path();
      if (!used.has(path)) await ifExists(rename(path, `${path}.deleted.${archiveStamp(nowMs)}`));
    }
  }

  async function careForFolder(store: SessionStore, folder: string, slots: readonly Slot[], settings: MaintenanceSettings, nowMs: number): Promise<void> {
    let files = await listFiles(folder);
    if (settings.archiveRetentionMs !== undefined) {
      const oldest = nowMs - settings.archiveRetentionMs;
      const expired = files.filter(({ name }) => (archivedAtMs(name) ?? Number.POSITIVE_INFINITY) < oldest);
      for (const { name } of expired) await rm(join(folder, name), { force: true });
      if (expired.length > 0) log.info("expired transcript archives deleted", { folder, count: expired.length });
      files = files.filter((file) => !expired.includes(file));
    }
    if (!settings.disk) return;
    const plan = planDisk(files, slots.map((slot): AgedEntry & { file: string } => ({ ...slot, file: basename(slot.path()) })), settings.disk);
    for (const name of plan.files) await rm(join(folder, name), { force: true });
    for (const key of plan.keys) {
      const slot = slots.find((each) => each.key === key);
      if (!slot || deps.isActive(key)) continue;
      store.delete(key);
      await rm(slot.path(), { force: true });
    }
    if (plan.files.length + plan.keys.length > 0) log.warn("session files were over session.maintenance.maxDiskBytes; the oldest are gone", { folder, files: plan.files.length, sessions: plan.keys.length });
  }

  return {
    async beforeWrite(path, sizeBytes) {
      const settings = resolveMaintenance(deps.config());
      const nowMs = clock.now();
      if (settings.mode !== "enforce" || sizeBytes < settings.rotateBytes || nowMs - rotatedAt < ROTATE_INTERVAL_MS) return;
      rotatedAt = nowMs;
      await rotate(path, nowMs).catch((err: unknown) => log.warn("session store not rotated", { path, err }));
    },
    async afterWrite(store) {
      const settings = resolveMaintenance(deps.config());
      const nowMs = clock.now();
      const isOver = settings.mode === "enforce" && store.size > settings.maxEntries;
      if (!isOver && nowMs - caredAt < CARE_INTERVAL_MS) return;
      caredAt = nowMs;
      await care(store, settings).catch((err: unknown) => log.warn("session maintenance failed", { path: store.path, err }));
    },
  };
}

/** Keeps the file as it is beside its successor: a second name, no copy of its bytes where the disk can do that. */
async function rotate(path: string, nowMs: number): Promise<void> {
  const kept = `${path}.bak.${nowMs}`;
  await link(path, kept).catch(async (err: unknown) => {
    if (isErrno(err, "ENOENT", "EEXIST")) return;
    await copyFile(path, kept);
  });
  const prefix = `${basename(path)}.bak.`;
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(prefix)).toSorted((a, b) => Number(a.slice(prefix.length)) - Number(b.slice(prefix.length)));
  for (const name of names.slice(0, -KEPT_ROTATIONS)) await rm(join(dirname(path), name), { force: true });
}

async function listFiles(folder: string): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found?.isFile()) files.push({ name, bytes: found.size, mtimeMs: found.mtimeMs });
  }
  return files;
}
