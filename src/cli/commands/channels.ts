import type { Command } from "commander";
import type { ChannelPlugin, ChannelSetupInput } from "../../channels/contract/index.ts";
import type { ConfigSnapshot } from "../../config/index.ts";
import type { Cli } from "../cli.ts";
import { createWriter, requireConfig, tolerateConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { formatAge } from "../format.ts";
import type { OfferedChannel } from "../../plugins/index.ts";
import { installPlugin } from "../plugin-installer.ts";
import { allChannels, openCatalog } from "../plugins.ts";
import { createPrompter } from "../prompter.ts";
import { timeoutMs } from "../parse.ts";
import { fieldsOf, numberOf, rowsOf, textOf, textsOf, type Fields } from "../read.ts";
import { callGateway, connect } from "../rpc.ts";

interface AddFlags extends ChannelSetupInput {
  readonly channel?: string;
  readonly account?: string;
}

export function defineChannels(command: Command, cli: Cli): void {
  command
    .command("list")
    .description("configured accounts")
    .option("--no-usage", "accepted without effect")
    .option("--json", "print one JSON document")
    .action((flags: { json?: boolean }) => list(cli, flags.json === true));
  command
    .command("status")
    .description("what runs and what is wrong")
    .option("--probe", "ask the platforms")
    .option("--timeout <ms>", "time limit in milliseconds", timeoutMs, 10_000)
    .option("--json", "print one JSON document")
    .action((flags: { probe?: boolean; timeout: number; json?: boolean }) => status(cli, flags));
  command
    .command("add")
    .description("add or change an account")
    .option("--channel <name>", "which platform")
    .option("--account <id>", "which account (default: default)")
    .option("--name <name>", "label of the account")
    .option("--token <token>", "bot token")
    .option("--token-file <path>", "file that holds the token")
    .option("--use-env", "take the token from the environment")
    .option("--bot-token <token>", "bot token (Slack)")
    .option("--app-token <token>", "app token (Slack)")
    .action((flags: AddFlags) => add(cli, flags));
  command
    .command("remove")
    .description("switch an account off, or delete it")
    .option("--channel <name>", "which platform")
    .option("--account <id>", "which account (default: default)")
    .option("--delete", "delete its configuration")
    .action((flags: { channel?: string; account?: string; delete?: boolean }) => remove(cli, flags));
  command
    .command("logout")
    .description("sign an account out: stops it and removes its token from the configuration")
    .option("--channel <channel>", "which platform")
    .option("--account <id>", "which account")
    .action(async (flags: { channel?: string; account?: string }) => {
      const channel = await findChannel(cli, flags.channel);
      const answer = fieldsOf(await callGateway(cli, { timeout: 30_000 }, "channels.logout", { channel: channel.id, ...(flags.account ? { accountId: flags.account } : {}) }));
      cli.print(answer["cleared"] === true ? `Logged out of ${channel.meta.label}.` : `${channel.meta.label} had no session.`);
      if (answer["cleared"] === true && answer["loggedOut"] === false) cli.note("A token in the environment stays: remove it there, or the next start of the gateway signs in again.");
    });
}

interface Lookup {
  readonly found?: ChannelPlugin | undefined;
  /** The plugin that would bring it. */
  readonly offer?: OfferedChannel | undefined;
  readonly refusal: CliError;
}

async function lookUp(cli: Cli, wanted: string | undefined): Promise<Lookup> {
  const id = wanted?.trim().toLowerCase();
  const snapshot = await tolerateConfig(cli);
  const channels = await allChannels(cli, snapshot, id);
  const found = channels.find((channel) => channel.id === id) ?? channels.find((channel) => id !== undefined && channel.meta.aliases?.includes(id));
  const offered = found ? [] : await offeredChannels(cli);
  const offer = id === undefined ? undefined : offered.find((channel) => channel.id === id || channel.aliases.includes(id));
  if (offer) return { offer, refusal: new CliError(`${offer.label} is brought by a plugin that is not installed.`, { fix: `openclaw plugins install ${offer.spec}` }) };
  const more = offered.length === 0 ? "" : `\nWith a plugin: ${offered.map((channel) => channel.id).join(", ")}`;
  return { found, refusal: new CliError(wanted === undefined ? "Say which channel: --channel <name>." : `Unknown channel: ${wanted}`, { fix: `Channels: ${found ? "" : (await knownIds(cli, snapshot, channels)).join(", ")}${more}` }) };
}

/** Channels that are there, those of plugins that are off among them. */
async function knownIds(cli: Cli, snapshot: ConfigSnapshot, channels: readonly ChannelPlugin[]): Promise<string[]> {
  const { candidates } = await (await openCatalog(cli)).discover(snapshot.config);
  return [...new Set([...channels.map(({ id }) => id), ...candidates.flatMap(({ manifest }) => manifest.channels)])];
}

async function findChannel(cli: Cli, wanted: string | undefined): Promise<ChannelPlugin> {
  const { found, refusal } = await lookUp(cli, wanted);
  if (!found) throw refusal;
  return found;
}

/** Channels of the catalogs that are not there yet. */
async function offeredChannels(cli: Cli): Promise<readonly OfferedChannel[]> {
  const { readExternalCatalog } = await import("../../plugins/index.ts");
  const { channels, problems } = await readExternalCatalog({ env: cli.env, stateDir: cli.paths.stateDir });
  for (const problem of problems) cli.note(cli.paint("warn", problem));
  return channels;
}

/** The channel to add; a plugin that brings it is installed first, when the person agrees. */
async function channelToAdd(cli: Cli, wanted: string | undefined): Promise<ChannelPlugin> {
  const { found, offer, refusal } = await lookUp(cli, wanted);
  if (found) return found;
  if (!offer) throw refusal;
  if (!(await createPrompter(cli).confirm({ message: `${offer.label} needs a plugin. Install ${offer.spec}?` }))) throw refusal;
  await installPlugin(cli, offer.spec);
  return findChannel(cli, offer.id);
}

async function list(cli: Cli, isJson: boolean): Promise<void> {
  const snapshot = await requireConfig(cli);
  const { config } = snapshot;
  const found = (await allChannels(cli, snapshot)).map((channel) => ({
    channel,
    accounts: channel.config.listAccountIds(config).map((id) => {
      const account = channel.config.resolveAccount(config, id);
      return { id, enabled: channel.config.isEnabled(account, config), problem: channel.config.unconfiguredReason(account, config) };
    }),
  }));
  const profiles = Object.entries(config.auth?.profiles ?? {}).map(([id, profile]) => ({ id, provider: profile.provider, type: profile.mode }));
  if (isJson) {
    const chat = Object.fromEntries(found.map(({ channel, accounts }) => [channel.id, accounts.filter((a) => a.problem === undefined).map((a) => a.id)] as const).filter(([, ids]) => ids.length > 0));
    return cli.json({ chat, auth: profiles, usage: null });
  }
  cli.print(cli.paint.bold("Chat channels"));
  for (const { channel, accounts } of found) {
    for (const account of accounts) {
      const state = account.problem === undefined ? (account.enabled ? "configured" : "configured, disabled") : "not configured";
      cli.print(`- ${channel.meta.label} ${account.id}: ${state}`);
    }
  }
  if (profiles.length === 0) return;
  cli.print(cli.paint.bold("Auth profiles"));
  for (const profile of profiles) cli.print(`- ${profile.id} (${profile.provider}, ${profile.type})`);
}

/** With the gateway down what the config says is told, and exit 1 (JSON: the error alone). */
async function status(cli: Cli, flags: { probe?: boolean; timeout: number; json?: boolean }): Promise<void> {
  const snapshot = await tolerateConfig(cli);
  let answer: unknown;
  try {
    const client = await connect(cli, { timeout: flags.timeout }, snapshot);
    try {
      answer = await client.request("channels.status", { ...(flags.probe ? { probe: true } : {}), timeoutMs: flags.timeout }, { timeoutMs: flags.timeout + 5000 });
    } finally {
      client.close();
    }
  } catch (err) {
    if (!flags.json && err instanceof CliError && snapshot.valid) await list(cli, false);
    throw err;
  }
  if (flags.json) return cli.json(answer);
  const sections = fieldsOf(snapshot.source["channels"]);
  for (const line of channelStatusLines(answer, { now: Date.now(), isSet: (channel) => sections[channel] !== undefined })) cli.print(line);
}

/** One line an account, and under it what is wrong and what to do; `isSet`: the configuration speaks of the channel. */
export function channelStatusLines(answer: unknown, { now, isSet }: { readonly now: number; readonly isSet: (channel: string) => boolean }): string[] {
  const { channelOrder, channelLabels, channelAccounts, channelIssues } = fieldsOf(answer);
  const lines = textsOf(channelOrder).flatMap((id) => rowsOf(fieldsOf(channelAccounts)[id]).flatMap((account) => {
    const accountId = textOf(account["accountId"]);
    const issues = rowsOf(channelIssues).filter((issue) => textOf(issue["channel"]) === id && textOf(issue["accountId"]) === accountId);
    const reason = isSet(id) && account["configured"] !== true ? textOf(account["unconfiguredReason"]) : "";
    const known = reason !== "" && !issues.some((issue) => textOf(issue["message"]) === reason) ? [{ message: reason }, ...issues] : issues;
    return [`- ${textOf(fieldsOf(channelLabels)[id], id)} ${accountId}: ${describeAccount(account, now)}`, ...known.flatMap(issueLines)];
  }));
  return lines.length > 0 ? lines : ["No channels."];
}

const issueLines = (issue: Fields): string[] => [`  ! ${textOf(issue["message"])}`, ...(textOf(issue["fix"]) === "" ? [] : [`    ${textOf(issue["fix"])}`])];

function describeAccount(account: Fields, now: number): string {
  const inbound = numberOf(account["lastInboundAt"]);
  const probe = fieldsOf(account["probe"]);
  const bots = [fieldsOf(probe["bot"]), fieldsOf(account["bot"])];
  const name = [probe["botName"], ...bots.flatMap((bot) => [bot["name"], bot["username"]])].map((one) => textOf(one)).find(Boolean);
  return [
    account["enabled"] === false ? "disabled" : "enabled",
    account["configured"] === true ? "configured" : "not configured",
    account["running"] === true ? "running" : "stopped",
    ...(account["connected"] === undefined ? [] : [account["connected"] === true ? "connected" : "not connected"]),
    ...(name === undefined ? [] : [`bot ${name}`]),
    ...(inbound === undefined ? [] : [`in ${formatAge(now - inbound)}`]),
    ...(probe["ok"] === undefined ? [] : [probe["ok"] === true ? "probe ok" : `probe failed (${textOf(probe["error"])})`]),
    ...(textOf(account["lastError"]) ? [`error: ${textOf(account["lastError"])}`] : []),
  ].join(", ");
}

async function add(cli: Cli, flags: AddFlags): Promise<void> {
  const channel = await channelToAdd(cli, flags.channel);
  if (!channel.setup) throw new CliError(`${channel.meta.label} cannot be added from here.`, { fix: `Set channels.${channel.id} with \`openclaw config set\`.` });
  const { config } = await requireConfig(cli);
  const account = flags.account ?? "default";
  const { channel: _channel, account: _account, ...input } = flags;
  const problem = channel.setup.validateInput(input);
  if (problem !== undefined) throw new CliError(problem);
  await createWriter(cli).mergePatch(channel.setup.applyAccountConfig(config, account, input));
  cli.print(`Added ${channel.meta.label} account "${account}". A running gateway starts it now, or within half a minute when it has to load the channel first.`);
}

async function remove(cli: Cli, flags: { channel?: string; account?: string; delete?: boolean }): Promise<void> {
  const channel = await findChannel(cli, flags.channel);
  const snapshot = await requireConfig(cli);
  const account = flags.account ?? channel.config.defaultAccountId(snapshot.config);
  const section = fieldsOf(fieldsOf(snapshot.source["channels"])[channel.id]);
  const named = Object.hasOwn(fieldsOf(section["accounts"]), account);
  if (!named && (account !== "default" || Object.keys(section).length === 0)) throw new CliError(`${channel.meta.label} has no account "${account}".`);
  const at = named ? ["channels", channel.id, "accounts", account] : ["channels", channel.id];
  if (flags.delete) await createWriter(cli).unset(at);
  else await createWriter(cli).set([...at, "enabled"], false);
  cli.print(flags.delete ? `Deleted ${channel.meta.label} account "${account}".` : `Switched off ${channel.meta.label} account "${account}"; --delete would remove its configuration.`);
}
