import { formatModelRef, type ThinkLevel } from "../../agents/index.ts";
import { asReasoningLevel, asVerboseLevel, type RunHints } from "../run-hints.ts";
import type { CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";
import { takeWord } from "./directives.ts";

const THINK_WORDS: Readonly<Record<string, ThinkLevel>> = {
  off: "off", minimal: "minimal", min: "minimal", think: "minimal", low: "low", on: "low", enable: "low", medium: "medium", mid: "medium", med: "medium",
  harder: "medium", high: "high", max: "high", ultra: "high", highest: "high", xhigh: "xhigh",
};

/** The level that a word means for the session's model, or why it has none. */
async function readThinkLevel(word: string, { services, sessionKey, agentId }: CommandContext): Promise<ThinkLevel | { readonly refusal: string }> {
  const { ref } = await services.currentModel(sessionKey);
  const levels = await services.models.thinkingLevels(ref, agentId);
  const level = THINK_WORDS[word.toLowerCase()];
  if (!level) return { refusal: `Unrecognised thinking level "${word}". Options: ${levels.join(", ")}.` };
  return levels.includes(level) ? level : { refusal: `${formatModelRef(ref)} does not offer "${level}". Options: ${levels.join(", ")}.` };
}

export const think: CommandDefinition = {
  name: "think", aliases: ["thinking", "t"], description: "How hard the model thinks", category: "options", argsHint: "off|minimal|low|medium|high|xhigh", acceptsArgs: true, native: true,
  directive: {
    take: (after) => takeWord(after, (word) => THINK_WORDS[word] !== undefined),
    async hint(args, command) {
      const level = await readThinkLevel(args, command);
      return typeof level === "string" ? { thinking: level } : level.refusal;
    },
  },
  async run(command) {
    const { services, sessionKey, agentId, args, entry } = command;
    if (args === "") {
      const { ref } = await services.currentModel(sessionKey);
      const levels = await services.models.thinkingLevels(ref, agentId);
      return reply(`🧠 Thinking: ${entry?.thinkingLevel ?? command.cfg.agents?.defaults?.thinkingDefault ?? (await services.models.defaultThinking(ref, agentId))}. Options: ${levels.join(", ")}.`);
    }
    if (/\s/.test(args)) return { kind: "pass" };
    const level = await readThinkLevel(args, command);
    if (typeof level !== "string") return reply(level.refusal);
    await services.update(sessionKey, { thinkingLevel: level });
    return reply(level === "off" ? "🧠 Thinking is off." : `🧠 Thinking level: ${level}.`);
  },
};

interface Switch {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly values: readonly string[];
  readonly field: "verboseLevel" | "reasoningLevel";
  readonly mark: string;
  standard(command: CommandContext): string;
  hint(value: string): RunHints;
  changed?(command: CommandContext, value: string): void;
}

/** A session setting with a few fixed values. */
function setting({ name, aliases, description, values, field, mark, ...of }: Switch): CommandDefinition {
  return {
    name, aliases, description, category: "options", argsHint: values.join("|"), acceptsArgs: true, native: true,
    directive: { take: (after) => takeWord(after, (word) => values.includes(word)), hint: async (args) => of.hint(args.toLowerCase()) },
    async run(command): Promise<CommandResult> {
      const { services, sessionKey, args, entry } = command;
      const value = args.toLowerCase();
      if (value === "") return reply(`${mark} ${description}: ${entry?.[field] ?? of.standard(command)}. Options: ${values.join(", ")}.`);
      if (!values.includes(value)) return /\s/.test(args) ? { kind: "pass" } : reply(`Unrecognised value "${args}". Options: ${values.join(", ")}.`);
      await services.update(sessionKey, { [field]: value });
      of.changed?.(command, value);
      return reply(`${mark} ${description}: ${value}.`);
    },
  };
}

export const verbose = setting({
  name: "verbose", aliases: ["v"], description: "Tool summaries", values: ["on", "off", "full"], field: "verboseLevel", mark: "🔧",
  standard: ({ cfg }) => cfg.agents?.defaults?.verboseDefault ?? "off", hint: (value) => ({ verbose: asVerboseLevel(value) }),
});

export const reasoning = setting({
  name: "reasoning", aliases: ["reason"], description: "Showing of reasoning", values: ["on", "off", "stream"], field: "reasoningLevel", mark: "💭",
  standard: () => "off", hint: (value) => ({ reasoning: asReasoningLevel(value) }),
  changed: ({ services, sessionKey }, value) => services.pushSystemEvent(sessionKey, `Reasoning display is now ${value}.`, "reasoning"),
});
