import { THINK_LEVELS, type ExecOverrides, type ModelRef, type ThinkLevel } from "../agents/index.ts";
import type { QueueSettings } from "./queue/settings.ts";

export type VerboseLevel = "off" | "on" | "full";
export type ReasoningLevel = "off" | "on" | "stream";
export type ElevatedLevel = "off" | "ask" | "full";

/** What one message asks for its own run; the session keeps its settings. */
export interface RunHints {
  readonly thinking?: ThinkLevel | undefined;
  readonly verbose?: VerboseLevel | undefined;
  readonly reasoning?: ReasoningLevel | undefined;
  readonly model?: ModelRef | undefined;
  readonly profileId?: string | undefined;
  readonly elevated?: ElevatedLevel | undefined;
  readonly exec?: ExecOverrides | undefined;
  readonly queue?: { readonly [Key in keyof QueueSettings]?: QueueSettings[Key] | undefined } | undefined;
}

/** The queue settings for a message that asks for its own. */
export function withQueueHints(settings: QueueSettings, hints: RunHints | undefined): QueueSettings {
  const { mode = settings.mode, debounceMs = settings.debounceMs, cap = settings.cap, drop = settings.drop } = hints?.queue ?? {};
  return { mode, debounceMs, cap, drop };
}

const oneOf = <T extends string>(...values: readonly T[]) => (value: string | undefined): T | undefined => values.find((known) => known === value);

export const asThinkLevel = oneOf(...THINK_LEVELS);
export const asVerboseLevel = oneOf<VerboseLevel>("off", "on", "full");
export const asReasoningLevel = oneOf<ReasoningLevel>("off", "on", "stream");
export const asElevatedLevel = (value: string | undefined): ElevatedLevel | undefined => (value === "on" ? "ask" : oneOf<ElevatedLevel>("off", "ask", "full")(value));
