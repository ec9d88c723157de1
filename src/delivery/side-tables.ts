import type { Clock } from "../infra/clock.ts";
import type { PendingSessionLog } from "../sessions/index.ts";
import type { Journal } from "./journal.ts";

/** Changes of session entries that are not in sessions.json yet. */
export function createPendingSessionLog(journal: Journal): PendingSessionLog {
  const save = journal.statement("INSERT OR REPLACE INTO session_pending (path, key, entry) VALUES (?, ?, ?)");
  const load = journal.statement("SELECT key, entry FROM session_pending WHERE path = ?");
  const clear = journal.statement("DELETE FROM session_pending WHERE path = ? AND key = ?");
  return {
    save: (path, key, entryJson) => void save.run(path, key, entryJson),
    load: (path) =>
      load.all(path).map((row) => ({ key: String(row["key"]), entryJson: row["entry"] === null ? null : String(row["entry"]) })),
    clear(path, keys) {
      if (keys.length === 0) return;
      journal.transaction(() => {
        for (const key of keys) clear.run(path, key);
      });
    },
  };
}

/** Where numbering goes on. A number is never given twice, so that an old `upTo` cannot take away what came later. */
function lastSeq(journal: Journal, table: "history" | "system_events"): number {
  return Number(journal.statement(`SELECT COALESCE(MAX(seq), 0) AS seq FROM ${table}`).get()?.["seq"] ?? 0);
}

export interface HistoryLine {
  readonly sender: string;
  readonly body: string;
  readonly atMs: number;
}

/** Group messages that did not address the bot, kept until it is. At most `limit` a chat, 1000 chats. */
export interface PendingHistory {
  add(chat: string, line: HistoryLine, limit: number): void;
  /** Oldest first; the lines stay until `clear`. */
  read(chat: string): { readonly lines: HistoryLine[]; readonly upTo: number };
  clear(chat: string, upTo: number): void;
}

const MAX_CHATS = 1000;

export function createPendingHistory(journal: Journal): PendingHistory {
  const add = journal.statement("INSERT INTO history (chat, seq, at, sender, body) VALUES (?, ?, ?, ?, ?)");
  const trim = journal.statement(
    "DELETE FROM history WHERE chat = ? AND seq NOT IN (SELECT seq FROM history WHERE chat = ? ORDER BY seq DESC LIMIT ?)",
  );
  const evict = journal.statement(
    "DELETE FROM history WHERE chat IN (SELECT chat FROM history GROUP BY chat ORDER BY MAX(at) DESC LIMIT -1 OFFSET ?)",
  );
  const read = journal.statement("SELECT seq, at, sender, body FROM history WHERE chat = ? ORDER BY seq");
  const clear = journal.statement("DELETE FROM history WHERE chat = ? AND seq <= ?");
  let seq = lastSeq(journal, "history");
  let adds = 0;
  return {
    add(chat, line, limit) {
      if (limit <= 0) return;
      add.run(chat, ++seq, line.atMs, line.sender, line.body);
      trim.run(chat, chat, limit);
      if (++adds % 100 === 0) evict.run(MAX_CHATS);
    },
    read(chat) {
      const rows = read.all(chat);
      return {
        lines: rows.map((row) => ({ sender: String(row["sender"]), body: String(row["body"]), atMs: Number(row["at"]) })),
        upTo: Number(rows.at(-1)?.["seq"] ?? 0),
      };
    },
    clear: (chat, upTo) => void clear.run(chat, upTo),
  };
}

export interface SystemEvent {
  readonly text: string;
  readonly atMs: number;
  /** false: the text comes from outside and makes the run untrusted. */
  readonly trusted: boolean;
  /** What it is about, e.g. `cron:<id>`, `exec:<id>`. */
  readonly contextKey?: string | undefined;
}

