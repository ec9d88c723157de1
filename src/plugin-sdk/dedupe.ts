import { resolve } from "node:path";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import { asFields } from "../plugins/runtime/helpers/index.ts";
import { readJsonFileWithFallback, withFileLock, writeJsonFileAtomically, type FileLockOptions } from "./files.ts";

/** Messages that come twice. Source: spec plugin-sdk §14. */

export interface DedupeCache {
  /** true: seen before, and not too long ago. Remembers it either way. */
  check(key: string | null | undefined, now?: number): boolean;
  /** The same without remembering. */
  peek(key: string | null | undefined, now?: number): boolean;
  clear(): void;
  size(): number;
}

/** `ttlMs` 0: keys do not age; `maxSize` 0: nothing is remembered. */
export function createDedupeCache({ ttlMs, maxSize }: { readonly ttlMs: number; readonly maxSize: number }): DedupeCache {
  const seen = new Map<string, number>();
  const isFresh = (key: string, now: number): boolean => {
    const at = seen.get(key);
    return at !== undefined && (ttlMs <= 0 || now - at < ttlMs);
  };
  return {
    check(key, now = Date.now()) {
      if (!key) return false;
      const known = isFresh(key, now);
      seen.delete(key);
      seen.set(key, now);
      for (const [old, at] of seen) {
        const isStale = ttlMs > 0 && now - at >= ttlMs;
        if (!isStale && seen.size <= maxSize) break;
        seen.delete(old);
      }
      return known;
    },
    peek: (key, now = Date.now()) => (key ? isFresh(key, now) : false),
    clear: () => seen.clear(),
    size: () => seen.size,
  };
}

export interface PersistentDedupeOptions {
  readonly ttlMs: number;
  readonly memoryMaxSize: number;
  readonly fileMaxEntries: number;
  readonly resolveFilePath: (namespace: string) => string;
  readonly lockOptions?: Partial<FileLockOptions> | undefined;
  readonly onDiskError?: ((err: unknown) => void) | undefined;
}

interface CheckOptions {
  /** One file for each; default `global`. */
  readonly namespace?: string | undefined;
  readonly now?: number | undefined;
  readonly onDiskError?: ((err: unknown) => void) | undefined;
}

export interface PersistentDedupe {
  /** true: new, and from now on known, also after a restart. A disk that fails leaves the memory to decide. */
  checkAndRecord(key: string, options?: CheckOptions): Promise<boolean>;
  /** Reads a file into memory; how many keys it gave. */
  warmup(namespace?: string, onError?: (err: unknown) => void): Promise<number>;
  clearMemory(): void;
  memorySize(): number;
}

const LOCK: FileLockOptions = { retries: { retries: 6, factor: 1.35, minTimeout: 8, maxTimeout: 180, randomize: true }, stale: 60_000 };

export function createPersistentDedupe(options: PersistentDedupeOptions): PersistentDedupe {
  const memory = createDedupeCache({ ttlMs: options.ttlMs, maxSize: options.memoryMaxSize });
  const queue = createKeyedQueue();
  const lock: FileLockOptions = { ...LOCK, ...options.lockOptions };
  const isFresh = (at: unknown, now: number): at is number => typeof at === "number" && at > 0 && (options.ttlMs <= 0 || now - at < options.ttlMs);

  const load = async (path: string): Promise<[string, number][]> => {
    const { value } = await readJsonFileWithFallback<unknown>(path, {});
    return Object.entries(asFields(value)).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  };
  const recordOnDisk = (path: string, key: string, now: number): Promise<boolean> =>
    withFileLock(path, lock, async () => {
      const entries = (await load(path)).filter(([, at]) => isFresh(at, now));
      if (entries.some(([known]) => known === key)) return false;
      const kept = [...entries, [key, now] as [string, number]].toSorted((a, b) => a[1] - b[1]).slice(-Math.max(1, options.fileMaxEntries));
      await writeJsonFileAtomically(path, Object.fromEntries(kept));
      return true;
    });

  return {
    checkAndRecord(rawKey, { namespace = "global", now = Date.now(), onDiskError = options.onDiskError } = {}) {
      const key = rawKey.trim();
      if (key === "") return Promise.resolve(true);
      const scoped = `${namespace}:${key}`;
      // One after another: two copies that come at once are one message.
      return queue(scoped, async () => {
        if (memory.check(scoped, now)) return false;
        try {
          return await queue(`file ${namespace}`, () => recordOnDisk(resolve(options.resolveFilePath(namespace)), key, now));
        } catch (err) {
          onDiskError?.(err);
          return true;
        }
      });
    },
    async warmup(namespace = "global", onError = options.onDiskError) {
      try {
        const now = Date.now();
        const entries = (await load(resolve(options.resolveFilePath(namespace)))).filter(([, at]) => isFresh(at, now));
        for (const [key, at] of entries) memory.check(`${namespace}:${key}`, at);
        return entries.length;
      } catch (err) {
        onError?.(err);
        return 0;
      }
    },
    clearMemory: () => memory.clear(),
    memorySize: () => memory.size(),
  };
}
