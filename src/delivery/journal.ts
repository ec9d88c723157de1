import { mkdirSync } from "node:fs";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { DIR_MODE, FILE_MODE } from "../infra/atomic-file.ts";

/**
 * One SQLite file that holds what was accepted and not finished yet. WAL with synchronous NORMAL: survives a killed
 * process, not a power cut. Source: spec decisions §5.
 */
export interface Journal {
  /** Runs the statements as one commit. @throws Error when the disk is full or the file is damaged */
  transaction<T>(work: () => T): T;
  statement(sql: string): StatementSync;
  close(): void;
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS dedupe (key TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS dedupe_at ON dedupe (at);
CREATE TABLE IF NOT EXISTS inbox (
  id TEXT PRIMARY KEY, seq INTEGER NOT NULL, channel TEXT NOT NULL, account TEXT NOT NULL, run_id TEXT, session_key TEXT,
  item TEXT NOT NULL, at INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS inbox_seq ON inbox (seq);
CREATE TABLE IF NOT EXISTS outbox (
  id TEXT PRIMARY KEY, seq INTEGER NOT NULL, channel TEXT NOT NULL, account TEXT NOT NULL, target TEXT NOT NULL,
  run_id TEXT, inbox_id TEXT, message TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
  repeats INTEGER NOT NULL DEFAULT 0, next_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, parts_sent INTEGER NOT NULL DEFAULT 0,
  message_ids TEXT NOT NULL DEFAULT '[]', error TEXT, created_at INTEGER NOT NULL, settled_at INTEGER
);
CREATE INDEX IF NOT EXISTS outbox_open ON outbox (state, seq);
CREATE TABLE IF NOT EXISTS history (chat TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, sender TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (chat, seq)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS session_pending (path TEXT NOT NULL, key TEXT NOT NULL, entry TEXT, PRIMARY KEY (path, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS system_events (session_key TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL, context_key TEXT, trusted INTEGER NOT NULL, PRIMARY KEY (session_key, seq)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS previews (id TEXT PRIMARY KEY, channel TEXT NOT NULL, account TEXT NOT NULL, ref TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
`;

/** Opens (creates) `<stateDir>/delivery/journal.sqlite`. @throws Error with the path when it cannot be opened */
export function openJournal(stateDir: string): Journal {
  const dir = join(stateDir, "delivery");
  mkdirSync(dir, { recursive: true, mode: DIR_MODE });
  const path = join(dir, "journal.sqlite");
  let db: DatabaseSync;
  try {
    db = new DatabaseSync(path);
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000;");
    db.exec(SCHEMA);
  } catch (cause) {
    throw new Error(`The delivery journal ${path} cannot be opened. Move it aside to start with an empty one.`, { cause });
  }
  for (const suffix of ["", "-wal", "-shm"]) chmodQuietly(path + suffix);
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    let prepared = statements.get(sql);
    if (!prepared) statements.set(sql, (prepared = db.prepare(sql)));
    return prepared;
  };
  return {
    statement,
    transaction(work) {
      db.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        db.exec("COMMIT");
        return result;
      } catch (err) {
        if (db.isTransaction) db.exec("ROLLBACK"); // a full disk has ended it already
        throw err;
      }
    },
    close() {
      db.close();
    },
  };
}

function chmodQuietly(path: string): void {
  try {
    chmodSync(path, FILE_MODE);
  } catch {
    // The -wal and -shm files exist only while somebody writes.
  }
}
