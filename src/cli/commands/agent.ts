import { randomBytes, randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { ConfigSnapshot } from "../../config/index.ts";
import { connectGateway, GatewayCallError, type GatewayClient } from "../../gateway/client/index.ts";
import type { Cli } from "../cli.ts";
import { createCliLogger, requireConfig, tolerateConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { oneOf, wholeNumber } from "../parse.ts";
import { fieldsOf, rowsOf, textOf, textsOf } from "../read.ts";
import { connect, targetOf } from "../rpc.ts";

interface AgentFlags {
  readonly message: string;
  readonly to?: string;
  readonly sessionId?: string;
  readonly agent?: string;
  readonly thinking?: string;
  readonly channel?: string;
  readonly replyTo?: string;
  readonly replyChannel?: string;
  readonly replyAccount?: string;
  readonly local?: boolean;
  readonly deliver?: boolean;
  readonly json?: boolean;
  readonly timeout: number;
}

const DEFAULT_TIMEOUT_S = 600;
/** What the way there and back may take beyond the run's own limit, ms. */
const GRACE_MS = 30_000;

export function defineAgent(command: Command, cli: Cli): void {
  command
    .requiredOption("-m, --message <text>", "what to say")
    .option("-t, --to <number>", "address of the person, for delivery and for the session")
    .option("--session-id <id>", "go on in this session")
    .option("--agent <id>", "which agent (default: the default agent's main session)")
    .option("--thinking <level>", "off, minimal, low, medium, high or xhigh", oneOf("off", "minimal", "low", "medium", "high", "xhigh"))
    .option("--verbose <on|off>", "accepted without effect")
    .option("--channel <channel>", "channel of the reply")
    .option("--reply-to <target>", "deliver to this address instead")
    .option("--reply-channel <channel>", "deliver on this channel instead")
    .option("--reply-account <id>", "deliver from this account instead")
    .option("--local", "run in this process, without a gateway")
    .option("--deliver", "send the reply to the channel")
    .option("--json", "print one JSON document")
    .option("--timeout <seconds>", "limit of the run", wholeNumber(0, 86_400, "seconds"), DEFAULT_TIMEOUT_S)
    .action((flags: AgentFlags) => runAgent(cli, flags));
}

async function runAgent(cli: Cli, flags: AgentFlags): Promise<void> {
  if (flags.message.trim() === "") throw new CliError("--message is empty.");
  if (flags.local) return embedded(cli, flags);
  const snapshot = await tolerateConfig(cli);
  let client: GatewayClient;
  try {
    client = await connect(cli, {}, snapshot);
  } catch (err) {
    if (!(err instanceof CliError) || (err.code !== "unreachable" && err.code !== "timeout") || snapshot.config.gateway?.mode === "remote") throw err;
    cli.note(`No gateway answers at ${targetOf({}, snapshot).url}; running in this process instead.`);
    return embedded(cli, flags);
  }
  try {
    const answer = await ask(client, flags);
    if (flags.json) cli.json(answer);
    else printResult(cli, fieldsOf(answer)["result"]);
  } finally {
    client.close();
  }
}

async function ask(client: GatewayClient, flags: AgentFlags): Promise<unknown> {
  try {
    return await client.request(
      "agent",
      {
        message: flags.message, idempotencyKey: randomUUID(), timeout: flags.timeout, agentId: flags.agent, sessionId: flags.sessionId, to: flags.to,
        thinking: flags.thinking, channel: flags.channel, replyTo: flags.replyTo, replyChannel: flags.replyChannel, replyAccountId: flags.replyAccount, deliver: flags.deliver,
      },
      { expectFinal: true, timeoutMs: flags.timeout === 0 ? 0 : flags.timeout * 1000 + GRACE_MS },
    );
  } catch (err) {
    if (err instanceof GatewayCallError) throw new CliError(err.message.replace(/^Error: /, ""), { code: err.code, details: err.details, cause: err });
    throw err;
  }
}

/** One turn on a gateway of this process, on a free port, without channels. The state directory must be free. */
async function embedded(cli: Cli, flags: AgentFlags): Promise<void> {
  if (flags.deliver) throw new CliError("--deliver needs a running gateway: it holds the channels.", { fix: "Start it with `openclaw gateway`." });
  const snapshot = await requireConfig(cli);
  const { createGateway, GatewayStartError } = await import("../../gateway/index.ts");
  await refuseWhileServed(cli);
  const token = randomBytes(24).toString("hex");
  const gateway = await createGateway({
    env: cli.env, paths: cli.paths, snapshot, version: cli.version, packageRoot: cli.packageRoot, port: 0, channels: false,
    overrides: { bind: "loopback", auth: "token", token, tailscale: "off" },
  }).catch((err: unknown) => {
    if (err instanceof GatewayStartError) throw new CliError(err.message, { fix: err.fix, cause: err });
    throw err;
  });
  try {
    await gateway.ready;
    const client = await connectGateway({ target: embeddedTarget(cli, snapshot, gateway.port, token), version: cli.version, stateDir: cli.paths.stateDir, log: createCliLogger(cli) });
    try {
      const { result } = fieldsOf(await ask(client, flags));
      if (flags.json) cli.json(result);
      else printResult(cli, result);
    } finally {
      client.close();
    }
  } finally {
    await gateway.close("stop");
  }
}

/** Two writers of one state directory would answer messages twice. */
async function refuseWhileServed(cli: Cli): Promise<void> {
  const { isLockOwnerAlive, readLockOwner } = await import("../../infra/file-lock.ts");
  const { instanceLockPath } = await import("../../infra/instance-lock.ts");
  const owner = await readLockOwner(instanceLockPath(cli.paths.configPath)).catch(() => undefined);
  if (!owner || !(await isLockOwnerAlive(owner))) return;
  throw new CliError(`A gateway (pid ${owner.pid}) works on this state directory; a second one beside it would answer messages twice.`, { fix: "Leave out --local to use that gateway." });
}

const embeddedTarget = (cli: Cli, snapshot: ConfigSnapshot, port: number, token: string): Parameters<typeof connectGateway>[0]["target"] => ({
  url: `${snapshot.config.gateway?.tls?.enabled ? "wss" : "ws"}://127.0.0.1:${port}`, source: "embedded", configPath: cli.paths.configPath, bind: "loopback", token, password: undefined,
  tlsFingerprint: undefined, isOwn: true,
});

function printResult(cli: Cli, result: unknown): void {
  const payloads = rowsOf(fieldsOf(result)["payloads"]);
  for (const payload of payloads) {
    const text = textOf(payload["text"]);
    if (text !== "") cli.print(text);
    const media = payload["mediaUrls"] === undefined ? [textOf(payload["mediaUrl"])] : textsOf(payload["mediaUrls"]);
    for (const url of media.filter(Boolean)) cli.print(`MEDIA: ${url}`);
  }
  if (payloads.length === 0) cli.print("No reply.");
}
