/** One delegated task. Source: spec tools-and-automation part 2 §9. Times are ms since the epoch. */
export interface SubagentRun {
  readonly runId: string;
  readonly childSessionKey: string;
  readonly requesterSessionKey: string;
  /** The chat that asked, if it was one. */
  readonly requesterOrigin?: SubagentOrigin | undefined;
  readonly requesterDisplayKey?: string | undefined;
  readonly task: string;
  readonly cleanup: "delete" | "keep";
  readonly spawnMode: "run" | "session";
  readonly label?: string | undefined;
  readonly model?: string | undefined;
  readonly thinking?: string | undefined;
  /** 0: no limit. */
  readonly runTimeoutSeconds: number;
  /** With whose rights it runs: those of who asked (spec decisions §7.3). */
  readonly isOwner: boolean;
  readonly senderId?: string | undefined;
  readonly createdAt: number;
  readonly startedAt?: number | undefined;
  readonly archiveAtMs?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly outcome?: SubagentOutcome | undefined;
  readonly endedReason?: "subagent-complete" | "subagent-error" | "subagent-killed" | undefined;
  /** What it said last; kept here so that the result outlives the session. */
  readonly resultText?: string | undefined;
  readonly usage?: { readonly input: number; readonly output: number; readonly total: number } | undefined;
  /** The requester knows. */
  readonly cleanupHandled?: boolean | undefined;
  readonly cleanupCompletedAt?: number | undefined;
  readonly announceRetryCount?: number | undefined;
}

export interface SubagentOrigin {
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly to: string;
  readonly threadId?: string | undefined;
}

export interface SubagentOutcome {
  readonly status: "ok" | "error" | "timeout" | "unknown";
  readonly error?: string | undefined;
}

export interface SpawnRequest {
  readonly requesterSessionKey: string;
  readonly requesterAgentId: string;
  readonly origin: SubagentOrigin | undefined;
  readonly isOwner: boolean;
  readonly senderId: string | undefined;
  readonly task: string;
  readonly label?: string | undefined;
  readonly agentId?: string | undefined;
  readonly model?: string | undefined;
  readonly thinking?: string | undefined;
  readonly runTimeoutSeconds?: number | undefined;
  readonly mode?: "run" | "session" | undefined;
  readonly cleanup?: "delete" | "keep" | undefined;
}

export type SpawnResult =
  | { readonly status: "accepted"; readonly childSessionKey: string; readonly runId: string; readonly mode: "run" | "session"; readonly note: string; readonly modelApplied?: boolean | undefined }
  | { readonly status: "forbidden" | "error"; readonly error: string };
