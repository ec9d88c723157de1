import type { ResolvedTarget } from "../../channels/contract/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { AllowlistDoor, AllowScope, AllowTarget } from "./allowlist-door.ts";
import { refuseConfigWrite } from "./config.ts";
import type { CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";

const USAGE = "Usage: /allowlist [list] [dm|group|all] | add|remove dm|group|all <entry> [channel=<id>] [account=<id>] [--config|--store] [--resolve]";

interface Request {
  readonly verb: "list" | "add" | "remove";
  readonly scopes: readonly AllowScope[];
  readonly entry: string | undefined;
  readonly target: AllowTarget;
  /** Where an entry is written; undefined: configuration and, when removing, the pairing store too. */
  readonly place: "config" | "store" | undefined;
  /** Ask the platform for the names behind ids, or the id behind a name. */
  readonly resolve: boolean;
}

/** undefined when the words do not make a request. */
function parseRequest({ args, ctx }: Pick<CommandContext, "args" | "ctx">): Request | undefined {
  let verb: Request["verb"] | undefined;
  let scopes: readonly AllowScope[] | undefined;
  let entry: string | undefined;
  let place: Request["place"];
  let resolve = false;
  let channel = ctx.OriginatingChannel ?? "webchat";
  let accountId = ctx.AccountId ?? "default";
  for (const word of args.split(/\s+/).filter(Boolean)) {
    const lower = word.toLowerCase();
    if (verb === undefined && (lower === "list" || lower === "add" || lower === "remove")) verb = lower;
    else if (scopes === undefined && (lower === "dm" || lower === "group")) scopes = [lower];
    else if (scopes === undefined && lower === "all") scopes = ["dm", "group"];
    else if (lower.startsWith("channel=")) channel = lower.slice(8);
    else if (lower.startsWith("account=")) accountId = word.slice(8);
    else if (lower === "--config" || lower === "--store") place = lower === "--store" ? "store" : "config";
    else if (lower === "--resolve") resolve = true;
    else if (entry === undefined) entry = word;
    else return undefined;
  }
  const request = { verb: verb ?? "list", scopes: scopes ?? ["dm", "group"], entry, target: { channel, accountId }, place, resolve } satisfies Request;
  return (request.verb === "list") === (entry === undefined) ? request : undefined;
}

export const allowlist: CommandDefinition = {
  name: "allowlist", aliases: [], description: "Who may write to me here", category: "management", argsHint: "list|add|remove dm|group|all <entry>", acceptsArgs: true, ownerOnly: true, native: false,
  async run(command) {
    const request = parseRequest(command);
    if (!request) return reply(USAGE);
    if (!command.services.allowlist.has(request.target.channel)) return reply(`There is no channel "${request.target.channel}" here. Name one with channel=<id>.\n${USAGE}`);
    const { services } = command;
    try {
      if (request.verb === "list") return await list(services.allowlist, request);
      return await edit(command, request, request.resolve ? await idOf(services.allowlist, request) : (request.entry ?? ""));
    } catch (err) {
      return reply(`⚠️ ${request.verb === "list" ? "" : "Not changed: "}${errorText(err)}`);
    }
  },
};

/** @throws Error when the channel knows no names, or not this one */
async function idOf(door: AllowlistDoor, { target, entry = "" }: Request): Promise<string> {
  const [found] = await lookUp(door, target, [entry]);
  if (!found?.resolved || found.id === undefined) throw new Error(`${target.channel} did not find ${entry}${found?.note ? `: ${found.note}` : ""}`);
  return found.id;
}

async function lookUp(door: AllowlistDoor, target: AllowTarget, entries: readonly string[]): Promise<readonly ResolvedTarget[]> {
  const rows = await door.lookUp(target, entries);
  if (!rows) throw new Error(`${target.channel} cannot look up who is who; leave --resolve out.`);
  return rows;
}

async function list(door: AllowlistDoor, { target, scopes, resolve }: Request): Promise<CommandResult> {
  const lists = door.read(target);
  const everybody = [...new Set([...lists.dm, ...lists.paired, ...lists.group])].filter((entry) => entry !== "*");
  const rows = resolve && everybody.length > 0 ? await lookUp(door, target, everybody) : [];
  const named = new Map(rows.map((row) => [row.input, row.resolved ? row.name : `? ${row.note ?? "not found"}`]));
  const shown = (entry: string): string => (named.get(entry) ? `${entry} (${named.get(entry)})` : entry);
  const line = (name: string, entries: readonly string[]): string => `${name}: ${entries.length > 0 ? entries.map(shown).join(", ") : "nobody"}`;
  return reply([
    `👥 ${target.channel} (${target.accountId})`,
    ...(scopes.includes("dm") ? [line("allowFrom", lists.dm), line("Approved by pairing", lists.paired)] : []),
    ...(scopes.includes("group") ? [line("groupAllowFrom", lists.group)] : []),
  ].join("\n"));
}

async function edit(command: CommandContext, { verb, target, scopes, place }: Request, entry: string): Promise<CommandResult> {
  if (command.cfg.commands?.config !== true) return reply("⚙️ Changing allow lists from a chat is off. Set commands.config=true in the configuration to use it.");
  const refused = refuseConfigWrite(command);
  if (refused) return reply(refused);
  const door = command.services.allowlist;
  const changed: string[] = [];
  const note = (done: boolean, where: string): void => {
    if (done) changed.push(where);
  };
  for (const scope of scopes) {
    const field = scope === "dm" ? "allowFrom" : "groupAllowFrom";
    if (place !== "store") note(verb === "add" ? await door.add(target, scope, entry) : await door.remove(target, scope, entry), field);
    const inStore = scope === "dm" && (place === "store" || (verb === "remove" && place === undefined));
    if (inStore) note(verb === "add" ? await door.addPaired(target, entry) : await door.removePaired(target, entry), "the pairing store");
  }
  if (changed.length === 0) return reply(verb === "add" ? `👥 ${entry} is there already.` : `👥 ${entry} is in none of these lists.`);
  return reply(verb === "add" ? `👥 ${entry} added to ${changed.join(" and ")}.` : `👥 ${entry} removed from ${changed.join(" and ")}.`);
}
