import { errorText } from "../../infra/errors.ts";
import { estimateTokensFromChars } from "../../agents/index.ts";
import type { CommandDefinition } from "./contract.ts";
import { reply } from "./contract.ts";

export const restart: CommandDefinition = {
  name: "restart", aliases: [], description: "Restart the gateway", category: "management", acceptsArgs: false, ownerOnly: true, native: true,
  listed: (cfg) => cfg.commands?.restart !== false,
  async run({ cfg, services, sessionKey, entry }) {
    if (cfg.commands?.restart === false) return reply("⚙️ /restart is off (commands.restart=false).");
    const { delayMs, coalesced } = await services.restart(sessionKey, entry?.deliveryContext);
    const when = delayMs >= 1000 ? ` in about ${Math.round(delayMs / 1000)} s` : "";
    return reply(coalesced ? "⚙️ A restart is planned already." : `⚙️ Restarting${when}, when running answers are done.`);
  },
};

export const exportSession: CommandDefinition = {
  name: "export-session", aliases: ["export"], description: "Write this session to an HTML file", category: "session", argsHint: "[path]", acceptsArgs: true, ownerOnly: true, native: true,
  async run(command) {
    const { services, args } = command;
    try {
      const { file, entries, promptChars, tools } = await services.exportSession(command, args === "" ? undefined : args);
      return reply(`📄 Session written to ${file}\nEntries: ${entries} · System prompt: ${promptChars} chars (~${estimateTokensFromChars(promptChars)} tok) · Tools: ${tools}`);
    } catch (err) {
      return reply(`⚠️ Not exported: ${errorText(err)}`);
    }
  },
};
