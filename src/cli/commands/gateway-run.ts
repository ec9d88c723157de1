import module from "node:module";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { resolveGatewayPort, type ConfigSnapshot, type OpenClawConfig } from "../../config/index.ts";
import type { Gateway, GatewayOptions } from "../../gateway/index.ts";
import { errorText } from "../../infra/errors.ts";
import { LOG_LEVELS, type LogThreshold } from "../../infra/log.ts";
import { findPortOwners, stopPortOwners } from "../../infra/port-owner.ts";
import type { Cli } from "../cli.ts";
import { createWriter, readConfig, requireConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import type { RunFlags } from "./gateway.ts";

/** Longest time for an orderly end, ms; then the process ends anyway. */
const MAX_CLOSE_MS = 35_000;
/** A package manager passes Ctrl-C on that the terminal has sent already: within this time it is the same one, ms. */
const FORWARDED_MS = 500;
/** When Pi is surely loaded: its compiled code is kept then, in case the process is killed later. */
const LATE_FLUSH_MS = 10_000;
/**
 * How far the heap may grow over what lives in it before it is collected. By itself V8 goes by the machine's memory and lets a
 * small daemon on a large one grow to several times what it needs; this costs no measurable time.
 */
const HEAP_GROWTH = "--heap-growing-percent=80";

/**
 * `openclaw gateway`: serves until a signal. SIGTERM and SIGINT drain and end (a second one ends at once), SIGUSR1 or a restart asked
 * from inside builds the gateway anew in this process; under a supervisor the process ends instead and is started again.
 */
export async function runGateway(cli: Cli, flags: RunFlags): Promise<number> {
  setFlagsFromString(HEAP_GROWTH);
  await prepareState(cli, flags);
  let snapshot = await requireConfig(cli);
  checkStart(snapshot, flags);
  if (flags.force) await freePort(cli, resolveGatewayPort(flags.port, cli.env, snapshot.config).port);
  process.title = "openclaw-gateway";
  const signals = watchSignals(cli);
  try {
    for (let round = 0; ; round++) {
      const gateway = await open(cli, flags, snapshot);
      if (round === 0) announce(cli, gateway);
      const outcome = await serve(cli, gateway, signals);
      const lastGood = gateway.context.source.snapshot();
      await close(cli, gateway, outcome);
      if (outcome === "stop" || isSupervised(cli)) return 0;
      const fresh = await readConfig(cli);
      if (!fresh.valid) cli.note("The configuration on disk is invalid; the gateway goes on with the last good one. Run: openclaw doctor --fix");
      snapshot = fresh.valid ? fresh : lastGood;
    }
  } finally {
    signals.release();
  }
}

type Outcome = "stop" | "restart";

interface Signals {
  /** The next wish; one that came early is not lost. */
  next(): Promise<Outcome>;
  /** Allows SIGUSR1 or not, as the running gateway's config says. */
  mayRestart: () => boolean;
  release(): void;
}

function watchSignals(cli: Cli): Signals {
  let wish = Promise.withResolvers<Outcome>();
  let isEnding = false;
  let firstAt = 0;
  const end = (signal: NodeJS.Signals): void => {
    if (isEnding && performance.now() - firstAt < FORWARDED_MS) return;
    if (isEnding) process.exit(signal === "SIGINT" ? 130 : 143);
    isEnding = true;
    firstAt = performance.now();
    cli.note(`${signal} received, stopping (once more to end at once)`);
    wish.resolve("stop");
  };
  const restart = (): void => {
    if (signals.mayRestart()) wish.resolve("restart");
    else cli.note("SIGUSR1 ignored: commands.restart is false");
  };
  const signals: Signals = {
    async next() {
      const outcome = await wish.promise;
      if (outcome === "restart" && !isEnding) wish = Promise.withResolvers<Outcome>();
      return isEnding ? "stop" : outcome;
    },
    mayRestart: () => true,
    release() {
      process.off("SIGINT", end).off("SIGTERM", end).off("SIGUSR1", restart);
    },
  };
  process.on("SIGINT", end).on("SIGTERM", end).on("SIGUSR1", restart);
  return signals;
}

async function serve(cli: Cli, gateway: Gateway, signals: Signals): Promise<Outcome> {
  signals.mayRestart = () => gateway.context.config().commands?.restart !== false;
  const asked = Promise.withResolvers<Outcome>();
  const off = gateway.onRestart(() => asked.resolve("restart"));
  void gateway.ready.then(flushCompileCache, () => undefined); // a failed start-up is logged by the gateway
  const late = setTimeout(flushCompileCache, LATE_FLUSH_MS);
  late.unref();
  try {
    return await Promise.race([signals.next(), asked.promise]);
  } finally {
    clearTimeout(late);
    off();
  }
}

/** Else the cache is written on a clean exit only, and a gateway is rarely given one. */
function flushCompileCache(): void {
  module.flushCompileCache?.();
}

async function close(cli: Cli, gateway: Gateway, outcome: Outcome): Promise<void> {
  const limit = setTimeout(() => {
    cli.note(`The gateway did not end within ${MAX_CLOSE_MS / 1000} s; ending now. Unfinished work is taken up at the next start.`);
    process.exit(1);
  }, MAX_CLOSE_MS);
  await gateway.close(outcome);
  clearTimeout(limit);
}

async function open(cli: Cli, flags: RunFlags, snapshot: ConfigSnapshot): Promise<Gateway> {
  const { createGateway, GatewayStartError } = await import("../../gateway/index.ts");
  try {
    return await createGateway(toOptions(cli, flags, snapshot));
  } catch (err) {
    if (err instanceof GatewayStartError) throw new CliError(err.message, { fix: err.fix, cause: err });
    throw err;
  }
}

function toOptions(cli: Cli, flags: RunFlags, snapshot: ConfigSnapshot): GatewayOptions {
  const style = snapshot.config.logging?.consoleStyle ?? (cli.isTty ? "pretty" : "compact");
  return {
    env: cli.env,
    paths: cli.paths,
    snapshot,
    version: cli.version,
    packageRoot: cli.packageRoot,
    port: flags.port,
    overrides: { bind: flags.bind, auth: flags.auth, token: flags.token, password: flags.password, tailscale: flags.tailscale },
    console: { level: consoleLevel(cli, flags), style, color: cli.paint.enabled, write: (line) => cli.print(line) },
  };
}

function consoleLevel(cli: Cli, flags: RunFlags): LogThreshold | undefined {
  if (flags.verbose) return "debug";
  const level = cli.env["OPENCLAW_LOG_LEVEL"];
  return level === "silent" ? level : LOG_LEVELS.find((known) => known === level);
}

/** The token is for the eyes at the terminal; a pipe or a service log gets the address alone (spec: decisions §1.2). */
function announce(cli: Cli, gateway: Gateway): void {
  const base = gateway.context.config().gateway?.controlUi?.basePath?.replace(/^\/*|\/*$/g, "");
  const address = `${gateway.url}/${base ? `${base}/` : ""}`;
  cli.print(`Dashboard: ${address}${cli.isTty && gateway.token ? `#token=${encodeURIComponent(gateway.token)}` : ""}`);
}

/** Only a process that the supervisor itself started may leave its restart to it: a shell under systemd inherits INVOCATION_ID. */
function isSupervised(cli: Cli): boolean {
  if (cli.env["OPENCLAW_NO_RESPAWN"] === "1") return false;
  const has = (name: string): boolean => Boolean(cli.env[name]);
  return has("OPENCLAW_SERVICE_MARKER") || cli.env["SYSTEMD_EXEC_PID"] === String(process.pid) || (has("OPENCLAW_LAUNCHD_LABEL") && process.ppid === 1);
}

/** Spec: cli-and-ui §1.6 with decisions §1.1. What concerns exposure is checked by the gateway itself. @throws CliError */
function checkStart(snapshot: ConfigSnapshot, flags: RunFlags): void {
  const gateway = snapshot.config.gateway;
  if (gateway?.mode === "remote") {
    throw new CliError("Gateway start blocked: gateway.mode is remote, so this machine uses the gateway of another one.", { fix: "To run one here: openclaw config set gateway.mode local" });
  }
  const mode = flags.auth ?? gateway?.auth?.mode;
  if (mode === "password" && !(flags.password || gateway?.auth?.password || snapshot.env.get("OPENCLAW_GATEWAY_PASSWORD"))) {
    throw new CliError("Gateway auth is password, but no password is set.", { fix: "Set gateway.auth.password (or OPENCLAW_GATEWAY_PASSWORD), or pass --password." });
  }
}

async function freePort(cli: Cli, port: number): Promise<void> {
  try {
    for (const owner of await stopPortOwners(port)) cli.note(`force: ended pid ${owner.pid}${owner.command ? ` (${owner.command})` : ""} on port ${port}`);
  } catch (err) {
    throw new CliError(errorText(err), { cause: err });
  }
  if ((await findPortOwners(port)).length > 0) throw new CliError(`Port ${port} is still in use after --force.`, { fix: "Choose another --port." });
}

/** `--dev` and `--reset`. Only the dev profile, which is kept apart, can be emptied by a flag. */
async function prepareState(cli: Cli, flags: RunFlags): Promise<void> {
  const isDevProfile = cli.paths.profile === "dev";
  if (flags.reset) {
    if (!isDevProfile) throw new CliError("Use --reset with --dev.", { fix: "It empties profile dev only: openclaw --dev gateway --reset" });
    const gone = [cli.paths.configPath, cli.paths.credentialsDir, cli.paths.agentsDir, cli.paths.defaultWorkspace];
    for (const path of gone) await rm(path, { recursive: true, force: true });
    cli.note(`dev state emptied: ${gone.join(", ")}`);
  }
  if (!flags.dev && !isDevProfile) return;
  const snapshot = await requireConfig(cli);
  if (snapshot.exists) return;
  const { workspace, ...rest } = { workspace: isDevProfile ? cli.paths.defaultWorkspace : join(cli.paths.home, ".openclaw", "workspace-dev"), skipBootstrap: true };
  const config: OpenClawConfig = { gateway: { mode: "local", bind: "loopback" }, agents: { defaults: { workspace, ...rest } } };
  await createWriter(cli).mergePatch(config);
}
