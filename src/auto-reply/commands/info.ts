import type { CommandCategory, CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";
import { contextText } from "./context-text.ts";

const TITLES: Readonly<Record<CommandCategory, string>> = { session: "Session", options: "Options", status: "Status", management: "Management", skills: "Skills", plugins: "Plugins" };
const MAX_SKILLS_IN_HELP = 12;

function line(command: CommandDefinition): string {
  const aliases = command.aliases.length > 0 ? ` (${command.aliases.map((alias) => `/${alias}`).join(", ")})` : "";
  return `/${command.name}${command.argsHint ? ` ${command.argsHint}` : ""}${aliases} — ${command.description}`;
}

/** The commands that make sense where the person asks, skills as they are on disk now. */
async function offered({ services, agentId, isGroup }: CommandContext): Promise<readonly CommandDefinition[]> {
  await services.skillCommands(agentId);
  return services.commands(agentId).filter((command) => isGroup || !command.groupsOnly);
}

export const help: CommandDefinition = {
  name: "help", aliases: [], description: "Short overview", category: "status", acceptsArgs: false, native: true, inline: true,
  async run(command) {
    const list = await offered(command);
    const sections = (Object.keys(TITLES) as CommandCategory[]).flatMap((category) => {
      const names = list.filter((known) => known.category === category).map((known) => `/${known.name}`);
      if (names.length === 0) return [];
      const shown = category === "skills" && names.length > MAX_SKILLS_IN_HELP ? [...names.slice(0, MAX_SKILLS_IN_HELP), `… ${names.length - MAX_SKILLS_IN_HELP} more`] : names;
      return [`${TITLES[category]}: ${shown.join("  ")}`];
    });
    return reply(`ℹ️ Help\n\n${sections.join("\n")}\n\n/commands tells what each of them does. Everything else goes to the assistant.`);
  },
};

const PAGE_SIZE = 8;

export const commands: CommandDefinition = {
  name: "commands", aliases: [], description: "All commands", category: "status", argsHint: "[page]", acceptsArgs: true, native: true, inline: true,
  async run(command) {
    if (command.args !== "" && !/^\d{1,4}$/.test(command.args)) return { kind: "pass" };
    const list = await offered(command);
    if (command.ctx.Surface === "telegram") return commandPage(list, Number(command.args || "1"));
    const parts = (Object.keys(TITLES) as CommandCategory[]).flatMap((category) => {
      const own = list.filter((known) => known.category === category).map(line);
      return own.length > 0 ? [`${TITLES[category]}\n${own.join("\n")}`] : [];
    });
    return reply(parts.join("\n\n"));
  },
};

function commandPage(list: readonly CommandDefinition[], wanted: number): CommandResult {
  const pages = Math.max(1, Math.ceil(list.length / PAGE_SIZE));
  const page = Math.min(pages, Math.max(1, wanted));
  const shown = list.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE).map(line);
  const buttons = [
    [
      ...(page > 1 ? [{ text: "◀", callbackData: `commands_page_${page - 1}` }] : []),
      { text: `${page}/${pages}`, callbackData: "commands_page_noop" },
      ...(page < pages ? [{ text: "▶", callbackData: `commands_page_${page + 1}` }] : []),
    ],
  ];
  return reply(`Commands (${page}/${pages})\n\n${shown.join("\n")}`, buttons);
}

export const status: CommandDefinition = {
  name: "status", aliases: [], description: "Model, tokens, context, settings", category: "status", acceptsArgs: false, native: true, inline: true,
  run: async ({ services, sessionKey, ctx }) => reply(await services.statusText(sessionKey, ctx.MediaUnderstandingDecisions)),
};

export const whoami: CommandDefinition = {
  name: "whoami", aliases: ["id"], description: "Who you are to this gateway", category: "status", acceptsArgs: false, native: true, inline: true,
  run: async ({ ctx, authority, sessionKey }) => {
    const fields: [string, string | number | undefined][] = [
      ["Channel", ctx.OriginatingChannel], ["User id", ctx.SenderId], ["Username", ctx.SenderUsername], ["Name", ctx.SenderName],
      ["Chat", ctx.OriginatingTo], ["Thread", ctx.MessageThreadId], ["Session", sessionKey],
      ["allowFrom entry", authority.source === "gateway" ? undefined : `${ctx.OriginatingChannel}:${ctx.SenderId}`], ["Owner", authority.isOwner ? "yes" : "no"],
    ];
    return reply(fields.filter(([, value]) => value !== undefined && value !== "").map(([name, value]) => `${name}: ${value}`).join("\n"));
  },
};

const CONTEXT_MODES = ["list", "show", "detail", "deep", "json"];

export const context: CommandDefinition = {
  name: "context", aliases: [], description: "What fills the model's context", category: "status", argsHint: "list|detail|json", acceptsArgs: true, native: true,
  async run(command) {
    const mode = command.args.toLowerCase();
    if (mode === "") return reply("🧠 /context list: sizes of prompt, files, skills and tools\n/context detail: the largest skills and tool schemas too\n/context json: the whole report");
    if (!CONTEXT_MODES.includes(mode)) return /\s/.test(mode) ? { kind: "pass" } : reply("Usage: /context list | detail | json");
    const report = await command.services.promptReport(command);
    const entry = await command.services.entry(command.sessionKey);
    if (mode === "json") {
      const session = { totalTokens: entry?.totalTokens, inputTokens: entry?.inputTokens, outputTokens: entry?.outputTokens, contextTokens: entry?.contextTokens };
      return reply(JSON.stringify({ report, session }, null, 2));
    }
    return reply(contextText(report, entry, mode === "detail" || mode === "deep"));
  },
};
