/** Source: spec tools-and-automation part 2 §7. Times are ms since the epoch. */
export type CronSchedule =
  | { readonly kind: "at"; /** ISO, UTC. */ readonly at: string }
  | { readonly kind: "every"; readonly everyMs: number; readonly anchorMs?: number | undefined }
  | { readonly kind: "cron"; readonly expr: string; readonly tz?: string | undefined; readonly staggerMs?: number | undefined };

export type CronPayload =
  | { readonly kind: "systemEvent"; readonly text: string }
  | {
      readonly kind: "agentTurn";
      readonly message: string;
      readonly model?: string | undefined;
      readonly thinking?: string | undefined;
      /** 0: no limit. */
      readonly timeoutSeconds?: number | undefined;
      readonly allowUnsafeExternalContent?: boolean | undefined;
    };

export interface CronDelivery {
  readonly mode: "none" | "announce" | "webhook";
  /** `last` or a channel id. */
  readonly channel?: string | undefined;
  readonly to?: string | undefined;
  readonly accountId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly bestEffort?: boolean | undefined;
}

export interface CronJobState {
  readonly nextRunAtMs?: number | undefined;
  readonly runningAtMs?: number | undefined;
  readonly lastRunAtMs?: number | undefined;
  readonly lastRunStatus?: CronRunStatus | undefined;
  readonly lastStatus?: CronRunStatus | undefined;
  readonly lastError?: string | undefined;
  readonly lastDurationMs?: number | undefined;
  readonly consecutiveErrors?: number | undefined;
  readonly scheduleErrorCount?: number | undefined;
  readonly lastDelivered?: boolean | undefined;
  readonly lastDeliveryStatus?: CronDeliveryStatus | undefined;
  readonly lastDeliveryError?: string | undefined;
}

/** With whose rights the job runs: those of who made it (spec decisions §7.3). */
export interface CronAuthority {
  readonly isOwner: boolean;
  readonly senderId?: string | undefined;
}

export interface CronJob {
  readonly id: string;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly name: string;
  readonly description?: string | undefined;
  readonly enabled: boolean;
  readonly deleteAfterRun?: boolean | undefined;
  /** Older jobs: what they said goes to `cron.webhook` too. */
  readonly notify?: boolean | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly schedule: CronSchedule;
  readonly sessionTarget: "main" | "isolated";
  readonly wakeMode: "now" | "next-heartbeat";
  readonly payload: CronPayload;
  readonly delivery?: CronDelivery | undefined;
  /** Absent in files written before it existed: the owner's. */
  readonly authority?: CronAuthority | undefined;
  readonly state: CronJobState;
}

export type CronJobDraft = Omit<CronJob, "id" | "createdAtMs" | "updatedAtMs" | "state">;

export type CronRunStatus = "ok" | "error" | "skipped";
export type CronDeliveryStatus = "delivered" | "not-delivered" | "unknown" | "not-requested";

/** One line of `runs/<jobId>.jsonl`. */
export interface CronRunEntry {
  readonly ts: number;
  readonly jobId: string;
  readonly action: "finished";
  readonly status: CronRunStatus;
  readonly error?: string | undefined;
  readonly summary?: string | undefined;
  readonly delivered?: boolean | undefined;
  readonly deliveryStatus?: CronDeliveryStatus | undefined;
  readonly deliveryError?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly runAtMs: number;
  readonly durationMs: number;
  readonly nextRunAtMs?: number | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number } | undefined;
}

/** What one run came to; the store and the log take it from there. */
export type CronOutcome = Omit<CronRunEntry, "ts" | "jobId" | "action" | "runAtMs" | "durationMs" | "nextRunAtMs">;

export interface CronEvent {
  readonly jobId: string;
  readonly action: "added" | "updated" | "removed" | "started" | "finished";
  readonly [field: string]: unknown;
}

/** A refused job or an unknown id; the message is for whoever asked. */
export class CronError extends Error {
  override readonly name = "CronError";
}
