import { randomUUID } from "node:crypto";
import type { InboundMessage } from "../channels/contract/index.ts";
import type { Clock } from "../infra/clock.ts";
import type { Journal } from "./journal.ts";

/** What a sender may do, fixed when the message came in. A run has the authority of its weakest item. */
export interface Authority {
  /** `gateway` for clients with operator scopes, else the channel id. */
  readonly source: string;
  readonly senderId: string;
  readonly isOwner: boolean;
  readonly commandAuthorized: boolean;
  readonly scopes?: readonly string[] | undefined;
}

/** How a run was begun, as far as its messages alone do not tell: after a restart it goes on like that. */
export interface RunStart {
  readonly prompt: string;
  /** Of all its messages, and of the events that the prompt tells. */
  readonly isOwner: boolean;
  /** Said before the answer. */
  readonly notices: readonly string[];
  /** The last event and the last line of group talk that the prompt tells; forgotten when the run has ended. */
  readonly toldUpTo: { readonly events: number; readonly talk: number };
  /** What the messages ask for this run, as the conversation understood it. */
  readonly hints?: unknown;
}

/** A message that the gateway has promised to answer. */
export interface InboxItem {
  readonly message: InboundMessage;
  readonly authority: Authority;
  readonly wasMentioned: boolean;
  /** A recording in a group that is for the bot only if it calls it by name. */
  readonly isUnheard?: boolean | undefined;
  /** One of several agents that read the message; without it the bindings decide. */
  readonly agentId?: string | undefined;
  /** Set for messages of clients: the session they name and the run id they wait for. */
  readonly client?:
    | {
        readonly sessionKey: string;
        readonly runId: string;
        readonly thinking?: string | undefined;
        readonly timeoutMs?: number | undefined;
        readonly attachments?: readonly { readonly path: string; readonly mimeType: string; readonly fileName?: string | undefined }[] | undefined;
      }
    | undefined;
}

export interface InboxRow extends InboxItem {
  readonly id: string;
  readonly seq: number;
  readonly runId: string | undefined;
  readonly sessionKey: string | undefined;
  readonly atMs: number;
  /** How often its run was begun; before there is one, how many processes have taken it up again. */
  readonly attempts: number;
  /** On the last message of a run that has begun. */
  readonly start?: RunStart | undefined;
}

export type AcceptOutcome = { readonly kind: "accepted"; readonly rows: readonly [InboxRow, ...InboxRow[]] } | { readonly kind: "duplicate" };

const DEDUPE_TTL_MS = 24 * 60 * 60_000;
const DEDUPE_MAX = 50_000;

export interface Inbox {
  /** True when this key was seen within 24 h; remembers it otherwise. */
  seen(key: string): boolean;
  /** One message, as a row for each that reads it. @throws Error when the journal cannot be written: then the platform must not be told "received" */
  accept(key: string, items: readonly [InboxItem, ...InboxItem[]]): AcceptOutcome;
  /** `start` goes with the last of them; without one, an earlier one stays. */
  bindRun(ids: readonly string[], runId: string, sessionKey: string, start?: RunStart): void;
  /** A new process takes them up that no run has been made for. */
  countAttempt(ids: readonly string[]): void;
  /** Never throws: what the disk refuses is written with the next change, and repeated by the next process if none comes. */
  finish(ids: readonly string[]): void;
  /** Resolves when the row is finished, in this process; at once for one that is not open. */
  whenFinished(id: string): Promise<void>;
  /** Oldest first. */
  unfinished(): InboxRow[];
  countUnfinished(): number;
}

export function dedupeKey(message: Pick<InboundMessage, "channel" | "accountId" | "chat" | "messageId">): string {
  return [message.channel, message.accountId, message.chat.id, message.chat.threadId ?? "", message.messageId].join("|");
}

