import { sleep } from "../infra/backoff.ts";
import { createEmitter } from "../infra/emitter.ts";
import { errorText } from "../infra/errors.ts";
import { formatIssue } from "./issues.ts";
import { changedPaths } from "./json-value.ts";
import { type ConfigSnapshot, loadConfig } from "./load.ts";
import { applyReloadMode, type ChannelReloadRules, planReload, type ReloadPlan } from "./reload-plan.ts";
import type { OpenClawConfig } from "./types.generated.ts";
import { fingerprint, watchFiles } from "./watch.ts";
import { type ConfigWriter, type ConfigWriterDeps, createConfigWriter } from "./writer.ts";

export interface ConfigChange {
  readonly config: OpenClawConfig;
  readonly previous: OpenClawConfig;
  readonly snapshot: ConfigSnapshot;
  /** Effective keys that differ, dotted. */
  readonly changedPaths: readonly string[];
  readonly plan: ReloadPlan;
}

/** Why the file on disk is not the configuration in use. */
export interface ConfigSourceError {
  readonly path: string;
  readonly message: string;
  readonly sinceMs: number;
}

/** The configuration of a running gateway: always the last good one. */
export interface ConfigSource {
  /** Effective values; the same frozen object until the next change. */
  current(): OpenClawConfig;
  snapshot(): ConfigSnapshot;
  /** Set while the file on disk is broken; cleared when it is repaired. */
  lastError(): ConfigSourceError | undefined;
  onChange(listener: (change: ConfigChange) => void): () => void;
  readonly writer: ConfigWriter;
  /** Reads the files now; resolves when what was found is in use. */
  reload(): Promise<void>;
  /** Begins to watch the root file and its includes. */
  watch(): void;
  close(): void;
}

export interface ConfigSourceDeps extends Omit<ConfigWriterDeps, "onWritten"> {
  /** A valid snapshot to begin with. */
  readonly initial: ConfigSnapshot;
  /** What the loaded channels say about their keys; asked at every change. */
  readonly channelRules?: (() => readonly ChannelReloadRules[]) | undefined;
  /** How long a file must rest before it is read, ms; default 200. */
  readonly stabilityMs?: number | undefined;
}

export const DEFAULT_RELOAD_DEBOUNCE_MS = 300;
const VANISHED_RETRY_MS = 150;

/** @throws Error when the initial snapshot is not valid */
export function createConfigSource(deps: ConfigSourceDeps): ConfigSource {
  if (!deps.initial.valid)
    throw new Error(`The configuration is not valid: ${deps.initial.issues.map(formatIssue).join("; ")}`);
  let snapshot = deps.initial;
  let error: ConfigSourceError | undefined;
  let isClosed = false;
  const changes = createEmitter<ConfigChange>((err) => deps.log.error("config listener failed", { err }));
  const watcher = watchFiles(() => void schedule(), deps.log);
  let isWatching = false;

  const files = (): string[] => [snapshot.path, ...snapshot.includes];
  const take = (next: ConfigSnapshot): void => {
    if (isClosed) return;
    if (!next.valid) {
      const [issue] = next.issues;
      const message = issue?.message ?? "invalid configuration";
      if (error?.message !== message)
        deps.log.warn(`config reload skipped (invalid config): ${next.issues.map(formatIssue).join("; ")}`);
      error = { path: issue?.path ?? "", message, sinceMs: error?.sinceMs ?? Date.now() };
      return;
    }
    if (error !== undefined) deps.log.info("config is valid again");
    error = undefined;
    const previous = snapshot;
    snapshot = next;
    if (isWatching && previous.includes.join("\n") !== next.includes.join("\n")) watcher.setFiles(files());
    const paths = changedPaths(previous.config, next.config);
    if (paths.length === 0) return;
    const wanted = planReload(paths, deps.channelRules?.() ?? []);
    const mode = next.config.gateway?.reload?.mode ?? "hybrid";
    const plan = applyReloadMode(wanted, mode, paths);
    // What the start itself writes is not news.
    deps.log[isWatching ? "info" : "debug"](`config change detected; evaluating reload (${paths.join(", ")})`);
    if (wanted.kind === "restart" && plan.kind !== "restart") {
      deps.log.warn(
        `config change requires gateway restart, ignored by gateway.reload.mode=${mode} (${wanted.restartPaths.join(", ")})`,
      );
    }
    changes.emit({ config: next.config, previous: previous.config, snapshot: next, changedPaths: paths, plan });
  };

  let reading: Promise<void> = Promise.resolve();
  const reload = (): Promise<void> => {
    reading = reading.then(async () => {
      try {
        take(await readSettled(deps, snapshot));
      } catch (err) {
        deps.log.error("config reload failed", { err });
        error = { path: "", message: errorText(err), sinceMs: error?.sinceMs ?? Date.now() };
      }
    });
    return reading;
  };

  let pending = false;
  const schedule = async (): Promise<void> => {
    if (pending || isClosed) return;
    pending = true;
    await restUntilStable(files, deps.stabilityMs ?? 200);
    await sleep(snapshot.config.gateway?.reload?.debounceMs ?? DEFAULT_RELOAD_DEBOUNCE_MS);
    pending = false;
    if (!isClosed && snapshot.config.gateway?.reload?.mode !== "off") await reload();
  };

  return {
    current: () => snapshot.config,
    snapshot: () => snapshot,
    lastError: () => error,
    onChange: (listener) => changes.on(listener),
    writer: createConfigWriter({ ...deps, onWritten: (result) => take(result.snapshot) }),
    reload,
    watch() {
      isWatching = true;
      watcher.setFiles(files());
    },
    close() {
      isClosed = true;
      watcher.close();
    },
  };
}

/** Reads the files; one that vanished for a moment (an editor replacing it) is waited for. */
async function readSettled(deps: ConfigSourceDeps, last: ConfigSnapshot): Promise<ConfigSnapshot> {
  let next = await loadConfig(deps);
  for (let retry = 0; retry < 2 && !next.exists && last.exists; retry++) {
    await sleep(VANISHED_RETRY_MS);
    next = await loadConfig(deps);
  }
  if (next.exists || !last.exists) return next;
  return {
    ...next,
    valid: false,
    issues: [{ path: "", message: `${next.path} has vanished; the last configuration stays in use` }],
  };
}

/** Longest wait for a file that never rests, ms. */
const MAX_SETTLE_MS = 5000;

async function restUntilStable(files: () => readonly string[], stabilityMs: number): Promise<void> {
  const deadline = performance.now() + MAX_SETTLE_MS;
  let before = await fingerprint(files());
  while (performance.now() < deadline) {
    await sleep(stabilityMs);
    const now = await fingerprint(files());
    if (now === before) return;
    before = now;
  }
}
