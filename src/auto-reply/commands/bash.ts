import { codeBlock } from "../../infra/text/index.ts";
import type { CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";

const DEFAULT_FOREGROUND_MS = 2000;
const MAX_SHOWN_CHARS = 3500;
const USAGE = "Usage: ! <command> | ! poll | ! stop (or /bash …)";

/**
 * Shell commands typed by a person, one at a time in a session. They go through the exec tool, with its policy and its
 * refusals.
 */
export function createBashCommand(): CommandDefinition {
  /** Session → its command that went on in the background. */
  const jobs = new Map<string, string>();

  async function runningJob(command: CommandContext): Promise<string | undefined> {
    const id = jobs.get(command.sessionKey);
    if (id === undefined) return undefined;
    const { details } = await command.services.runTool(command, "process", { action: "list" });
    return isRunning(details, id) ? id : undefined;
  }

  async function start(command: CommandContext): Promise<CommandResult> {
    const yieldMs = command.cfg.commands?.bashForegroundMs ?? DEFAULT_FOREGROUND_MS;
    const result = await command.services.runTool(command, "exec", { command: command.args, ...(yieldMs === 0 ? { background: true } : { yieldMs }) });
    const id = backgroundJob(result.details);
    if (id === undefined) return show(result);
    jobs.set(command.sessionKey, id);
    return reply(`⚙️ Still running as ${id}. ! poll shows its output, ! stop ends it.`);
  }

  return {
    name: "bash", aliases: ["!"], description: "Run a shell command on the gateway host", category: "management", argsHint: "<command>|poll|stop", acceptsArgs: true, ownerOnly: true, native: false,
    listed: (cfg) => cfg.commands?.bash === true,
    async run(command) {
      if (command.cfg.commands?.bash !== true) return reply("⚙️ /bash is off. Set commands.bash=true in the configuration to use it.");
      const refusals = command.services.elevatedRefusals(command);
      if (refusals.length > 0) return reply(`⚠️ /bash needs elevated rights: ${refusals.join("; ")}.`);
      const running = await runningJob(command);
      switch (command.args.toLowerCase()) {
        case "":
          return reply(running ? `⚙️ Running: ${running}. ! poll shows its output, ! stop ends it.` : USAGE);
        case "poll": {
          const id = running ?? jobs.get(command.sessionKey);
          return id === undefined ? reply("⚙️ Nothing is running.") : show(await command.services.runTool(command, "process", { action: "poll", sessionId: id }));
        }
        case "stop":
          if (running === undefined) return reply("⚙️ Nothing is running.");
          await command.services.runTool(command, "process", { action: "kill", sessionId: running });
          return reply(`⚙️ Stopped ${running}.`);
        default:
          if (running !== undefined) return reply(`⚙️ ${running} is still running: one at a time. ! poll shows its output, ! stop ends it.`);
          return start(command);
      }
    },
  };
}

const field = (value: unknown, name: string): unknown => (typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined);

function backgroundJob(details: unknown): string | undefined {
  const id = field(details, "sessionId");
  return field(details, "status") === "running" && typeof id === "string" ? id : undefined;
}

function isRunning(details: unknown, id: string): boolean {
  const sessions = field(details, "sessions");
  return Array.isArray(sessions) && sessions.some((row: unknown) => field(row, "sessionId") === id && field(row, "exitCode") === undefined);
}

function show({ text, isError }: { readonly text: string; readonly isError: boolean }): CommandResult {
  const shown = text.length > MAX_SHOWN_CHARS ? `…${text.slice(-MAX_SHOWN_CHARS)}` : text;
  return reply(`${isError ? "⚠️ " : ""}⚙️\n${codeBlock(shown)}`);
}
