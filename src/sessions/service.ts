import { randomUUID } from "node:crypto";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { ifExists } from "../infra/atomic-file.ts";
import type { Clock } from "../infra/clock.ts";
import type { Logger } from "../infra/log.ts";
import type { OpenClawConfig } from "../config/index.ts";
import {
  agentIdOfKey,
  canonicalSessionKey,
  expandPath,
  listAgentIds,
  resolveAgent,
  resolveDefaultAgentId,
  type AgentRoots,
} from "../routing/index.ts";
import { appendTranscriptMessage } from "./append.ts";
import { forkTranscript, mayFork } from "./fork.ts";
import { sessionCacheTtlMs } from "./free-functions.ts";
import { resolveTranscriptPath, transcriptFileName } from "./paths.ts";
import { SESSION_STORE_CACHE } from "./process-registry.ts";
import { archiveStamp, resetEntry } from "./reset.ts";
import { createStoreCare } from "./store-care.ts";
import { createSessionStore, type PendingSessionLog, type SessionStore } from "./session-store.ts";
import type { TranscriptMessageBody } from "./transcript.ts";
import type { SessionEntry, SessionPatch } from "./types.ts";

export interface SessionServiceOptions {
  readonly config: () => OpenClawConfig;
  readonly roots: AgentRoots;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pending?: PendingSessionLog | undefined;
  readonly withLock: <T>(path: string, write: () => Promise<T>) => Promise<T>;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Runs, or has messages waiting: such a session is never cleaned away. */
  readonly isActive?: ((key: string) => boolean) | undefined;
  readonly watch?: SessionWatch | undefined;
}

/** Who wants to know when conversations begin and end. */
export interface SessionWatch {
  started(key: string, entry: Readonly<SessionEntry>, resumedFrom?: string): void;
  /** Before the transcript is put away. */
  beforeReset(key: string, entry: Readonly<SessionEntry>, transcript: string, reason: "new" | "reset"): Promise<void>;
  /** `transcript`: where it lies now; undefined when there is none. */
  ended(key: string, entry: Readonly<SessionEntry>, transcript: string | undefined): Promise<void>;
}

export type ArchiveReason = "reset" | "deleted";

export interface ResetResult {
  readonly entry: Readonly<SessionEntry>;
  readonly previous: Readonly<SessionEntry> | undefined;
  readonly archived: string | undefined;
}

