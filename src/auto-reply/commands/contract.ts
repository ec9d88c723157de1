import type { CompactionOutcome, ModelRef, ModelService, SystemPromptReport } from "../../agents/index.ts";
import type { MsgContext } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Authority } from "../../delivery/index.ts";
import type { SessionEntry, SessionPatch } from "../../sessions/index.ts";

/** What commands may ask of the gateway. */
export interface CommandServices {
  readonly models: ModelService;
  readonly commands: readonly CommandDefinition[];
  readonly now: () => number;
  entry(sessionKey: string): Promise<Readonly<SessionEntry> | undefined>;
  update(sessionKey: string, patch: SessionPatch): Promise<void>;
  /** The model the next run of the session uses. */
  currentModel(sessionKey: string): Promise<{ ref: ModelRef; reason: string }>;
  /** `default` clears the override; `…@profile` pins. @throws Error with what to do */
  setModel(sessionKey: string, model: string): Promise<ModelRef | undefined>;
  stop(sessionKey: string): Promise<{ runs: number; queued: number }>;
  compact(sessionKey: string, focus: string | undefined): Promise<CompactionOutcome & { readonly contextTokens?: number | undefined }>;
  promptReport(sessionKey: string): Promise<SystemPromptReport>;
  /** The card of /status and of the session_status tool. */
  statusText(sessionKey: string): Promise<string>;
  queueDepth(sessionKey: string): number;
  skills(agentId: string): Promise<readonly { readonly name: string; readonly description: string; readonly eligible: boolean; readonly filePath: string }[]>;
  pushSystemEvent(sessionKey: string, text: string): void;
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

export type CommandButtons = readonly (readonly { readonly text: string; readonly callbackData: string }[])[];

export type CommandResult =
  /** Answered; no run. */
  | { readonly kind: "reply"; readonly text: string; readonly buttons?: CommandButtons | undefined }
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
  readonly category: "session" | "options" | "status";
  readonly argsHint?: string | undefined;
  /** false: `/cmd text` is an ordinary message. */
  readonly acceptsArgs: boolean;
  readonly groupsOnly?: boolean | undefined;
  readonly ownerOnly?: boolean | undefined;
  /** Offered in native menus. */
  readonly native: boolean;
  /** May stand inside other text and is answered at once. */
  readonly inline?: boolean | undefined;
  run(context: CommandContext): Promise<CommandResult>;
}

export const reply = (text: string, buttons?: CommandButtons): CommandResult => ({ kind: "reply", text, ...(buttons ? { buttons } : {}) });
