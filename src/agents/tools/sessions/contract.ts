import type { SpawnRequest, SpawnResult, SubagentRun } from "../../subagents/types.ts";

/** One session as the tools show it. */
export interface SessionToolRow {
  readonly key: string;
  readonly agentId: string;
  readonly updatedAt: number;
  readonly spawnedBy: string | undefined;
  readonly label: string | undefined;
  readonly sessionId: string;
  readonly [field: string]: unknown;
}

export interface SessionToolMessage {
  readonly role: string;
  readonly content: unknown;
  readonly timestamp?: unknown;
  readonly [field: string]: unknown;
}

export interface SessionSendRequest {
  readonly fromKey: string;
  readonly fromChannel: string | undefined;
  readonly toKey: string;
  readonly message: string;
  readonly isOwner: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface SessionSendResult {
  readonly runId: string;
  readonly status: "ok" | "timeout" | "error" | "accepted";
  readonly reply?: string | undefined;
  readonly error?: string | undefined;
}

/** What the session tools ask of the rooms that have sessions, conversations and sub-agents. */
export interface SessionActions {
  canonicalKey(raw: string): string;
  /** Newest first. */
  list(): Promise<readonly SessionToolRow[]>;
  /** The last messages of the conversation, oldest first. @throws Error for an unknown session */
  history(sessionKey: string, limit: number): Promise<readonly SessionToolMessage[]>;
  send(request: SessionSendRequest): Promise<SessionSendResult>;
  agents(requesterAgentId: string): { readonly requester: string; readonly allowAny: boolean; readonly agents: readonly { readonly id: string; readonly name?: string | undefined; readonly configured: boolean }[] };
  spawn(request: SpawnRequest): Promise<SpawnResult>;
  subagents(requesterSessionKey: string, recentMs: number): readonly SubagentRun[];
  kill(runId: string): Promise<number>;
  steer(runId: string, message: string): Promise<SpawnResult>;
}

/** The run that calls a tool. */
export interface SessionToolScope {
  readonly actions: SessionActions;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly isOwner: boolean;
  readonly senderId: string | undefined;
  readonly chat: { readonly channel: string; readonly accountId: string | undefined; readonly to: string | undefined; readonly threadId: string | undefined } | undefined;
  /** `tools.sessions.visibility` and `tools.agentToAgent`. */
  readonly visibility: "self" | "tree" | "agent" | "all";
  /** The caller is in a sandbox: whom it starts must be in one, too. */
  readonly sandbox?: { readonly limitsVisibility: boolean; readonly isAgentSandboxed: (agentId: string) => boolean } | undefined;
  readonly now: () => number;
  readonly agentToAgent: { readonly enabled: boolean; readonly allow: readonly string[] };
}
