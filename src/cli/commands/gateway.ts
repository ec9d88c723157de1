import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { oneOf, portNumber } from "../parse.ts";
import { addRpcFlags, type RpcFlags } from "../rpc.ts";
import { defineGatewayHealth } from "./health.ts";

export interface RunFlags {
  readonly port?: number;
  readonly bind?: string;
  readonly token?: string;
  readonly auth?: string;
  readonly password?: string;
  readonly tailscale?: string;
  readonly dev?: boolean;
  readonly reset?: boolean;
  readonly force?: boolean;
  readonly verbose?: boolean;
}

/** Spec: cli-commands.tsv, `openclaw gateway …`. */
export function defineGateway(command: Command, cli: Cli): void {
  // The flags stand on both: a sub-command sees those that were given before its name as well.
  const run = async (_flags: unknown, self: Command): Promise<void> => {
    cli.exitCode = await (await import("./gateway-run.ts")).runGateway(cli, self.optsWithGlobals<RunFlags>());
  };
  addRunFlags(command).action(run);
  addRunFlags(command.command("run").description("run the gateway in the foreground")).action(run);

  addRpcFlags(command.command("status").description("config, port and reachability of the gateway").option("--no-probe", "do not connect").option("--deep", "same (there are no services to search)")).action(
    async (_flags: unknown, self: Command) => (await import("./gateway-info.ts")).gatewayStatus(cli, self.optsWithGlobals<RpcFlags & { probe: boolean }>()),
  );
  addRpcFlags(
    command.command("call").description("call a method of the gateway").argument("<method>").option("--params <json>", "parameters as JSON", "{}").option("--expect-final", "wait for the last answer"),
  ).action(async (method: string, _flags: unknown, self: Command) => (await import("./gateway-info.ts")).gatewayCall(cli, method, self.optsWithGlobals<RpcFlags & { params: string }>()));
  defineGatewayHealth(command.command("health").description("health of the running gateway"), cli);
  addRpcFlags(command.command("probe").description("look for gateways: the configured one, and loopback"), 3000).action(async (_flags: unknown, self: Command) =>
    (await import("./gateway-info.ts")).gatewayProbe(cli, self.optsWithGlobals<RpcFlags>()),
  );
  for (const action of ["stop", "restart"] as const) {
    command
      .command(action)
      .description(`${action} the running gateway of this configuration`)
      .option("--json", "print one JSON document")
      .action(async (flags: { json?: boolean }) => (await import("./gateway-signal.ts")).signalGateway(cli, action, flags.json === true));
  }
}

function addRunFlags(command: Command): Command {
  return command
    .option("--port <port>", "port to listen on", portNumber)
    .option("--bind <mode>", "loopback, lan, tailnet, auto or custom", oneOf("loopback", "lan", "tailnet", "auto", "custom"))
    .option("--token <token>", "gateway token of this run")
    .option("--auth <mode>", "none, token, password or trusted-proxy", oneOf("none", "token", "password", "trusted-proxy"))
    .option("--password <password>", "gateway password of this run")
    .option("--tailscale <mode>", "off, serve or funnel", oneOf("off", "serve", "funnel"))
    .option("--tailscale-reset-on-exit", "undo the Tailscale setting at the end")
    .option("--allow-unconfigured", "accepted; a missing configuration counts as local anyway")
    .option("--dev", "write a development config and workspace if there is none")
    .option("--reset", "with profile dev: begin with empty state")
    .option("--force", "end whoever listens on the port first")
    .option("--verbose", "debug lines on the console")
    .option("--claude-cli-logs", "accepted without effect")
    .option("--ws-log <style>", "auto, full or compact", oneOf("auto", "full", "compact"), "auto")
    .option("--compact", "same as --ws-log compact")
    .option("--raw-stream", "accepted without effect")
    .option("--raw-stream-path <path>", "accepted without effect");
}

