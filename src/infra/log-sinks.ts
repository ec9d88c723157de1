import { appendFileSync, chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync, unlinkSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { DIR_MODE, FILE_MODE } from "./atomic-file.ts";
import { LOG_LEVELS, type LogRecord, type LogSink, type LogThreshold } from "./log.ts";

const KEEP_MS = 24 * 60 * 60_000 * 7;
const DEFAULT_MAX_BYTES = 500 * 1024 * 1024;

/** `openclaw-2026-11-30.log`, local date. */
export function logFileName(at: Date): string {
  const pad = (n: number): string => String(n).padStart(2, "0");
  return `openclaw-${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}.log`;
}

export interface FileSinkOptions {
  /** A fixed file, or a folder for dated files. */
  readonly target: () => { readonly file: string } | { readonly dir: string };
  readonly threshold: () => LogThreshold;
  readonly maxBytes: () => number | undefined;
}

export interface FileSink extends LogSink {
  currentFile(): string;
  close(): void;
}

/** JSON lines in the shape that log readers of the reference expect (spec cli-and-ui §6). */
export function createFileSink(options: FileSinkOptions): FileSink {
  let open: { path: string; fd: number; size: number; warned: boolean } | undefined;
  const host = hostname();

  function path(at: Date): string {
    const target = options.target();
    return "file" in target ? target.file : join(target.dir, logFileName(at));
  }

  function ensure(at: Date): NonNullable<typeof open> {
    const wanted = path(at);
    if (open?.path === wanted) return open;
    if (open) closeSync(open.fd);
    mkdirSync(dirname(wanted), { recursive: true, mode: DIR_MODE });
    const fd = openSync(wanted, "a", FILE_MODE);
    chmodSync(wanted, FILE_MODE);
    open = { path: wanted, fd, size: statSync(wanted).size, warned: false };
    if ("dir" in options.target()) removeOldLogs(dirname(wanted), basename(wanted));
    return open;
  }

  return {
    threshold: options.threshold,
    currentFile: () => path(new Date()),
    write(record) {
      try {
        const file = ensure(record.time);
        const line = `${toJsonLine(record, host)}\n`;
        if (file.size + line.length > (options.maxBytes() ?? DEFAULT_MAX_BYTES)) {
          if (file.warned) return;
          file.warned = true;
          appendFileSync(file.path, `${JSON.stringify({ "0": "log file is full; further lines are dropped (logging.maxFileBytes)", time: record.time.toISOString() })}\n`);
          return;
        }
        file.size += writeSync(file.fd, line);
      } catch {
        // A full or missing disk must not stop the gateway; the console sink still speaks.
      }
    },
    close() {
      if (open) closeSync(open.fd);
      open = undefined;
    },
  };
}

function removeOldLogs(dir: string, keep: string): void {
  for (const name of readdirSync(dir)) {
    if (!/^openclaw-\d{4}-\d{2}-\d{2}\.log$/.test(name) || name === keep) continue;
    if (Date.now() - statSync(join(dir, name)).mtimeMs > KEEP_MS) unlinkSync(join(dir, name));
  }
}

function toJsonLine(record: LogRecord, host: string): string {
  const name = JSON.stringify(record.bindings);
  return JSON.stringify({
    "0": name,
    "1": record.message,
    ...(record.fields ? { "2": record.fields } : {}),
    _meta: {
      runtime: "node", runtimeVersion: process.version, hostname: host, name, parentNames: ["openclaw"], date: record.time.toISOString(),
      logLevelId: LOG_LEVELS.indexOf(record.level) + 1, logLevelName: record.level.toUpperCase(),
    },
    time: record.time.toISOString(),
  });
}

const COLORS: Readonly<Record<string, string>> = { trace: "90", debug: "90", info: "36", warn: "33", error: "31", fatal: "31" };

export interface ConsoleSinkOptions {
  readonly threshold: () => LogThreshold;
  readonly style: () => "pretty" | "compact" | "json";
  readonly color: boolean;
  readonly write: (line: string) => void;
}

/** Lines for a person: `<time> [subsystem] message key=value`. */
export function createConsoleSink(options: ConsoleSinkOptions): LogSink {
  const paint = (text: string, code: string): string => (options.color ? `\u001B[${code}m${text}\u001B[0m` : text);
  return {
    threshold: options.threshold,
    write(record) {
      const style = options.style();
      if (style === "json") return options.write(JSON.stringify({ time: record.time.toISOString(), level: record.level, ...record.bindings, message: record.message, ...record.fields }));
      const { subsystem, ...rest } = record.bindings;
      const name = String(subsystem ?? "gateway").replace(/^(gateway|channels)\//, "").split("/").slice(-2).join("/");
      const fields = Object.entries({ ...rest, ...record.fields }).map(([key, value]) => `${key}=${short(value)}`).join(" ");
      const time = style === "pretty" ? record.time.toTimeString().slice(0, 8) : record.time.toISOString();
      const mark = record.level === "info" ? "" : `${record.level} `;
      options.write(`${paint(time, "90")} ${paint(`[${name}]`, COLORS[record.level] ?? "0")} ${mark}${record.message}${fields ? ` ${paint(fields, "90")}` : ""}`);
    },
  };
}

function short(value: unknown): string {
  if (typeof value === "string") return value.length > 300 ? `${value.slice(0, 300)}…` : value;
  if (typeof value === "object" && value !== null && "message" in value) return String(value.message);
  return JSON.stringify(value) ?? String(value);
}
