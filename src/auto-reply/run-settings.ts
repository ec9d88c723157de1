import type { AgentRuntime, ExecOverrides, ModelRef, ThinkLevel } from "../agents/index.ts";
import type { MsgContext } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { SessionEntry } from "../sessions/index.ts";
import { elevatedRefusals } from "./elevated.ts";
import { asElevatedLevel, asReasoningLevel, asThinkLevel, asVerboseLevel, type ReasoningLevel, type RunHints, type VerboseLevel } from "./run-hints.ts";
import { profileChoice, type ProfileChoice } from "./run-record.ts";

/** How one run is done: the message's own wishes, then the session's, then the configuration's. */
export interface RunSettings {
  readonly model: ModelRef;
  readonly profile: ProfileChoice;
  readonly thinking: ThinkLevel;
  readonly verbose: VerboseLevel;
  readonly reasoning: ReasoningLevel;
  readonly exec: ExecOverrides;
  readonly elevated: boolean;
}

export interface RunSettingsInput {
  readonly cfg: OpenClawConfig;
  readonly agents: Pick<AgentRuntime, "models" | "agent">;
  readonly agentId: string;
  readonly entry: Readonly<SessionEntry>;
  readonly hints: RunHints;
  readonly ctx: MsgContext | undefined;
  readonly isGroup: boolean;
}

export async function resolveRunSettings(input: RunSettingsInput): Promise<RunSettings> {
  const { cfg, agents, agentId, entry, hints } = input;
  const defaults = cfg.agents?.defaults;
  const model = hints.model ?? sessionModel(entry) ?? (await agents.models.selectDefault(agentId)).ref;
  const { exec, elevated } = resolveExec(input);
  return {
    model,
    profile: hints.profileId === undefined ? (hints.model ? {} : profileChoice(entry)) : { pinnedProfileId: hints.profileId },
    thinking: asThinkLevel(hints.thinking) ?? asThinkLevel(entry.thinkingLevel) ?? defaults?.thinkingDefault ?? (await agents.models.defaultThinking(model, agentId)),
    // What tools do is nobody's business but the person's: never in groups.
    verbose: input.isGroup ? "off" : (hints.verbose ?? asVerboseLevel(entry.verboseLevel) ?? defaults?.verboseDefault ?? "off"),
    reasoning: hints.reasoning ?? asReasoningLevel(entry.reasoningLevel) ?? "off",
    exec,
    elevated,
  };
}

/** Elevated rights are looked up at every run: a list that was narrowed counts at once. */
function resolveExec({ cfg, agents, agentId, entry, hints, ctx }: RunSettingsInput): { exec: ExecOverrides; elevated: boolean } {
  const session = { host: entry.execHost, security: entry.execSecurity, ask: entry.execAsk, node: entry.execNode } as ExecOverrides;
  const own = Object.fromEntries(Object.entries({ ...session, ...hints.exec }).filter(([, value]) => value !== undefined)) as ExecOverrides;
  const level = hints.elevated ?? asElevatedLevel(entry.elevatedLevel ?? cfg.agents?.defaults?.elevatedDefault) ?? "off";
  if (level === "off" || elevatedRefusals(cfg, agents.agent(agentId).config?.tools?.elevated, agentId, elevatedSender(ctx)).length > 0) return { exec: own, elevated: false };
  return { exec: level === "full" ? { ...own, host: "gateway", security: "full", ask: "off" } : { ...own, host: "gateway" }, elevated: true };
}

export const elevatedSender = (ctx: MsgContext | undefined): { channel: string; ids: readonly (string | undefined)[] } => ({
  channel: ctx?.OriginatingChannel ?? "webchat", ids: [ctx?.SenderId, ctx?.SenderE164],
});

export function sessionModel(entry: Pick<SessionEntry, "providerOverride" | "modelOverride"> | undefined): ModelRef | undefined {
  if (!entry?.modelOverride || !entry.providerOverride) return undefined;
  return { provider: entry.providerOverride, modelId: entry.modelOverride };
}
