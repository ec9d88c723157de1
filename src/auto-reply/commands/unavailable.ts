import type { CommandDefinition } from "./contract.ts";
import { reply } from "./contract.ts";

/** Known words of rooms that this version does not have: they are in no list, and who types one is told so. */
const ROOMS: readonly (readonly [names: readonly string[], what: string])[] = [
  [["session", "focus", "unfocus", "agents"], "Threads bound to agents are a feature of Discord, which this version does not have."],
  [["tts", "voice"], "Speech output is not part of this version."],
  [["dock-telegram", "dock_telegram", "dock-discord", "dock_discord", "dock-slack", "dock_slack"], "Moving a conversation to another channel is not part of this version."],
];

export const unavailable: readonly CommandDefinition[] = ROOMS.flatMap(([names, what]) =>
  names.map((name): CommandDefinition => ({
    name, aliases: [], description: what, category: "management", acceptsArgs: true, native: false, listed: () => false, run: async () => reply(`ℹ️ /${name}: ${what}`),
  })));
