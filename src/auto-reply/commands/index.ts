import type { CommandDefinition } from "./contract.ts";
import { commands, context, help, status, whoami } from "./info.ts";
import { model, models, queue, reasoning, think, usage, verbose } from "./options.ts";
import { activation, compact, newSession, resetSession, send, stop } from "./session.ts";

export { createCommandServices } from "./services.ts";

/** In the order of help and menus. */
export function builtInCommands(): readonly CommandDefinition[] {
  return [help, commands, status, whoami, context, newSession, resetSession, stop, compact, activation, send, model, models, think, verbose, reasoning, usage, queue];
}
