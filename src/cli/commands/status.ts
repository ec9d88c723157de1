import { arch, platform, release } from "node:os";
import type { Command } from "commander";
import { resolveGatewayPort, type ConfigSnapshot } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import { listAgentIds, resolveAgent, resolveDefaultAgentId } from "../../routing/index.ts";
import type { Cli } from "../cli.ts";
import { tolerateConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { formatAge, formatCount, formatDuration, oneLine, shortenHome } from "../format.ts";
import { agentRoots, openSessions } from "../library.ts";
import { timeoutMs } from "../parse.ts";
import { fieldsOf, numberOf, rowsOf, textOf, textsOf, type Fields } from "../read.ts";
import { connect, targetOf } from "../rpc.ts";
import { renderTable } from "../table.ts";

interface StatusFlags {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly deep?: boolean;
  readonly usage?: boolean;
  readonly verbose?: boolean;
  readonly timeout: number;
}

export function defineStatus(command: Command, cli: Cli): void {
  command
    .option("--json", "print one JSON document")
    .option("--all", "everything, for a bug report")
    .option("--usage", "what the providers' subscriptions have left")
    .option("--deep", "ask the channels' platforms too")
    .option("--timeout <ms>", "time limit in milliseconds", timeoutMs, 10_000)
    .option("--verbose", "more detail")
    .option("--debug", "same as --verbose")
    .action((flags: StatusFlags) => status(cli, flags));
}

interface Live {
  readonly status: Fields;
  readonly health: Fields | undefined;
  readonly channels: Fields;
  readonly usage: Fields | undefined;
  readonly latencyMs: number;
  readonly version: string;
}

interface Report {
  readonly snapshot: ConfigSnapshot;
  readonly url: string;
  readonly source: string;
  readonly live: Live | undefined;
  readonly error: CliError | undefined;
}

/** Exit 0 with the gateway down: that is an answer (spec: cli-and-ui §3.1). */
async function status(cli: Cli, flags: StatusFlags): Promise<void> {
  const snapshot = await tolerateConfig(cli);
  const { url, source } = targetOf({}, snapshot);
  let report: Report;
  try {
    report = { snapshot, url, source, live: await ask(cli, flags, snapshot), error: undefined };
  } catch (err) {
    report = { snapshot, url, source, live: undefined, error: err instanceof CliError ? err : new CliError(errorText(err), { cause: err }) };
  }
  if (flags.json) cli.json(await toJson(cli, report, flags));
  else await printStatus(cli, report, flags);
}

async function ask(cli: Cli, flags: StatusFlags, snapshot: ConfigSnapshot): Promise<Live> {
  const started = performance.now();
  const client = await connect(cli, { timeout: flags.timeout }, snapshot);
  const latencyMs = Math.round(performance.now() - started);
  try {
    const limit = { timeoutMs: flags.timeout };
    const [answer, health, channels, usage] = await Promise.all([
      client.request("status", {}, limit),
      flags.deep ? client.request("health", { probe: true }, limit) : undefined,
      client.request("channels.status", flags.deep ? { probe: true } : {}, limit),
      flags.usage ? client.request("usage.status", {}, limit) : undefined,
    ]);
    return { status: fieldsOf(answer), health: health === undefined ? undefined : fieldsOf(health), channels: fieldsOf(channels), usage: usage === undefined ? undefined : fieldsOf(usage), latencyMs, version: client.hello.server.version };
  } finally {
    client.close();
  }
}

const reasonOf = (error: CliError | undefined): string => error?.message.split("\n")[0] ?? "";

async function toJson(cli: Cli, { snapshot, url, source, live, error }: Report, flags: StatusFlags): Promise<unknown> {
  const agents = listAgentIds(snapshot.config).map((id) => ({ id, workspaceDir: resolveAgent(snapshot.config, id, agentRoots(cli)).workspaceDir }));
  const findings = findingsOf(snapshot);
  return {
    ...(live ? { heartbeat: live.status["heartbeat"], channelSummary: live.status["channelSummary"], queuedSystemEvents: live.status["queuedSystemEvents"], sessions: live.status["sessions"], model: live.status["model"] } : { heartbeat: null, channelSummary: [], queuedSystemEvents: [], sessions: await storedSessions(cli, snapshot) }),
    os: { platform: platform(), arch: arch(), release: release(), label: `${platform()} ${release()} (${arch()})` },
    update: null,
    updateChannel: "stable",
    updateChannelSource: "default",
    memory: null,
    memoryPlugin: { enabled: false, slot: null },
    gateway: {
      mode: snapshot.config.gateway?.mode ?? "local", url, urlSource: source, misconfigured: !snapshot.valid, reachable: live !== undefined, connectLatencyMs: live?.latencyMs ?? null,
      self: live ? { version: live.version } : null, error: live ? null : reasonOf(error),
    },
    gatewayService: { label: "none", installed: false, loadedText: "not installed" },
    nodeService: { label: "none", installed: false, loadedText: "not installed" },
    agents: { defaultId: resolveDefaultAgentId(snapshot.config), agents },
    securityAudit: { ts: Date.now(), summary: { critical: 0, warn: findings.length, info: 0 }, findings },
    ...(live && flags.deep ? { health: live.health, channels: live.channels } : {}),
    ...(live?.usage ? { usage: live.usage } : {}),
  };
}

async function storedSessions(cli: Cli, snapshot: ConfigSnapshot): Promise<unknown> {
  const service = await openSessions(cli, snapshot);
  const rows = await service.all();
  const ids = listAgentIds(snapshot.config);
  return {
    paths: ids.map((id) => service.storeFor(id).path), count: rows.length, defaults: { model: null, contextTokens: null },
    recent: rows.toSorted((a, b) => b.entry.updatedAt - a.entry.updatedAt).slice(0, 10).map(({ agentId, key, entry }) => ({ agentId, key, updatedAt: entry.updatedAt, age: Date.now() - entry.updatedAt })),
    byAgent: ids.map((agentId) => ({ agentId, count: rows.filter((row) => row.agentId === agentId).length })),
  };
}

interface Finding {
  readonly checkId: string;
  readonly severity: "warn";
  readonly title: string;
  readonly detail: string;
}

/** What stands in the config and opens more than the defaults do. */
function findingsOf(snapshot: ConfigSnapshot): Finding[] {
  const { gateway } = snapshot.config;
  const bind = gateway?.bind ?? "loopback";
  const found: Finding[] = [];
  if (gateway?.auth?.mode === "none") found.push({ checkId: "gateway.auth.none", severity: "warn", title: "The gateway asks nobody for a secret", detail: "gateway.auth.mode is none" });
  if (bind !== "loopback" && bind !== "auto") found.push({ checkId: "gateway.bind", severity: "warn", title: "The gateway is reachable from other machines", detail: `gateway.bind is ${bind}` });
  for (const [id, section] of Object.entries(fieldsOf(snapshot.config.channels))) {
    if (fieldsOf(section)["dmPolicy"] === "open") found.push({ checkId: `channels.${id}.dm.open`, severity: "warn", title: `Anybody may write to ${id}`, detail: `channels.${id}.dmPolicy is open` });
  }
  return found;
}

async function printStatus(cli: Cli, report: Report, flags: StatusFlags): Promise<void> {
  const { snapshot, url, source, live, error } = report;
  const { config } = snapshot;
  const show = (path: string): string => shortenHome(path, cli.paths.home);
  const reachable = live ? cli.paint("success", `reachable ${live.latencyMs} ms`) : cli.paint("error", "unreachable");
  const model = fieldsOf(live?.status["model"]);
  const sessions = fieldsOf(live?.status["sessions"] ?? (await storedSessions(cli, snapshot)));
  const rows: (readonly [string, string])[] = [
    ["Dashboard", `http://127.0.0.1:${resolveGatewayPort(undefined, snapshot.env.vars, config).port}/`],
    ["OS", `${platform()} ${release()} (${arch()}) · node ${process.versions.node}`],
    ["Gateway", `${config.gateway?.mode ?? "local"} · ${url} (${source}) · ${reachable} · auth ${config.gateway?.auth?.mode ?? "token"}${live ? ` · version ${live.version} · up ${formatDuration(numberOf(live.status["uptimeMs"]) ?? 0)}` : ""}`],
    ["Agents", listAgentIds(config).map((id) => `${id}${id === resolveDefaultAgentId(config) ? " (default)" : ""}`).join(", ")],
    ...(live ? [["Model", `${textOf(model["ref"])} (${textOf(model["reason"])})`] as const] : []),
    ["Sessions", `${textOf(sessions["count"], "0")} · ${textsOf(sessions["paths"]).map(show).join(", ")}`],
    ...(flags.all ? [["Version", cli.version] as const, ["Config", `${show(snapshot.path)}${snapshot.exists ? "" : " (missing: defaults)"}`] as const, ["State", show(cli.paths.stateDir)] as const] : []),
  ];
  cli.print(cli.paint.bold("OpenClaw status"));
  cli.print(renderTable([{ title: "Item" }, { title: "Value", flexible: true }], rows, cli.columns));
  if (!live) {
    cli.print("");
    cli.print(cli.paint("error", error?.message ?? "The gateway did not answer."));
    if (error?.fix) cli.print(error.fix);
  } else printLive(cli, live, flags);
  const problems = [
    ...findingsOf(snapshot).map((f) => `${f.title} (${f.detail})`),
    ...snapshot.warnings.map((w) => `config ${w.path || "<root>"}: ${w.message}`),
    ...rowsOf(live?.status["channelIssues"]).map((issue) => `${textOf(issue["channel"])} ${textOf(issue["accountId"])}: ${textOf(issue["message"])}${issue["fix"] ? ` ${textOf(issue["fix"])}` : ""}`),
    ...rowsOf(fieldsOf(live?.status["plugins"])["faulty"]).map((plugin) => `plugin ${textOf(plugin["id"])}: ${textOf(plugin["error"])}`),
    ...(live?.status["configError"] ? [`The config on disk is broken, the last good one is in use: ${textOf(fieldsOf(live.status["configError"])["message"])}`] : []),
  ];
  if (problems.length > 0) {
    cli.print("");
    cli.print(cli.paint.bold("To look at"));
    for (const problem of problems) cli.print(cli.paint("warn", `- ${problem}`));
  }
  cli.print("");
  cli.print(cli.paint("muted", "More: openclaw status --all · openclaw logs --follow · openclaw doctor"));
}

function printLive(cli: Cli, live: Live, flags: StatusFlags): void {
  const summary = textsOf(live.status["channelSummary"]);
  cli.print("");
  cli.print(cli.paint.bold("Channels"));
  if (summary.length === 0) cli.print("No channel is configured. Add one: openclaw channels add --channel telegram --token <token>");
  for (const line of summary) cli.print(`- ${line}`);
  const recent = rowsOf(fieldsOf(live.status["sessions"])["recent"]);
  if (recent.length > 0) {
    cli.print("");
    cli.print(cli.paint.bold("Sessions"));
    const cells = recent.slice(0, flags.all ? 10 : 5).map((row) => {
      const total = numberOf(row["totalTokens"]);
      return [oneLine(textOf(row["key"]), 120), textOf(row["kind"]), formatAge(numberOf(row["age"]) ?? 0), textOf(row["model"], "-"), total === undefined ? "-" : `${formatCount(total)}${row["percentUsed"] === null ? "" : ` (${textOf(row["percentUsed"])}%)`}`];
    });
    cli.print(renderTable([{ title: "Key", flexible: true }, { title: "Kind" }, { title: "Age" }, { title: "Model", flexible: true }, { title: "Tokens" }], cells, cli.columns));
  }
  if (live.usage) printUsage(cli, live.usage);
  const delivery = fieldsOf(live.status["delivery"]);
  if ((numberOf(delivery["open"]) ?? 0) > 0) cli.print(`Messages on their way: ${textOf(delivery["open"])}`);
}

function printUsage(cli: Cli, usage: Fields): void {
  cli.print("");
  cli.print(cli.paint.bold("Usage"));
  const providers = rowsOf(usage["providers"]);
  if (providers.length === 0) cli.print("No login of a provider that tells what its subscription has left.");
  for (const provider of providers) {
    const plan = textOf(provider["plan"], "");
    const windows = rowsOf(provider["windows"]).map((window) => `${textOf(window["label"])} ${Math.round(100 - (numberOf(window["usedPercent"]) ?? 0))}% left`);
    cli.print(`- ${textOf(provider["displayName"])}${plan === "" ? "" : ` (${plan})`}: ${windows.length > 0 ? windows.join(", ") : textOf(provider["error"], "nothing told")}`);
  }
}