export function createInbox(journal: Journal, clock: Clock): Inbox {
  const insertKey = journal.statement("INSERT OR IGNORE INTO dedupe (key, at) VALUES (?, ?)");
  const insertItem = journal.statement("INSERT INTO inbox (id, seq, channel, account, item, at) VALUES (?, ?, ?, ?, ?, ?)");
  const nextSeq = journal.statement("SELECT COALESCE(MAX(seq), 0) + 1 AS seq FROM inbox");
  const bind = journal.statement("UPDATE inbox SET attempts = CASE WHEN run_id = ?1 THEN attempts + 1 ELSE 1 END, run_id = ?1, session_key = ?2 WHERE id = ?3");
  const begin = journal.statement("UPDATE inbox SET item = json_set(item, '$.start', json(?)) WHERE id = ?");
  const again = journal.statement("UPDATE inbox SET attempts = attempts + 1 WHERE id = ?");
  const remove = journal.statement("DELETE FROM inbox WHERE id = ?");
  const open = journal.statement("SELECT * FROM inbox ORDER BY seq");
  const count = journal.statement("SELECT COUNT(*) AS n FROM inbox");
  const isOpen = journal.statement("SELECT 1 FROM inbox WHERE id = ?");
  const waiting = new Map<string, (() => void)[]>();
  let sinceSweep = 0;
  let unwritten: readonly string[] = [];

  function finish(ids: readonly string[]): void {
    for (const id of ids) {
      for (const done of waiting.get(id) ?? []) done();
      waiting.delete(id);
    }
    const all = [...unwritten, ...ids];
    if (all.length === 0) return;
    try {
      journal.transaction(() => {
        for (const id of all) remove.run(id);
      });
      unwritten = [];
    } catch {
      // The disk is full or locked; the rows are done all the same.
      unwritten = all;
    }
  }

  function rememberKey(key: string): boolean {
    const { changes } = insertKey.run(key, clock.now());
    if (++sinceSweep >= 500) {
      sinceSweep = 0;
      journal.statement("DELETE FROM dedupe WHERE at < ?").run(clock.now() - DEDUPE_TTL_MS);
      journal
        .statement("DELETE FROM dedupe WHERE key IN (SELECT key FROM dedupe ORDER BY at DESC LIMIT -1 OFFSET ?)")
        .run(DEDUPE_MAX);
    }
    return changes === 0;
  }

  function insert(item: InboxItem): InboxRow {
    const id = randomUUID();
    const seq = Number(nextSeq.get()?.["seq"] ?? 1);
    insertItem.run(id, seq, item.message.channel, item.message.accountId, JSON.stringify(item), clock.now());
    return { ...item, id, seq, runId: undefined, sessionKey: undefined, atMs: clock.now(), attempts: 0 };
  }

  return {
    seen: rememberKey,
    accept(key, [first, ...others]) {
      const outcome = journal.transaction<AcceptOutcome>(() => {
        if (rememberKey(key)) return { kind: "duplicate" };
        return { kind: "accepted", rows: [insert(first), ...others.map(insert)] };
      });
      finish([]);
      return outcome;
    },
    bindRun(ids, runId, sessionKey, start) {
      journal.transaction(() => {
        for (const id of ids) bind.run(runId, sessionKey, id);
        if (start) begin.run(JSON.stringify(start), ids.at(-1) ?? "");
      });
    },
    countAttempt(ids) {
      journal.transaction(() => {
        for (const id of ids) again.run(id);
      });
    },
    finish,
    whenFinished: (id) =>
      new Promise((resolve) => {
        if (!isOpen.get(id) || unwritten.includes(id)) return resolve();
        waiting.set(id, [...(waiting.get(id) ?? []), resolve]);
      }),
    unfinished: () => open.all().map(toRow),
    countUnfinished: () => Number(count.get()?.["n"] ?? 0),
  };
}

function toRow(row: Record<string, unknown>): InboxRow {
  return {
    ...(JSON.parse(String(row["item"])) as InboxItem & Pick<InboxRow, "start">),
    id: String(row["id"]),
    seq: Number(row["seq"]),
    runId: row["run_id"] === null ? undefined : String(row["run_id"]),
    sessionKey: row["session_key"] === null ? undefined : String(row["session_key"]),
    atMs: Number(row["at"]),
    attempts: Number(row["attempts"]),
  };
}
