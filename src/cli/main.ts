import { Command, CommanderError } from "commander";
import { applyProfileArgs, resolveStatePaths, type EnvRecord } from "../config/index.ts";
import { errorText } from "../infra/errors.ts";
import { LOG_LEVELS } from "../infra/log.ts";
import { findPackageRoot, readPackageVersion } from "../infra/package-root.ts";
import type { Cli, Streams } from "./cli.ts";
import { COMMANDS, type CommandEntry } from "./commands/index.ts";
import { CliError, toErrorFields } from "./errors.ts";
import { createPainter, wantsColor } from "./palette.ts";
import { oneOf } from "./parse.ts";
import { quietLibraryWarnings } from "./warnings.ts";

const LEVELS = ["silent", ...LOG_LEVELS] as const;

/** The whole program: runs `argv` and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  quietLibraryWarnings();
  process.stdout.on("error", endOnClosedPipe);
  const code = await runCli(argv, process.env, process);
  // A command may leave handles open (a socket on its way down); what is printed must be out before the end.
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))));
  process.exit(code);
}

/** `openclaw … | head` closes the pipe early: that is no failure. */
function endOnClosedPipe(err: Error): void {
  if ("code" in err && err.code === "EPIPE") process.exit(0);
  throw err;
}

/** Parses, runs one command and returns the exit code (spec: cli-and-ui §3). Never throws for what a person did. */
async function runCli(argv: readonly string[], env: EnvRecord, streams: Streams): Promise<number> {
  const applied = applyProfileArgs(argv, env);
  if (applied.kind === "error") {
    streams.stderr.write(`${applied.message}\n`);
    return applied.exitCode;
  }
  if (env === process.env) for (const [name, value] of Object.entries(applied.env)) if (value !== undefined) process.env[name] = value;
  const args = applied.argv;
  const isJson = wantsJson(args);
  const packageRoot = findPackageRoot();
  const isTty = streams.stdout.isTTY === true;
  const vars: Record<string, string | undefined> = { ...applied.env };
  const cli: Cli = {
    env: vars,
    paths: resolveStatePaths(applied.env),
    version: readPackageVersion(packageRoot),
    packageRoot,
    isTty,
    columns: streams.stdout.columns ?? 100,
    paint: createPainter(!isJson && wantsColor(isTty, applied.env, args.includes("--no-color"))),
    print: (text) => void streams.stdout.write(`${text}\n`),
    json: (value) => void streams.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    note: (text) => void streams.stderr.write(`${text}\n`),
    exitCode: 0,
  };
  try {
    const { program, word } = await buildProgram(cli, args, isJson, vars);
    process.title = word === undefined ? "openclaw" : `openclaw-${word}`;
    await program.parseAsync([...args], { from: "user" });
    return cli.exitCode;
  } catch (err) {
    return report(err, cli, isJson);
  }
}

/** The commands' flags stay unread until the group is asked for: only that group's file is loaded. */
async function buildProgram(cli: Cli, args: readonly string[], isJson: boolean, vars: Record<string, string | undefined>): Promise<{ program: Command; word: string | undefined }> {
  const word = args.find((arg, i) => !arg.startsWith("-") && args[i - 1] !== "--log-level");
  const program = new Command("openclaw");
  program
    .description("A personal AI gateway: your chat platforms, one embedded agent, one process.")
    .version(cli.version, "-V, --version", "print the version")
    .option("--profile <name>", "keep state, config and port apart under this name (before the command)")
    .option("--dev", "profile dev: own state directory, port 19001 (before the command)")
    .option("--log-level <level>", `log level: ${LEVELS.join(", ")}`, oneOf(...LEVELS))
    .option("--no-color", "plain text")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help of a command")
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.print(text.trimEnd()),
      writeErr: (text) => (isJson ? undefined : cli.note(text.trimEnd())),
      getOutHelpWidth: () => Math.min(cli.columns, 100),
    })
    .hook("preAction", () => {
      const level = program.opts<{ logLevel?: string }>().logLevel;
      if (level === undefined) return;
      vars["OPENCLAW_LOG_LEVEL"] = level;
      process.env["OPENCLAW_LOG_LEVEL"] = level;
    });
  const helpTopic = word === "help" ? args[args.indexOf("help") + 1] : undefined;
  for (const entry of COMMANDS) {
    const command = program.command(entry.name).description(entry.summary);
    if (entry.alias !== undefined) command.alias(entry.alias);
    if (isCalled(entry, word) || isCalled(entry, helpTopic)) (await entry.load())(command, cli);
  }
  // A word that is none of ours may be a plugin's.
  if (word !== undefined && word !== "help" && !COMMANDS.some((entry) => isCalled(entry, word))) await (await import("./plugins.ts")).addPluginCommands(program, cli);
  if (args.length === 0) {
    cli.print(program.helpInformation().trimEnd());
    cli.exitCode = 0;
    program.action(() => undefined);
  }
  return { program, word: COMMANDS.some((entry) => isCalled(entry, word)) ? word : undefined };
}

const isCalled = ({ name, alias }: CommandEntry, word: string | undefined): boolean => word !== undefined && (name === word || alias === word);

/** In `config set` the flag is another name of --strict-json. */
const wantsJson = (args: readonly string[]): boolean => {
  const end = args.indexOf("--");
  const own = end === -1 ? args : args.slice(0, end);
  const words = own.filter((arg) => !arg.startsWith("-"));
  return own.includes("--json") && !(words[0] === "config" && words[1] === "set");
};

function report(err: unknown, cli: Cli, isJson: boolean): number {
  if (err instanceof CommanderError) {
    if (err.exitCode === 0) return 0; // help and version have printed
    if (isJson) cli.json({ error: { message: err.message.replace(/^error: /, ""), code: err.code } });
    return 1;
  }
  const exitCode = err instanceof CliError ? err.exitCode : 1;
  if (isJson) {
    cli.json({ error: toErrorFields(err) });
    return exitCode;
  }
  const fix = typeof err === "object" && err !== null && "fix" in err && typeof err.fix === "string" ? err.fix : undefined;
  cli.note(cli.paint("error", errorText(err)));
  if (fix !== undefined) cli.note(fix);
  if (cli.env["OPENCLAW_DEBUG"] === "1" && err instanceof Error && err.stack) cli.note(err.stack);
  return exitCode;
}
