import { isAbortRequest } from "../../auto-reply/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";

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
