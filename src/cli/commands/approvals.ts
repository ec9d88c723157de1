import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { CliError } from "../errors.ts";
import { formatAge, oneLine } from "../format.ts";
import { fieldsOf, numberOf, rowsOf, textOf, type Fields } from "../read.ts";
import { addRpcFlags, callGateway, type RpcFlags } from "../rpc.ts";
import { renderTable } from "../table.ts";

interface TargetFlags extends RpcFlags {
  readonly node?: string | undefined;
  readonly gateway?: boolean | undefined;
}

interface Snapshot {
  readonly path: string;
  readonly exists: boolean;
  readonly hash: string;
  readonly file: Fields;
}

/** Where the approvals file is read and written: on this machine, through the gateway, or on a node of it. */
interface Target {
  get(): Promise<Snapshot>;
  set(file: unknown, base: Snapshot): Promise<Snapshot>;
}

export function defineApprovals(command: Command, cli: Cli): void {
  targetFlags(command.command("get").description("show who may run what without being asked")).action(async (flags: TargetFlags) => show(cli, flags, await (await targetOf(cli, flags)).get()));
  targetFlags(command.command("set").description("replace the file").option("--file <path>", "new content, JSON").option("--stdin", "read it from the input")).action(
    async (flags: TargetFlags & { file?: string; stdin?: boolean }) => {
      const file = parseFile(await readInput(flags));
      const target = await targetOf(cli, flags);
      show(cli, flags, await target.set(file, await target.get()));
    },
  );
  const allowlist = command.command("allowlist").description("programs that may run without being asked about");
  for (const action of ["add", "remove"] as const) {
    targetFlags(allowlist.command(action).description(action === "add" ? "let a program run" : "ask about it again").argument("<pattern>", "path or glob, e.g. /usr/bin/git").option("--agent <id>", "agent; * for every one (default: *)")).action(
      async (pattern: string, flags: TargetFlags & { agent?: string }) => {
        const target = await targetOf(cli, flags);
        const before = await target.get();
        const changed = action === "add" ? addEntry(before.file, flags.agent ?? "*", pattern) : removeEntry(before.file, flags.agent ?? "*", pattern);
        const after = changed ? await target.set(changed, before) : before;
        if (flags.json) return show(cli, flags, after);
        if (changed) cli.print(`${action === "add" ? "Added" : "Removed"} ${pattern} (${flags.agent ?? "*"}).`);
        else cli.print(action === "add" ? `${pattern} is there already.` : `There is no ${pattern} (${flags.agent ?? "*"}).`);
      },
    );
  }
}

const targetFlags = (command: Command): Command =>
  addRpcFlags(command.option("--node <node>", "on a node, by id or name").option("--gateway", "through the gateway; without it the file on this machine"));

async function targetOf(cli: Cli, flags: TargetFlags): Promise<Target> {
  if (flags.node !== undefined || flags.gateway || flags.url !== undefined) {
    const [methods, place] = flags.node === undefined ? ["exec.approvals", {}] : ["exec.approvals.node", { nodeId: await findNode(cli, flags, flags.node) }];
    return {
      get: async () => asSnapshot(await callGateway(cli, flags, `${methods}.get`, place)),
      set: async (file, base) => asSnapshot(await callGateway(cli, flags, `${methods}.set`, { ...place, file, ...(base.exists ? { baseHash: base.hash } : {}) })),
    };
  }
  const { createApprovalsStore } = await import("../../agents/index.ts");
  const store = createApprovalsStore({ home: cli.paths.home, now: () => Date.now() });
  return {
    get: async () => asSnapshot(await store.read()),
    set: async (file, base) => asSnapshot(await store.replace(file, base.exists ? base.hash : undefined)),
  };
}

