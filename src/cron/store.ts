import { copyFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ensureDir, ifExists, readJsonFile, writeFileAtomic } from "../infra/atomic-file.ts";
import { errorText } from "../infra/errors.ts";
import { acquireFileLock } from "../infra/file-lock.ts";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import type { Logger } from "../infra/log.ts";
import type { CronJob } from "./types.ts";

/** `jobs.json`: read anew when somebody else has changed it, written whole and atomically, the one before kept as `.bak`. */
export interface CronStore {
  readonly path: string;
  /** @throws Error when the file is damaged: it is never taken for an empty one */
  read(): Promise<readonly CronJob[]>;
  /** Changes the jobs under the lock of the file; `undefined` leaves them. @throws Error */
  update<T>(change: (jobs: readonly CronJob[]) => { readonly jobs?: readonly CronJob[] | undefined; readonly value: T }): Promise<T>;
}

interface Loaded {
  readonly stamp: string | undefined;
  readonly jobs: readonly CronJob[];
  /** Entries that are no jobs; they stay in the file as they are. */
  readonly foreign: readonly unknown[];
}

export function createCronStore(path: string, log: Logger): CronStore {
  const queue = createKeyedQueue();
  let loaded: Loaded | undefined;

  async function read(): Promise<Loaded> {
    const stamp = await stampOf(path);
    if (loaded && loaded.stamp === stamp) return loaded;
    const raw = stamp === undefined ? undefined : await readJsonFile(path).catch((cause: unknown) => Promise.reject(new Error(`${path} is damaged: ${errorText(cause)}. Correct it, or put ${path}.bak in its place.`, { cause })));
    const list = typeof raw === "object" && raw !== null && "jobs" in raw && Array.isArray(raw.jobs) ? (raw.jobs as unknown[]) : [];
    const jobs = list.filter(isJob);
    const foreign = list.filter((item) => !isJob(item));
    if (foreign.length > 0) log.warn("entries of the cron store are no jobs and are left alone", { path, count: foreign.length });
    loaded = { stamp, jobs, foreign };
    return loaded;
  }

  async function write(jobs: readonly CronJob[], foreign: readonly unknown[]): Promise<void> {
    await ensureDir(dirname(path));
    await ifExists(copyFile(path, `${path}.bak`));
    await writeFileAtomic(path, [`${JSON.stringify({ version: 1, jobs: [...jobs, ...foreign] }, null, 2)}\n`]);
    loaded = { stamp: await stampOf(path), jobs, foreign };
  }

  return {
    path,
    read: async () => (await read()).jobs,
    update: (change) =>
      queue(path, async () => {
        await ensureDir(dirname(path));
        await using _held = await acquireFileLock(`${path}.lock`);
        const { jobs, foreign } = await read();
        const { jobs: next, value } = change(jobs);
        if (next) await write(next, foreign);
        return value;
      }),
  };
}

function isJob(value: unknown): value is CronJob {
  if (typeof value !== "object" || value === null) return false;
  const { id, schedule, payload, state } = value as Partial<Record<keyof CronJob, unknown>>;
  return typeof id === "string" && typeof schedule === "object" && schedule !== null && typeof payload === "object" && payload !== null && (state === undefined || typeof state === "object");
}

async function stampOf(path: string): Promise<string | undefined> {
  const found = await ifExists(stat(path));
  return found && `${found.size}|${found.mtimeMs}|${found.ino}`;
}
