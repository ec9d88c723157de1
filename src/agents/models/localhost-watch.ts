import type { Logger } from "../../infra/log.ts";
import { probeLocalhost, type LocalServer, type ProbeTarget } from "./localhost-probe.ts";

export interface LocalWatchOptions {
  readonly enabled: boolean;
  readonly targets: () => readonly ProbeTarget[];
  readonly intervalMs: number;
  readonly fetch: typeof fetch;
  readonly log: Logger;
  /** Whether there is no model from another source. */
  readonly isNeeded: () => Promise<boolean>;
  readonly onFound: (servers: readonly LocalServer[]) => void;
}

/** Looks for model servers on this machine in the background, again and again while there is no model. */
export interface LocalWatch {
  servers(): readonly LocalServer[];
  start(): void;
  /** Resolves when the look in progress is over; at once when none is. */
  firstRound(): Promise<void>;
  /** A found server failed, or the targets changed: see what is there now. */
  lookAgain(): void;
  close(): void;
}

const NONE: readonly LocalServer[] = [];

export function createLocalWatch(options: LocalWatchOptions): LocalWatch {
  const { log } = options;
  const stop = new AbortController();
  let servers = NONE;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    const found = await probeLocalhost(options.targets(), options.fetch, stop.signal);
    if (stop.signal.aborted || JSON.stringify(found) === JSON.stringify(servers)) return;
    const isFirst = servers.length === 0;
    servers = found.length === 0 ? NONE : found;
    log.info(found.length > 0 ? "model server found on this machine" : "the model server on this machine is gone", { servers: found.map((server) => `${server.label} (${server.models.length})`) });
    if (isFirst && found.length > 0 && (await options.isNeeded())) options.onFound(servers);
  }

  function round(): Promise<void> {
    running ??= look()
      .catch((err: unknown) => log.warn("looking for local model servers failed", { err }))
      .finally(() => {
        running = undefined;
      });
    return running;
  }

  async function tick(): Promise<void> {
    try {
      if (servers.length === 0 && (await options.isNeeded())) await round();
    } catch (err) {
      log.warn("looking for local model servers failed", { err });
    }
  }

  return {
    servers: () => servers,
    start() {
      if (!options.enabled || timer || stop.signal.aborted) return;
      void round();
      timer = setInterval(() => void tick(), options.intervalMs);
      timer.unref();
    },
    firstRound: () => running ?? Promise.resolve(),
    lookAgain() {
      if (options.enabled && !stop.signal.aborted) void round();
    },
    close() {
      stop.abort();
      clearInterval(timer);
    },
  };
}
