import type { MsgContext } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { AgentEvent, SystemPromptReport } from "../../agents/index.ts";
import type { ModelService, PreparedModel } from "../../agents/index.ts";
import type { CompactionOutcome } from "../../agents/index.ts";
import type { Authority } from "../../delivery/index.ts";
import type { SystemEvents } from "../../delivery/index.ts";
import type { SessionEntry, SessionService } from "../../sessions/index.ts";

/** What a command may ask of the gateway; every method is bound to the session the command is for. */
export interface CommandServices {
  readonly models: ModelService;
  readonly sessions: SessionService;
  readonly systemEvents: SystemEvents;
  readonly now: () => number;
  readonly version: string;
  readonly startedAt: number;
  /** Aborts the runs of the session and clears what waits. Returns how many runs were stopped. */
  stopSession(sessionKey: string): Promise<{ runs: number; queued: number }>;
  /** Aborts, waits, compacts. */
  compactSession(sessionKey: string, focus: string | undefined): Promise<CompactionOutcome & { readonly contextTokens?: number | undefined }>;
  /** The report of the last run, or one computed now. */
  promptReport(sessionKey: string): Promise<SystemPromptReport>;
  queueDepth(sessionKey: string): number;
  activeRuns(sessionKey: string): number;
  commandList(): readonly CommandDefinition[];
  skillCommands(sessionKey: string): Promise<readonly { readonly name: string; readonly skill: string; readonly description: string }[]>;
  prepareModel(sessionKey: string): Promise<PreparedModel>;
  emitAgentEvent?(event: AgentEvent): void;
}

export interface CommandContext {
  readonly cfg: OpenClawConfig;
  readonly ctx: MsgContext;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly entry: Readonly<SessionEntry> | undefined;
  readonly authority: Authority;
  readonly isGroup: boolean;
  readonly services: CommandServices;
  /** Text after the command word, outer blanks removed. */
  readonly args: string;
  /** The word that was typed, without slash. */
  readonly invokedAs: string;
}

export type CommandResult =
  /** Answered; no run. */
  | { readonly kind: "reply"; readonly text: string; readonly buttons?: readonly (readonly { readonly text: string; readonly callbackData: string }[])[] | undefined }
  /** Handled without an answer. */
  | { readonly kind: "silent" }
  /** The model is asked with this text instead. */
  | { readonly kind: "prompt"; readonly text: string }
  /** Not a use of the command after all: the message goes to the model as it is. */
  | { readonly kind: "pass" };

export interface CommandDefinition {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly category: "session" | "options" | "status" | "management" | "media" | "tools";
  readonly argsHint?: string | undefined;
  /** false: `/cmd text` is an ordinary message. */
  readonly acceptsArgs: boolean;
  readonly groupsOnly?: boolean | undefined;
  /** Needs operator.admin from clients, ownership from channels. */
  readonly ownerOnly?: boolean | undefined;
  /** Offered in native menus. */
  readonly native: boolean;
  /** May stand inside other text and is answered at once. */
  readonly inline?: boolean | undefined;
  run(context: CommandContext): Promise<CommandResult>;
}
