import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { errorText, type Logger, writeFileAtomic } from "openclaw/plugin-sdk";

const VALID_MS = 300_000;
const WRITE_EVERY_MS = 1000;
const stored = z.object({ sessionId: z.string(), lastSeq: z.number(), lastConnectedAt: z.number().optional(), intentLevelIndex: z.number().int().min(0).catch(0), accountId: z.string(), appId: z.string(), savedAt: z.number() });

export interface SavedSession {
  readonly sessionId: string;
  readonly lastSeq: number;
  /** Which of the sets of events the platform granted. */
  readonly intentLevelIndex: number;
}

export interface SessionStore {
  load(): Promise<SavedSession | undefined>;
  /** On disk within a second. A number that is behind only makes events come twice. */
  save(session: SavedSession): void;
  /** Resolves when the last saved session is on disk, or its failure is logged. */
  flush(): Promise<void>;
  clear(): Promise<void>;
}

/** The socket's session on disk, so that a restarted gateway resumes. Source: spec channels-cn §1.3. */
export function createSessionStore(options: { readonly stateDir: string; readonly accountId: string; readonly appId: string; readonly now: () => number; readonly log: Logger }): SessionStore {
  const { accountId, appId, now, log } = options;
  const path = join(options.stateDir, "qqbot", "sessions", `session-${accountId.replace(/[^\w-]/g, "_")}.json`);
  let turn: Promise<void> = Promise.resolve();
  let unsaved: SavedSession | undefined;
  let timer: NodeJS.Timeout | undefined;
  const inTurn = (work: () => Promise<void>): Promise<void> => (turn = turn.then(work).catch((err: unknown) => log.warn("QQ session not saved", { reason: errorText(err) })));
  const write = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return inTurn(async () => {
      const session = unsaved;
      unsaved = undefined;
      if (session) await writeFileAtomic(path, JSON.stringify({ ...session, lastConnectedAt: now(), accountId, appId, savedAt: now() }));
    });
  };
  return {
    async load() {
      try {
        const found = stored.parse(JSON.parse(await readFile(path, "utf8")));
        if (found.appId !== appId || now() - found.savedAt >= VALID_MS) return undefined;
        return { sessionId: found.sessionId, lastSeq: found.lastSeq, intentLevelIndex: found.intentLevelIndex };
      } catch {
        // Missing or torn: the socket identifies anew.
        return undefined;
      }
    },
    save(session) {
      unsaved = session;
      timer ??= setTimeout(() => void write(), WRITE_EVERY_MS);
    },
    flush: write,
    clear() {
      unsaved = undefined;
      clearTimeout(timer);
      timer = undefined;
      return inTurn(() => rm(path, { force: true }));
    },
  };
}
