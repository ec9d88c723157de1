import { fenceAt, parseFenceSpans } from "../../infra/text/index.ts";
import type { CommandDefinition } from "./contract.ts";

export interface CommandMatch {
  readonly command: CommandDefinition;
  readonly invokedAs: string;
  readonly args: string;
}

export interface CommandRegistry {
  readonly list: readonly CommandDefinition[];
  /** The command that a whole message is. */
  match(text: string, botUsername?: string): CommandMatch | undefined;
  /** Commands that are answered at once although they stand inside other text; with the text that is left. */
  takeInline(text: string): { readonly matches: readonly CommandMatch[]; readonly rest: string };
}

/** Source: spec agent-pipeline-output §8.1. */
export function createCommandRegistry(list: readonly CommandDefinition[]): CommandRegistry {
  const byName = new Map<string, CommandDefinition>();
  for (const command of list) for (const name of [command.name, ...command.aliases]) byName.set(name.toLowerCase(), command);
  const inlineNames = [...byName].filter(([, command]) => command.inline).map(([name]) => name);
  const inline = inlineNames.length === 0 ? undefined : new RegExp(`(^|\\s)/(${inlineNames.join("|")})(?=\\s|$)`, "gi");

  return {
    list,
    match(text, botUsername) {
      const trimmed = text.trim();
      const word = /^\/([a-z0-9_-]+)(?:@([a-z0-9_]+))?(?::\s*|\s+|$)/i.exec(trimmed);
      if (!word?.[1]) return undefined;
      if (word[2] !== undefined && botUsername !== undefined && word[2].toLowerCase() !== botUsername.toLowerCase()) return undefined;
      const command = byName.get(word[1].toLowerCase());
      if (!command) return undefined;
      const args = trimmed.slice(word[0].length).trim();
      if (args !== "" && !command.acceptsArgs) return undefined;
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
