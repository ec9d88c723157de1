import type { Command } from "commander";
import { parseDurationMs } from "../../infra/duration.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../errors.ts";
import { formatDuration, oneLine } from "../format.ts";
import { wholeNumber } from "../parse.ts";
import { fieldsOf, numberOf, rowsOf, textOf, type Fields } from "../read.ts";
import { addRpcFlags, callGateway, type RpcFlags } from "../rpc.ts";
import { renderTable } from "../table.ts";

interface JobFlags extends RpcFlags {
  readonly name?: string;
  readonly description?: string;
  readonly disabled?: boolean;
  readonly enable?: boolean;
  readonly disable?: boolean;
  readonly deleteAfterRun?: boolean;
  readonly keepAfterRun?: boolean;
  readonly agent?: string;
  readonly clearAgent?: boolean;
  readonly session?: string;
  readonly wake?: string;
  readonly at?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly tz?: string;
  readonly stagger?: string;
  readonly exact?: boolean;
  readonly systemEvent?: string;
  readonly message?: string;
  readonly thinking?: string;
  readonly model?: string;
  readonly timeoutSeconds?: number;
  readonly announce?: boolean;
  readonly deliver?: boolean;
  readonly channel?: string;
  readonly to?: string;
  readonly bestEffortDeliver?: boolean;
}

/** Runs take as long as the agent takes. */
const RUN_TIMEOUT_MS = 15 * 60_000;

export function defineCron(command: Command, cli: Cli): void {
  addRpcFlags(command.command("status").description("whether jobs run, and when the next one is due")).action(async (flags: RpcFlags) => {
    const answer = await callGateway(cli, flags, "cron.status");
    if (flags.json) return cli.json(answer);
    const status = fieldsOf(answer);
    const next = numberOf(status["nextWakeAtMs"]);
    cli.print(`Cron: ${status["enabled"] === true ? "on" : "off"}, ${numberOf(status["jobs"]) ?? 0} job(s)${next === undefined ? "" : `, next ${formatWhen(next)}`}`);
    cli.print(`Store: ${textOf(status["storePath"])}`);
  });
  addRpcFlags(command.command("list").description("jobs, the next one first").option("--all", "disabled ones too")).action(async (flags: RpcFlags & { all?: boolean }) => {
    const answer = await callGateway(cli, flags, "cron.list", { includeDisabled: flags.all === true });
    if (flags.json) return cli.json(answer);
    printJobs(cli, rowsOf(fieldsOf(answer)["jobs"]));
  });
  jobFlags(addRpcFlags(command.command("add").alias("create").description("add a job").requiredOption("--name <name>", "what to call it").option("--disabled", "do not run it yet")), "now").action(async (flags: JobFlags) => {
    if (flags.systemEvent === undefined && flags.message === undefined) throw new CliError("What is the job to do?", { fix: "Give --system-event <text> for a reminder, or --message <text> for a task." });
    const job = { name: flags.name, enabled: flags.disabled !== true, schedule: requireSchedule(flags), ...jobFields(flags) };
    const answer = await callGateway(cli, flags, "cron.add", job);
    if (flags.json) return cli.json(answer);
    const added = fieldsOf(answer);
    const next = numberOf(fieldsOf(added["state"])["nextRunAtMs"]);
    cli.print(`Added ${oneLine(textOf(added["name"]), 60)} (${textOf(added["id"])})${next === undefined ? "" : `, first run ${formatWhen(next)}`}.`);
  });
  jobFlags(
    addRpcFlags(command.command("edit").description("change a job").argument("<id>").option("--name <name>", "what to call it").option("--enable", "let it run").option("--disable", "stop it").option("--clear-agent", "run it with the default agent")),
    undefined,
  ).action(async (id: string, flags: JobFlags) => {
    const schedule = scheduleOf(flags);
    const patch = {
      ...(flags.name === undefined ? {} : { name: flags.name }), ...(flags.enable ? { enabled: true } : flags.disable ? { enabled: false } : {}), ...(flags.clearAgent ? { agentId: null } : {}),
      ...(schedule ? { schedule } : {}), ...jobFields(flags),
    };
    if (Object.keys(patch).length === 0) throw new CliError("Nothing to change.", { fix: "Name at least one option; see openclaw cron edit --help." });
    const answer = await callGateway(cli, flags, "cron.update", { id, patch });
    if (flags.json) return cli.json(answer);
    cli.print(`Changed ${textOf(fieldsOf(answer)["name"])} (${id}).`);
  });
  addRpcFlags(command.command("rm").alias("remove").alias("delete").description("remove a job").argument("<id>")).action(async (id: string, flags: RpcFlags) => {
    const answer = await callGateway(cli, flags, "cron.remove", { id });
    if (flags.json) return cli.json(answer);
    if (fieldsOf(answer)["removed"] !== true) throw new CliError(`There is no job ${id}.`, { fix: "See openclaw cron list --all." });
    cli.print(`Removed ${id}.`);
  });
  for (const enabled of [true, false]) {
    addRpcFlags(command.command(enabled ? "enable" : "disable").description(enabled ? "let a job run" : "stop a job").argument("<id>")).action(async (id: string, flags: RpcFlags) => {
      const answer = await callGateway(cli, flags, "cron.update", { id, patch: { enabled } });
      if (flags.json) return cli.json(answer);
      cli.print(`${enabled ? "Enabled" : "Disabled"} ${id}.`);
    });
  }
  addRpcFlags(command.command("runs").description("past runs of a job, the newest first").requiredOption("--id <id>", "the job").option("--limit <n>", "how many", wholeNumber(1, 200, "runs"), 50)).action(
    async (flags: RpcFlags & { id: string; limit: number }) => {
      const answer = await callGateway(cli, flags, "cron.runs", { id: flags.id, limit: flags.limit });
      if (flags.json) return cli.json(answer);
      printRuns(cli, rowsOf(fieldsOf(answer)["entries"]));
    },
  );
  addRpcFlags(command.command("run").description("run a job now, and wait for its end").argument("<id>").option("--due", "only if its time has come")).action(async (id: string, flags: RpcFlags & { due?: boolean }) => {
    const answer = await callGateway(cli, { ...flags, timeout: Math.max(flags.timeout, RUN_TIMEOUT_MS) }, "cron.run", { id, mode: flags.due ? "due" : "force" });
    if (flags.json) return cli.json(answer);
    const { ran, reason } = fieldsOf(answer);
    cli.print(ran === true ? `Ran ${id}. See openclaw cron runs --id ${id}.` : `Not run: ${textOf(reason)}.`);
  });
}

