import { findSubagent, formatRuntime, statsOf, type SubagentRun } from "../../agents/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";

const RECENT_MS = 30 * 60_000;
const TASK_CHARS = 80;
const DEFAULT_LOG_LINES = 20;
const USAGE = "Usage: /subagents list | info <which> | log <which> [lines] | kill <which>|all | steer <which> <message> | spawn <task>\n<which>: number of the list, label, run id or last";

/** Those that the session has asked for and that run, or ended in the last half hour; the numbers count in this order. */
const runsOf = ({ services, sessionKey }: CommandContext): SubagentRun[] => services.subagents().list(sessionKey, RECENT_MS);

const stateOf = (run: SubagentRun): string => (run.endedAt === undefined ? "running" : (run.outcome?.status ?? "ended"));
const firstLine = (text: string): string => (text.split("\n")[0] ?? "").slice(0, TASK_CHARS);
const nameOf = (run: SubagentRun): string => run.label ?? run.runId.slice(0, 8);

async function attempt(work: () => Promise<CommandResult>): Promise<CommandResult> {
  try {
    return await work();
  } catch (err) {
    return reply(`⚠️ ${errorText(err)}`);
  }
}

function list(command: CommandContext): CommandResult {
  const runs = runsOf(command);
  if (runs.length === 0) return reply("🤖 No sub-agents of this session in the last 30 minutes.");
  const now = command.services.now();
  return reply(`🤖 Sub-agents\n${runs.map((run, index) => `${index + 1}. ${nameOf(run)} · ${stateOf(run)} · ${formatRuntime((run.endedAt ?? now) - (run.startedAt ?? run.createdAt))} · ${firstLine(run.task)}`).join("\n")}`);
}

function info(command: CommandContext, target: string): CommandResult {
  const run = findSubagent(runsOf(command), target);
  const lines = [
    `🤖 ${nameOf(run)}: ${stateOf(run)}`, `Task: ${run.task}`, `Run: ${run.runId}`, `Session: ${run.childSessionKey}`, run.model && `Model: ${run.model}`,
    run.endedAt === undefined ? undefined : `Stats: ${statsOf(run)}`, run.outcome?.error && `Error: ${run.outcome.error}`,
  ];
  return reply(lines.filter(Boolean).join("\n"));
}

async function kill(command: CommandContext, target: string): Promise<CommandResult> {
  const { services, sessionKey } = command;
  if (target === "") return reply("Usage: /kill <number|label|run id> | all");
  const stopped = target.toLowerCase() === "all" ? await services.subagents().killAll(sessionKey) : await services.subagents().kill(findSubagent(runsOf(command), target).runId);
  return reply(stopped === 0 ? "🤖 Nothing was running there." : `🤖 ${stopped} sub-agent${stopped === 1 ? "" : "s"} stopped.`);
}

async function steer(command: CommandContext, rest: string): Promise<CommandResult> {
  const [, target = "", message = ""] = /^(\S+)\s+([\s\S]+)$/.exec(rest) ?? [];
  if (message === "") return reply("Usage: /steer <number|label|run id> <message>");
  const result = await command.services.subagents().steer(findSubagent(runsOf(command), target).runId, message);
  return reply(result.status === "accepted" ? "🤖 It goes on with your message." : `⚠️ ${result.error}`);
}

async function spawn(command: CommandContext, task: string): Promise<CommandResult> {
  const { ctx, authority, agentId, sessionKey, services } = command;
  if (task === "") return reply(USAGE);
  const channel = ctx.OriginatingChannel;
  const result = await services.subagents().spawn({
    requesterSessionKey: sessionKey, requesterAgentId: agentId, isOwner: authority.isOwner, senderId: authority.source === "gateway" ? undefined : ctx.SenderId, task,
    origin: authority.source === "gateway" || !channel || !ctx.OriginatingTo ? undefined : { channel, accountId: ctx.AccountId, to: ctx.OriginatingTo, threadId: ctx.MessageThreadId?.toString() },
  });
  return reply(result.status === "accepted" ? `🤖 Started as ${result.runId.slice(0, 8)}. Its result comes here when it is done.` : `⚠️ ${result.error}`);
}

export const subagents: CommandDefinition = {
  name: "subagents", aliases: [], description: "Tasks that this session has given away", category: "management", argsHint: "list|info|log|kill|steer|spawn", acceptsArgs: true, native: true,
  run: (command) => attempt(async () => {
    const [, verb = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(command.args) ?? [];
    switch (verb.toLowerCase()) {
      case "":
      case "list":
        return list(command);
      case "info":
        return info(command, rest);
      case "log": {
        const [target = "", lines] = rest.split(/\s+/);
        const log = await command.services.subagentLog(findSubagent(runsOf(command), target), Number(lines) || DEFAULT_LOG_LINES);
        return reply(log.length > 0 ? log.join("\n") : "🤖 Nothing was said yet.");
      }
      case "kill":
        return kill(command, rest);
      case "steer":
      case "send":
        return steer(command, rest);
      case "spawn":
        return spawn(command, rest);
      default:
        return reply(USAGE);
    }
  }),
};

export const killSubagent: CommandDefinition = {
  name: "kill", aliases: [], description: "Stop a sub-agent", category: "management", argsHint: "<which>|all", acceptsArgs: true, native: true, run: (command) => attempt(() => kill(command, command.args)),
};

export const steerSubagent: CommandDefinition = {
  name: "steer", aliases: ["tell"], description: "Give a sub-agent a further message", category: "management", argsHint: "<which> <message>", acceptsArgs: true, native: true,
  run: (command) => attempt(() => steer(command, command.args)),
};
