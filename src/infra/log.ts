import { redactSecrets } from "./redact.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogThreshold = LogLevel | "silent";

export type LogFields = Readonly<Record<string, unknown>>;

/** Constant message, variable fields. Secrets are redacted by the logger, not by its callers. */
export interface Logger {
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  fatal(message: string, fields?: LogFields): void;
  /** A logger whose lines all carry `bindings`; `subsystem` names the room, e.g. `gateway/ws`. */
  child(bindings: LogFields): Logger;
}

export interface LogRecord {
  readonly time: Date;
  readonly level: LogLevel;
  readonly bindings: LogFields;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

export interface LogSink {
  /** Least level this sink takes; read for every line, so that a reload applies at once. */
  threshold(): LogThreshold;
  write(record: LogRecord): void;
}

const rank = (level: LogThreshold): number => (level === "silent" ? LOG_LEVELS.length : LOG_LEVELS.indexOf(level));

export function createLogger(sinks: readonly LogSink[], bindings: LogFields = {}): Logger {
  const log = (level: LogLevel, message: string, fields?: LogFields): void => {
    let record: LogRecord | undefined;
    for (const sink of sinks) {
      if (rank(level) < rank(sink.threshold())) continue;
      record ??= {
        time: new Date(),
        level,
        bindings,
        message: redactSecrets(message),
        fields: fields && toPlainFields(fields),
      };
      sink.write(record);
    }
  };
  return {
    trace: (m, f) => log("trace", m, f),
    debug: (m, f) => log("debug", m, f),
    info: (m, f) => log("info", m, f),
    warn: (m, f) => log("warn", m, f),
    error: (m, f) => log("error", m, f),
    fatal: (m, f) => log("fatal", m, f),
    child: (more) => createLogger(sinks, { ...bindings, ...more }),
  };
}

export const silentLogger: Logger = createLogger([]);

/** Errors become text with their cause; every string is redacted. */
function toPlainFields(fields: LogFields): LogFields {
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) plain[key] = toPlain(value, 0);
  return plain;
}

function toPlain(value: unknown, depth: number): unknown {
  if (typeof value === "string") return redactSecrets(value);
  if (value instanceof Error) {
    const cause = value.cause === undefined || depth > 3 ? undefined : toPlain(value.cause, depth + 1);
    return { name: value.name, message: redactSecrets(value.message), ...(cause === undefined ? {} : { cause }) };
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth > 4) return "[deep]";
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => toPlain(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, toPlain(v, depth + 1)]));
}
