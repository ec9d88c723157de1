import { formatSystemStamp, resolveUserZone } from "../envelope.ts";
import { formatTokenCount } from "../reply/shape.ts";
import type { CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";
import type { UsageTotals } from "./usage-cost.ts";

const MONTH_DAYS = 30;
const DAY_MS = 86_400_000;

export const usage: CommandDefinition = {
  name: "usage", aliases: [], description: "Usage line under answers, or what was spent", category: "options", argsHint: "off|tokens|full|cost", acceptsArgs: true, native: true,
  async run(command) {
    const { services, sessionKey, args, entry } = command;
    const current = entry?.responseUsage === "on" ? "tokens" : (entry?.responseUsage ?? "off");
    const value = args === "" ? (current === "off" ? "tokens" : current === "tokens" ? "full" : "off") : args.toLowerCase();
    if (value === "cost") return cost(command);
    if (value !== "off" && value !== "tokens" && value !== "full") return /\s/.test(args) ? { kind: "pass" } : reply("Usage: /usage off | tokens | full | cost");
    await services.update(sessionKey, { responseUsage: value === "off" ? null : value });
    return reply(`📊 Usage line: ${value}.`);
  },
};

async function cost({ services, sessionKey, cfg }: CommandContext): Promise<CommandResult> {
  const today = startOfDay(services.now(), resolveUserZone(cfg));
  const spent = await services.usage(sessionKey, today, today - (MONTH_DAYS - 1) * DAY_MS);
  return reply(["📊 Usage", `This session: ${describe(spent.session)}`, `Today: ${describe(spent.today)}`, `Last ${MONTH_DAYS} days: ${describe(spent.month)}`].join("\n"));
}

/** Calls without a known price are named, not counted as free. */
function describe({ input, output, cost: dollars, unpriced }: UsageTotals): string {
  const price = dollars > 0 ? ` · est $${dollars.toFixed(4)}` : "";
  return `${formatTokenCount(input)} in / ${formatTokenCount(output)} out${price}${unpriced > 0 ? ` · ${unpriced} call${unpriced === 1 ? "" : "s"} without a known price` : ""}`;
}

/** The last midnight of a zone; an hour off on the two days a year when clocks change. */
function startOfDay(nowMs: number, timeZone: string): number {
  const [, hours, minutes, seconds] = / (\d\d):(\d\d):(\d\d)/.exec(formatSystemStamp(nowMs, timeZone)) ?? [];
  return nowMs - (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000 - (nowMs % 1000);
}