/** All conversations of all agents, by canonical key. */
export interface SessionService {
  canonicalKey(raw: string | undefined): string;
  agentIdOf(key: string): string;
  sessionsDir(agentId: string): string;
  storeFor(agentId: string): SessionStore;
  get(key: string): Promise<Readonly<SessionEntry> | undefined>;
  /** The entry, made with a new session id where none was. */
  ensure(key: string, seed?: SessionPatch): Promise<{ entry: Readonly<SessionEntry>; created: boolean }>;
  update(key: string, patch: SessionPatch): Promise<Readonly<SessionEntry>>;
  /**
   * A thread's first entry, which goes on from its parent's conversation. Undefined when there is nothing to go on from:
   * an unknown, empty or too large parent.
   */
  fork(key: string, parentKey: string): Promise<{ readonly sessionId: string; readonly sessionFile: string } | undefined>;
  reset(key: string, options?: { archive?: boolean; patch?: SessionPatch; reason?: "new" | "reset" | undefined }): Promise<ResetResult>;
  /** `archived`: the transcript's new name. */
  remove(key: string, options: { deleteTranscript: boolean }): Promise<{ deleted: boolean; archived: string[] }>;
  /** Every entry of every agent (or one). */
  all(agentId?: string): Promise<{ agentId: string; key: string; entry: Readonly<SessionEntry> }[]>;
  transcriptPath(key: string, entry: Pick<SessionEntry, "sessionId" | "sessionFile">): string;
  newTranscriptPath(key: string, sessionId: string, threadId?: string): string;
  appendMessage(key: string, message: TranscriptMessageBody): Promise<string>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function createSessionService(options: SessionServiceOptions): SessionService {
  const { clock, log, roots } = options;
  const opened = new Map<string, SessionStore>();

  const defaultAgentId = (): string => resolveDefaultAgentId(options.config());
  const agentIdOf = (key: string): string => agentIdOfKey(key, defaultAgentId());
  const agent = (id: string): ReturnType<typeof resolveAgent> => resolveAgent(options.config(), id, roots);

  function storePath(agentId: string): string {
    const configured = options.config().session?.store;
    if (!configured) return join(agent(agentId).sessionsDir, "sessions.json");
    return expandPath(configured.replaceAll("{agentId}", agentId));
  }

  function storeFor(agentId: string): SessionStore {
    const path = storePath(agentId);
    let store = opened.get(path);
    if (!store) {
      store = createSessionStore({
        path,
        clock,
        log,
        pending: options.pending,
        withLock: options.withLock,
        cacheTtlMs: () => (options.config().session?.cache === false ? 0 : sessionCacheTtlMs(options.env ?? {})),
        hooks: createStoreCare({
          config: options.config, clock, log, isActive: (key) => options.isActive?.(key) === true, sessionsDir: (key) => agent(agentIdOf(key)).sessionsDir,
        }),
      });
      opened.set(path, store);
      SESSION_STORE_CACHE.set(path, { store, loadedAt: clock.now(), storePath: path });
    }
    return store;
  }

  async function fresh(key: string): Promise<SessionStore> {
    const store = storeFor(agentIdOf(key));
    await store.refresh();
    return store;
  }

  const transcriptPath = (key: string, entry: Pick<SessionEntry, "sessionId" | "sessionFile">): string =>
    resolveTranscriptPath(agent(agentIdOf(key)).sessionsDir, entry.sessionId, entry.sessionFile);

  const newTranscriptPath = (key: string, sessionId: string, threadId?: string): string =>
    join(agent(agentIdOf(key)).sessionsDir, transcriptFileName(sessionId, threadId));

  async function archive(path: string, reason: ArchiveReason): Promise<string | undefined> {
    const target = `${path}.${reason}.${archiveStamp(clock.now())}`;
    return ifExists(rename(path, target).then(() => target));
  }

  async function ensure(key: string, seed: SessionPatch = {}): Promise<{ entry: Readonly<SessionEntry>; created: boolean }> {
    const store = await fresh(key);
    const known = store.get(key);
    if (known) return { entry: known, created: false };
    const sessionId = randomUUID();
    const entry = store.update(key, { sessionId, sessionFile: newTranscriptPath(key, sessionId), ...seed });
    options.watch?.started(key, entry);
    return { entry, created: true };
  }

  return {
    canonicalKey: (raw) => canonicalSessionKey(raw, { defaultAgentId: defaultAgentId(), scope: options.config().session?.scope }),
    agentIdOf,
    sessionsDir: (agentId) => agent(agentId).sessionsDir,
    storeFor,
    get: async (key) => (await fresh(key)).get(key),
    ensure,
    async update(key, patch) {
      const { entry } = await ensure(key);
      const store = storeFor(agentIdOf(key));
      return Object.keys(patch).length === 0 ? entry : store.update(key, patch);
    },
    async fork(key, parentKey) {
      const parent = (await fresh(parentKey)).get(parentKey);
      if (!parent || !mayFork(options.config(), parent)) return undefined;
      return forkTranscript(transcriptPath(parentKey, parent), agent(agentIdOf(key)).workspaceDir, clock.now());
    },
    async reset(key, { archive: doArchive = true, patch, reason = "reset" } = {}) {
      const store = await fresh(key);
      const previous = store.get(key);
      if (previous) await options.watch?.beforeReset(key, previous, transcriptPath(key, previous), reason);
      const sessionId = randomUUID();
      const next = resetEntry(previous, { sessionId, sessionFile: newTranscriptPath(key, sessionId), nowMs: clock.now() });
      store.set(key, next);
      const entry = patch ? store.update(key, patch) : (store.get(key) ?? next);
      const archived = previous && doArchive ? await archive(transcriptPath(key, previous), "reset") : undefined;
      if (previous) await options.watch?.ended(key, previous, archived);
      options.watch?.started(key, entry, previous?.sessionId);
      return { entry, previous, archived };
    },
    async remove(key, { deleteTranscript }) {
      const store = await fresh(key);
      const entry = store.get(key);
      if (!entry) return { deleted: false, archived: [] };
      store.delete(key);
      const archived = deleteTranscript ? await archive(transcriptPath(key, entry), "deleted") : undefined;
      return { deleted: true, archived: archived ? [archived] : [] };
    },
    async all(agentId) {
      const cfg = options.config();
      const out: { agentId: string; key: string; entry: Readonly<SessionEntry> }[] = [];
      const seen = new Set<string>();
      for (const id of agentId === undefined ? listAgentIds(cfg) : [agentId]) {
        const store = storeFor(id);
        if (seen.has(store.path)) continue;
        seen.add(store.path);
        await store.refresh();
        for (const [key, entry] of await store.entries()) {
          const owner = agentIdOf(key);
          if (agentId === undefined || owner === agentId) out.push({ agentId: owner, key, entry });
        }
      }
      return out;
    },
    transcriptPath,
    newTranscriptPath,
    async appendMessage(key, message) {
      const { entry } = await ensure(key);
      return appendTranscriptMessage(
        {
          path: transcriptPath(key, entry),
          sessionId: entry.sessionId,
          cwd: agent(agentIdOf(key)).workspaceDir,
          nowMs: clock.now(),
        },
        message,
      );
    },
    async flush() {
      for (const store of opened.values()) await store.flush();
    },
    async close() {
      for (const [path, store] of opened) {
        await store.flush();
        if (SESSION_STORE_CACHE.get(path)?.store === store) SESSION_STORE_CACHE.delete(path);
      }
      opened.clear();
    },
  };
}