/** By id, the beginning of it, or name. */
async function findNode(cli: Cli, flags: TargetFlags, wanted: string): Promise<string> {
  const { nodes } = fieldsOf(await callGateway(cli, flags, "node.list", {}));
  const known = (Array.isArray(nodes) ? nodes : []).map((node: unknown) => fieldsOf(node)).map((node) => ({ id: textOf(node["nodeId"]), name: textOf(node["displayName"]) }));
  const hits = known.filter(({ id, name }) => id === wanted || name.toLowerCase() === wanted.toLowerCase() || (wanted.length >= 6 && id.startsWith(wanted)));
  const [hit] = hits;
  if (hit && hits.length === 1) return hit.id;
  throw new CliError(hit ? `"${wanted}" names several nodes` : `unknown node "${wanted}"`, { fix: `Known: ${known.map(({ id, name }) => name || id).join(", ") || "none"}.` });
}

function asSnapshot(answer: unknown): Snapshot {
  const { path, exists, hash, file } = fieldsOf(answer);
  const { socket, ...rest } = fieldsOf(file);
  const place = textOf(fieldsOf(socket)["path"]);
  return { path: textOf(path), exists: exists === true, hash: textOf(hash), file: { ...rest, ...(place === "" ? {} : { socket: { path: place } }) } };
}

async function readInput(flags: { file?: string; stdin?: boolean }): Promise<string> {
  if ((flags.file === undefined) === (flags.stdin !== true)) throw new CliError("Give one of --file and --stdin.");
  return flags.file === undefined ? readAll(process.stdin) : readFile(flags.file, "utf8");
}

function parseFile(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CliError("The new content is no JSON.", { fix: "See openclaw approvals get --json for the form.", cause });
  }
}

function addEntry(file: Fields, agent: string, pattern: string): Fields | undefined {
  if (pattern !== "*" && !/[/\\~]/.test(pattern)) throw new CliError(`${pattern} is no path.`, { fix: `Give the whole path, as \`command -v ${pattern}\` shows it, or a glob with a slash.` });
  const entries = entriesOf(file, agent);
  return entries.some((entry) => entry["pattern"] === pattern) ? undefined : withEntries(file, agent, [...entries, { pattern }]);
}

function removeEntry(file: Fields, agent: string, pattern: string): Fields | undefined {
  const entries = entriesOf(file, agent);
  const kept = entries.filter((entry) => entry["pattern"] !== pattern);
  return kept.length === entries.length ? undefined : withEntries(file, agent, kept);
}

const agentOf = (file: Fields, agent: string): Fields => fieldsOf(fieldsOf(file["agents"])[agent]);
const entriesOf = (file: Fields, agent: string): readonly Fields[] => rowsOf(agentOf(file, agent)["allowlist"]);
const withEntries = (file: Fields, agent: string, allowlist: readonly Fields[]): Fields => ({ ...file, version: 1, agents: { ...fieldsOf(file["agents"]), [agent]: { ...agentOf(file, agent), allowlist } } });

function show(cli: Cli, flags: { json?: boolean | undefined }, snapshot: Snapshot): void {
  if (flags.json) return cli.json(snapshot);
  cli.print(`${snapshot.path}${snapshot.exists ? "" : " (not there yet)"}`);
  const modes = (fields: Fields): string => ["security", "ask", "askFallback"].flatMap((key) => (fields[key] === undefined ? [] : [`${key}=${textOf(fields[key])}`])).join(" ");
  const defaults = modes(fieldsOf(snapshot.file["defaults"]));
  if (defaults !== "") cli.print(`Defaults: ${defaults}`);
  const agents = Object.entries(fieldsOf(snapshot.file["agents"]));
  for (const [id, agent] of agents) if (modes(fieldsOf(agent)) !== "") cli.print(`Agent ${id}: ${modes(fieldsOf(agent))}`);
  const rows = agents.flatMap(([id, agent]) => rowsOf(fieldsOf(agent)["allowlist"]).map((entry) => [id, oneLine(textOf(entry["pattern"]), 80), lastUse(entry)]));
  if (rows.length === 0) return cli.print("No program is on the allow-list.");
  cli.print(renderTable([{ title: "Agent" }, { title: "Pattern", flexible: true }, { title: "Last used", flexible: true }], rows, cli.columns));
}

function lastUse(entry: Fields): string {
  const at = numberOf(entry["lastUsedAt"]);
  return at === undefined ? "never" : `${formatAge(Date.now() - at)} ${oneLine(textOf(entry["lastUsedCommand"]), 40)}`.trim();
}
