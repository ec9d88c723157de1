import type { Command } from "commander";
import type { ConfigSnapshot } from "../config/index.ts";
import { connectGateway, describeTarget, GatewayConnectError, resolveTarget, type GatewayClient, type GatewayTarget } from "../gateway/client/index.ts";
import { errorText } from "../infra/errors.ts";
import type { Cli } from "./cli.ts";
import { createCliLogger, tolerateConfig } from "./config-access.ts";
import { CliError } from "./errors.ts";
import { timeoutMs } from "./parse.ts";

export interface RpcFlags {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly password?: string | undefined;
  readonly timeout: number;
  readonly expectFinal?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** The client flags of spec cli-and-ui §3. */
export function addRpcFlags(command: Command, defaultTimeoutMs = 10_000): Command {
  return command
    .option("--url <url>", "gateway address; then --token or --password must be given too")
    .option("--token <token>", "gateway token")
    .option("--password <password>", "gateway password")
    .option("--timeout <ms>", "time limit in milliseconds", timeoutMs, defaultTimeoutMs)
    .option("--json", "print one JSON document");
}

export function targetOf(flags: Pick<RpcFlags, "url" | "token" | "password">, snapshot: ConfigSnapshot): GatewayTarget {
  try {
    return resolveTarget(flags, snapshot);
  } catch (err) {
    throw new CliError(errorText(err), { cause: err });
  }
}

/** @throws CliError with reason, target, source, config and bind when there is no connection */
export async function connect(cli: Cli, flags: Omit<RpcFlags, "timeout"> & { readonly timeout?: number | undefined }, snapshot: ConfigSnapshot, client?: { readonly probe: boolean }): Promise<GatewayClient> {
  const target = targetOf(flags, snapshot);
  try {
    return await connectGateway({
      target, version: cli.version, stateDir: cli.paths.stateDir, log: createCliLogger(cli), timeoutMs: flags.timeout,
      ...(client?.probe ? { client: { id: "openclaw-probe", mode: "probe" } as const } : {}),
    });
  } catch (err) {
    throw connectionError(err, target);
  }
}

export function connectionError(err: unknown, target: GatewayTarget): unknown {
  if (!(err instanceof GatewayConnectError)) return err;
  return new CliError(`${err.message}\n${describeTarget(target)}`, { code: err.code, fix: hintFor(err, target), details: { url: target.url, source: target.source }, cause: err });
}

function hintFor(err: GatewayConnectError, target: GatewayTarget): string | undefined {
  const isElsewhere = target.source !== "local loopback";
  if (isElsewhere && err.code === "unreachable") return "Check the address, and that the gateway runs there.";
  const isBare = target.source === "cli --url" && !target.token && !target.password;
  if (isBare && err.code === "unauthorized") return "With --url the secrets of the configuration are not sent: give --token or --password.";
  return err.fix;
}

/** Runs `work` on one connection and closes it. */
export async function withGateway<T>(cli: Cli, flags: RpcFlags, work: (client: GatewayClient) => Promise<T>): Promise<T> {
  const snapshot = await tolerateConfig(cli);
  const client = await connect(cli, flags, snapshot);
  try {
    return await work(client);
  } catch (err) {
    throw err instanceof GatewayConnectError ? connectionError(err, targetOf(flags, snapshot)) : err;
  } finally {
    client.close();
  }
}

/** One call; the answer is foreign data. */
export const callGateway = (cli: Cli, flags: RpcFlags, method: string, params: unknown = {}): Promise<unknown> =>
  withGateway(cli, flags, (client) => client.request(method, params, { timeoutMs: flags.timeout, expectFinal: flags.expectFinal }));