function jobFlags(command: Command, wake: string | undefined): Command {
  return command
    .option("--description <text>", "a note")
    .option("--delete-after-run", "remove it after its run (default with --at)")
    .option("--keep-after-run", "keep it after its run")
    .option("--agent <id>", "agent that runs it")
    .option("--session <target>", "main (a reminder) or isolated (a task in a session of its own)")
    .option("--wake <mode>", "now or next-heartbeat", wake)
    .option("--at <when>", "once: an ISO time, or from now like 30m")
    .option("--every <duration>", "again and again, like 1h")
    .option("--cron <expr>", "cron expression of 5 or 6 fields")
    .option("--tz <iana>", "time zone of --cron")
    .option("--stagger <duration>", "spread full hours over this time")
    .option("--exact", "do not spread full hours")
    .option("--system-event <text>", "the text of a reminder")
    .option("--message <text>", "the message of a task")
    .option("--thinking <level>", "thinking level of the task")
    .option("--model <model>", "model of the task")
    .option("--timeout-seconds <n>", "longest time of a run, 0 for no limit", wholeNumber(0, 86_400, "seconds"))
    .option("--announce", "send the answer to the chat")
    .option("--deliver", "the same")
    .option("--no-deliver", "keep the answer in the log")
    .option("--channel <channel>", "channel of the answer (default: the last chat)")
    .option("--to <dest>", "chat of the answer")
    .option("--best-effort-deliver", "an answer that cannot be sent is no error")
    .option("--no-best-effort-deliver", "it is an error");
}

/** @throws CliError when not exactly one time is given */
function requireSchedule(flags: JobFlags): object {
  const schedule = scheduleOf(flags);
  if (!schedule) throw new CliError("When should it run?", { fix: "Use one of --at, --every and --cron." });
  return schedule;
}

