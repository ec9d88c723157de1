import type { OpenClawConfig } from "../config/index.ts";
import type { Clock } from "../infra/clock.ts";
import { parseDurationMs } from "../infra/duration.ts";
import { isCronRunKey } from "../routing/index.ts";
import type { SessionService } from "../sessions/index.ts";

const DEFAULT_RETENTION_MS = 24 * 60 * 60_000;
const SWEEP_EVERY_MS = 5 * 60_000;

/** Removes the sessions of past runs after `cron.sessionRetention`, at most every 5 min; their transcripts are archived. */
export function createCronSweep(deps: { readonly config: () => OpenClawConfig; readonly clock: Clock; readonly sessions: SessionService }): () => Promise<void> {
  let lastAt = 0;
  return async () => {
    const now = deps.clock.now();
    const setting = deps.config().cron?.sessionRetention;
    if (setting === false || now - lastAt < SWEEP_EVERY_MS) return;
    lastAt = now;
    const keepMs = (typeof setting === "string" ? parseDurationMs(setting, "h") : undefined) ?? DEFAULT_RETENTION_MS;
    const rows = (await deps.sessions.all()).filter(({ key, entry }) => isCronRunKey(key) && now - entry.updatedAt > keepMs);
    for (const { key, entry } of rows) {
      // The job's own session may still point to the file of its last run.
      const base = await deps.sessions.get(key.slice(0, key.lastIndexOf(":run:")));
      await deps.sessions.remove(key, { deleteTranscript: base?.sessionId !== entry.sessionId });
    }
  };
}
