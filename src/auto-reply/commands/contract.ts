import type { CompactionOutcome, Decision, ModelRef, ModelService, SubagentRun, SubagentService, SystemPromptReport } from "../../agents/index.ts";
import type { MsgContext } from "../../channels/contract/index.ts";
import type { ConfigOverrides, OpenClawConfig } from "../../config/index.ts";
import type { Authority } from "../../delivery/index.ts";
import type { SessionEntry, SessionPatch } from "../../sessions/index.ts";
import type { RunHints } from "../run-hints.ts";
import type { AllowlistDoor } from "./allowlist-door.ts";
import type { UsageTotals } from "./usage-cost.ts";

/** What commands may ask of the gateway. */
export interface CommandServices {
  readonly models: ModelService;
  /** What lists show to this agent's people. */
  commands(agentId: string): readonly CommandDefinition[];
  readonly now: () => number;
  entry(sessionKey: string): Promise<Readonly<SessionEntry> | undefined>;
  update(sessionKey: string, patch: SessionPatch): Promise<void>;
  /** The model the next run of the session uses. */
  currentModel(sessionKey: string): Promise<{ ref: ModelRef; reason: string }>;
  /** `default` clears the override; `…@profile` pins. @throws Error with what to do */
  setModel(sessionKey: string, model: string): Promise<ModelRef | undefined>;
  stop(sessionKey: string): Promise<{ runs: number; queued: number }>;
  compact(sessionKey: string, focus: string | undefined): Promise<CompactionOutcome & { readonly contextTokens?: number | undefined }>;
  /** Of the last run, or of the one that this command's message would start. */
  promptReport(command: Pick<CommandContext, "sessionKey" | "ctx" | "authority">): Promise<SystemPromptReport>;
  /** The card of /status and of the session_status tool. */
  statusText(sessionKey: string, media?: MsgContext["MediaUnderstandingDecisions"]): Promise<string>;
  queueDepth(sessionKey: string): number;
  /** Commands made of the agent's skills, as they are on disk now. */
  skillCommands(agentId: string): Promise<readonly CommandDefinition[]>;
  /** `contextKey`: a later event of the same key takes the place of an unread one. */
  pushSystemEvent(sessionKey: string, text: string, contextKey?: string): void;
  /** Runs one of the tools that this sender's runs have here. @throws Error when there is none of that name */
  runTool(command: CommandContext, tool: string, args: Readonly<Record<string, unknown>>): Promise<{ readonly text: string; readonly details: unknown; readonly isError: boolean }>;
  /** Gates that keep this sender from elevated rights, each with its key; empty when none does. */
  elevatedRefusals(command: Pick<CommandContext, "ctx" | "agentId">): readonly string[];
  /** Answers a question about a command; its id, or the start of it. */
  decideApproval(id: string, decision: Decision, by: string): "decided" | "unknown" | "ambiguous";
  readonly configFile: ConfigDoor;
  /** Values in memory that win over the configuration file until the gateway stops. */
  readonly overrides: ConfigOverrides;
  readonly allowlist: AllowlistDoor;
  subagents(): SubagentService;
  /** What a sub-agent and its tools said last, a line each. */
  subagentLog(run: SubagentRun, lines: number): Promise<string[]>;
  restart(sessionKey: string, deliveryContext: unknown): Promise<{ readonly delayMs: number; readonly coalesced: boolean }>;
  /** Spent by this session's transcript, and by all of the agent since two moments. */
  usage(sessionKey: string, todayFromMs: number, monthFromMs: number): Promise<{ readonly session: UsageTotals; readonly today: UsageTotals; readonly month: UsageTotals }>;
  /** @throws Error saying why there is no file */
  exportSession(command: Pick<CommandContext, "sessionKey" | "ctx" | "authority">, path: string | undefined): Promise<{ readonly file: string; readonly entries: number; readonly promptChars: number; readonly tools: number }>;
}

/** The configuration file as commands see it: secrets replaced. */
export interface ConfigDoor {
  /** @throws Error for a path that cannot be read */
  read(path: string | undefined): unknown;
  /** @throws Error saying what is not valid; nothing was written then. Resolves to the keys that changed. */
  set(path: string, value: unknown): Promise<readonly string[]>;
  unset(path: string): Promise<readonly string[]>;
}

export interface CommandContext {
  readonly cfg: OpenClawConfig;
  readonly ctx: MsgContext;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly entry: Readonly<SessionEntry> | undefined;
  readonly authority: Authority;
  readonly isGroup: boolean;
  /** In a group: the bot itself was addressed, by mention or reply. */
  readonly addressed: boolean;
  readonly services: CommandServices;
  /** Text after the command word, outer blanks removed. */
  readonly args: string;
  /** The word that was typed, without slash. */
  readonly invokedAs: string;
}

export type CommandButtons = readonly (readonly { readonly text: string; readonly callbackData: string }[])[];

/** What goes with the words of a command's answer, where the chat can take it. */
export interface CommandExtras {
  /** Paths and URLs; a chat gets the files, under the rules for files of the agent. */
  readonly mediaUrls?: readonly string[] | undefined;
  readonly audioAsVoice?: boolean | undefined;
  readonly replyToId?: string | undefined;
  readonly channelData?: Readonly<Record<string, unknown>> | undefined;
}

export type CommandResult =
  /** Answered; no run. */
  | ({ readonly kind: "reply"; readonly text: string; readonly buttons?: CommandButtons | undefined } & CommandExtras)
  /** Handled without an answer. */
  | { readonly kind: "silent" }
  /** The model is asked with this text instead. */
  | { readonly kind: "prompt"; readonly text: string }
  /** Not a use of the command after all: the message goes to the model as it is. */
  | { readonly kind: "pass" };

/** A command that may also stand among other words, where it holds for that one message. Source: spec agent-pipeline-output §8.2. */
export interface Directive {
  /** How many characters after the word are its value, 0 when what follows is no value of it. */
  take(after: string, command: Pick<CommandContext, "services" | "agentId">): number | Promise<number>;
  /** Whether all of these words were meant for it, so that a wrong one is named instead of read by the model. */
  claims?(args: string): boolean;
  /** A string says why it does not hold. */
  hint(args: string, command: CommandContext): Promise<RunHints | string>;
}

export type CommandCategory = "session" | "options" | "status" | "management" | "skills" | "plugins";

export interface CommandDefinition {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly category: CommandCategory;
  readonly argsHint?: string | undefined;
  /** false: `/cmd text` is an ordinary message. */
  readonly acceptsArgs: boolean;
  readonly groupsOnly?: boolean | undefined;
  readonly ownerOnly?: boolean | undefined;
  /** Runs for senders without command rights too; it looks at them itself. */
  readonly openToAll?: boolean | undefined;
  /** Offered in native menus. */
  readonly native: boolean;
  /** Whether lists and menus show it under this configuration; default yes. A hidden command still answers. */
  listed?(cfg: OpenClawConfig): boolean;
  readonly directive?: Directive | undefined;
  /** May stand inside other text and is answered at once. */
  readonly inline?: boolean | undefined;
  run(context: CommandContext): Promise<CommandResult>;
}

export const reply = (text: string, buttons?: CommandButtons): CommandResult => ({ kind: "reply", text, ...(buttons ? { buttons } : {}) });
