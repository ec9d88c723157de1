import { type FSWatcher, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Logger } from "../../infra/log.ts";

const DEFAULT_DEBOUNCE_MS = 250;
/** Folders watched per workspace; the rest is seen after the next reset. */
const MAX_WATCHED = 400;

/**
 * Notices that skills were added, changed or removed, so that the next turn offers the new list. Nothing is watched
 * before a workspace is first asked for. Source: spec agent-pipeline §5.2.
 */
export interface SkillsWatcher {
  /** Rises with every change below `dirs`; the first call for a workspace begins to watch. */
  version(workspaceDir: string, dirs: readonly string[], debounceMs: number | undefined): number;
  close(): void;
}

export function createSkillsWatcher(options: { readonly log: Logger; readonly onChange?: ((workspaceDir: string) => void) | undefined }): SkillsWatcher {
  const workspaces = new Map<string, Watched>();
  return {
    version(workspaceDir, dirs, debounceMs = DEFAULT_DEBOUNCE_MS) {
      let watched = workspaces.get(workspaceDir);
      if (!watched) {
        watched = new Watched(dirs, debounceMs, options.log, () => options.onChange?.(workspaceDir));
        workspaces.set(workspaceDir, watched);
      }
      return watched.version;
    },
    close() {
      for (const watched of workspaces.values()) watched.close();
      workspaces.clear();
    },
  };
}

class Watched {
  version = 0;
  readonly dirs: readonly string[];
  readonly debounceMs: number;
  readonly log: Logger;
  readonly onChange: () => void;
  readonly watchers = new Map<string, FSWatcher>();
  timer: NodeJS.Timeout | undefined;
  closed = false;

  constructor(dirs: readonly string[], debounceMs: number, log: Logger, onChange: () => void) {
    this.dirs = dirs;
    this.debounceMs = debounceMs;
    this.log = log;
    this.onChange = onChange;
    void this.#lookAround();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  /** Each folder of skills, each skill in it, and the parent of a folder that may yet appear. */
  async #lookAround(): Promise<void> {
    for (const dir of this.dirs) {
      const parent = dirname(dir);
      this.#watch(basename(parent) === ".agents" ? dirname(parent) : parent, new Set([basename(dir), "skills", ".agents"]));
      this.#watch(dir, undefined);
      const names = await readdir(dir, { withFileTypes: true }).catch(() => []); // not there yet
      for (const entry of names) if (entry.isDirectory() || entry.isSymbolicLink()) this.#watch(join(dir, entry.name), new Set(["SKILL.md"]));
    }
  }

  #watch(dir: string, only: ReadonlySet<string> | undefined): void {
    if (this.closed || this.watchers.has(dir) || this.watchers.size >= MAX_WATCHED) return;
    try {
      const watcher = watch(dir, { persistent: false }, (_event, name) => {
        if (!only || name === null || only.has(name)) this.#changed();
      });
      watcher.on("error", () => this.#drop(dir));
      this.watchers.set(dir, watcher);
    } catch (err) {
      this.log.debug("folder of skills is not watched", { dir, err }); // not there yet, or no watches left
    }
  }

  #drop(dir: string): void {
    this.watchers.get(dir)?.close();
    this.watchers.delete(dir);
  }

  #changed(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.version++;
      for (const dir of [...this.watchers.keys()]) this.#drop(dir); // one that was removed and made anew needs a new watch
      void this.#lookAround();
      this.onChange();
    }, this.debounceMs);
    this.timer.unref();
  }
}
