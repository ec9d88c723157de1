import { formatModelRef, type ThinkLevel } from "../../agents/index.ts";
import { parseQueueDrop, parseQueueMode, resolveQueueSettings } from "../queue/settings.ts";
import type { CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";

const THINK_WORDS: Readonly<Record<string, ThinkLevel>> = {
  off: "off", minimal: "minimal", min: "minimal", think: "minimal", low: "low", on: "low", enable: "low", medium: "medium", mid: "medium", med: "medium",
  harder: "medium", high: "high", max: "high", ultra: "high", highest: "high", xhigh: "xhigh",
};

export const think: CommandDefinition = {
  name: "think", aliases: ["thinking", "t"], description: "How hard the model thinks", category: "options", argsHint: "off|minimal|low|medium|high|xhigh", acceptsArgs: true, native: true,
  async run({ services, sessionKey, agentId, args, entry }) {
    const { ref } = await services.currentModel(sessionKey);
    const levels = await services.models.thinkingLevels(ref, agentId);
    const list = levels.join(", ");
    if (args === "") return reply(`🧠 Thinking: ${entry?.thinkingLevel ?? (await services.models.defaultThinking(ref, agentId))}. Options: ${list}.`);
    const level = THINK_WORDS[args.toLowerCase()];
    if (!level) return args.includes(" ") ? { kind: "pass" } : reply(`Unrecognised thinking level "${args}". Options: ${list}.`);
    if (!levels.includes(level)) return reply(`${formatModelRef(ref)} does not offer "${level}". Options: ${list}.`);
    await services.update(sessionKey, { thinkingLevel: level });
    return reply(level === "off" ? "🧠 Thinking is off." : `🧠 Thinking level: ${level}.`);
  },
};

function setting(
  name: string, aliases: readonly string[], description: string, values: readonly string[], field: "verboseLevel" | "reasoningLevel", mark: string,
): CommandDefinition {
  return {
    name, aliases, description, category: "options", argsHint: values.join("|"), acceptsArgs: true, native: true,
    async run({ services, sessionKey, args, entry }): Promise<CommandResult> {
      const value = args.toLowerCase();
      if (value === "") return reply(`${mark} ${description}: ${entry?.[field] ?? "off"}. Options: ${values.join(", ")}.`);
      if (!values.includes(value)) return args.includes(" ") ? { kind: "pass" } : reply(`Unrecognised value "${args}". Options: ${values.join(", ")}.`);
      await services.update(sessionKey, { [field]: value });
      return reply(`${mark} ${description}: ${value}.`);
    },
  };
}

export const verbose = setting("verbose", ["v"], "Tool summaries", ["on", "off", "full"], "verboseLevel", "🔧");
export const reasoning = setting("reasoning", ["reason"], "Showing of reasoning", ["on", "off", "stream"], "reasoningLevel", "💭");

export const usage: CommandDefinition = {
  name: "usage", aliases: [], description: "Usage line under answers", category: "options", argsHint: "off|tokens|full", acceptsArgs: true, native: true,
  async run({ services, sessionKey, args, entry }) {
    const current = entry?.responseUsage === "on" ? "tokens" : (entry?.responseUsage ?? "off");
    const value = args === "" ? (current === "off" ? "tokens" : current === "tokens" ? "full" : "off") : args.toLowerCase();
    if (value !== "off" && value !== "tokens" && value !== "full") return reply("Usage: /usage off | tokens | full");
    await services.update(sessionKey, { responseUsage: value === "off" ? null : value });
    return reply(`📊 Usage line: ${value}.`);
  },
};

export const queue: CommandDefinition = {
  name: "queue", aliases: [], description: "What happens to messages during a run", category: "options", argsHint: "collect|followup|steer|interrupt [debounce:2s cap:5 drop:new]", acceptsArgs: true, native: true,
  async run({ services, sessionKey, args, entry, cfg, ctx }) {
    if (args === "") {
      const now = resolveQueueSettings(cfg, ctx.OriginatingChannel ?? "webchat", entry);
      return reply(`🪢 Queue: ${now.mode} · debounce ${now.debounceMs} ms · cap ${now.cap} · drop ${now.drop}\nUsage: /queue collect|followup|steer|steer-backlog|interrupt [debounce:2s] [cap:5] [drop:old|new|summarize], /queue default`);
    }
    if (/^(default|reset|clear)$/i.test(args)) {
      await services.update(sessionKey, { queueMode: null, queueDebounceMs: null, queueCap: null, queueDrop: null });
      return reply("🪢 Queue settings are back to the defaults.");
    }
    return setQueue({ services, sessionKey, args });
  },
};

async function setQueue({ services, sessionKey, args }: Pick<CommandContext, "services" | "sessionKey" | "args">): Promise<CommandResult> {
  const patch: { queueMode?: string; queueDebounceMs?: number; queueCap?: number; queueDrop?: string } = {};
  const problems: string[] = [];
  for (const word of args.split(/\s+/)) {
    const [key = "", raw = ""] = word.split(":");
    const mode = parseQueueMode(word);
    if (mode) patch.queueMode = mode;
    else if (key === "debounce") {
      const ms = parseDuration(raw);
      if (ms === undefined) problems.push(`debounce "${raw}" is no duration (500ms, 2s)`);
      else patch.queueDebounceMs = ms;
    } else if (key === "cap") {
      if (/^[1-9]\d{0,3}$/.test(raw)) patch.queueCap = Number(raw);
      else problems.push(`cap "${raw}" must be a number from 1`);
    } else if (key === "drop") {
      const drop = parseQueueDrop(raw);
      if (drop) patch.queueDrop = drop;
      else problems.push(`drop "${raw}" must be old, new or summarize`);
    } else problems.push(`"${word}" is no queue mode or option`);
  }
  if (problems.length > 0) return reply(`🪢 Not changed: ${problems.join("; ")}.`);
  await services.update(sessionKey, patch);
  return reply(`🪢 Queue: ${Object.entries(patch).map(([key, value]) => `${key.replace("queue", "").toLowerCase()} ${value}`).join(" · ")}.`);
}

function parseDuration(raw: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/i.exec(raw);
  if (!match?.[1]) return undefined;
  const unit = match[2]?.toLowerCase();
  return Math.round(Number(match[1]) * (unit === "m" ? 60_000 : unit === "s" ? 1000 : 1));
}

export const model: CommandDefinition = {
  name: "model", aliases: [], description: "Show or change the model of this session", category: "options", argsHint: "[provider/model|alias|default|status]", acceptsArgs: true, native: true,
  async run(command) {
    const { services, sessionKey, args } = command;
    const wanted = args.trim();
    if (wanted === "list") return listModels(command, "");
    const { ref, reason } = await services.currentModel(sessionKey);
    if (wanted === "" || wanted === "status") return reply(`🧠 Model: ${formatModelRef(ref)} (${reason})\n/model <provider/model> changes it for this session, /model default goes back, /models lists what there is.`);
    if (/\s/.test(wanted)) return { kind: "pass" };
    try {
      const changed = await services.setModel(sessionKey, wanted);
      if (!changed) return reply(`🧠 Model is the default again: ${formatModelRef((await services.currentModel(sessionKey)).ref)}.`);
      return reply(`🧠 Model set to ${formatModelRef(changed)} for this session.`);
    } catch (err) {
      return reply(`⚠️ ${err instanceof Error ? err.message : String(err)}`);
    }
  },
};

const PAGE_SIZE = 20;

async function listModels({ services, agentId, ctx }: CommandContext, args: string): Promise<CommandResult> {
  const rows = await services.models.list(agentId);
  const [provider, ...rest] = args.split(/\s+/).filter(Boolean);
  if (!provider) {
    const counts = new Map<string, { all: number; ready: number }>();
    for (const row of rows) {
      const count = counts.get(row.provider) ?? { all: 0, ready: 0 };
      counts.set(row.provider, { all: count.all + 1, ready: count.ready + (row.available ? 1 : 0) });
    }
    const sorted = [...counts].sort(([a, x], [b, y]) => Number(y.ready > 0) - Number(x.ready > 0) || a.localeCompare(b));
    const ready = sorted.filter(([, count]) => count.ready > 0);
    const lines = sorted.map(([name, count]) => `${count.ready > 0 ? "●" : "○"} ${name} (${count.all})`);
    const buttons = ctx.Surface === "telegram" && ready.length > 0 ? ready.slice(0, 8).map(([name]) => [{ text: name, callbackData: `mdl_list_${name}_1`.slice(0, 64) }]) : undefined;
    return reply(`Providers (● = usable now):\n${lines.join("\n")}\n\n/models <provider> lists its models.`, buttons);
  }
  const own = rows.filter((row) => row.provider.toLowerCase() === provider.toLowerCase());
  if (own.length === 0) return reply(`No provider "${provider}" here. /models lists them.`);
  const all = rest.includes("all");
  const page = Math.max(1, Number(rest.find((word) => /^\d+$/.test(word)) ?? "1"));
  const pages = Math.ceil(own.length / PAGE_SIZE);
  const shown = all ? own.slice(0, 100) : own.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  return reply(`${provider} (${all ? own.length : `page ${Math.min(page, pages)}/${pages}`}):\n${shown.map((row) => `${row.available ? "●" : "○"} ${row.provider}/${row.id}`).join("\n")}`);
}

export const models: CommandDefinition = {
  name: "models", aliases: [], description: "Models that can be chosen", category: "options", argsHint: "[provider] [page|all]", acceptsArgs: true, native: true,
  run: (command) => listModels(command, command.args),
};
