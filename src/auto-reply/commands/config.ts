import { parseJson5, redactConfigValue } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import { codeBlock } from "../../infra/text/index.ts";
import { channelSection } from "../channel-section.ts";
import type { CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";

interface PathCommand {
  readonly verb: string;
  readonly path: string | undefined;
  readonly value: unknown;
  readonly hasValue: boolean;
}

/** `set a.b=1`, `set a.b 1`, `unset a.b`, `show a.b`; a value is JSON5, else text. */
async function parsePathCommand(args: string): Promise<PathCommand> {
  const match = /^(\S+)(?:\s+([\s\S]*))?$/.exec(args);
  const verb = (match?.[1] ?? "").toLowerCase();
  const rest = (match?.[2] ?? "").trim();
  const at = /^[^\s=]+/.exec(rest)?.[0] ?? "";
  const raw = rest.slice(at.length).replace(/^\s*=?\s*/, "");
  return { verb, path: at === "" ? undefined : at, value: await readValue(raw), hasValue: raw !== "" };
}

async function readValue(raw: string): Promise<unknown> {
  try {
    return await parseJson5(raw, "value");
  } catch {
    return raw; // plain words are text
  }
}

const fenced = (value: unknown): string => codeBlock(value === undefined ? "not set" : JSON.stringify(value, null, 2), "json");

const attempt = async (work: () => Promise<CommandResult>): Promise<CommandResult> => {
  try {
    return await work();
  } catch (err) {
    return reply(`⚠️ Not changed: ${errorText(err)}`);
  }
};

/** Chats of a channel may be kept from writing by `channels.<id>.configWrites`. Source: spec agent-pipeline §1.7. */
export function refuseConfigWrite({ cfg, ctx, authority }: Pick<CommandContext, "cfg" | "ctx" | "authority">): string | undefined {
  if (!authority.isOwner) return "⚠️ Only the owner may change the configuration.";
  const channel = ctx.OriginatingChannel ?? "webchat";
  if (channelSection(cfg, channel, ctx.AccountId)["configWrites"] !== false) return undefined;
  return `⚠️ channels.${channel}.configWrites is false: the configuration cannot be changed from there.`;
}

const CONFIG_USAGE = "Usage: /config show [path] | get <path> | set <path>=<value> | unset <path>";

export const config: CommandDefinition = {
  name: "config", aliases: [], description: "Read or change the configuration file", category: "management", argsHint: "show|get|set|unset", acceptsArgs: true, ownerOnly: true, native: true,
  listed: (cfg) => cfg.commands?.config === true,
  async run(command) {
    if (command.cfg.commands?.config !== true) return reply("⚙️ /config is off. Set commands.config=true in the configuration to use it.");
    const { verb, path, value, hasValue } = await parsePathCommand(command.args === "" ? "show" : command.args);
    const { configFile } = command.services;
    switch (verb) {
      case "show":
      case "get":
        return attempt(async () => (verb === "get" && path === undefined ? reply(CONFIG_USAGE) : reply(`⚙️ ${path ?? "Configuration"}\n${fenced(configFile.read(path))}`)));
      case "set":
      case "unset": {
        if (path === undefined || (verb === "set" && !hasValue)) return reply(CONFIG_USAGE);
        const refused = refuseConfigWrite(command);
        if (refused) return reply(refused);
        return attempt(async () => {
          const changed = verb === "set" ? await configFile.set(path, value) : await configFile.unset(path);
          return reply(changed.length > 0 ? `⚙️ Saved: ${changed.join(", ")}` : `⚙️ ${path} is like that already.`);
        });
      }
      default:
        return reply(CONFIG_USAGE);
    }
  },
};

const DEBUG_USAGE = "Usage: /debug show | set <path>=<value> | unset <path> | reset";

export const debug: CommandDefinition = {
  name: "debug", aliases: [], description: "Settings in memory only, until the gateway stops", category: "management", argsHint: "show|set|unset|reset", acceptsArgs: true, ownerOnly: true, native: true,
  listed: (cfg) => cfg.commands?.debug === true,
  async run(command) {
    if (command.cfg.commands?.debug !== true) return reply("⚙️ /debug is off. Set commands.debug=true in the configuration to use it.");
    const { verb, path, value, hasValue } = await parsePathCommand(command.args === "" ? "show" : command.args);
    const { overrides } = command.services;
    switch (verb) {
      case "show":
        return reply(Object.keys(overrides.values()).length === 0 ? "⚙️ No settings in memory." : `⚙️ In memory\n${fenced(redactConfigValue(overrides.values()))}`);
      case "set":
        if (path === undefined || !hasValue) return reply(DEBUG_USAGE);
        return attempt(async () => {
          overrides.set(path, value);
          return reply(`⚙️ ${path} is set until the gateway stops.`);
        });
      case "unset":
        if (path === undefined) return reply(DEBUG_USAGE);
        return attempt(async () => reply(overrides.unset(path) ? `⚙️ ${path} follows the configuration file again.` : `⚙️ ${path} was not set here.`));
      case "reset":
        overrides.reset();
        return reply("⚙️ All settings in memory are gone.");
      default:
        return reply(DEBUG_USAGE);
    }
  },
};
