import { createInterface } from "node:readline";
import type { TerminalPrompter, WizardOption } from "../plugin-sdk/index.ts";
import type { Cli } from "./cli.ts";
import { CliError } from "./errors.ts";

interface LineReader {
  /** @throws CliError when the input ends first */
  next(question: string): Promise<string>;
}

/** Lines of the input in their order; one that came before its question is kept for it. */
function createLineReader(input: NodeJS.ReadableStream): LineReader {
  const lines: string[] = [];
  let ended = false;
  let wake = (): void => undefined;
  let open = (): void => {
    open = () => undefined;
    createInterface({ input })
      .on("line", (line) => {
        lines.push(line);
        wake();
      })
      .on("close", () => {
        ended = true;
        wake();
      });
  };
  return {
    async next(question) {
      open();
      while (lines.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
      const line = lines.shift();
      if (line === undefined) throw new CliError(`The input ended before this was answered: ${question}`);
      return line.trim();
    },
  };
}

/** Questions a line each, so that they can be answered from a terminal and from a pipe alike. */
export function createPrompter(cli: Pick<Cli, "print">, input: NodeJS.ReadableStream = process.stdin): TerminalPrompter {
  const reader = createLineReader(input);
  const { print } = cli;

  /** Asks until `read` takes the answer; a string from it says what is wrong. */
  async function ask<T>(question: string, hint: string, read: (line: string) => { readonly value: T } | string): Promise<T> {
    for (;;) {
      print(`${question}${hint === "" ? "" : ` ${hint}`}`);
      const answer = read(await reader.next(question));
      if (typeof answer !== "string") return answer.value;
      print(`⚠️ ${answer}`);
    }
  }

  const listed = (options: readonly WizardOption<unknown>[]): string => options.map(({ label, hint }, index) => `  ${index + 1}) ${label}${hint ? ` (${hint})` : ""}`).join("\n");
  const pick = <T>(options: readonly WizardOption<T>[], word: string): WizardOption<T> | undefined => options[Number(word) - 1] ?? options.find(({ value, label }) => String(value) === word || label === word);

  return {
    async intro(title) {
      print(title);
    },
    async outro(message) {
      print(message);
    },
    async note(message, title) {
      print(title === undefined ? message : `${title}\n${message}`);
    },
    select({ message, options, initialValue }) {
      const preset = options.find(({ value }) => value === initialValue);
      return ask(`${message}\n${listed(options)}`, preset ? `[${preset.label}]` : "", (line) => {
        const chosen = line === "" ? preset : pick(options, line);
        return chosen ? { value: chosen.value } : `Answer with a number from 1 to ${options.length}.`;
      });
    },
    multiselect({ message, options, initialValues = [] }) {
      return ask(`${message} (numbers, separated by commas)\n${listed(options)}`, "", (line) => {
        if (line === "") return { value: [...initialValues] };
        const chosen = line.split(",").map((word) => pick(options, word.trim()));
        return chosen.every((option) => option !== undefined) ? { value: chosen.map(({ value }) => value) } : `Answer with numbers from 1 to ${options.length}, separated by commas.`;
      });
    },
    text({ message, initialValue, placeholder, validate }) {
      const hint = initialValue ? `[${initialValue}]` : placeholder ? `(${placeholder})` : "";
      return ask(message, hint, (line) => {
        const value = line === "" ? (initialValue ?? "") : line;
        return validate?.(value) ?? { value };
      });
    },
    confirm({ message, initialValue }) {
      return ask(message, initialValue === false ? "[y/N]" : "[Y/n]", (line) => {
        if (line === "") return { value: initialValue ?? true };
        return /^(y|yes|n|no)$/i.test(line) ? { value: /^y/i.test(line) } : "Answer yes or no.";
      });
    },
    progress(label) {
      print(label);
      return {
        update: (message) => print(message),
        stop: (message) => void (message === undefined || print(message)),
      };
    },
  };
}
