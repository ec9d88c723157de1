import { allowlist } from "./allowlist.ts";
import { approve } from "./approve.ts";
import { createBashCommand } from "./bash.ts";
import { config, debug } from "./config.ts";
import type { CommandDefinition } from "./contract.ts";
import { elevated, exec } from "./exec-options.ts";
import { commands, context, help, status, whoami } from "./info.ts";
import { exportSession, restart } from "./management.ts";
import { model, models } from "./model.ts";
import { reasoning, think, verbose } from "./options.ts";
import { queue } from "./queue.ts";
import { activation, compact, newSession, resetSession, send, stop } from "./session.ts";
import { skill } from "./skills.ts";
import { killSubagent, steerSubagent, subagents } from "./subagents.ts";
import { unavailable } from "./unavailable.ts";
import { usage } from "./usage.ts";

export { createCommandServices } from "./services.ts";
export { buildSkillCommands } from "./skills.ts";
export { nativeMenu } from "./native-menu.ts";

/** In the order of help and menus. */
export function builtInCommands(): readonly CommandDefinition[] {
  return [
    help, commands, status, whoami, context, newSession, resetSession, stop, compact, activation, send, exportSession, model, models, think, verbose, reasoning, usage,
    queue, elevated, exec, approve, skill, subagents, killSubagent, steerSubagent, allowlist, config, debug, createBashCommand(), restart, ...unavailable,
  ];
}
