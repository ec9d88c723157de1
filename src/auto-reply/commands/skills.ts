import type { Skill } from "../../agents/index.ts";
import type { CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";

const MAX_NAME_CHARS = 32;

type InvocableSkill = Pick<Skill, "name" | "description" | "eligible" | "userInvocable" | "commandTool">;

/** Commands of the skills that a person may start; `taken` names are not theirs. Source: spec agent-pipeline-output §8.3 (/skill). */
export function buildSkillCommands(skills: readonly InvocableSkill[], taken: ReadonlySet<string>): CommandDefinition[] {
  const used = new Set(taken);
  return skills
    .filter((skill) => skill.eligible && skill.userInvocable)
    .map((skill): CommandDefinition => {
      const name = freeName(skill.name, used);
      used.add(name);
      return {
        name, aliases: [], description: skill.description, category: "skills", argsHint: "[input]", acceptsArgs: true, native: true,
        run: (command) => invokeSkill(skill, command, command.args, name),
      };
    });
}

function freeName(raw: string, used: ReadonlySet<string>): string {
  const plain = raw.toLowerCase().replace(/[^a-z0-9_]+/g, "_").replace(/^_+|_+$/g, "").slice(0, MAX_NAME_CHARS) || "skill";
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? "" : `_${n}`;
    const name = `${plain.slice(0, MAX_NAME_CHARS - suffix.length)}${suffix}`;
    if (!used.has(name)) return name;
  }
}

/** Asks the model to follow the skill, or calls its tool at once (front matter `command-dispatch: tool`). */
async function invokeSkill(skill: InvocableSkill, command: CommandContext, input: string, commandName: string): Promise<CommandResult> {
  if (skill.commandTool !== undefined) {
    const { text, isError } = await command.services.runTool(command, skill.commandTool, { command: input, commandName, skillName: skill.name });
    return reply(`${isError ? "⚠️ " : ""}${text.trim() || "Done."}`);
  }
  const lines = [`Use the "${skill.name}" skill for this request: read its SKILL.md and follow it.`, ...(input === "" ? [] : ["", "User input:", input])];
  return { kind: "prompt", text: lines.join("\n") };
}

export const skill: CommandDefinition = {
  name: "skill", aliases: [], description: "Use a skill by name", category: "skills", argsHint: "<name> [input]", acceptsArgs: true, native: true,
  async run(command) {
    const commands = await command.services.skillCommands(command.agentId);
    const [name = "", ...rest] = command.args.split(/\s+/);
    if (name === "") return reply(commands.length === 0 ? "No skills can be used here." : `Usage: /skill <name> [input]\n${commands.map((known) => `- ${known.name}`).join("\n")}`);
    const wanted = freeName(name, new Set());
    const found = commands.find((known) => known.name === wanted);
    if (!found) return reply(`There is no skill "${name}" here. /skill lists them.`);
    return found.run({ ...command, args: rest.length === 0 ? "" : command.args.slice(command.args.indexOf(name) + name.length).trim(), invokedAs: found.name });
  },
};
