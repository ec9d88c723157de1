import type { ReplyPayload } from "../../output/payload.ts";
import type { FailoverReason } from "../../models/types.ts";

export interface RunUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  total: number;
  /** undefined when any call of the run had no known price. */
  cost: number | undefined;
}

/** What a tool of the run sent to a chat by itself. */
export interface MessagingSend {
  readonly channel: string;
  readonly to: string;
  readonly accountId: string | undefined;
  readonly text: string | undefined;
  readonly mediaUrls: readonly string[];
}

export type RunErrorKind =
  | "auth" | "billing" | "rate_limit" | "timeout" | "context_overflow" | "compaction_failure" | "no_model" | "format" | "tool_loop" | "empty" | "internal";

export interface RunError {
  readonly kind: RunErrorKind;
  readonly message: string;
}

export interface RunAttempt {
  readonly provider: string;
  readonly model: string;
  readonly reason: FailoverReason;
  readonly error: string;
}

export interface SystemPromptReport {
  readonly source: "run" | "estimate";
  readonly generatedAt: number;
  readonly sessionId: string;
  readonly sessionKey: string;
  readonly provider: string;
  readonly model: string;
  readonly workspaceDir: string;
  readonly bootstrapMaxChars: number;
  readonly bootstrapTotalMaxChars: number;
  readonly sandbox: { readonly mode: string; readonly sandboxed: boolean };
  readonly systemPrompt: { readonly chars: number; readonly projectContextChars: number; readonly nonProjectContextChars: number };
  readonly injectedWorkspaceFiles: readonly {
    readonly name: string; readonly path: string; readonly missing: boolean; readonly rawChars: number; readonly injectedChars: number; readonly truncated: boolean;
  }[];
  readonly skills: { readonly promptChars: number; readonly entries: readonly { readonly name: string; readonly blockChars: number }[] };
  readonly tools: {
    readonly listChars: number; readonly schemaChars: number;
    readonly entries: readonly { readonly name: string; readonly summaryChars: number; readonly schemaChars: number; readonly propertiesCount: number }[];
    /** What a rule took away. */
    readonly removed?: readonly { readonly name: string; readonly rule: string }[] | undefined;
  };
}

/** Another model answered in place of the chosen one. */
export interface RunFallback {
  /** provider/model */
  readonly active: string;
  readonly reason: FailoverReason;
}

export interface EmbeddedPiRunMeta {
  readonly durationMs: number;
  readonly aborted: boolean;
  readonly abortReason?: "user" | "timeout" | "shutdown" | undefined;
  readonly error?: RunError | undefined;
  readonly attempts: readonly RunAttempt[];
  readonly fallback?: RunFallback | undefined;
  /** The turn is no part of the conversation. */
  readonly discarded?: boolean | undefined;
  readonly agentMeta: {
    readonly sessionId: string;
    readonly provider: string;
    readonly model: string;
    readonly usage: RunUsage;
    readonly lastCallUsage?: RunUsage | undefined;
    readonly promptTokens?: number | undefined;
    readonly contextTokens: number;
    readonly profileId?: string | undefined;
  };
  readonly compactionCount: number;
  /** Times that the conversation was made shorter after a refusal, successful or not. */
  readonly compactionAttempts: number;
  readonly systemPromptReport?: SystemPromptReport | undefined;
}

export interface EmbeddedPiRunResult {
  readonly payloads: readonly ReplyPayload[];
  /** The last thing the model said, tokens and directives included. */
  readonly lastText: string;
  readonly meta: EmbeddedPiRunMeta;
  readonly messagingSends: readonly MessagingSend[];
  /** At least one block went out while the model was still writing. */
  readonly blocksSent: boolean;
}

/** `agent` events of a run (spec gateway-protocol §5.3); seq counts from 1 per run. */
export interface AgentEvent {
  readonly runId: string;
  readonly seq: number;
  readonly stream: "lifecycle" | "assistant" | "thinking" | "tool" | "compaction" | "error";
  readonly ts: number;
  readonly sessionKey: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}
