import { resolveGatewayPort } from "../../config/index.ts";
import { sleep } from "../../infra/backoff.ts";
import { isLockOwnerAlive, readLockOwner } from "../../infra/file-lock.ts";
import { instanceLockPath } from "../../infra/instance-lock.ts";
import { isPortAnswering } from "../../infra/port-owner.ts";
import type { Cli } from "../cli.ts";
import { tolerateConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";

const STOP_WAIT_MS = 36_000;

/** Stops or restarts the gateway that holds the lock of this configuration. Nothing to stop is no failure. */
export async function signalGateway(cli: Cli, action: "stop" | "restart", isJson: boolean): Promise<void> {
  const service = { label: "foreground process", loaded: false };
  const owner = await readLockOwner(instanceLockPath(cli.paths.configPath)).catch(() => undefined);
  if (!owner || !(await isLockOwnerAlive(owner))) {
    const message = `No gateway of ${cli.paths.configPath} is running.`;
    if (action === "restart") throw new CliError(message, { fix: "Start it with `openclaw gateway`." });
    if (isJson) return cli.json({ action, ok: true, result: "not-loaded", message, service });
    return cli.print(message);
  }
  process.kill(owner.pid, action === "stop" ? "SIGTERM" : "SIGUSR1");
  if (action === "stop") {
    for (const end = Date.now() + STOP_WAIT_MS; await isLockOwnerAlive(owner); ) {
      if (Date.now() > end) throw new CliError(`The gateway (pid ${owner.pid}) does not end.`, { fix: `End it with: kill -9 ${owner.pid}` });
      await sleep(50);
    }
  } else await waitForPort(cli);
  const result = action === "stop" ? "stopped" : "restarted";
  if (isJson) return cli.json({ action, ok: true, result, service: { ...service, loaded: action === "restart" }, pid: owner.pid });
  cli.print(`Gateway ${result} (pid ${owner.pid}).`);
}

async function waitForPort(cli: Cli): Promise<void> {
  const { port } = resolveGatewayPort(undefined, cli.env, (await tolerateConfig(cli)).config);
  await sleep(200);
  for (const end = Date.now() + STOP_WAIT_MS; Date.now() < end && !(await isPortAnswering(port)); ) await sleep(50);
}
