import { estimateTokensFromChars } from "../../agents/index.ts";
import type { CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";

const TITLES: Readonly<Record<CommandDefinition["category"], string>> = { session: "Session", options: "Options", status: "Status" };

function line(command: CommandDefinition): string {
  const aliases = command.aliases.length > 0 ? ` (${command.aliases.map((alias) => `/${alias}`).join(", ")})` : "";
  return `/${command.name}${command.argsHint ? ` ${command.argsHint}` : ""}${aliases} — ${command.description}`;
}

export const help: CommandDefinition = {
  name: "help", aliases: [], description: "Short overview", category: "status", acceptsArgs: false, native: true, inline: true,
  run: async ({ services }) => {
    const short = (category: CommandDefinition["category"]): string =>
      services.commands.filter((command) => command.category === category).map((command) => `/${command.name}`).join("  ");
    return reply(`ℹ️ Help\n\nSession: ${short("session")}\nOptions: ${short("options")}\nStatus: ${short("status")}\n\n/commands tells what each of them does. Everything else goes to the assistant.`);
  },
};

const PAGE_SIZE = 8;

export const commands: CommandDefinition = {
  name: "commands", aliases: [], description: "All commands", category: "status", argsHint: "[page]", acceptsArgs: true, native: true, inline: true,
  async run({ services, ctx, args }) {
    if (args !== "" && !/^\d+$/.test(args)) return { kind: "pass" };
    if (ctx.Surface === "telegram") return commandPage(services.commands, Number(args || "1"));
    const parts = (Object.keys(TITLES) as CommandDefinition["category"][]).map((category) => {
      const list = services.commands.filter((command) => command.category === category).map(line);
      return `${TITLES[category]}\n${list.join("\n")}`;
    });
    return reply(parts.join("\n\n"));
  },
};

function commandPage(list: readonly CommandDefinition[], wanted: number): CommandResult {
  const pages = Math.ceil(list.length / PAGE_SIZE);
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
  run: async ({ services, sessionKey }) => reply(await services.statusText(sessionKey)),
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

const size = (chars: number): string => `${chars} chars (~${estimateTokensFromChars(chars)} tok)`;

export const context: CommandDefinition = {
  name: "context", aliases: [], description: "What fills the model's context", category: "status", argsHint: "list|detail|json", acceptsArgs: true, native: true,
  async run(command) {
    const mode = command.args.toLowerCase();
    if (mode === "") return reply("🧠 /context list: sizes of prompt, files, skills and tools\n/context detail: the largest skills and tool schemas too\n/context json: the whole report");
    if (!["list", "show", "detail", "deep", "json"].includes(mode)) return reply("Usage: /context list | detail | json");
    const report = await command.services.promptReport(command.sessionKey);
    const entry = await command.services.entry(command.sessionKey);
    if (mode === "json") {
      const session = { totalTokens: entry?.totalTokens, inputTokens: entry?.inputTokens, outputTokens: entry?.outputTokens, contextTokens: entry?.contextTokens };
      return reply(JSON.stringify({ report, session }, null, 2));
    }
    return reply(contextText(command, report, entry, mode === "detail" || mode === "deep"));
  },
};

function contextText(_command: CommandContext, report: Awaited<ReturnType<CommandContext["services"]["promptReport"]>>, entry: CommandContext["entry"], detail: boolean): string {
  const files = report.injectedWorkspaceFiles.map(
    (file) => `- ${file.name}: ${file.missing ? "MISSING" : file.truncated ? "TRUNCATED" : "OK"} · raw ${size(file.rawChars)} · injected ${size(file.injectedChars)}`,
  );
  const bySchema = report.tools.entries.toSorted((a, b) => b.schemaChars - a.schemaChars);
  const parts = [
    "🧠 Context",
    `Workspace: ${report.workspaceDir}`,
    `Limits: ${report.bootstrapMaxChars} chars a file, ${report.bootstrapTotalMaxChars} in all`,
    `Sandbox: mode=${report.sandbox.mode} sandboxed=${report.sandbox.sandboxed}`,
    `System prompt (${report.source}): ${size(report.systemPrompt.chars)}, project files ${size(report.systemPrompt.projectContextChars)}`,
    `\nFiles:\n${files.join("\n")}`,
    `\nSkills: ${size(report.skills.promptChars)} · ${report.skills.entries.length}: ${report.skills.entries.slice(0, 20).map((skill) => skill.name).join(", ") || "none"}`,
    `Tools: list ${size(report.tools.listChars)} · schemas ${size(report.tools.schemaChars)} · ${report.tools.entries.slice(0, 30).map((tool) => tool.name).join(", ")}`,
    detail ? `\nLargest tool schemas:\n${bySchema.slice(0, 30).map((tool) => `- ${tool.name}: ${size(tool.schemaChars)} · ${tool.propertiesCount} parameters`).join("\n")}` : undefined,
    detail ? `\nSkills:\n${report.skills.entries.slice(0, 30).map((skill) => `- ${skill.name}: ${size(skill.blockChars)}`).join("\n")}` : undefined,
    entry?.totalTokens !== undefined ? `\nSession: ${entry.totalTokens}${entry.totalTokensFresh ? "" : " (estimate)"} of ${entry.contextTokens ?? "?"} tokens` : undefined,
  ];
  return parts.filter((part) => part !== undefined).join("\n");
}
