import type { Command } from "commander";
import { ConfigWriteError, formatIssue, getAtPath, parseConfigPath, type ConfigPath } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { Cli } from "../cli.ts";
import { createWriter, invalidConfigError, readConfig, requireConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";

export function defineConfig(command: Command, cli: Cli): void {
  command
    .command("get")
    .description("print a value (with defaults); secrets are shown as they are")
    .argument("<path>", "such as gateway.port or agents.list[0].id")
    .option("--json", "print JSON")
    .action(async (path: string, { json }: { json?: boolean }) => {
      const snapshot = await requireConfig(cli);
      const value = getAtPath(snapshot.config, pathOf(path));
      if (value === undefined) throw new CliError(`Config path not found: ${path}`);
      if (json) cli.json(value);
      else cli.print(typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : String(value));
    });
  command
    .command("set")
    .description("set a value")
    .argument("<path>")
    .argument("<value>", "JSON5, or text as it stands")
    .option("--strict-json", "refuse a value that is no JSON5")
    .option("--json", "same as --strict-json")
    .action(async (path: string, text: string, flags: { strictJson?: boolean; json?: boolean }) => {
      const at = pathOf(path);
      const value = await parseValue(text, flags.strictJson === true || flags.json === true);
      const { changedPaths } = await wrote(cli, () => createWriter(cli).set(at, value));
      cli.print(changedPaths.length === 0 ? `${path} has this value already.` : `Updated ${path}.`);
    });
  command
    .command("unset")
    .description("remove a value")
    .argument("<path>")
    .action(async (path: string) => {
      const at = pathOf(path);
      try {
        await createWriter(cli).unset(at);
      } catch (err) {
        if (err instanceof ConfigWriteError && err.code === "not-found") throw new CliError(`Config path not found: ${path}`, { cause: err });
        throw toCliError(err);
      }
      cli.print(`Removed ${path}.`);
    });
  command
    .command("validate")
    .description("check the file")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const { valid, path, exists, issues, warnings, unusedKeys } = await readConfig(cli);
      if (!valid) cli.exitCode = 1;
      if (json) return cli.json({ valid, path, exists, issues, warnings, unusedKeys });
      if (!exists) return cli.print(`No config file at ${path}: defaults apply.`);
      cli.print(valid ? `Config is valid: ${path}` : `Config is invalid: ${path}`);
      for (const issue of issues) cli.print(`  - ${formatIssue(issue)}`);
      for (const warning of warnings) cli.print(`  warning: ${formatIssue(warning)}`);
      for (const key of unusedKeys) cli.print(`  note: ${key} has no effect in this version`);
    });
  command
    .command("file")
    .description("print the path of the file")
    .action(() => cli.print(cli.paths.configPath));
}

function pathOf(text: string): ConfigPath {
  try {
    return parseConfigPath(text);
  } catch (err) {
    throw new CliError(errorText(err), { cause: err });
  }
}

async function parseValue(text: string, isStrict: boolean): Promise<unknown> {
  const { default: JSON5 } = await import("json5");
  try {
    return JSON5.parse(text) as unknown;
  } catch (err) {
    if (isStrict) throw new CliError(`Not JSON5: ${errorText(err)}`, { fix: "Quote text, for example: '\"text\"'.", cause: err });
    return text;
  }
}

async function wrote<T>(cli: Cli, write: () => Promise<T>): Promise<T> {
  const snapshot = await readConfig(cli);
  if (!snapshot.valid && snapshot.parsed === null) throw invalidConfigError(cli, snapshot);
  try {
    return await write();
  } catch (err) {
    throw toCliError(err);
  }
}

function toCliError(err: unknown): unknown {
  if (!(err instanceof ConfigWriteError)) return err;
  const [first] = err.issues;
  // The two lines that are wanted when a channel is opened to everybody (spec: cli-and-ui §1.3).
  const open = first && /^channels\.[^.]+/.test(first.path) && /"\*"/.test(first.message) ? /^channels\.[^.]+/.exec(first.path)?.[0] : undefined;
  const fix = open === undefined ? undefined : `Either admit everybody first:  openclaw config set ${open}.allowFrom '["*"]'\nor keep pairing:              openclaw config set ${open}.dmPolicy pairing`;
  return new CliError(err.message, { code: err.code, details: err.issues.length > 0 ? { issues: err.issues } : undefined, fix, cause: err });
}
