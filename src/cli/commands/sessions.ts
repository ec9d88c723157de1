import type { Command } from "commander";
import { isKnownAgentId, resolveDefaultAgentId } from "../../routing/index.ts";
import type { Cli } from "../cli.ts";
import { requireConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { formatAge, formatCount, oneLine } from "../format.ts";
import { openSessions } from "../library.ts";
import { wholeNumber } from "../parse.ts";
import { renderTable } from "../table.ts";

interface SessionFlags {
  readonly json?: boolean;
  readonly store?: string;
  readonly agent?: string;
  readonly allAgents?: boolean;
  readonly active?: number;
}

export function defineSessions(command: Command, cli: Cli): void {
  const action = (_flags: unknown, self: Command): Promise<void> => listSessions(cli, self.optsWithGlobals<SessionFlags>());
  addFlags(command).action(action);
  addFlags(command.command("list").description("list stored conversations")).action(action);
}

function addFlags(command: Command): Command {
  return command
    .option("--json", "print one JSON document")
    .option("--verbose", "accepted without effect")
    .option("--store <path>", "read this sessions.json")
    .option("--agent <id>", "only this agent")
    .option("--all-agents", "every agent")
    .option("--active <minutes>", "only those used in the last minutes", wholeNumber(1, 525_600, "minutes"));
}

/** Reads sessions.json itself, so it works with the gateway down. */
async function listSessions(cli: Cli, flags: SessionFlags): Promise<void> {
  const read = await requireConfig(cli);
  const snapshot = flags.store === undefined ? read : { ...read, config: { ...read.config, session: { ...read.config.session, store: flags.store } } };
  const config = snapshot.config;
  if (flags.agent !== undefined && !isKnownAgentId(config, flags.agent)) throw new CliError(`Unknown agent id "${flags.agent}".`);
  const service = await openSessions(cli, snapshot);
  const agentId = flags.agent ?? resolveDefaultAgentId(config);
  const now = Date.now();
  const rows = (await service.all(flags.allAgents ? undefined : agentId))
    .filter(({ entry }) => flags.active === undefined || now - entry.updatedAt <= flags.active * 60_000)
    .toSorted((a, b) => b.entry.updatedAt - a.entry.updatedAt);
  const path = service.storeFor(agentId).path;
  if (flags.json) {
    const sessions = rows.map(({ agentId: agent, key, entry }) => ({
      key, agentId: agent, kind: entry.chatType ?? "direct", updatedAt: entry.updatedAt, ageMs: now - entry.updatedAt, sessionId: entry.sessionId, thinkingLevel: entry.thinkingLevel,
      verboseLevel: entry.verboseLevel, inputTokens: entry.inputTokens, outputTokens: entry.outputTokens, totalTokens: entry.totalTokens ?? null,
      totalTokensFresh: entry.totalTokensFresh === true, contextTokens: entry.contextTokens ?? null, model: entry.model ?? null, modelProvider: entry.modelProvider ?? null,
      abortedLastRun: entry.abortedLastRun ?? false,
    }));
    const stores = flags.allAgents ? { allAgents: true, stores: [...new Set(rows.map((row) => row.agentId))].map((id) => ({ agentId: id, path: service.storeFor(id).path })) } : {};
    return cli.json({ path: flags.allAgents ? null : path, count: sessions.length, activeMinutes: flags.active ?? null, sessions, ...stores });
  }
  cli.print(`Session store: ${flags.allAgents ? "all agents" : path}`);
  cli.print(`Sessions listed: ${rows.length}${flags.active === undefined ? "" : ` (active in the last ${flags.active} minutes)`}`);
  if (rows.length === 0) return;
  const cells = rows.map(({ key, entry }) => [
    oneLine(key, 120), entry.chatType ?? "direct", formatAge(now - entry.updatedAt), entry.model ?? "-",
    entry.totalTokens === undefined ? "-" : `${formatCount(entry.totalTokens)}${entry.contextTokens ? `/${formatCount(entry.contextTokens)} (${Math.round((entry.totalTokens / entry.contextTokens) * 100)}%)` : ""}`,
  ]);
  cli.print(renderTable([{ title: "Key", flexible: true }, { title: "Kind" }, { title: "Age" }, { title: "Model", flexible: true }, { title: "Tokens" }], cells, cli.columns));
}
