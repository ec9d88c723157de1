import { fenceAt, parseFenceSpans } from "../../infra/text/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { CommandDefinition } from "./contract.ts";

export interface CommandMatch {
  readonly command: CommandDefinition;
  readonly invokedAs: string;
  readonly args: string;
}

export interface MatchOptions {
  readonly botUsername?: string | undefined;
  /** Whose skills count; without it those of every agent. */
  readonly agentId?: string | undefined;
}

export interface CommandRegistry {
  /** What lists and menus show: the core's commands that are on, then the agent's skills. */
  listed(cfg: OpenClawConfig, agentId: string): readonly CommandDefinition[];
  /** The command that a whole message is. */
  match(text: string, options?: MatchOptions): CommandMatch | undefined;
  /** Commands that are answered at once although they stand inside other text; with the text that is left. */
  takeInline(text: string): { readonly matches: readonly CommandMatch[]; readonly rest: string };
  /** The directive of a word, without its slash. */
  directive(word: string): CommandDefinition | undefined;
  /** Reads the agent's skills again. */
  refreshSkills(agentId: string): Promise<readonly CommandDefinition[]>;
}

export interface RegistryOptions {
  /** Commands of plugins; they come before the core's. */
  plugins?(): readonly CommandDefinition[];
  /** The skills of an agent as commands; `taken` names are the core's. */
  loadSkills?(agentId: string, taken: ReadonlySet<string>): Promise<readonly CommandDefinition[]>;
}

/** Source: spec agent-pipeline-output §8.1. Among equal names the first one counts. */
export function createCommandRegistry(list: readonly CommandDefinition[], options: RegistryOptions = {}): CommandRegistry {
  const byName = new Map<string, CommandDefinition>();
  for (const command of list) {
    for (const name of [command.name, ...command.aliases]) if (!byName.has(name.toLowerCase())) byName.set(name.toLowerCase(), command);
  }
  const taken = new Set([...byName.keys()].flatMap((name) => [name, name.replaceAll("-", "_")]));
  const skills = new Map<string, readonly CommandDefinition[]>();
  const inline = inlinePattern(byName);

  function find(name: string, agentId: string | undefined): CommandDefinition | undefined {
    const foreign = options.plugins?.().find((command) => command.name === name);
    if (foreign) return foreign;
    // Menus of some platforms have no hyphen.
    const own = byName.get(name) ?? byName.get(name.replaceAll("_", "-"));
    if (own) return own;
    const known = agentId === undefined ? [...skills.values()].flat() : (skills.get(agentId) ?? []);
    return known.find((command) => command.name === name);
  }

  return {
    listed: (cfg, agentId) => [...list.filter((command) => command.listed?.(cfg) ?? true), ...(options.plugins?.() ?? []), ...(skills.get(agentId) ?? [])],
    directive(word) {
      const command = byName.get(word);
      return command?.directive && command;
    },
    async refreshSkills(agentId) {
      const found = (await options.loadSkills?.(agentId, taken)) ?? [];
      skills.set(agentId, found);
      return found;
    },
    match(text, { botUsername, agentId } = {}) {
      const trimmed = text.trim();
      const word = /^\/([a-z0-9_-]+)(?:@([a-z0-9_]+))?(?::\s*|\s+|$)/i.exec(trimmed);
      if (!word?.[1]) return undefined;
      if (word[2] !== undefined && botUsername !== undefined && word[2].toLowerCase() !== botUsername.toLowerCase()) return undefined;
      const command = find(word[1].toLowerCase(), agentId);
      if (!command) return undefined;
      const args = trimmed.slice(word[0].length).trim();
      if (args !== "" && !command.acceptsArgs) {
        // A plugin's command that takes no arguments leaves the word to the core's.
        const own = command.category === "plugins" ? byName.get(command.name) : undefined;
        return own?.acceptsArgs ? { command: own, invokedAs: word[1].toLowerCase(), args } : undefined;
      }
      return { command, invokedAs: word[1].toLowerCase(), args };
    },
    takeInline(text) {
      const matches: CommandMatch[] = [];
      if (!inline || !text.includes("/")) return { matches, rest: text };
      // Only the command goes, with one blank: line breaks and indentation of the rest stay.
      const spans = parseFenceSpans(text);
      const rest = text.replace(inline, (whole: string, before: string, name: string, at: number) => {
        if (fenceAt(spans, at + before.length)) return whole;
        const command = byName.get(name.toLowerCase());
        if (command && !matches.some((match) => match.command === command)) matches.push({ command, invokedAs: name.toLowerCase(), args: "" });
        return before === "\n" ? "\n" : "";
      });
      return { matches, rest: matches.length > 0 ? rest.replace(/^[ \t]+/, "") : text };
    },
  };
}

function inlinePattern(byName: ReadonlyMap<string, CommandDefinition>): RegExp | undefined {
  const names = [...byName].filter(([, command]) => command.inline).map(([name]) => name);
  return names.length === 0 ? undefined : new RegExp(`(^|\\s)/(${names.join("|")})(?=\\s|$)`, "gi");
}
