import type { Command } from "commander";
import type { GatewayClient } from "../../gateway/client/index.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../errors.ts";
import { formatAge, oneLine } from "../format.ts";
import { fieldsOf, numberOf, rowsOf, textOf, textsOf, type Fields } from "../read.ts";
import { addRpcFlags, callGateway, withGateway, type RpcFlags } from "../rpc.ts";
import { renderTable } from "../table.ts";

export function defineDevices(command: Command, cli: Cli): void {
  addRpcFlags(command.command("list").description("requests that wait, and paired devices")).action(async (flags: RpcFlags) => {
    const answer = await callGateway(cli, flags, "device.pair.list");
    if (flags.json) return cli.json(answer);
    printDevices(cli, answer);
  });
  addRpcFlags(command.command("approve").description("let a waiting device in").argument("[requestId]").option("--latest", "the newest request")).action(
    (requestId: string | undefined, flags: RpcFlags & { latest?: boolean }) =>
      withGateway(cli, flags, async (client) => {
        const id = requestId ?? (await onlyRequest(client, flags));
        const answer = fieldsOf(await client.request("device.pair.approve", { requestId: id }, { timeoutMs: flags.timeout }));
        if (flags.json) return cli.json(answer);
        const device = fieldsOf(answer["device"]);
        cli.print(`Approved ${nameOf(device)} (${textOf(device["deviceId"])}) as ${textsOf(device["roles"]).join(", ")}.`);
      }),
  );
  simple(cli, command, "reject", "turn a waiting device away", "<requestId>", (id) => ["device.pair.reject", { requestId: id }, `Rejected ${id}.`]);
  simple(cli, command, "remove", "forget a paired device; its connections close", "<deviceId>", (id) => ["device.pair.remove", { deviceId: id }, `Removed ${id}.`]);
  addRpcFlags(command.command("clear").description("forget all paired devices (and requests with --pending)").option("--pending", "turn away all waiting requests too").option("--yes", "really do it")).action(
    (flags: RpcFlags & { pending?: boolean; yes?: boolean }) => clear(cli, flags),
  );
  addRpcFlags(
    command.command("rotate").description("give a device a new token").requiredOption("--device <id>", "device id").requiredOption("--role <role>", "operator or node").option("--scope <scope...>", "scopes of the new token"),
  ).action(async (flags: RpcFlags & { device: string; role: string; scope?: string[] }) => {
    const answer = await callGateway(cli, flags, "device.token.rotate", { deviceId: flags.device, role: flags.role, ...(flags.scope ? { scopes: flags.scope } : {}) });
    if (flags.json) return cli.json(answer);
    cli.print(`New token for ${flags.device} (${flags.role}): ${textOf(fieldsOf(answer)["token"])}`);
  });
  addRpcFlags(command.command("revoke").description("make a device's token worthless").requiredOption("--device <id>", "device id").requiredOption("--role <role>", "operator or node")).action(
    async (flags: RpcFlags & { device: string; role: string }) => {
      const answer = await callGateway(cli, flags, "device.token.revoke", { deviceId: flags.device, role: flags.role });
      if (flags.json) return cli.json(answer);
      cli.print(`Revoked the ${flags.role} token of ${flags.device}.`);
    },
  );
}

function simple(cli: Cli, command: Command, name: string, summary: string, argument: string, plan: (id: string) => [string, object, string]): void {
  addRpcFlags(command.command(name).description(summary).argument(argument)).action(async (id: string, flags: RpcFlags) => {
    const [method, params, done] = plan(id);
    const answer = await callGateway(cli, flags, method, params);
    if (flags.json) return cli.json(answer);
    cli.print(done);
  });
}

const nameOf = (device: Fields): string => oneLine(textOf(device["displayName"]) || textOf(device["clientId"]) || "device", 60);

