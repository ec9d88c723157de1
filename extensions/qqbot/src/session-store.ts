import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "openclaw/plugin-sdk";

const VALID_MS = 300_000;
const stored = z.object({ sessionId: z.string(), lastSeq: z.number(), lastConnectedAt: z.number().optional(), intentLevelIndex: z.number().optional(), accountId: z.string(), appId: z.string(), savedAt: z.number() });

export interface SavedSession {
  readonly sessionId: string;
  readonly lastSeq: number;
}

export interface SessionStore {
  load(): Promise<SavedSession | undefined>;
  save(session: SavedSession): Promise<void>;
  clear(): Promise<void>;
}

/** The socket's session on disk, so that a restarted gateway resumes. Source: spec channels-cn §1.3. */
export function createSessionStore(options: { readonly stateDir: string; readonly accountId: string; readonly appId: string; readonly now: () => number }): SessionStore {
  const { accountId, appId, now } = options;
  const path = join(options.stateDir, "qqbot", "sessions", `session-${accountId.replace(/[^\w-]/g, "_")}.json`);
  let turn: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => (turn = turn.then(work, work));
  return {
    async load() {
      try {
        const found = stored.parse(JSON.parse(await readFile(path, "utf8")));
        return found.appId === appId && now() - found.savedAt < VALID_MS ? { sessionId: found.sessionId, lastSeq: found.lastSeq } : undefined;
      } catch {
        // Missing or torn: the socket identifies anew.
        return undefined;
      }
    },
    save: (session) => inTurn(() => writeFileAtomic(path, JSON.stringify({ ...session, lastConnectedAt: now(), intentLevelIndex: 0, accountId, appId, savedAt: now() }))),
    clear: () => inTurn(() => rm(path, { force: true })),
  };
}
