import type { Job } from "./process-jobs.ts";

const TAIL_CHARS = 180;

export interface ExitNoticeSettings {
  readonly notifyOnExit?: boolean | undefined;
  readonly notifyOnExitEmptySuccess?: boolean | undefined;
}

/** What a session is told of a background command that ended, on one line; undefined when it is not to be told. Source: spec tools-and-automation §3.1. */
export function exitNotice(job: Job, settings: ExitNoticeSettings): string | undefined {
  const tail = job.output.replace(/\s+/g, " ").trim().slice(-TAIL_CHARS).toWellFormed();
  if (settings.notifyOnExit === false) return undefined;
  if (job.exitCode === 0 && tail === "" && settings.notifyOnExitEmptySuccess !== true) return undefined;
  const how = job.exitSignal ? `signal ${job.exitSignal}` : `code ${job.exitCode}`;
  return `Exec ${job.exitCode === 0 ? "completed" : "failed"} (${job.slug.slice(0, 8)}, ${how}) :: ${tail}`;
}