async function onlyRequest(client: GatewayClient, flags: { timeout: number; latest?: boolean }): Promise<string> {
  const pending = rowsOf(fieldsOf(await client.request("device.pair.list", {}, { timeoutMs: flags.timeout }))["pending"]);
  const [newest] = pending.toSorted((a, b) => (numberOf(b["ts"]) ?? 0) - (numberOf(a["ts"]) ?? 0));
  if (!newest) throw new CliError("No device waits for approval.");
  if (pending.length > 1 && !flags.latest) {
    throw new CliError(`${pending.length} devices wait: ${pending.map((row) => `${textOf(row["requestId"])} (${nameOf(row)})`).join(", ")}`, { fix: "Name one, or use --latest." });
  }
  return textOf(newest["requestId"]);
}

function clear(cli: Cli, flags: RpcFlags & { pending?: boolean; yes?: boolean }): Promise<void> {
  if (!flags.yes) throw new CliError("This forgets all paired devices; they have to pair again.", { fix: "Repeat it with --yes." });
  return withGateway(cli, flags, async (client) => {
    const own = client.hello.auth?.deviceToken;
    const listed = fieldsOf(await client.request("device.pair.list", {}, { timeoutMs: flags.timeout }));
    const rejected: string[] = [];
    const removed: string[] = [];
    if (flags.pending) {
      for (const row of rowsOf(listed["pending"])) {
        await client.request("device.pair.reject", { requestId: textOf(row["requestId"]) }, { timeoutMs: flags.timeout });
        rejected.push(textOf(row["requestId"]));
      }
    }
    // This machine goes last: its removal closes the connection that removes.
    const { deviceId: self } = await ownDevice(cli);
    const ids = rowsOf(listed["paired"]).map((row) => textOf(row["deviceId"]));
    for (const id of [...ids.filter((id) => id !== self), ...ids.filter((id) => id === self)]) {
      try {
        await client.request("device.pair.remove", { deviceId: id }, { timeoutMs: flags.timeout });
      } catch (err) {
        if (id !== self || own === undefined) throw err;
      }
      removed.push(id);
    }
    if (flags.json) cli.json({ removed, rejected });
    else cli.print(`Removed ${removed.length} devices${flags.pending ? `, turned away ${rejected.length} requests` : ""}.`);
  });
}

async function ownDevice(cli: Cli): Promise<{ deviceId: string }> {
  const { loadDeviceIdentity } = await import("../../pairing/index.ts");
  return loadDeviceIdentity(cli.paths.stateDir, Date.now());
}

function printDevices(cli: Cli, answer: unknown): void {
  const { pending, paired } = fieldsOf(answer);
  const now = Date.now();
  if (rowsOf(pending).length > 0) {
    cli.print(cli.paint.bold(`Pending (${rowsOf(pending).length})`));
    const rows = rowsOf(pending).map((row) => [
      textOf(row["requestId"]), nameOf(row), textsOf(row["roles"]).join(", "), textOf(row["remoteIp"]), formatAge(now - (numberOf(row["ts"]) ?? now)), row["isRepair"] === true ? "repair" : "",
    ]);
    cli.print(renderTable([{ title: "Request", flexible: true }, { title: "Device", flexible: true }, { title: "Role" }, { title: "IP" }, { title: "Age" }, { title: "Flags" }], rows, cli.columns));
  }
  if (rowsOf(paired).length > 0) {
    cli.print(cli.paint.bold(`Paired (${rowsOf(paired).length})`));
    const rows = rowsOf(paired).map((row) => [
      `${nameOf(row)} ${textOf(row["deviceId"])}`, textsOf(row["roles"]).join(", "), textsOf(row["scopes"]).join(", "),
      rowsOf(row["tokens"]).map((token) => `${textOf(token["role"])}${token["revokedAtMs"] ? " (revoked)" : ""}`).join(", "), textOf(row["remoteIp"]),
    ]);
    cli.print(renderTable([{ title: "Device", flexible: true }, { title: "Roles" }, { title: "Scopes", flexible: true }, { title: "Tokens" }, { title: "IP" }], rows, cli.columns));
  }
  if (rowsOf(pending).length + rowsOf(paired).length === 0) cli.print("No devices.");
}
