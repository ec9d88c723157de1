import { dirname } from "node:path";
import type { OpenClawConfig } from "../config/index.ts";
import { readJsonFile } from "../infra/atomic-file.ts";
import { appendTranscriptMessage } from "./append.ts";
import { resolveTranscriptPath } from "./paths.ts";
import { SESSION_STORE_CACHE, type CachedSessionStore } from "./process-registry.ts";
import type { TranscriptMessageBody } from "./transcript.ts";
import type { SessionEntry, SessionIndex } from "./types.ts";

/** Functions without a context that plugins and tools of the reference call by these names (spec seed-names). */
const CACHE_TTL_MS = 45_000;

/** `OPENCLAW_SESSION_CACHE_TTL_MS` (0: no cache); undefined when it is not set or no number. */
export function sessionCacheTtlMs(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const raw = env["OPENCLAW_SESSION_CACHE_TTL_MS"]?.trim();
  return raw !== undefined && /^\d+$/.test(raw) ? Number(raw) : undefined;
}

/** Neither `session.cache: false` nor a TTL of 0. @public */
export function isSessionStoreCacheEnabled(cfg?: OpenClawConfig, env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return cfg?.session?.cache !== false && sessionCacheTtlMs(env) !== 0;
}

/** A cached store is used without a look at the disk for 45 s; its own writes keep it true beyond that. @public */
export function isSessionStoreCacheValid(cached: Pick<CachedSessionStore, "loadedAt">, nowMs: number = Date.now()): boolean {
  return nowMs - cached.loadedAt < (sessionCacheTtlMs(process.env) ?? CACHE_TTL_MS);
}

/** All entries of a sessions.json, from the open store of that path or from the file. @public @throws SyntaxError on a damaged file */
export async function loadSessionStore(storePath: string): Promise<SessionIndex> {
  const cached = SESSION_STORE_CACHE.get(storePath);
  if (cached) {
    await cached.store.refresh();
    return Object.fromEntries(await cached.store.entries());
  }
  return ((await readJsonFile(storePath)) ?? {}) as SessionIndex;
}

/** The entry of a key, compared without case. @public */
export function resolveStoreSessionEntry(store: SessionIndex, sessionKey: string): SessionEntry | undefined {
  const wanted = sessionKey.trim().toLowerCase();
  return store[wanted] ?? Object.entries(store).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

/** Appends an assistant message to a conversation of an agent whose store is open. @public @throws Error when it is unknown */
export async function appendAssistantMessageToSessionTranscript(params: { agentId: string; sessionId: string; message: TranscriptMessageBody }): Promise<void> {
  for (const { store } of SESSION_STORE_CACHE.values()) {
    for (const [key, entry] of await store.entries()) {
      if (entry.sessionId !== params.sessionId || !key.startsWith(`agent:${params.agentId}:`)) continue;
      const path = resolveTranscriptPath(dirname(store.path), entry.sessionId, entry.sessionFile);
      await appendTranscriptMessage({ path, sessionId: entry.sessionId, cwd: dirname(store.path), nowMs: Date.now() }, params.message);
      return;
    }
  }
  throw new Error(`No open session ${params.sessionId} of agent ${params.agentId}`);
}
