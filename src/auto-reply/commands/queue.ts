import { parseQueueDrop, parseQueueMode, resolveQueueSettings, type QueueSettings } from "../queue/settings.ts";
import type { CommandDefinition } from "./contract.ts";
import { reply } from "./contract.ts";
import { takeWords } from "./directives.ts";

const USAGE = "Usage: /queue collect|followup|steer|steer-backlog|interrupt [debounce:2s] [cap:5] [drop:old|new|summarize], /queue default";

type QueueOptions = { -readonly [Key in keyof QueueSettings]?: QueueSettings[Key] | undefined };

/** Reads `collect debounce:2s cap:5 drop:new`; every word that is none of it is a problem. */
export function parseQueueOptions(args: string): { readonly options: QueueOptions; readonly problems: readonly string[] } {
  const options: QueueOptions = {};
  const problems: string[] = [];
  for (const word of args.split(/\s+/).filter(Boolean)) {
    const at = word.indexOf(":");
    const raw = at < 0 ? "" : word.slice(at + 1);
    const mode = parseQueueMode(word);
    switch (at < 0 ? "" : word.slice(0, at).toLowerCase()) {
      case "debounce":
        if ((options.debounceMs = parseDuration(raw)) === undefined) problems.push(`debounce "${raw}" is no duration (500ms, 2s)`);
        break;
      case "cap":
        if (/^[1-9]\d{0,3}$/.test(raw)) options.cap = Number(raw);
        else problems.push(`cap "${raw}" must be a number from 1`);
        break;
      case "drop":
        if ((options.drop = parseQueueDrop(raw)) === undefined) problems.push(`drop "${raw}" must be old, new or summarize`);
        break;
      default:
        if (mode) options.mode = mode;
        else problems.push(`"${word}" is no queue mode or option`);
    }
  }
  return { options, problems };
}

/** ms of `500ms`, `2s`, `1m` or a bare number of ms. */
function parseDuration(raw: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/i.exec(raw);
  if (!match?.[1]) return undefined;
  const unit = match[2]?.toLowerCase();
  return Math.round(Number(match[1]) * (unit === "m" ? 60_000 : unit === "s" ? 1000 : 1));
}

const describe = (options: QueueOptions): string =>
  [options.mode, options.debounceMs === undefined ? undefined : `debounce ${options.debounceMs} ms`, options.cap === undefined ? undefined : `cap ${options.cap}`, options.drop && `drop ${options.drop}`].filter(Boolean).join(" · ");

export const queue: CommandDefinition = {
  name: "queue", aliases: [], description: "What happens to messages during a run", category: "options", argsHint: "collect|followup|steer|interrupt [debounce:2s cap:5 drop:new]", acceptsArgs: true, native: true,
  directive: {
    take: (after) => takeWords(after, (word) => parseQueueOptions(word).problems.length === 0),
    claims: (args) => args.split(/\s+/).every((word) => /^(?:debounce|cap|drop):/i.test(word) || parseQueueOptions(word).problems.length === 0),
    hint: async (args) => ({ queue: parseQueueOptions(args).options }),
  },
  async run({ services, sessionKey, args, entry, cfg, ctx }) {
    if (args === "") return reply(`🪢 Queue: ${describe(resolveQueueSettings(cfg, ctx.OriginatingChannel ?? "webchat", entry))}\n${USAGE}`);
    if (/^(default|reset|clear)$/i.test(args)) {
      await services.update(sessionKey, { queueMode: null, queueDebounceMs: null, queueCap: null, queueDrop: null });
      return reply("🪢 Queue settings are back to the defaults.");
    }
    const { options, problems } = parseQueueOptions(args);
    if (problems.length > 0) return reply(`🪢 Not changed: ${problems.join("; ")}.`);
    await services.update(sessionKey, {
      ...(options.mode ? { queueMode: options.mode } : {}), ...(options.debounceMs === undefined ? {} : { queueDebounceMs: options.debounceMs }),
      ...(options.cap === undefined ? {} : { queueCap: options.cap }), ...(options.drop ? { queueDrop: options.drop } : {}),
    });
    return reply(`🪢 Queue: ${describe(options)}.`);
  },
};