/** Lines for the next prompt of a session; at most 20, the oldest dropped. They survive queueing and restarts. */
export interface SystemEvents {
  push(sessionKey: string, text: string, options?: { contextKey?: string | undefined; trusted?: boolean | undefined }): void;
  /** The lines and a token; `commit(token)` once a prompt holds them. */
  peek(sessionKey: string): { readonly events: SystemEvent[]; readonly upTo: number };
  commit(sessionKey: string, upTo: number): void;
  list(): string[];
}

const MAX_EVENTS = 20;
/** How long ago somebody touched a node: it changes with every beacon and says nothing to the model. */
const NODE_INPUT = /(?<=^Node:.*?) · last input [^·\n]*(?= ·|$)/;
const NOISE = /reason periodic|heartbeat poll|heartbeat wake|^read heartbeat\.md/i;

export function createSystemEvents(journal: Journal, clock: Clock): SystemEvents {
  const last = journal.statement("SELECT text FROM system_events WHERE session_key = ? ORDER BY seq DESC LIMIT 1");
  const drop = journal.statement("DELETE FROM system_events WHERE session_key = ? AND context_key = ?");
  const add = journal.statement("INSERT INTO system_events (session_key, seq, at, text, context_key, trusted) VALUES (?, ?, ?, ?, ?, ?)");
  const trim = journal.statement(
    "DELETE FROM system_events WHERE session_key = ? AND seq NOT IN (SELECT seq FROM system_events WHERE session_key = ? ORDER BY seq DESC LIMIT ?)",
  );
  let seq = lastSeq(journal, "system_events");
  const read = journal.statement("SELECT seq, at, text, trusted, context_key FROM system_events WHERE session_key = ? ORDER BY seq");
  const commit = journal.statement("DELETE FROM system_events WHERE session_key = ? AND seq <= ?");
  return {
    push(sessionKey, text, { contextKey, trusted = true } = {}) {
      const line = text.trim().replace(NODE_INPUT, "");
      if (line === "" || NOISE.test(line) || last.get(sessionKey)?.["text"] === line) return;
      if (contextKey) drop.run(sessionKey, contextKey);
      add.run(sessionKey, ++seq, clock.now(), line, contextKey ?? null, trusted ? 1 : 0);
      trim.run(sessionKey, sessionKey, MAX_EVENTS);
    },
    peek(sessionKey) {
      const rows = read.all(sessionKey);
      return {
        events: rows.map((row) => ({ text: String(row["text"]), atMs: Number(row["at"]), trusted: row["trusted"] === 1, contextKey: typeof row["context_key"] === "string" ? row["context_key"] : undefined })),
        upTo: Number(rows.at(-1)?.["seq"] ?? 0),
      };
    },
    commit: (sessionKey, upTo) => void commit.run(sessionKey, upTo),
    list: () => journal.statement("SELECT text FROM system_events ORDER BY at LIMIT 50").all().map((row) => String(row["text"])),
  };
}

/** Previews (edited messages, cards) that are open, so that orphans are closed after a restart. */
export interface PreviewLog {
  opened(id: string, channel: string, accountId: string, ref: unknown): void;
  closed(id: string): void;
  orphans(): { id: string; channel: string; accountId: string; ref: unknown }[];
}

export function createPreviewLog(journal: Journal, clock: Clock): PreviewLog {
  const add = journal.statement("INSERT OR REPLACE INTO previews (id, channel, account, ref, at) VALUES (?, ?, ?, ?, ?)");
  const remove = journal.statement("DELETE FROM previews WHERE id = ?");
  return {
    opened: (id, channel, accountId, ref) => void add.run(id, channel, accountId, JSON.stringify(ref ?? null), clock.now()),
    closed: (id) => void remove.run(id),
    orphans: () =>
      journal.statement("SELECT * FROM previews").all().map((row) => ({
        id: String(row["id"]), channel: String(row["channel"]), accountId: String(row["account"]),
        ref: JSON.parse(String(row["ref"])) as unknown,
      })),
  };
}