function scheduleOf(flags: JobFlags): object | undefined {
  const given = [flags.at, flags.every, flags.cron].filter((value) => value !== undefined);
  if (given.length > 1) throw new CliError("Only one of --at, --every and --cron is possible.");
  if (flags.at !== undefined) {
    const inMs = parseDurationMs(flags.at.replace(/^\+/, ""), "ms");
    return { kind: "at", at: inMs === undefined || /^\d+$/.test(flags.at) ? flags.at : new Date(Date.now() + inMs).toISOString() };
  }
  if (flags.every !== undefined) {
    const everyMs = parseDurationMs(flags.every);
    if (everyMs === undefined || everyMs < 1) throw new CliError(`--every ${flags.every} is no duration.`, { fix: "Write it like 30m, 1h or 1d." });
    return { kind: "every", everyMs };
  }
  if (flags.cron === undefined) return undefined;
  const staggerMs = flags.exact ? 0 : flags.stagger === undefined ? undefined : parseDurationMs(flags.stagger);
  return { kind: "cron", expr: flags.cron, ...(flags.tz ? { tz: flags.tz } : {}), ...(staggerMs === undefined ? {} : { staggerMs }) };
}

function jobFields(flags: JobFlags): Record<string, unknown> {
  if (flags.systemEvent !== undefined && flags.message !== undefined) throw new CliError("A job is a reminder (--system-event) or a task (--message), not both.");
  const details = defined({ model: flags.model, thinking: flags.thinking, timeoutSeconds: flags.timeoutSeconds });
  const payload = flags.systemEvent !== undefined ? { kind: "systemEvent", text: flags.systemEvent } : flags.message !== undefined ? { kind: "agentTurn", message: flags.message, ...details } : Object.keys(details).length > 0 ? details : undefined;
  const asked = flags.announce === true || flags.deliver !== undefined || flags.channel !== undefined || flags.to !== undefined || flags.bestEffortDeliver !== undefined;
  const isSilent = flags.deliver === false && flags.announce !== true;
  return defined({
    description: flags.description, agentId: flags.agent, sessionTarget: flags.session, wakeMode: flags.wake, payload,
    deleteAfterRun: flags.keepAfterRun ? false : flags.deleteAfterRun,
    delivery: asked ? defined({ mode: isSilent ? "none" : "announce", channel: flags.channel, to: flags.to, bestEffort: flags.bestEffortDeliver }) : undefined,
  });
}

const defined = (fields: Record<string, unknown>): Record<string, unknown> => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function printJobs(cli: Cli, jobs: readonly Fields[]): void {
  if (jobs.length === 0) return cli.print("No jobs.");
  cli.print(renderTable([{ title: "Id" }, { title: "Name", flexible: true }, { title: "When", flexible: true }, { title: "Next" }, { title: "Last" }], jobs.map((job) => {
    const state = fieldsOf(job["state"]);
    const next = numberOf(state["nextRunAtMs"]);
    return [textOf(job["id"]), oneLine(textOf(job["name"]), 40), oneLine(scheduleText(fieldsOf(job["schedule"])), 40), job["enabled"] === false ? "off" : next === undefined ? "-" : formatWhen(next), textOf(state["lastStatus"]) || "-"];
  }), cli.columns));
}

function scheduleText(schedule: Fields): string {
  if (schedule["kind"] === "at") return `at ${textOf(schedule["at"])}`;
  if (schedule["kind"] === "every") return `every ${formatDuration(numberOf(schedule["everyMs"]) ?? 0)}`;
  return `${textOf(schedule["expr"])}${schedule["tz"] ? ` (${textOf(schedule["tz"])})` : ""}`;
}

function printRuns(cli: Cli, runs: readonly Fields[]): void {
  if (runs.length === 0) return cli.print("No runs yet.");
  cli.print(renderTable([{ title: "At" }, { title: "Status" }, { title: "Took" }, { title: "Delivery" }, { title: "Said", flexible: true }], runs.map((run) => [
    new Date(numberOf(run["runAtMs"]) ?? 0).toISOString(), textOf(run["status"]), formatDuration(numberOf(run["durationMs"]) ?? 0), textOf(run["deliveryStatus"]) || "-", oneLine(textOf(run["error"]) || textOf(run["summary"]), 60),
  ]), cli.columns));
}

function formatWhen(atMs: number): string {
  const waitMs = atMs - Date.now();
  return waitMs <= 0 ? "now" : `in ${formatDuration(waitMs)}`;
}
