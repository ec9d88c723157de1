import type { Command } from "commander";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ifExists } from "../../infra/atomic-file.ts";
import { systemClock } from "../../infra/clock.ts";
import { errorText } from "../../infra/errors.ts";
import { addOwner, createChannelPairingStore, hasOwner, type ApprovedSender, type ChannelPairingStore } from "../../pairing/index.ts";
import type { Cli } from "../cli.ts";
import { createCliLogger, createWriter, requireConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { formatAge, oneLine } from "../format.ts";
import { connect } from "../rpc.ts";
import { renderTable } from "../table.ts";

interface ApproveFlags {
  readonly channel?: string;
  readonly account?: string;
  readonly notify?: boolean;
  readonly owner?: boolean;
}

/** Works on the state directory: a running gateway sees the change at once, none is needed. */
export function definePairing(command: Command, cli: Cli): void {
  command
    .command("list")
    .description("who asks to be let in")
    .argument("[channel]")
    .option("--channel <channel>", "only this channel")
    .option("--account <accountId>", "only this account")
    .option("--json", "print one JSON document")
    .action((argument: string | undefined, flags: { channel?: string; account?: string; json?: boolean }) => list(cli, flags.channel ?? argument, flags.account, flags.json === true));
  command
    .command("approve")
    .description("let a sender in; the first one on an installation without an owner becomes its owner")
    .argument("<codeOrChannel>", "the code, or the channel before it")
    .argument("[code]")
    .option("--channel <channel>", "channel of the code")
    .option("--account <accountId>", "account of the channel")
    .option("--notify", "tell the sender (needs a running gateway)")
    .option("--owner", "make the sender an owner, even if there is one")
    .option("--no-owner", "let the sender chat without becoming owner")
    .action((first: string, second: string | undefined, flags: ApproveFlags) => approve(cli, first, second, flags));
}

const openStore = (cli: Cli): ChannelPairingStore => createChannelPairingStore({ stateDir: cli.paths.stateDir, clock: systemClock, log: createCliLogger(cli) });

/** Channels that somebody ever knocked on. */
async function knownChannels(cli: Cli): Promise<string[]> {
  const names = (await ifExists(readdir(join(cli.paths.stateDir, "credentials")))) ?? [];
  return names.flatMap((name) => /^(.+)-pairing\.json$/.exec(name)?.[1] ?? []);
}

async function list(cli: Cli, channel: string | undefined, account: string | undefined, isJson: boolean): Promise<void> {
  const store = openStore(cli);
  const channels = channel === undefined ? await knownChannels(cli) : [channel];
  const found = channels.map((name) => ({ channel: name, requests: store.list(name, account) }));
  if (isJson) return cli.json(channel === undefined && found.length !== 1 ? { channels: found } : (found[0] ?? { channel: null, requests: [] }));
  const rows = found.flatMap(({ channel: name, requests }) =>
    requests.map((request) => [
      request.code, name, request.id, oneLine([request.meta?.["name"], request.meta?.["username"] && `@${request.meta["username"]}`].filter(Boolean).join(" "), 60),
      formatAge(Date.now() - Date.parse(request.createdAt)),
    ]),
  );
  if (rows.length === 0) return cli.print(channel === undefined ? "Nobody waits to be let in." : `Nobody waits to be let in on ${channel}.`);
  cli.print(renderTable([{ title: "Code" }, { title: "Channel" }, { title: "Sender" }, { title: "Name", flexible: true }, { title: "Asked" }], rows, cli.columns));
  cli.print("Let one in with: openclaw pairing approve <channel> <code>");
}

async function approve(cli: Cli, first: string, second: string | undefined, flags: ApproveFlags): Promise<void> {
  const code = second ?? first;
  const channel = flags.channel ?? (second === undefined ? undefined : first);
  const snapshot = await requireConfig(cli);
  const store = openStore(cli);
  let approved: ApprovedSender | undefined;
  for (const name of channel === undefined ? await knownChannels(cli) : [channel]) approved ??= await store.approve(name, code, flags.account);
  if (!approved) {
    const place = channel === undefined ? "" : ` on ${channel}`;
    throw new CliError(`No pending pairing request with code ${code}${place}.`, { fix: "Codes expire after 60 minutes; see `openclaw pairing list`." });
  }
  const who = `${approved.channel}:${approved.senderId}`;
  cli.print(`Approved ${who}: this sender may now chat.`);
  if (flags.owner ?? !hasOwner(snapshot.config)) {
    await addOwner(createWriter(cli), snapshot.config, who);
    cli.print(cli.paint("warn", `${who} is now an OWNER of this installation: files, commands and settings of this machine are open to that sender.`));
    cli.print("Take it back with: openclaw config unset commands.ownerAllowFrom");
  } else cli.print("The sender is not an owner; --owner would grant that.");
  if (flags.notify) await notify(cli, approved);
}

async function notify(cli: Cli, approved: ApprovedSender): Promise<void> {
  try {
    const client = await connect(cli, {}, await requireConfig(cli));
    try {
      await client.request("send", {
        channel: approved.channel, accountId: approved.accountId, to: approved.senderId, message: "✅ Access approved. You can chat now.", idempotencyKey: `paired:${approved.channel}:${approved.request.code}`,
      });
      cli.print("The sender was told.");
    } finally {
      client.close();
    }
  } catch (err) {
    cli.note(`The sender was approved but could not be told: ${errorText(err)}`);
  }
}
