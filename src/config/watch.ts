import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";

export interface FileWatcher {
  /** Watches exactly these files from now on. They need not exist, their directories should. */
  setFiles(files: readonly string[]): void;
  close(): void;
}

/** Poll interval where the system offers no notifications, ms. */
const POLL_MS = 2000;

/**
 * Tells when one of some files changes, is replaced or vanishes. It watches their directories, since editors replace files.
 * `onChange` may be called more often than there are changes.
 */
export function watchFiles(onChange: () => void, log: Logger): FileWatcher {
  let watchers: { close(): void }[] = [];
  const close = (): void => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  return {
    close,
    setFiles(files) {
      close();
      const byDir = Map.groupBy(new Set(files), (file) => dirname(file));
      for (const [dir, inDir] of byDir) watchers.push(watchDirectory(dir, inDir, onChange, log));
    },
  };
}

function watchDirectory(dir: string, files: readonly string[], onChange: () => void, log: Logger): { close(): void } {
  const names = new Set(files.map((file) => basename(file)));
  let watcher: FSWatcher;
  try {
    // `name` is null where the system does not tell it: then any change counts.
    watcher = watch(dir, { persistent: false }, (_event, name) => {
      if (name === null || names.has(name)) onChange();
    });
  } catch (err) {
    log.warn("cannot watch the configuration directory; polling instead", { dir, error: errorText(err) });
    return pollFiles(files, onChange);
  }
  let fallback: { close(): void } | undefined;
  watcher.on("error", (err) => {
    log.warn("watching the configuration directory failed; polling instead", { dir, error: errorText(err) });
    watcher.close();
    fallback ??= pollFiles(files, onChange);
  });
  return {
    close: () => {
      watcher.close();
      fallback?.close();
    },
  };
}

function pollFiles(files: readonly string[], onChange: () => void): { close(): void } {
  let last: string | undefined;
  const timer = setInterval(() => {
    void fingerprint(files).then((now) => {
      if (last !== undefined && now !== last) onChange();
      last = now;
    });
  }, POLL_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

/** Changes whenever a file's size, time, inode or existence does. Never rejects. */
export async function fingerprint(files: readonly string[]): Promise<string> {
  const parts = await Promise.all(
    files.map((file) =>
      stat(file).then(
        (info) => `${info.size}:${info.mtimeMs}:${info.ino}`,
        () => "-",
      ),
    ),
  );
  return parts.join("|");
}
