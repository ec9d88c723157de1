import { resolveGatewayPort, type ConfigSnapshot } from "../../config/index.ts";
import { GatewayCallError } from "../../gateway/client/index.ts";
import { errorText } from "../../infra/errors.ts";
import { isLockOwnerAlive, readLockOwner } from "../../infra/file-lock.ts";
import { instanceLockPath } from "../../infra/instance-lock.ts";
import { logFileName } from "../../infra/log-sinks.ts";
import { describePortOwners, findPortOwners } from "../../infra/port-owner.ts";
import type { Cli } from "../cli.ts";
import { tolerateConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { shortenHome } from "../format.ts";
import { callGateway, connect, targetOf, type RpcFlags } from "../rpc.ts";

/** `gateway call`: the answer itself, as JSON. */
export async function gatewayCall(cli: Cli, method: string, flags: RpcFlags & { readonly params: string }): Promise<void> {
  let params: unknown;
  try {
    params = JSON.parse(flags.params);
  } catch (err) {
    throw new CliError(`--params is not JSON: ${errorText(err)}`, { cause: err });
  }
  try {
    cli.json(await callGateway(cli, flags, method, params));
  } catch (err) {
    if (err instanceof GatewayCallError && !flags.json) throw new CliError(`Gateway call failed: Error: ${err.message}`, { code: err.code, details: err.details, cause: err });
    throw err;
  }
}

interface Probe {
  readonly ok: boolean;
  readonly url: string;
  readonly latencyMs?: number;
  readonly version?: string;
  readonly error?: string;
  readonly fix?: string | undefined;
}

export async function probeGateway(cli: Cli, flags: Pick<RpcFlags, "url" | "token" | "password" | "timeout">, snapshot: ConfigSnapshot): Promise<Probe> {
  const { url } = targetOf(flags, snapshot);
  const started = performance.now();
  try {
    const client = await connect(cli, flags, snapshot, { probe: true });
    client.close();
    return { ok: true, url, latencyMs: Math.round(performance.now() - started), version: client.hello.server.version };
  } catch (err) {
    const [reason = ""] = errorText(err).split("\n");
    return { ok: false, url, error: reason, fix: err instanceof CliError ? err.fix : undefined };
  }
}

/** Spec: cli-and-ui §3.1 `gateway status`; exit 1 when a wanted probe fails. */
export async function gatewayStatus(cli: Cli, flags: RpcFlags & { readonly probe: boolean }): Promise<void> {
  const snapshot = await tolerateConfig(cli);
  const { port, source } = resolveGatewayPort(undefined, snapshot.env.vars, snapshot.config);
  const target = targetOf(flags, snapshot);
  const [rpc, listeners, owner] = await Promise.all([
    flags.probe ? probeGateway(cli, flags, snapshot) : undefined,
    findPortOwners(port),
    readLockOwner(instanceLockPath(cli.paths.configPath)).catch(() => undefined),
  ]);
  const runs = owner !== undefined && (await isLockOwnerAlive(owner));
  const bindMode = snapshot.config.gateway?.bind ?? "loopback";
  const logFile = snapshot.config.logging?.file ?? `${cli.paths.logsDir}/${logFileName(new Date())}`;
  if (rpc && !rpc.ok) cli.exitCode = 1;
  if (flags.json) {
    return cli.json({
      service: { label: "none", loaded: false, loadedText: "installed", notLoadedText: "not installed", command: null, runtime: { status: runs ? "running" : "stopped", ...(runs ? { pid: owner.pid } : {}) }, configAudit: { ok: true, issues: [] } },
      config: { cli: { path: snapshot.path, exists: snapshot.exists, valid: snapshot.valid }, daemon: null },
      gateway: { bindMode, bindHost: bindMode === "lan" ? "0.0.0.0" : "127.0.0.1", port, portSource: source, probeUrl: target.url, probeNote: target.source },
      port: { port, status: listeners.length > 0 ? "busy" : "free", listeners, hints: listeners.length > 0 ? describePortOwners(port, listeners) : [] },
      ...(rpc ? { rpc } : {}),
      extraServices: [],
      logFile,
    });
  }
  cli.print(`Runtime: ${runs ? `running (pid ${owner.pid})` : "not running"}`);
  cli.print(`Config: ${shortenHome(snapshot.path, cli.paths.home)}${snapshot.exists ? "" : " (missing: defaults)"}`);
  cli.print(`File logs: ${shortenHome(logFile, cli.paths.home)}`);
  cli.print(`Gateway: bind=${bindMode}, port=${port} (${source})`);
  cli.print(`Probe target: ${target.url}`);
  cli.print(`Dashboard: ${target.url.replace(/^ws/, "http")}/`);
  if (rpc) cli.print(rpc.ok ? cli.paint("success", `RPC probe: ok (${rpc.latencyMs} ms, version ${rpc.version})`) : cli.paint("error", `RPC probe: failed (${rpc.error})`));
  if (rpc && !rpc.ok && rpc.fix) cli.print(rpc.fix);
  cli.print(listeners.length > 0 ? `Listening: ${listeners.map((l) => `${l.address} pid ${l.pid}`).join(", ")}` : `Port ${port} is free.`);
}

/** `gateway probe`: the configured gateway, and loopback when that is another one. */
export async function gatewayProbe(cli: Cli, flags: RpcFlags): Promise<void> {
  const started = Date.now();
  const snapshot = await tolerateConfig(cli);
  const main = await probeGateway(cli, flags, snapshot);
  const targets = [{ id: flags.url ? "explicit" : snapshot.config.gateway?.mode === "remote" ? "remote" : "localLoopback", ...main }];
  const ok = targets.some((target) => target.ok);
  if (!ok) cli.exitCode = 1;
  if (flags.json) {
    return cli.json({
      ok, ts: started, durationMs: Date.now() - started, timeoutMs: flags.timeout, primaryTargetId: targets.find((t) => t.ok)?.id ?? null, warnings: [],
      network: { localLoopbackUrl: `ws://127.0.0.1:${resolveGatewayPort(undefined, snapshot.env.vars, snapshot.config).port}` }, discovery: { count: 0, beacons: [] }, targets,
    });
  }
  for (const target of targets) cli.print(target.ok ? `${target.url}: ok (${target.latencyMs} ms, version ${target.version})` : `${target.url}: ${target.error}`);
}
