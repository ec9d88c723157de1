import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import type { SandboxExplanation } from "../../agents/index.ts";
import { agentIdOfKey, canonicalSessionKey, isKnownAgentId, mainSessionKey, resolveDefaultAgentId } from "../../routing/index.ts";
import type { Cli } from "../cli.ts";
import { requireConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { formatAge, oneLine } from "../format.ts";
import { agentRoots } from "../library.ts";
import { renderTable } from "../table.ts";

interface Flags {
  readonly json?: boolean;
  readonly browser?: boolean;
  readonly all?: boolean;
  readonly session?: string;
  readonly agent?: string;
  readonly force?: boolean;
}

export function defineSandbox(command: Command, cli: Cli): void {
  command.action(() => cli.print(command.helpInformation()));
  command.command("list").description("containers, whether they run, and since when").option("--json", "print one JSON document").option("--browser", "only those of browsers").action((flags: Flags) => list(cli, flags));
  command
    .command("recreate")
    .description("remove containers; the next use makes them anew, with the settings of then")
    .option("--all", "every container")
    .option("--session <key>", "that of a session")
    .option("--agent <id>", "those of an agent")
    .option("--browser", "only those of browsers")
    .option("--force", "do not ask")
    .action((flags: Flags) => recreate(cli, flags));
  command
    .command("explain")
    .description("where the tools of a session work, and which rules say so")
    .option("--session <key>", "session key (default: the agent's main session)")
    .option("--agent <id>", "agent")
    .option("--json", "print one JSON document")
    .action((flags: Flags) => explain(cli, flags));
}

async function open(cli: Cli) {
  const { config, env } = await requireConfig(cli);
  const { createSandboxAdmin } = await import("../../agents/index.ts");
  return { config, admin: createSandboxAdmin({ config, stateDir: cli.paths.stateDir, env: { ...cli.env, ...env.vars } }) };
}

async function list(cli: Cli, flags: Flags): Promise<void> {
  const { admin } = await open(cli);
  const containers = flags.browser ? [] : await admin.list();
  const browsers = await admin.browsers();
  if (flags.json) return cli.json({ containers: containers.map((row) => ({ ...row, running: row.state === "running" })), browsers });
  const rows = containers.map((row) => [row.containerName, row.state, oneLine(row.sessionKey, 80), row.image, formatAge(Date.now() - row.createdAtMs), formatAge(Date.now() - row.lastUsedAtMs)]);
  for (const { containerName, sessionKey, image, createdAtMs, lastUsedAtMs } of browsers) rows.push([containerName, "browser", oneLine(sessionKey, 80), image, formatAge(Date.now() - createdAtMs), formatAge(Date.now() - lastUsedAtMs)]);
  if (rows.length === 0) return cli.print(`No sandbox ${flags.browser ? "browsers" : "containers"}.`);
  cli.print(renderTable([{ title: "Container", flexible: true }, { title: "State" }, { title: "Scope", flexible: true }, { title: "Image", flexible: true }, { title: "Age" }, { title: "Used" }], rows, cli.columns));
}

async function recreate(cli: Cli, flags: Flags): Promise<void> {
  const chosen = [flags.all, flags.session, flags.agent].filter((flag) => flag !== undefined);
  if (chosen.length !== 1) throw new CliError("Say which containers: --all, --session <key> or --agent <id>.");
  const { admin } = await open(cli);
  const entries = flags.browser ? [] : await admin.select(flags);
  if (entries.length === 0) return cli.print("No sandbox containers match.");
  for (const entry of entries) cli.print(`- ${entry.containerName} (${oneLine(entry.sessionKey, 80)})`);
  if (!flags.force && !(await confirmed(cli, entries.length))) return cli.print("Nothing was removed.");
  for (const entry of entries) await admin.remove(entry);
  cli.print(`Removed ${entries.length}. ${entries.length === 1 ? "It is" : "They are"} made anew when ${entries.length === 1 ? "it is" : "they are"} next used.`);
}

async function confirmed(cli: Cli, count: number): Promise<boolean> {
  if (!cli.isTty || !process.stdin.isTTY) throw new CliError("Nobody can be asked here.", { fix: "Repeat the command with --force." });
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await reader.question(`Remove ${count === 1 ? "this container" : `these ${count} containers`}? Commands in them are stopped. [y/N] `)).trim());
  } finally {
    reader.close();
  }
}

async function explain(cli: Cli, flags: Flags): Promise<void> {
  const { config } = await requireConfig(cli);
  if (flags.agent !== undefined && !isKnownAgentId(config, flags.agent)) throw new CliError(`Unknown agent id "${flags.agent}".`);
  const { explainSandbox } = await import("../../agents/index.ts");
  const fallback = flags.agent ?? resolveDefaultAgentId(config);
  const sessionKey = flags.session === undefined ? mainSessionKey(fallback) : canonicalSessionKey(flags.session, { defaultAgentId: fallback });
  const told = explainSandbox(config, agentRoots(cli), flags.agent ?? agentIdOfKey(sessionKey, fallback), sessionKey);
  if (flags.json) return cli.json(told);
  cli.print(explanation(told).join("\n"));
}

function explanation({ agentId, sessionKey, sandbox, elevated, fixIt }: SandboxExplanation): string[] {
  const list = (names: readonly string[], from: string): string => `${names.join(", ") || "(everything)"}  [${from}]`;
  return [
    `Agent: ${agentId}`,
    `Session: ${sessionKey}`,
    `Runs: ${sandbox.sessionIsSandboxed ? `in the sandbox of ${sandbox.scopeKey}` : "on this machine"} (mode ${sandbox.mode})`,
    `Scope: ${sandbox.scope}`,
    `Workspace: ${sandbox.workspaceAccess}; private copies in ${sandbox.workspaceRoot}`,
    `Session tools see: ${sandbox.sessionToolsVisibility}`,
    "",
    `Sandbox tools, allowed: ${list(sandbox.tools.allow, sandbox.tools.allowFrom)}`,
    `Sandbox tools, denied: ${list(sandbox.tools.deny, sandbox.tools.denyFrom)}`,
    `Elevated: ${elevated.enabled && elevated.channels.length > 0 ? `from ${elevated.channels.join(", ")}` : "nobody"}`,
    "",
    "Keys that change this:",
    ...fixIt.map((key) => `- ${key}`),
  ];
}
