import { createConfigWriter, createShellEnvReader, formatIssue, loadConfig, type ConfigSnapshot, type ConfigWriter, type LoadConfigDeps } from "../config/index.ts";
import { createConsoleSink } from "../infra/log-sinks.ts";
import { createLogger, type Logger, type LogThreshold } from "../infra/log.ts";
import type { Cli } from "./cli.ts";
import { CliError } from "./errors.ts";
import { shortenHome } from "./format.ts";

/** What library rooms have to say, on standard error. */
export function createCliLogger(cli: Cli, threshold: LogThreshold = "warn"): Logger {
  return createLogger([
    createConsoleSink({ threshold: () => threshold, style: () => "compact", color: cli.paint.enabled, write: (line) => cli.note(line) }),
  ]);
}

export const loadDeps = (cli: Cli): LoadConfigDeps => ({
  paths: cli.paths,
  env: cli.env,
  cwd: process.cwd(),
  version: cli.version,
  readShellEnv: createShellEnvReader(cli.env),
  async known(config) {
    const { openCatalog } = await import("./plugins.ts");
    return (await openCatalog(cli)).knowledge(config);
  },
});

/** The configuration, whatever its state. */
export const readConfig = (cli: Cli): Promise<ConfigSnapshot> => loadConfig(loadDeps(cli));

/** A valid configuration. @throws CliError with the problem block (spec: cli-and-ui §1.4) */
export async function requireConfig(cli: Cli): Promise<ConfigSnapshot> {
  const snapshot = await readConfig(cli);
  if (!snapshot.valid) throw invalidConfigError(cli, snapshot);
  return snapshot;
}

/** As above, but an invalid file is only told: what can be read of it (port, auth) is used. */
export async function tolerateConfig(cli: Cli): Promise<ConfigSnapshot> {
  const snapshot = await readConfig(cli);
  if (!snapshot.valid) cli.note(problemBlock(cli, snapshot));
  return snapshot;
}

export function invalidConfigError(cli: Cli, snapshot: ConfigSnapshot): CliError {
  return new CliError(problemBlock(cli, snapshot), { code: "CONFIG_INVALID", details: { path: snapshot.path, issues: snapshot.issues } });
}

function problemBlock(cli: Cli, snapshot: ConfigSnapshot): string {
  return [
    "Config invalid",
    `File: ${shortenHome(snapshot.path, cli.paths.home)}`,
    "Problem:",
    ...snapshot.issues.map((issue) => `  - ${formatIssue(issue)}`),
    "",
    "Run: openclaw doctor --fix",
  ].join("\n");
}

/** Oddities of a write (a file made by hand, say) go to the audit trail; here the command itself says what it did. */
export const createWriter = (cli: Cli): ConfigWriter => createConfigWriter({ ...loadDeps(cli), version: cli.version, log: createCliLogger(cli, "error") });
