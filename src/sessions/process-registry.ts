import { resolve } from "node:path";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import type { SessionStore } from "./session-store.ts";

/**
 * What must be one per process, keyed by absolute path: transcript listeners, append queues and store caches. Free
 * functions of the seeds need it; nothing else may keep module state (spec decisions §3.6).
 */
export interface TranscriptUpdate {
  readonly path: string;
}

const listeners = new Map<string, Set<(update: TranscriptUpdate) => void>>();
const appendQueue = createKeyedQueue();

export interface CachedSessionStore {
  readonly store: SessionStore;
  readonly loadedAt: number;
  readonly storePath: string;
}

/** One store object per sessions.json, so that two readers of one file cannot overwrite each other. */
export const SESSION_STORE_CACHE = new Map<string, CachedSessionStore>();

/** Calls `callback` after each append to that transcript; the result unsubscribes. @public for plugins */
export function onSessionTranscriptUpdate(path: string, callback: (update: TranscriptUpdate) => void): () => void {
  const key = resolve(path);
  const set = listeners.get(key) ?? new Set();
  listeners.set(key, set);
  set.add(callback);
  return () => {
    set.delete(callback);
    if (set.size === 0) listeners.delete(key);
  };
}

export function emitSessionTranscriptUpdate(path: string): void {
  const key = resolve(path);
  for (const callback of listeners.get(key) ?? []) callback({ path: key });
}

/** Runs `task` after every earlier task for the same file. A failure does not block the next one. */
export function queueByPath<T>(path: string, task: () => Promise<T>): Promise<T> {
  return appendQueue(resolve(path), task);
}
