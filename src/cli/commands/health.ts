import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { formatAge } from "../format.ts";
import { fieldsOf, numberOf, rowsOf, textOf, textsOf } from "../read.ts";
import { addRpcFlags, callGateway, type RpcFlags } from "../rpc.ts";
import { timeoutMs } from "../parse.ts";

export function defineHealth(command: Command, cli: Cli): void {
  command
    .option("--json", "print one JSON document")
    .option("--timeout <ms>", "time limit in milliseconds", timeoutMs, 10_000)
    .option("--verbose", "probe the channels' platforms too")
    .option("--debug", "same as --verbose")
    .action((flags: RpcFlags & { verbose?: boolean; debug?: boolean }) => runHealth(cli, flags, flags.verbose === true || flags.debug === true));
}

export function defineGatewayHealth(command: Command, cli: Cli): void {
  addRpcFlags(command).option("--expect-final", "wait for the last answer").action((_flags: unknown, self: Command) => runHealth(cli, self.optsWithGlobals<RpcFlags>(), false));
}

async function runHealth(cli: Cli, flags: RpcFlags, probe: boolean): Promise<void> {
  const answer = await callGateway(cli, flags, "health", probe ? { probe } : {});
  if (flags.json) return cli.json(answer);
  for (const line of healthLines(answer)) cli.print(line);
}

/** Spec: cli-and-ui §3.1, `health`. */
export function healthLines(answer: unknown): string[] {
  const health = fieldsOf(answer);
  const defaultId = textOf(health["defaultAgentId"]);
  const agents = rowsOf(health["agents"]);
  const sessions = fieldsOf(health["sessions"]);
  const channels = fieldsOf(health["channels"]);
  const labels = fieldsOf(health["channelLabels"]);
  const beats = agents.map((agent) => `${textOf(fieldsOf(agent["heartbeat"])["every"], "disabled")} (${textOf(agent["agentId"])})`);
  return [
    `Agents: ${agents.map((agent) => `${textOf(agent["agentId"])}${agent["agentId"] === defaultId ? " (default)" : ""}`).join(", ") || "none"}`,
    `Heartbeat interval: ${beats.join(", ") || "disabled"}`,
    `Session store (${defaultId}): ${textOf(sessions["path"])} (${textOf(sessions["count"], "0")} entries)`,
    ...rowsOf(sessions["recent"]).slice(0, 5).map((row) => `- ${textOf(row["key"])} (${formatAge(numberOf(row["age"]) ?? 0)})`),
    ...textsOf(health["channelOrder"]).flatMap((id) => channelLine(textOf(labels[id], id), fieldsOf(channels[id]))),
    ...(health["configError"] ? [`Config on disk is broken, the last good one is in use: ${textOf(fieldsOf(health["configError"])["message"])}`] : []),
  ];
}

function channelLine(label: string, channel: Readonly<Record<string, unknown>>): string[] {
  if (channel["configured"] !== true) return [];
  const error = textOf(channel["lastError"]);
  const state = channel["running"] === true ? (channel["connected"] === false ? "connecting" : "running") : "stopped";
  return [`${label}: ${error && channel["running"] !== true ? `failed (${error})` : state}`];
}
