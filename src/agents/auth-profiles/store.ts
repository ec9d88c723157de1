import { statSync } from "node:fs";
import { join } from "node:path";
import { readJsonFile, writeFileAtomic } from "../../infra/atomic-file.ts";
import { acquireFileLock } from "../../infra/file-lock.ts";
import type { Logger } from "../../infra/log.ts";
import type { AuthProfile, AuthProfileStore } from "./types.ts";

const EMPTY_STORE: AuthProfileStore = Object.freeze({ version: 1, profiles: {} });

/** One `auth-profiles.json`: read again when the file changed, written under a lock and in one step. */
export interface ProfileFile {
  read(): Promise<AuthProfileStore>;
  /** Reads, changes and writes under the lock; `change` returns undefined to leave the file as it is. */
  update<T>(change: (store: AuthProfileStore) => Promise<{ store?: AuthProfileStore | undefined; value: T }>): Promise<T>;
}

export function createProfileFile(agentDir: string, log: Logger): ProfileFile {
  const path = join(agentDir, "auth-profiles.json");
  let cached: { readonly stamp: string; readonly store: AuthProfileStore } | undefined;

  async function read(): Promise<AuthProfileStore> {
    const stamp = fileStamp(path);
    if (cached?.stamp === stamp) return cached.store;
    const store = stamp === "" ? EMPTY_STORE : await parseFile();
    cached = { stamp, store };
    return store;
  }

  async function parseFile(): Promise<AuthProfileStore> {
    try {
      return parseStore(await readJsonFile(path));
    } catch (err) {
      log.error("auth profiles cannot be read; none of them is used. Repair or remove the file", { path, err });
      return EMPTY_STORE;
    }
  }

  return {
    read,
    async update(change) {
      await using _lock = await acquireFileLock(`${path}.lock`);
      // A damaged file must not be replaced by one without the person's keys: this parse throws.
      const before = parseStore(await readJsonFile(path));
      const { store, value } = await change(before);
      if (store) {
        await writeFileAtomic(path, `${JSON.stringify(store, null, 2)}\n`);
        cached = { stamp: fileStamp(path), store };
      }
      return value;
    },
  };
}

/** Asked for every candidate of every turn, so without a trip through the thread pool. */
function fileStamp(path: string): string {
  const info = statSync(path, { throwIfNoEntry: false });
  return info ? `${info.size}:${info.mtimeMs}:${info.ino}` : "";
}

/** Keeps unknown fields; profiles that make no sense are left out. */
function parseStore(value: unknown): AuthProfileStore {
  if (value === undefined) return EMPTY_STORE;
  if (!isRecord(value)) throw new SyntaxError("auth-profiles.json must hold an object");
  const profiles: Record<string, AuthProfile> = {};
  for (const [id, profile] of Object.entries(isRecord(value["profiles"]) ? value["profiles"] : {})) if (isProfile(profile)) profiles[id] = profile;
  return { ...value, version: typeof value["version"] === "number" ? value["version"] : 1, profiles };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function isProfile(value: unknown): value is AuthProfile {
  if (!isRecord(value) || typeof value["provider"] !== "string") return false;
  return value["type"] === "api_key" || value["type"] === "token" || value["type"] === "oauth";
}
