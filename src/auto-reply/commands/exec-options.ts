import type { ExecOverrides } from "../../agents/index.ts";
import { asElevatedLevel } from "../run-hints.ts";
import type { CommandContext, CommandDefinition } from "./contract.ts";
import { reply } from "./contract.ts";
import { takeWord, takeWords } from "./directives.ts";

const ELEVATED_WORDS = ["off", "on", "ask", "full"];

/** In a group without being addressed, only what takes rights away is heard. */
const isOverheard = (command: CommandContext): boolean => command.isGroup && !command.addressed;

function refuseElevated(command: CommandContext, value: string): string | undefined {
  if (value === "off") return undefined;
  if (isOverheard(command)) return "In a group, address me to raise rights; only /elevated off is heard without.";
  const refusals = command.services.elevatedRefusals(command);
  return refusals.length > 0 ? `⚠️ Elevated is not available here: ${refusals.join("; ")}.` : undefined;
}

export const elevated: CommandDefinition = {
  name: "elevated", aliases: ["elev"], description: "Run commands on the gateway host, with or without asking", category: "options", argsHint: "off|on|ask|full", acceptsArgs: true, native: true,
  directive: {
    take: (after) => takeWord(after, (word) => ELEVATED_WORDS.includes(word)),
    async hint(args, command) {
      const value = args.toLowerCase();
      return refuseElevated(command, value) ?? { elevated: asElevatedLevel(value) };
    },
  },
  async run(command) {
    const { services, sessionKey, args, entry, cfg } = command;
    const value = args.toLowerCase();
    if (value === "") {
      const refusals = services.elevatedRefusals(command);
      const now = asElevatedLevel(entry?.elevatedLevel ?? cfg.agents?.defaults?.elevatedDefault) ?? "off";
      return reply(`⚡ Elevated: ${now}. Options: ${ELEVATED_WORDS.join(", ")}.${refusals.length > 0 ? `\nNot available here: ${refusals.join("; ")}.` : ""}`);
    }
    if (!ELEVATED_WORDS.includes(value)) return /\s/.test(args) ? { kind: "pass" } : reply(`Unrecognised value "${args}". Options: ${ELEVATED_WORDS.join(", ")}.`);
    const refused = refuseElevated(command, value);
    if (refused) return reply(refused);
    const level = asElevatedLevel(value) ?? "off";
    await services.update(sessionKey, { elevatedLevel: level });
    services.pushSystemEvent(sessionKey, `Elevated mode is now ${level}.`, "elevated");
    return reply(level === "full" ? "⚡ Elevated: full. Commands run on the gateway host without asking." : `⚡ Elevated: ${level}.`);
  },
};

const EXEC_VALUES = { host: ["sandbox", "gateway", "node"], security: ["deny", "allowlist", "full"], ask: ["off", "on-miss", "always"] } as const;
const EXEC_USAGE = "Usage: /exec host=sandbox|gateway|node security=deny|allowlist|full ask=off|on-miss|always node=<id>";

/** Reads `host=gateway ask=off`; every word that is none of it is a problem. */
export function parseExecOptions(args: string): { readonly options: ExecOverrides; readonly problems: readonly string[] } {
  const options: { -readonly [Key in keyof ExecOverrides]: ExecOverrides[Key] } = {};
  const problems: string[] = [];
  for (const word of args.split(/\s+/).filter(Boolean)) {
    const [key = "", value = ""] = word.split("=", 2);
    const pick = <T extends string>(known: readonly T[]): T | undefined => known.find((item) => item === value.toLowerCase());
    switch (key.toLowerCase()) {
      case "host":
        options.host = pick(EXEC_VALUES.host) ?? note(problems, word, EXEC_VALUES.host);
        break;
      case "security":
        options.security = pick(EXEC_VALUES.security) ?? note(problems, word, EXEC_VALUES.security);
        break;
      case "ask":
        options.ask = pick(EXEC_VALUES.ask) ?? note(problems, word, EXEC_VALUES.ask);
        break;
      case "node":
        options.node = value === "" ? note(problems, word, ["<id>"]) : value;
        break;
      default:
        problems.push(`"${word}" is no exec option`);
    }
  }
  return { options, problems };
}

function note(problems: string[], word: string, known: readonly string[]): undefined {
  problems.push(`${word} must be ${word.split("=")[0]}=${known.join("|")}`);
}

function refuseExec(command: CommandContext, options: ExecOverrides): string | undefined {
  const onlyDenies = options.security === "deny" && options.host === undefined && options.ask === undefined && options.node === undefined;
  if (onlyDenies) return undefined;
  if (isOverheard(command)) return "In a group, address me to change this; only /exec security=deny is heard without.";
  return command.authority.isOwner ? undefined : "⚠️ Only the owner may change how commands are run.";
}

export const exec: CommandDefinition = {
  name: "exec", aliases: [], description: "Where and how shell commands run in this session", category: "options", argsHint: "host=… security=… ask=… node=…", acceptsArgs: true, native: true,
  directive: {
    take: (after) => takeWords(after, (word) => parseExecOptions(word).problems.length === 0),
    claims: (args) => args.split(/\s+/).every((word) => word.includes("=")),
    async hint(args, command) {
      const { options } = parseExecOptions(args);
      return refuseExec(command, options) ?? { exec: options };
    },
  },
  async run(command) {
    const { services, sessionKey, args, entry, cfg } = command;
    if (args === "") {
      const general = cfg.tools?.exec;
      const host = entry?.execHost ?? general?.host;
      const [security, ask] = [entry?.execSecurity ?? general?.security, entry?.execAsk ?? general?.ask];
      const asks = host === "gateway" || (security !== undefined && security !== "full") || (ask !== undefined && ask !== "off");
      const now = { host: host ?? "unset", security: security ?? (asks ? "allowlist" : "full"), ask: ask ?? (asks ? "on-miss" : "off"), node: entry?.execNode };
      return reply(`⚙️ Exec: ${Object.entries(now).filter(([, value]) => value !== undefined).map(([key, value]) => `${key}=${value}`).join(" ")}\n${EXEC_USAGE}, /exec default`);
    }
    if (/^(default|reset|clear)$/i.test(args)) {
      await services.update(sessionKey, { execHost: null, execSecurity: null, execAsk: null, execNode: null });
      return reply("⚙️ Exec settings are back to the defaults.");
    }
    const { options, problems } = parseExecOptions(args);
    if (problems.length > 0) return args.includes("=") ? reply(`⚙️ Not changed: ${problems.join("; ")}.\n${EXEC_USAGE}`) : { kind: "pass" };
    const refused = refuseExec(command, options);
    if (refused) return reply(refused);
    await services.update(sessionKey, {
      ...(options.host ? { execHost: options.host } : {}), ...(options.security ? { execSecurity: options.security } : {}),
      ...(options.ask ? { execAsk: options.ask } : {}), ...(options.node ? { execNode: options.node } : {}),
    });
    return reply(`⚙️ Exec: ${Object.entries(options).map(([key, value]) => `${key}=${value}`).join(" ")}.`);
  },
};
