import type { TextKey } from "../i18n/index.ts";

export interface SlashCommand {
  readonly name: string;
  readonly about: TextKey;
  /** In the gateway's words, for commands that this page does not know. */
  readonly description?: string | undefined;
  /** What may follow; a list is offered for choosing. */
  readonly args?: string | readonly string[] | undefined;
}

/** The gateway's text commands that make sense in this chat. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "help", about: "cmd.help" },
  { name: "status", about: "cmd.status" },
  { name: "new", about: "cmd.new", args: "[model]" },
  { name: "model", about: "cmd.model", args: "[provider/model]" },
  { name: "models", about: "cmd.models", args: "[provider]" },
  { name: "think", about: "cmd.think", args: ["off", "minimal", "low", "medium", "high"] },
  { name: "reasoning", about: "cmd.reasoning", args: ["on", "off", "stream"] },
  { name: "verbose", about: "cmd.verbose", args: ["on", "off", "full"] },
  { name: "stop", about: "cmd.stop" },
  { name: "compact", about: "cmd.compact", args: "[focus]" },
  { name: "context", about: "cmd.context", args: ["list", "detail", "json"] },
  { name: "usage", about: "cmd.usage", args: ["off", "tokens", "full", "cost"] },
  { name: "reset", about: "cmd.reset" },
  { name: "queue", about: "cmd.queue", args: ["steer", "followup", "collect", "interrupt", "default"] },
  { name: "skill", about: "cmd.skill", args: "<name> [input]" },
  { name: "subagents", about: "cmd.subagents", args: ["list", "info", "log", "kill", "steer", "spawn"] },
  { name: "commands", about: "cmd.commands" },
  { name: "whoami", about: "cmd.whoami" },
  { name: "approve", about: "cmd.approve", args: "<id> allow-once|allow-always|deny" },
  { name: "export-session", about: "cmd.export", args: "[path]" },
  { name: "elevated", about: "cmd.elevated", args: ["off", "ask", "full"] },
  { name: "exec", about: "cmd.exec", args: "[host=… security=… ask=…]" },
  { name: "send", about: "cmd.send", args: ["on", "off", "inherit"] },
  { name: "allowlist", about: "cmd.allowlist", args: "[list|add|remove]" },
  { name: "config", about: "cmd.config", args: "[show|get|set|unset]" },
  { name: "debug", about: "cmd.debug", args: "[show|set|unset|reset]" },
  { name: "bash", about: "cmd.bash", args: "<command>|poll|stop" },
  { name: "restart", about: "cmd.restart" },
];

export interface Suggestion {
  /** What the line becomes. */
  readonly insert: string;
  readonly label: string;
  readonly hint: string;
  readonly about: TextKey;
  readonly description?: string | undefined;
  /** Whether the line is complete with it. */
  readonly complete: boolean;
}

/** A row of `commands.list`. */
export interface GatewayCommand {
  readonly name: string;
  readonly description?: string | undefined;
  readonly argsHint?: string | undefined;
  readonly groupsOnly?: boolean | undefined;
}

/** The commands to offer: those the gateway has, in this page's words where it knows them. Without a list, all it knows. */
export function offeredCommands(listed: readonly GatewayCommand[]): readonly SlashCommand[] {
  if (listed.length === 0) return SLASH_COMMANDS;
  const names = new Set(listed.map((command) => command.name.replace(/^\//, "")));
  const known = SLASH_COMMANDS.filter((command) => names.has(command.name));
  const others = listed
    .map((command) => ({ ...command, name: command.name.replace(/^\//, "") }))
    .filter((command) => !command.groupsOnly && !SLASH_COMMANDS.some((own) => own.name === command.name))
    .map((command): SlashCommand => ({ name: command.name, about: "cmd.other", description: command.description, args: command.argsHint || undefined }));
  return [...known, ...others];
}

/** What fits the text being written: command names, then their fixed arguments. Empty when it is no command line. */
export function suggest(text: string, commands: readonly SlashCommand[] = SLASH_COMMANDS): readonly Suggestion[] {
  const name = /^\/([\w-]*)$/.exec(text)?.[1]?.toLowerCase();
  if (name !== undefined) {
    return commands.filter((command) => command.name.startsWith(name)).map((command) => ({
      insert: `/${command.name}${command.args ? " " : ""}`,
      label: `/${command.name}`,
      hint: typeof command.args === "string" ? command.args : (command.args?.join(" | ") ?? ""),
      about: command.about,
      description: command.description,
      complete: !command.args || (typeof command.args === "string" && command.args.startsWith("[")),
    }));
  }
  const argument = /^\/([\w-]+) ([\w-]*)$/.exec(text);
  const command = commands.find((candidate) => candidate.name === argument?.[1]?.toLowerCase());
  if (!argument || !command || !Array.isArray(command.args)) return [];
  return (command.args as readonly string[])
    .filter((value) => value.startsWith(argument[2] ?? "") && value !== argument[2])
    .map((value) => ({ insert: `/${command.name} ${value}`, label: value, hint: "", about: command.about, complete: true }));
}

const STOP_WORDS = new Set(["/stop", "stop", "esc", "abort", "wait", "exit", "halt", "please stop", "停止", "停"]);

/** Whether the whole message asks to stop the present answer (spec control-ui §8.4). */
export const isStopRequest = (text: string): boolean => STOP_WORDS.has(text.trim().toLowerCase().replace(/[.!。！]+$/, ""));
