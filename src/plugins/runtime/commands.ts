import { isAbortRequest } from "../../auto-reply/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";

export interface CommandAuthorizer {
  /** There is a list at all. */
  readonly configured: boolean;
  readonly allowed: boolean;
}

export type ModeWhenAccessGroupsOff = "allow" | "deny" | "configured";

/** With access groups: some list that is configured admits the sender. Without: as the mode says, by default everybody. */
export function resolveCommandAuthorizedFromAuthorizers(query: {
  readonly useAccessGroups: boolean;
  readonly authorizers: readonly CommandAuthorizer[];
  readonly modeWhenAccessGroupsOff?: ModeWhenAccessGroupsOff | undefined;
}): boolean {
  const admitted = query.authorizers.some((list) => list.configured && list.allowed);
  if (query.useAccessGroups) return admitted;
  switch (query.modeWhenAccessGroupsOff ?? "allow") {
    case "allow":
      return true;
    case "deny":
      return false;
    case "configured":
      return admitted || !query.authorizers.some((list) => list.configured);
  }
}

export interface CommandTextDeps {
  /** The whole text is a command that the gateway knows. */
  isCommand(text: string): boolean;
  /** The channel has a menu of commands of its own. */
  hasNativeCommands(channel: string): boolean;
}

const INLINE_COMMAND = /(?:^|\s)[/!][a-z]/i;

export function createCommandTexts(deps: CommandTextDeps) {
  const hasControlCommand = (text: string | undefined, _cfg?: OpenClawConfig): boolean => text !== undefined && text.trim() !== "" && deps.isCommand(text.trim());
  const isControlCommandMessage = (text: string | undefined, cfg?: OpenClawConfig): boolean =>
    text !== undefined && (hasControlCommand(text, cfg) || isAbortRequest(text));
  return {
    hasControlCommand, isControlCommandMessage,
    /** Whether it matters who sent the text: it may hold a command, also inside other words. */
    shouldComputeCommandAuthorized: (text: string | undefined, cfg?: OpenClawConfig): boolean =>
      isControlCommandMessage(text, cfg) || (text !== undefined && INLINE_COMMAND.test(text)),
    /** `commands.text: false` leaves a channel with a menu to its menu. */
    shouldHandleTextCommands: ({ cfg, surface, commandSource }: { readonly cfg: OpenClawConfig; readonly surface: string; readonly commandSource?: string | undefined }): boolean =>
      commandSource === "native" || cfg.commands?.text !== false || !deps.hasNativeCommands(surface),
  };
}
