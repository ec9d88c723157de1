import type { Command } from "commander";
import type { OpenClawConfig } from "../../config/index.ts";
import type { PluginDiagnostic, PluginRecord } from "../../plugins/index.ts";
import type { UpdateOutcome } from "../../plugins/install/index.ts";
import type { Cli } from "../cli.ts";
import { createWriter, requireConfig, tolerateConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { shortenHome } from "../format.ts";
import { installPlugin, openInstaller, refusals } from "../plugin-installer.ts";
import { loadPlugins, openCatalog, tryPlugin } from "../plugins.ts";
import { createPrompter } from "../prompter.ts";
import { renderTable } from "../table.ts";

const RESTART = "Restart the gateway to load plugins.";

export function definePlugins(command: Command, cli: Cli): void {
  command
    .command("list")
    .description("plugins that were found, and what became of them")
    .option("--json", "print one JSON document")
    .option("--enabled", "only those that are on")
    .option("--verbose", "with source, tools and channels")
    .action((flags: ListFlags) => list(cli, flags));
  command
    .command("info")
    .description("one plugin in detail")
    .argument("<id>")
    .option("--json", "print one JSON document")
    .action((id: string, flags: { json?: boolean }) => info(cli, id, flags.json === true));
  command
    .command("install")
    .description("install from a folder, an archive, a file or the npm registry")
    .argument("<path-or-spec>")
    .option("-l, --link", "use the folder where it is")
    .option("--pin", "record the exact version")
    .action((text: string, flags: { link?: boolean; pin?: boolean }) => installPlugin(cli, text, flags));
  command
    .command("update")
    .description("renew plugins that came from the registry")
    .argument("[id]")
    .option("--all", "every one of them")
    .option("--dry-run", "only say what would be done")
    .action((id: string | undefined, flags: { all?: boolean; dryRun?: boolean }) => update(cli, id, flags));
  command
    .command("uninstall")
    .description("remove a plugin and what the configuration says of it")
    .argument("<id>")
    .option("--keep-files", "leave its folder")
    .option("--keep-config", "same as --keep-files")
    .option("--force", "accepted; nothing is asked")
    .option("--dry-run", "only say what would be removed")
    .action((id: string, flags: { keepFiles?: boolean; keepConfig?: boolean; dryRun?: boolean }) => uninstall(cli, id, flags));
  command.command("enable").description("switch a plugin on").argument("<id>").action((id: string) => enable(cli, id));
  command.command("disable").description("switch a plugin off").argument("<id>").action((id: string) => disable(cli, id));
  command.command("trust").description("let a plugin of a workspace run, as it is now").argument("<path>").action((path: string) => trust(cli, path));
  command.command("doctor").description("what is wrong with plugins").action(() => doctor(cli));
}

interface ListFlags {
  readonly json?: boolean;
  readonly enabled?: boolean;
  readonly verbose?: boolean;
}

async function list(cli: Cli, flags: ListFlags): Promise<void> {
  const service = await loadPlugins(cli, await tolerateConfig(cli));
  const { workspaceDir, plugins: all, diagnostics } = service.list();
  const plugins = flags.enabled ? all.filter(({ enabled }) => enabled) : all;
  if (flags.json) return cli.json({ workspaceDir, plugins, diagnostics });
  if (plugins.length === 0) cli.print("No plugins were found. Install one: openclaw plugins install <path or npm name>");
  else if (flags.verbose) for (const plugin of plugins) for (const line of details(cli, plugin)) cli.print(line);
  else {
    const rows = plugins.map((plugin) => [plugin.id, stateOf(plugin), plugin.origin, plugin.version ?? "-", plugin.description ?? plugin.name]);
    cli.print(renderTable([{ title: "Id" }, { title: "State", flexible: true }, { title: "From" }, { title: "Version" }, { title: "What it is", flexible: true }], rows, cli.columns));
  }
  tell(cli, diagnostics);
}

const stateOf = ({ status, error }: PluginRecord): string => (status === "loaded" ? "loaded" : `${status}${error === undefined ? "" : `: ${error}`}`);

function tell(cli: Cli, diagnostics: readonly PluginDiagnostic[]): void {
  for (const { level, message, pluginId } of diagnostics) cli.note(cli.paint(level, `${level}: ${pluginId === undefined ? "" : `${pluginId}: `}${message}`));
}

function details(cli: Cli, plugin: PluginRecord): string[] {
  const named = (title: string, names: readonly string[]): string[] => (names.length === 0 ? [] : [`  ${title}: ${names.join(", ")}`]);
  return [
    `${plugin.id}${plugin.version === undefined ? "" : ` ${plugin.version}`} — ${stateOf(plugin)}`,
    ...(plugin.description === undefined ? [] : [`  ${plugin.description}`]),
    `  source: ${shortenHome(plugin.source, cli.paths.home)} (${plugin.origin})`,
    ...named("channels", plugin.channelIds), ...named("tools", plugin.toolNames), ...named("commands", plugin.commands.map((name) => `/${name}`)), ...named("cli", plugin.cliCommands),
    ...named("methods", plugin.gatewayMethods), ...named("services", plugin.services), ...named("providers", plugin.providerIds), ...named("hooks", plugin.hookNames),
    ...(plugin.httpHandlers > 0 ? [`  http: ${plugin.httpHandlers}`] : []),
  ];
}

async function info(cli: Cli, id: string, isJson: boolean): Promise<void> {
  const service = await loadPlugins(cli, await tolerateConfig(cli));
  const plugin = service.list().plugins.find((known) => known.id === id);
  if (!plugin) throw notFound(id);
  if (isJson) return cli.json(plugin);
  for (const line of details(cli, plugin)) cli.print(line);
  tell(cli, service.list().diagnostics.filter(({ pluginId }) => pluginId === id));
}

const notFound = (id: string): CliError => new CliError(`There is no plugin "${id}".`, { fix: "openclaw plugins list shows what was found." });

async function enable(cli: Cli, id: string): Promise<void> {
  const { config } = await requireConfig(cli);
  const { plugins } = await (await openCatalog(cli)).inspect(config);
  const plugin = plugins.find((known) => known.id === id);
  if (!plugin) throw notFound(id);
  const { withMemorySlot, withPluginEnabled } = await import("../../plugins/install/index.ts");
  const enabled = withPluginEnabled(config, id);
  if (plugin.kind === "memory") await refuseUnfitMemory(cli, id, plugin.source, enabled);
  const { cfg: next, notices } = plugin.kind === "memory" ? withMemorySlot(enabled, id, plugins.filter(({ kind }) => kind === "memory").map((other) => other.id)) : { cfg: enabled, notices: [] };
  await createWriter(cli).replace(next);
  for (const line of notices) cli.print(line);
  cli.print(`Enabled plugin "${id}". ${RESTART}`);
}

/** A memory that cannot work must not take the place of one that does. @throws CliError */
async function refuseUnfitMemory(cli: Cli, id: string, source: string, config: OpenClawConfig): Promise<void> {
  const trial = await tryPlugin(cli, { ...(await requireConfig(cli)), config }, source, id);
  if (trial.kind === "ok") return;
  throw new CliError(`Plugin "${id}" cannot be the memory yet: ${trial.reason}`, { fix: trial.kind === "unconfigured" ? `Set plugins.entries.${id}.config, then: openclaw plugins enable ${id}` : "openclaw plugins doctor" });
}

async function disable(cli: Cli, id: string): Promise<void> {
  const { config } = await requireConfig(cli);
  const { plugins } = await (await openCatalog(cli)).inspect(config);
  if (!plugins.some((known) => known.id === id) && config.plugins?.entries?.[id] === undefined) throw notFound(id);
  await createWriter(cli).set(["plugins", "entries", id, "enabled"], false);
  cli.print(`Disabled plugin "${id}". ${RESTART}`);
}

async function update(cli: Cli, id: string | undefined, flags: { all?: boolean; dryRun?: boolean }): Promise<void> {
  if (id === undefined && !flags.all) throw new CliError("Say which plugin, or --all.", { fix: "openclaw plugins list shows what is installed." });
  const outcomes = await refusals((await openInstaller(cli)).update(id === undefined ? "all" : [id], {
    dryRun: flags.dryRun,
    confirmDrift: async ({ id: drifted, spec, expected, actual }) => {
      cli.note(cli.paint("warn", `${drifted}: the registry gives other bytes for ${spec} than before (${expected} → ${actual}).`));
      // A script has nobody who could look at it first.
      return cli.isTty && createPrompter(cli).confirm({ message: `Take them for ${drifted} all the same?`, initialValue: false });
    },
  }));
  if (outcomes.length === 0) cli.print("No plugin came from the registry.");
  for (const outcome of outcomes) cli.print(updateLine(outcome));
  if (outcomes.some(({ kind }) => kind === "failed")) cli.exitCode = 1;
  if (outcomes.some(({ kind }) => kind === "updated")) cli.print(RESTART);
}

function updateLine(outcome: UpdateOutcome): string {
  switch (outcome.kind) {
    case "updated":
      return `${outcome.id}: ${outcome.from ?? "?"} → ${outcome.to ?? "?"}`;
    case "would-update":
      return `${outcome.id}: would go from ${outcome.from ?? "?"} to ${outcome.to ?? "?"}`;
    case "unchanged":
      return `${outcome.id}: up to date (${outcome.version ?? "?"})`;
    case "skipped":
    case "failed":
      return `${outcome.id}: ${outcome.kind}: ${outcome.reason}`;
  }
}

async function uninstall(cli: Cli, id: string, flags: { keepFiles?: boolean; keepConfig?: boolean; dryRun?: boolean }): Promise<void> {
  const { removed } = await refusals((await openInstaller(cli)).uninstall(id, { keepFiles: flags.keepFiles === true || flags.keepConfig === true, dryRun: flags.dryRun }));
  for (const what of removed) cli.print(`${flags.dryRun ? "Would remove" : "Removed"} ${what}`);
  if (!flags.dryRun) cli.print(`Uninstalled plugin "${id}". Restart the gateway to let it go.`);
}

async function trust(cli: Cli, path: string): Promise<void> {
  const { createPluginTrust } = await import("../../plugins/index.ts");
  try {
    const real = await createPluginTrust(cli.paths.stateDir, Date.now).trust(path);
    cli.print(`Trusted ${shortenHome(real, cli.paths.home)} as it is now; when its files change, it has to be trusted again. ${RESTART}`);
  } catch (err) {
    throw new CliError(`${path} cannot be trusted: ${err instanceof Error ? err.message : String(err)}`, { cause: err });
  }
}

async function doctor(cli: Cli): Promise<void> {
  const service = await loadPlugins(cli, await tolerateConfig(cli));
  const { plugins, diagnostics } = service.list();
  const failed = plugins.filter(({ status }) => status === "error");
  if (failed.length === 0 && diagnostics.length === 0) return cli.print("No plugin issues detected.");
  for (const plugin of failed) cli.print(cli.paint("error", `${plugin.id}: ${plugin.error ?? "failed"} (${shortenHome(plugin.source, cli.paths.home)})`));
  const rest = diagnostics.filter(({ pluginId, message }) => !failed.some((plugin) => plugin.id === pluginId && plugin.error === message));
  for (const { level, message, pluginId } of rest) cli.print(cli.paint(level, `${level}: ${pluginId === undefined ? "" : `${pluginId}: `}${message}`));
  cli.exitCode = failed.length > 0 ? 1 : 0;
}
