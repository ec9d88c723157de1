import type { LogSink } from "../infra/log.ts";

/** Lines of the log for whoever in a plugin wants them. */
export interface LogTransports {
  readonly sink: LogSink;
  /** The result ends it. */
  add(transport: (record: Readonly<Record<string, unknown>>) => void): () => void;
}

export function createLogTransports(): LogTransports {
  const transports = new Set<(record: Readonly<Record<string, unknown>>) => void>();
  return {
    sink: {
      threshold: () => (transports.size === 0 ? "silent" : "debug"),
      write({ time, level, bindings, message, fields }) {
        for (const transport of [...transports]) {
          try {
            transport({ time: time.toISOString(), level, ...bindings, ...fields, message });
          } catch {
            transports.delete(transport); // what fails once would fail with every line, and cannot be logged
          }
        }
      },
    },
    add(transport) {
      transports.add(transport);
      return () => void transports.delete(transport);
    },
  };
}
