import { dirname } from "node:path";
import { ensureDir, isErrno, readJsonFile, writeFileAtomic } from "../../infra/atomic-file.ts";
import { errorText } from "../../infra/errors.ts";
import { createKeyedQueue } from "../../infra/keyed-queue.ts";
import type { Logger } from "../../infra/log.ts";
import type { SubagentRun } from "./types.ts";

/** `subagents/runs.json`: every delegated task until its session is archived. Memory is what counts; the file follows it. */
export interface SubagentRegistry {
  load(): Promise<void>;
  all(): readonly SubagentRun[];
  get(runId: string): SubagentRun | undefined;
  /** Resolves when it is on disk. */
  put(run: SubagentRun): Promise<void>;
  update(runId: string, change: Partial<SubagentRun>): Promise<SubagentRun | undefined>;
  remove(runId: string): Promise<void>;
}

const VERSION = 2;

export function createSubagentRegistry(path: string, log: Logger): SubagentRegistry {
  const runs = new Map<string, SubagentRun>();
  const queue = createKeyedQueue();
  let waiting: Promise<void> | undefined;

  /** Changes that come while the file is written share the next write. */
  function save(): Promise<void> {
    waiting ??= queue(path, async () => {
      waiting = undefined;
      await ensureDir(dirname(path));
      await writeFileAtomic(path, [`${JSON.stringify({ version: VERSION, runs: Object.fromEntries(runs) }, null, 2)}\n`]);
    });
    return waiting;
  }

  return {
    async load() {
      try {
        const raw = await readJsonFile(path);
        const stored = typeof raw === "object" && raw !== null && "runs" in raw && typeof raw.runs === "object" && raw.runs !== null ? Object.values(raw.runs) : [];
        for (const run of stored) if (isRun(run)) runs.set(run.runId, { ...run, isOwner: run.isOwner === true });
      } catch (err) {
        if (!isErrno(err, "ENOENT")) log.error("the list of sub-agents is damaged; it starts anew and the old file is kept", { path, error: errorText(err) });
      }
    },
    all: () => [...runs.values()],
    get: (runId) => runs.get(runId),
    put(run) {
      runs.set(run.runId, run);
      return save();
    },
    async update(runId, change) {
      const run = runs.get(runId);
      if (!run) return undefined;
      const next = { ...run, ...change };
      runs.set(runId, next);
      await save();
      return next;
    },
    async remove(runId) {
      if (runs.delete(runId)) await save();
    },
  };
}

function isRun(value: unknown): value is SubagentRun {
  if (typeof value !== "object" || value === null) return false;
  const { runId, childSessionKey, requesterSessionKey, task } = value as Partial<Record<keyof SubagentRun, unknown>>;
  return [runId, childSessionKey, requesterSessionKey, task].every((field) => typeof field === "string" && field !== "");
}
