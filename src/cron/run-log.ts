import { appendFile, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ensureDir, FILE_MODE, ifExists, writeFileAtomic } from "../infra/atomic-file.ts";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import type { CronDeliveryStatus, CronRunEntry, CronRunStatus } from "./types.ts";

export interface RunLogQuery {
  readonly jobId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly statuses?: readonly CronRunStatus[] | undefined;
  readonly deliveryStatuses?: readonly CronDeliveryStatus[] | undefined;
  readonly query?: string | undefined;
  readonly sortDir?: "asc" | "desc" | undefined;
}

/** `runs/<jobId>.jsonl`, cut to its newest lines when it grows too large. */
export interface CronRunLog {
  append(entry: CronRunEntry, limits: { readonly maxBytes: number; readonly keepLines: number }): Promise<void>;
  read(query: RunLogQuery): Promise<{ entries: CronRunEntry[]; total: number }>;
  remove(jobId: string): Promise<void>;
}

const SAFE_ID = /^[A-Za-z0-9._-]{1,128}$/;

export function createCronRunLog(dir: string): CronRunLog {
  const queue = createKeyedQueue();
  const pathOf = (jobId: string): string => join(dir, `${jobId}.jsonl`);

  async function readFileEntries(path: string): Promise<CronRunEntry[]> {
    return ((await ifExists(readFile(path, "utf8"))) ?? "").split("\n").flatMap(parseLine);
  }

  return {
    append: (entry, { maxBytes, keepLines }) =>
      queue(entry.jobId, async () => {
        await ensureDir(dir);
        const path = pathOf(entry.jobId);
        await appendFile(path, `${JSON.stringify(entry)}\n`, { mode: FILE_MODE });
        if ((await stat(path)).size <= maxBytes) return;
        const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
        await writeFileAtomic(path, lines.slice(-keepLines).map((line) => `${line}\n`));
      }),
    async read({ jobId, limit, offset, statuses, deliveryStatuses, query, sortDir = "desc" }) {
      if (jobId !== undefined && !SAFE_ID.test(jobId)) return { entries: [], total: 0 };
      const files = jobId === undefined ? (await readdir(dir).catch(() => [])).filter((name) => name.endsWith(".jsonl")).map((name) => join(dir, name)) : [pathOf(jobId)];
      const wanted = query?.trim().toLowerCase();
      const all = (await Promise.all(files.map(readFileEntries))).flat().filter((entry) =>
        (!statuses || statuses.includes(entry.status)) && (!deliveryStatuses || (entry.deliveryStatus !== undefined && deliveryStatuses.includes(entry.deliveryStatus))) &&
        (!wanted || `${entry.summary ?? ""} ${entry.error ?? ""} ${entry.jobId}`.toLowerCase().includes(wanted)));
      all.sort((a, b) => (sortDir === "asc" ? a.ts - b.ts : b.ts - a.ts));
      return { entries: all.slice(offset, offset + limit), total: all.length };
    },
    remove: (jobId) => rm(pathOf(jobId), { force: true }),
  };
}

function parseLine(line: string): CronRunEntry[] {
  if (line.trim() === "") return [];
  try {
    const entry = JSON.parse(line) as CronRunEntry;
    return typeof entry === "object" && entry !== null && entry.action === "finished" ? [entry] : [];
  } catch {
    return []; // a torn line says nothing about the others
  }
}
