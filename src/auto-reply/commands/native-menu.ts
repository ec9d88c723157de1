import type { OpenClawConfig } from "../../config/index.ts";
import { channelSection, subsection } from "../channel-section.ts";
import type { CommandDefinition } from "./contract.ts";

/**
 * Commands for a platform's menu. `commands.native` and `commands.nativeSkills`, of the channel or of all; `auto` is yes on
 * channels that take menus well. Names have no hyphen there.
 */
export function nativeMenu(
  cfg: OpenClawConfig, channel: string, accountId: string, commands: readonly CommandDefinition[], isAuto: boolean,
): { readonly name: string; readonly description: string }[] {
  const own = subsection(channelSection(cfg, channel, accountId), "commands");
  const isOn = (setting: unknown): boolean => (typeof setting === "boolean" ? setting : isAuto);
  if (!isOn(own["native"] ?? cfg.commands?.native)) return [];
  const withSkills = isOn(own["nativeSkills"] ?? cfg.commands?.nativeSkills);
  return commands
    .filter((command) => command.native && (withSkills || command.category !== "skills"))
    .map(({ name, description }) => ({ name: name.replaceAll("-", "_"), description }));
}
