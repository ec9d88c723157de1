import type { CommandDefinition } from "./contract.ts";
import { reply } from "./contract.ts";
import { formatTokenCount } from "../reply/shape.ts";

/** Handled before the table is asked, because it also takes effect inside the flow; listed for menus and help. */
const listedOnly = (name: string, description: string, argsHint: string | undefined): CommandDefinition => ({
  name, aliases: [], description, category: "session", argsHint, acceptsArgs: argsHint !== undefined, native: true, run: async () => ({ kind: "pass" }),
});

export const newSession = listedOnly("new", "Start a new session", "[model] [text]");
export const resetSession = listedOnly("reset", "Start a new session", "[text]");

export const stop: CommandDefinition = {
  name: "stop", aliases: [], description: "Stop what is running", category: "session", acceptsArgs: false, native: true,
  async run({ services, sessionKey }) {
    const { runs, queued } = await services.stop(sessionKey);
    return reply(runs > 0 ? `⚙️ Stopped.${queued > 0 ? ` ${queued} waiting message(s) dropped.` : ""}` : "⚙️ Nothing is running.");
  },
};

export const compact: CommandDefinition = {
  name: "compact", aliases: [], description: "Shorten the conversation to a summary", category: "session", argsHint: "[focus]", acceptsArgs: true, native: true,
  async run({ services, sessionKey, args }) {
    const outcome = await services.compact(sessionKey, args === "" ? undefined : args);
    switch (outcome.kind) {
      case "compacted": {
        const of = outcome.contextTokens ? ` • Context ${formatTokenCount(outcome.tokensAfter)}/${formatTokenCount(outcome.contextTokens)} (${Math.round((outcome.tokensAfter / outcome.contextTokens) * 100)}%)` : "";
        return reply(`🧹 Compacted (${formatTokenCount(outcome.tokensBefore)} → ${formatTokenCount(outcome.tokensAfter)})${of}${outcome.degraded ? "\nA part could only be shortened, not summarised." : ""}`);
      }
      case "skipped":
        return reply(`🧹 Compaction skipped: ${outcome.reason}.`);
      case "failed":
        return reply(`🧹 Compaction failed: ${outcome.reason}. The conversation is as it was.`);
    }
  },
};

export const activation: CommandDefinition = {
  name: "activation", aliases: [], description: "When to answer in this group", category: "session", argsHint: "mention|always", acceptsArgs: true, groupsOnly: true, native: true,
  async run({ services, sessionKey, args, entry }) {
    const value = args.toLowerCase();
    if (value !== "mention" && value !== "always") return reply(`👥 Activation: ${entry?.groupActivation ?? "mention"}. Usage: /activation mention | always`);
    await services.update(sessionKey, { groupActivation: value, groupActivationNeedsSystemIntro: true });
    return reply(value === "always" ? "👥 I now read every message here and answer when it makes sense." : "👥 I now answer only when I am mentioned.");
  },
};

export const send: CommandDefinition = {
  name: "send", aliases: [], description: "Switch answering in this session", category: "session", argsHint: "on|off|inherit", acceptsArgs: true, native: true,
  async run({ services, sessionKey, args, entry }) {
    const value = args.toLowerCase();
    const policy = value === "on" || value === "allow" ? "allow" : value === "off" || value === "deny" ? "deny" : value === "inherit" || value === "default" || value === "reset" ? null : undefined;
    if (policy === undefined) return reply(`📨 Send policy: ${entry?.sendPolicy ?? "inherit"}. Usage: /send on | off | inherit`);
    await services.update(sessionKey, { sendPolicy: policy });
    return reply(`📨 Send policy: ${policy ?? "inherit"}.`);
  },
};
