import type { BreakPreference } from "../../output/block-chunker.ts";
import type { ReplyPayload } from "../../output/payload.ts";
import type { ModelRef, ThinkLevel } from "../../models/types.ts";
import type { ResolvedAgent } from "../../../routing/index.ts";
import type { PromptChange } from "../../hooks.ts";
import type { AgentTool } from "../../tools/contract.ts";
import type { MessagingSend, AgentEvent, EmbeddedPiRunResult } from "./types.ts";

export type Lane = "main" | "subagent" | "cron" | "nested";

export interface BlockReplyConfig {
  readonly breakAt: "text_end" | "message_end";
  readonly chunk: { readonly minChars: number; readonly maxChars: number; readonly breakPreference: BreakPreference; readonly flushOnParagraph: boolean };
  readonly coalesce: { readonly minChars: number; readonly maxChars: number; readonly idleMs: number } | undefined;
  /** A pause before every block but the first, as if somebody typed. */
  readonly humanDelay?: { readonly minMs: number; readonly maxMs: number } | undefined;
}

/** What the run answers to; pinned for its whole life. */
export interface RunChannelContext {
  readonly channel: string;
  readonly chatType: "direct" | "group" | "channel";
  readonly accountId: string | undefined;
  readonly to: string | undefined;
  readonly threadId: string | undefined;
  readonly messageId: string | undefined;
  readonly capabilities: readonly string[];
}

/** Where a message is from that no person wrote. Source: spec agent-pipeline §3.4. */
export interface InputProvenance {
  readonly kind: "external_user" | "inter_session" | "internal_system";
  readonly sourceSessionKey?: string | undefined;
  readonly sourceChannel?: string | undefined;
  readonly sourceTool?: string | undefined;
}

/** A run that nobody asked for. */
export interface HeartbeatRun {
  readonly hideToolErrors: boolean;
  /** Asked once there is an answer; true leaves the turn out of the conversation. */
  discard(result: EmbeddedPiRunResult): boolean;
}

export interface RunEmbeddedPiAgentParams {
  readonly runId: string;
  readonly agent: ResolvedAgent;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly sessionFile: string;
  /** The user message; undefined continues from the transcript's leaf after a restart. */
  readonly prompt: string | undefined;
  /** What plugins have said about the prompt before the model was chosen. */
  readonly promptChange?: PromptChange | undefined;
  readonly model: ModelRef;
  readonly fallbacks: readonly ModelRef[];
  readonly pinnedProfileId?: string | undefined;
  readonly preferredProfileId?: string | undefined;
  /** The profile that follows this one has its turn. */
  readonly afterProfileId?: string | undefined;
  readonly thinking: ThinkLevel;
  readonly reasoning: "off" | "on" | "stream";
  readonly verbose: "off" | "on" | "full";
  readonly timeoutMs: number;
  readonly lane: Lane;
  readonly promptMode: "full" | "minimal" | "none";
  readonly extraSystemPrompt?: string | undefined;
  readonly channel: RunChannelContext | undefined;
  readonly isOwner: boolean;
  readonly ownerIds: readonly string[];
  readonly historyLimit?: number | undefined;
  readonly skillFilter?: readonly string[] | undefined;
  /** Includes MEMORY.md among the injected files. */
  readonly includeMemory: boolean;
  readonly heartbeat?: HeartbeatRun | undefined;
  /** Kept with the user message; the model is told of it. */
  readonly provenance?: InputProvenance | undefined;
  /** After policy. */
  readonly tools: readonly AgentTool[];
  /** What policy took away, and by which rule; for people. */
  readonly removedTools?: readonly { readonly name: string; readonly rule: string }[] | undefined;
  readonly signal: AbortSignal;
  /** Grows while tools of the run write into chats by themselves. */
  readonly messagingSends?: readonly MessagingSend[] | undefined;
  readonly blockReply?: BlockReplyConfig | undefined;
  /** A block, or a tool summary, that may go out now. Resolves when it is in the outbox. */
  onBlockReply?(payload: ReplyPayload): Promise<void>;
  onToolSummary?(payload: ReplyPayload): Promise<void>;
  /** Cleaned cumulative text of the current assistant message. */
  onPartialReply?(text: string): void;
  /** Cumulative thoughts of the current message, whether or not they are to be shown. */
  onReasoningStream?(text: string): void;
  onToolStart?(name: string): void;
  onAgentEvent(event: Omit<AgentEvent, "seq" | "ts" | "runId" | "sessionKey">): void;
}
