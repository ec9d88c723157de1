import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import type { ConfigSnapshot } from "../../config/index.ts";
import { sleep } from "../../infra/backoff.ts";
import { errorText } from "../../infra/errors.ts";
import { redactSecrets } from "../../infra/redact.ts";
import { GatewayConnectError, type GatewayClient } from "../../gateway/client/index.ts";
import type { Cli } from "../cli.ts";
import { tolerateConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { timeoutMs, wholeNumber } from "../parse.ts";
import { fieldsOf, numberOf, textOf, textsOf } from "../read.ts";
import { connect } from "../rpc.ts";

interface LogFlags {
  readonly limit: number;
  readonly maxBytes: number;
  readonly follow?: boolean;
  readonly interval: number;
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly localTime?: boolean;
  readonly url?: string;
  readonly token?: string;
  readonly timeout: number;
}

interface Tail {
  readonly file: string;
  readonly cursor: number;
  readonly size: number;
  readonly lines: readonly string[];
  readonly truncated: boolean;
  readonly reset: boolean;
}

export function defineLogs(command: Command, cli: Cli): void {
  command
    .option("--limit <n>", "lines at most", wholeNumber(1, 5000), 200)
    .option("--max-bytes <n>", "bytes at most", wholeNumber(1, 1_000_000), 250_000)
    .option("--follow", "go on with what is written next")
    .option("--interval <ms>", "how often to look", wholeNumber(50, 600_000, "milliseconds"), 1000)
    .option("--json", "print JSON lines")
    .option("--plain", "without colour, full times")
    .option("--no-color", "without colour")
    .option("--local-time", "times of this machine's zone")
    .option("--url <url>", "gateway address; then --token must be given too")
    .option("--token <token>", "gateway token")
    .option("--timeout <ms>", "time limit in milliseconds", timeoutMs, 30_000)
    .option("--expect-final", "accepted without effect")
    .action(async (flags: LogFlags) => {
      try {
        await showLogs(cli, flags);
      } catch (err) {
        // This stream is JSON lines, so its errors are one line too (spec: cli-and-ui §6).
        if (!flags.json) throw err;
        const hint = err instanceof CliError ? err.fix : undefined;
        cli.note(JSON.stringify({ type: "error", message: errorText(err).split("\n")[0], error: errorText(err), details: err instanceof CliError ? err.details : undefined, hint }));
        cli.exitCode = 1;
      }
    });
}

async function showLogs(cli: Cli, flags: LogFlags): Promise<void> {
  const snapshot = await tolerateConfig(cli);
  let reader = await openReader(cli, flags, snapshot);
  const print = createPrinter(cli, flags);
  try {
    if (reader.notice !== undefined) print.notice(reader.notice);
    let tail = await reader.read(undefined);
    print.meta(tail);
    for (const line of tail.lines) print.line(line);
    if (tail.truncated && tail.lines.length < flags.limit) print.notice("Older lines were left out; raise --limit or --max-bytes to see them.");
    while (flags.follow) {
      await sleep(flags.interval);
      try {
        tail = await reader.read(tail);
      } catch (err) {
        // The gateway restarts or ends: the same file is read on, from the same place.
        if (!(err instanceof GatewayConnectError)) throw err;
        reader.close();
        reader = await openReader(cli, flags, snapshot);
        print.notice(reader.notice ?? "Connected again.");
        continue;
      }
      if (tail.reset) print.notice("The log was begun anew.");
      for (const line of tail.lines) print.line(line);
    }
  } finally {
    reader.close();
  }
}

interface Reader {
  readonly notice: string | undefined;
  read(after: Tail | undefined): Promise<Tail>;
  close(): void;
}

/** The gateway's own view; with the gateway down, the file of this state directory. */
async function openReader(cli: Cli, flags: LogFlags, snapshot: ConfigSnapshot): Promise<Reader> {
  let client: GatewayClient;
  try {
    client = await connect(cli, flags, snapshot);
  } catch (err) {
    const isHere = flags.url === undefined && snapshot.config.gateway?.mode !== "remote";
    if (!isHere || !(err instanceof CliError) || (err.code !== "unreachable" && err.code !== "timeout")) throw err;
    const file = await newestLog(cli, snapshot);
    return { notice: "The gateway is down; these are the last lines of its log file.", close: () => undefined, read: (after) => readFile(file, after?.cursor, flags) };
  }
  return {
    notice: undefined,
    close: () => client.close(),
    async read(after) {
      const answer = fieldsOf(await client.request("logs.tail", { limit: flags.limit, maxBytes: flags.maxBytes, ...(after ? { cursor: after.cursor } : {}) }, { timeoutMs: flags.timeout }));
      return {
        file: textOf(answer["file"]), cursor: numberOf(answer["cursor"]) ?? 0, size: numberOf(answer["size"]) ?? 0, lines: textsOf(answer["lines"]),
        truncated: answer["truncated"] === true, reset: answer["reset"] === true,
      };
    },
  };
}

async function newestLog(cli: Cli, snapshot: ConfigSnapshot): Promise<string> {
  const own = snapshot.config.logging?.file;
  if (own) return own;
  const names = (await readdir(cli.paths.logsDir).catch(() => [])).filter((name) => /^openclaw-\d{4}-\d{2}-\d{2}\.log$/.test(name)).sort();
  const newest = names.at(-1);
  if (newest === undefined) throw new CliError(`The gateway is down and has left no log in ${cli.paths.logsDir}.`, { fix: "Start it with `openclaw gateway`." });
  return join(cli.paths.logsDir, newest);
}

async function readFile(file: string, cursor: number | undefined, { limit, maxBytes }: LogFlags): Promise<Tail> {
  const size = await stat(file).then((info) => info.size, () => 0);
  const isReset = cursor !== undefined && cursor > size;
  const start = cursor === undefined || isReset || size - cursor > maxBytes ? Math.max(0, size - maxBytes) : cursor;
  const handle = await open(file, "r").catch((err: unknown) => {
    throw new CliError(`The log ${file} cannot be read: ${errorText(err)}`, { cause: err });
  });
  try {
    const bytes = Buffer.alloc(size - start);
    await handle.read(bytes, 0, bytes.length, start);
    const isPart = start > 0 && start !== cursor;
    const lines = bytes.toString("utf8").split("\n").slice(isPart ? 1 : 0).filter((line) => line !== "").map(redactSecrets);
    return { file, cursor: size, size, lines: lines.slice(-limit), truncated: isPart || lines.length > limit, reset: isReset };
  } finally {
    await handle.close();
  }
}

interface Printer {
  meta(tail: Tail): void;
  line(raw: string): void;
  notice(message: string): void;
}

function createPrinter(cli: Cli, flags: LogFlags): Printer {
  if (flags.json) {
    const put = (value: object): void => cli.print(JSON.stringify(value));
    return {
      meta: ({ file, cursor, size }) => put({ type: "meta", file, cursor, size }),
      line: (raw) => put(toEvent(raw)),
      notice: (message) => put({ type: "notice", message }),
    };
  }
  const isPretty = cli.isTty && !flags.plain;
  return {
    meta: (tail) => (isPretty ? cli.note(cli.paint("muted", `Log file: ${tail.file}`)) : undefined),
    notice: (message) => cli.note(isPretty ? cli.paint("muted", message) : message),
    line(raw) {
      const event = toEvent(raw);
      if (event.type === "raw") return cli.print(event.raw);
      const { time, level, subsystem, message } = event;
      const color = level === "error" || level === "fatal" ? "error" : level === "warn" ? "warn" : level === "info" ? "info" : "muted";
      if (isPretty) cli.print(`${cli.paint("muted", clockOf(time))} ${cli.paint(color, level)} ${cli.paint("accent", subsystem ?? "")} ${message}`);
      else cli.print(`${flags.localTime ? localIso(time) : time} ${level} ${subsystem ?? ""} ${message}`);
    },
  };
}

type LogEvent =
  | { readonly type: "raw"; readonly raw: string }
  | { readonly type: "log"; readonly time: string; readonly level: string; readonly subsystem?: string; readonly module?: string; readonly message: string; readonly raw: string };

/** Spec: cli-and-ui §6: names come from `_meta.name`, the message from the other positional parts. */
export function toEvent(raw: string): LogEvent {
  const line = parseJson(raw);
  const meta = fieldsOf(line?.["_meta"]);
  if (!line || Object.keys(meta).length === 0) return { type: "raw", raw };
  const bindings = parseJson(textOf(meta["name"]));
  const parts = Object.keys(line)
    .filter((key) => /^\d+$/.test(key))
    .toSorted((a, b) => Number(a) - Number(b))
    .map((key) => line[key])
    .filter((part, i) => !(i === 0 && typeof part === "string" && part === meta["name"]));
  const subsystem = textOf(bindings?.["subsystem"]);
  const module = textOf(bindings?.["module"]);
  return {
    type: "log", time: textOf(line["time"]) || textOf(meta["date"]), level: textOf(meta["logLevelName"], "info").toLowerCase(),
    ...(subsystem ? { subsystem } : {}), ...(module ? { module } : {}), message: parts.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" "), raw,
  };
}

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined; // shown as it stands
  }
}

const clockOf = (iso: string): string => (Number.isNaN(Date.parse(iso)) ? iso : new Date(iso).toTimeString().slice(0, 8));

function localIso(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const offset = -at.getTimezoneOffset();
  const pad = (n: number): string => String(Math.floor(Math.abs(n))).padStart(2, "0");
  return `${new Date(at.getTime() + offset * 60_000).toISOString().slice(0, -1)}${offset < 0 ? "-" : "+"}${pad(offset / 60)}:${pad(offset % 60)}`;
}
