import { statSync } from "node:fs";
import type { OpenTranscript } from "./session-manager-init.ts";

/** Bounded by characters held, not by count: one long conversation weighs as much as many short ones. */
const MAX_CHARS = 32 * 1024 * 1024;
const MAX_ENTRY_CHARS = 8 * 1024 * 1024;

export interface TranscriptCache {
  /** The open conversation, if the file is exactly what we left. Takes it out: one run at a time owns it. */
  take(path: string): OpenTranscript | undefined;
  put(path: string, transcript: OpenTranscript): void;
  drop(path: string): void;
}

interface Cached {
  readonly transcript: OpenTranscript;
  readonly size: number;
  readonly mtimeMs: number;
}

export function createTranscriptCache(): TranscriptCache {
  const cache = new Map<string, Cached>();

  function evict(): void {
    let total = 0;
    for (const { transcript } of cache.values()) total += transcript.chars();
    for (const [path, { transcript }] of cache) {
      if (total <= MAX_CHARS) return;
      total -= transcript.chars();
      cache.delete(path);
    }
  }

  return {
    take(path) {
      const cached = cache.get(path);
      if (!cached) return undefined;
      cache.delete(path);
      const now = stamp(path);
      return now && now.size === cached.size && now.mtimeMs === cached.mtimeMs ? cached.transcript : undefined;
    },
    put(path, transcript) {
      if (transcript.chars() > MAX_ENTRY_CHARS) return;
      const now = stamp(path);
      if (!now) return;
      cache.set(path, { transcript, size: now.size, mtimeMs: now.mtimeMs });
      evict();
    },
    drop: (path) => void cache.delete(path),
  };
}

const stamp = (path: string): { readonly size: number; readonly mtimeMs: number } | undefined => statSync(path, { throwIfNoEntry: false });
