import { backoffDelayMs, sleep, type BackoffPolicy } from "../infra/backoff.ts";
import type { Clock } from "../infra/clock.ts";
import { errorText } from "../infra/errors.ts";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import type { Logger } from "../infra/log.ts";
import type { OutboundMessage, SendOptions, SendOutcome } from "../channels/contract/index.ts";
import type { Journal } from "./journal.ts";

/** One message on its way out. `id` makes it unique: the same id is never sent twice. */
export interface OutboxRequest {
  readonly id: string;
  readonly channel: string;
  readonly message: OutboundMessage;
  readonly runId?: string | undefined;
  readonly inboxId?: string | undefined;
  /** How long it is worth sending, ms. */
  readonly ttlMs?: number | undefined;
}

export type DeliveryResult =
  | { readonly kind: "sent"; readonly messageIds: readonly string[]; readonly chatId?: string | undefined }
  | { readonly kind: "failed"; readonly reason: string };

/** Another way to make the first try, e.g. turning a preview into the message; undefined means: send it as usual. */
export type FirstAttempt = (text: string) => Promise<SendOutcome | undefined>;

/** Sends one message through a channel; undefined when the channel is not there (yet). */
export type ChannelSend = (channel: string, message: OutboundMessage, options: SendOptions) => Promise<SendOutcome> | undefined;

export interface OutboxOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  readonly send: ChannelSend;
  readonly onSettled?: ((request: OutboxRequest, result: DeliveryResult) => void) | undefined;
}

export interface Outbox {
  /** Journals the message, sends it after earlier ones to the same chat, and resolves when its fate is known. */
  deliver(request: OutboxRequest, firstAttempt?: FirstAttempt): Promise<DeliveryResult>;
  /** The fate of an id that was delivered before, e.g. by a run that is being replayed. */
  lookup(id: string): DeliveryResult | "open" | undefined;
  /** Texts of the messages whose ids begin so, in their order; those that were given up are not among them. */
  textsOf(idPrefix: string): string[];
  /** Takes up what an earlier process left. */
  resume(): void;
  /** Resolves when nothing that answers this inbox row is being sent any more. */
  whenSettled(inboxId: string): Promise<void>;
  countOpen(): number;
  /** Rows that were given up, newest first. */
  failures(limit: number): { id: string; channel: string; to: string; reason: string; atMs: number }[];
  /** Stops sending; what is open stays in the journal. */
  stop(): Promise<void>;
}

const DEFAULT_TTL_MS = 24 * 60 * 60_000;
/** An uncertain row is repeated at most once, and only while it is this young. */
const UNCERTAIN_REPEAT_MS = 10 * 60_000;
const SETTLED_KEEP_MS = 24 * 60 * 60_000;
const RETRY: BackoffPolicy = { initialMs: 1000, maxMs: 60_000, factor: 2, jitter: 0.2 };
const MAX_RATE_LIMIT_WAIT_MS = 10 * 60_000;

interface Row {
  readonly request: OutboxRequest;
  attempts: number;
  repeats: number;
  partsSent: number;
  readonly messageIds: string[];
  readonly createdAt: number;
  readonly expiresAt: number;
  /** A process died while sending. */
  uncertain: boolean;
  firstAttempt?: FirstAttempt | undefined;
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { journal, clock, log } = options;
  const stopped = new AbortController();
  const inOrder = createKeyedQueue();
  const running = new Map<string, Promise<DeliveryResult>>();
  /** Running sends by the inbox row that they answer. */
  const answering = new Map<string, Set<Promise<DeliveryResult>>>();
  const insert = journal.statement(
    "INSERT OR IGNORE INTO outbox (id, seq, channel, account, target, run_id, inbox_id, message, state, next_at, expires_at, created_at) VALUES (?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM outbox), ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?)",
  );
  const setState = journal.statement("UPDATE outbox SET state = ?, attempts = ?, repeats = ?, error = ? WHERE id = ?");
  const setPart = journal.statement("UPDATE outbox SET parts_sent = ?, message_ids = ? WHERE id = ?");
  const settle = journal.statement("UPDATE outbox SET state = ?, error = ?, message_ids = ?, settled_at = ? WHERE id = ?");
  const findRow = journal.statement("SELECT * FROM outbox WHERE id = ?");
  const find = journal.statement("SELECT state, error, message_ids FROM outbox WHERE id = ?");

  const findTexts = journal.statement("SELECT message FROM outbox WHERE substr(id, 1, length(?1)) = ?1 AND state <> 'failed' ORDER BY seq");

  function lookup(id: string): DeliveryResult | "open" | undefined {
    const row = find.get(id);
    if (!row) return undefined;
    if (row["state"] === "sent") return { kind: "sent", messageIds: JSON.parse(String(row["message_ids"])) as string[] };
    if (row["state"] === "failed") return { kind: "failed", reason: String(row["error"] ?? "unknown") };
    return "open";
  }

  /** Settlements that the disk refused, by row; written with the next one. */
  const unwritten = new Map<string, () => void>();

  /** The row in memory counts while this process lives: a full disk holds no message up. */
  function note(id: string, write: () => void): boolean {
    try {
      write();
      return true;
    } catch (err) {
      log.error("delivery journal not written, going on without", { id, reason: errorText(err) });
      return false;
    }
  }

  function enqueue(row: Row): Promise<DeliveryResult> {
    const { request } = row;
    const known = running.get(request.id);
    if (known) return known;
    // One chat gets its messages in their order.
    const work = inOrder(`${request.channel}|${request.message.accountId}|${request.message.to}`, () => process(row));
    running.set(request.id, work);
    track(request.inboxId, work);
    void work
      .catch((err: unknown) => log.error("outbox row failed", { id: request.id, err }))
      .finally(() => running.delete(request.id));
    return work;
  }

  function track(inboxId: string | undefined, work: Promise<DeliveryResult>): void {
    if (inboxId === undefined) return;
    const works = answering.get(inboxId) ?? new Set();
    answering.set(inboxId, works.add(work));
    const done = (): void => {
      works.delete(work);
      if (works.size === 0) answering.delete(inboxId);
    };
    work.then(done, done);
  }

  async function process(row: Row): Promise<DeliveryResult> {
    const { request } = row;
    for (;;) {
      if (stopped.signal.aborted) return { kind: "failed", reason: "the gateway is stopping; it will be sent after the restart" };
      if (clock.now() >= row.expiresAt) return finish(row, { kind: "failed", reason: "expired before it could be sent" });
      if (row.uncertain && (row.repeats >= 1 || clock.now() - row.createdAt > UNCERTAIN_REPEAT_MS)) {
        return finish(row, { kind: "failed", reason: "outcome unknown; not repeated to avoid a duplicate" });
      }
      if (row.uncertain) row.repeats++;
      row.attempts++;
      note(request.id, () => setState.run("sending", row.attempts, row.repeats, null, request.id));
      const outcome = await attempt(row);
      if ("sentParts" in outcome) row.partsSent = Math.max(row.partsSent, outcome.sentParts ?? 0);
      switch (outcome.kind) {
        case "sent":
          return finish(row, { kind: "sent", messageIds: [...row.messageIds, ...outcome.messageIds], chatId: outcome.chatId });
        case "rejected":
        case "window-expired":
          return finish(row, { kind: "failed", reason: outcome.reason });
        case "uncertain":
          row.uncertain = true;
          note(request.id, () => setState.run("uncertain", row.attempts, row.repeats, outcome.reason, request.id));
          await sleep(backoffDelayMs(RETRY, 1), stopped.signal);
          break;
        case "rate-limited":
          row.uncertain = false;
          note(request.id, () => setState.run("pending", row.attempts, row.repeats, "rate limited", request.id));
          log.warn("platform asked to wait", { channel: request.channel, waitMs: outcome.retryAfterMs });
          await sleep(Math.min(outcome.retryAfterMs, MAX_RATE_LIMIT_WAIT_MS), stopped.signal);
          break;
        case "unreachable":
          row.uncertain = false;
          note(request.id, () => setState.run("pending", row.attempts, row.repeats, outcome.reason, request.id));
          await sleep(backoffDelayMs(RETRY, row.attempts), stopped.signal);
          break;
      }
    }
  }

  async function attempt(row: Row): Promise<SendOutcome> {
    const { request } = row;
    try {
      const first = row.firstAttempt;
      row.firstAttempt = undefined;
      const special = await first?.(request.message.text);
      if (special) return special;
      const sending = options.send(request.channel, request.message, {
        signal: stopped.signal,
        skipParts: row.partsSent,
        onPart: ({ index, messageId }) => {
          row.partsSent = Math.max(row.partsSent, index + 1);
          row.messageIds.push(messageId);
          note(request.id, () => setPart.run(row.partsSent, JSON.stringify(row.messageIds), request.id));
        },
      });
      if (!sending) return { kind: "unreachable", reason: `channel ${request.channel} is not running` };
      const outcome = await sending;
      // Parts reported through onPart are already in messageIds.
      return outcome.kind === "sent" ? { ...outcome, messageIds: outcome.messageIds.filter((id) => !row.messageIds.includes(id)) } : outcome;
    } catch (err) {
      log.error("channel send threw", { channel: request.channel, err });
      return { kind: "uncertain", reason: errorText(err) };
    }
  }

  function finish(row: Row, result: DeliveryResult): DeliveryResult {
    const ids = result.kind === "sent" ? result.messageIds : row.messageIds;
    const { id } = row.request;
    const write = (): void => void settle.run(result.kind, result.kind === "failed" ? result.reason : null, JSON.stringify(ids), clock.now(), id);
    if (!note(id, write)) unwritten.set(id, write);
    else for (const [other, late] of unwritten) if (note(other, late)) unwritten.delete(other);
    if (result.kind === "failed") {
      log.error("message not delivered", { channel: row.request.channel, to: row.request.message.to, reason: result.reason });
    }
    options.onSettled?.(row.request, result);
    return result;
  }

  return {
    lookup,
    textsOf: (idPrefix) => findTexts.all(idPrefix).map((row) => (JSON.parse(String(row["message"])) as OutboundMessage).text ?? ""),
    deliver(request, firstAttempt) {
      const known = lookup(request.id);
      if (known && known !== "open") return Promise.resolve(known);
      const left = known === "open" && !running.has(request.id) ? findRow.get(request.id) : undefined;
      // An earlier process may have sent parts of it, or all.
      if (left) return enqueue(toRow(left));
      const now = clock.now();
      const expiresAt = now + (request.ttlMs ?? DEFAULT_TTL_MS);
      const { message } = request;
      note(request.id, () => insert.run(
        request.id, request.channel, message.accountId, message.to, request.runId ?? null, request.inboxId ?? null,
        JSON.stringify(message), now, expiresAt, now,
      ));
      return enqueue({ request, attempts: 0, repeats: 0, partsSent: 0, messageIds: [], createdAt: now, expiresAt, uncertain: false, firstAttempt });
    },
    resume() {
      journal.statement("DELETE FROM outbox WHERE settled_at IS NOT NULL AND settled_at < ?").run(clock.now() - SETTLED_KEEP_MS);
      for (const row of journal.statement("SELECT * FROM outbox WHERE state NOT IN ('sent', 'failed') ORDER BY seq").all()) {
        enqueue(toRow(row)).catch((err: unknown) => log.error("outbox row failed", { id: row["id"], err }));
      }
    },
    async whenSettled(inboxId) {
      for (let works = answering.get(inboxId); works; works = answering.get(inboxId)) await Promise.allSettled(works);
    },
    countOpen: () => Number(journal.statement("SELECT COUNT(*) AS n FROM outbox WHERE state NOT IN ('sent', 'failed')").get()?.["n"] ?? 0),
    failures(limit) {
      return journal
        .statement("SELECT id, channel, target, error, settled_at FROM outbox WHERE state = 'failed' ORDER BY settled_at DESC LIMIT ?")
        .all(limit)
        .map((row) => ({
          id: String(row["id"]), channel: String(row["channel"]), to: String(row["target"]),
          reason: String(row["error"] ?? ""), atMs: Number(row["settled_at"]),
        }));
    },
    async stop() {
      stopped.abort();
      await Promise.allSettled(running.values());
    },
  };
}

function toRow(row: Record<string, unknown>): Row {
  const state = String(row["state"]);
  return {
    request: {
      id: String(row["id"]),
      channel: String(row["channel"]),
      message: JSON.parse(String(row["message"])) as OutboundMessage,
      runId: row["run_id"] === null ? undefined : String(row["run_id"]),
      inboxId: row["inbox_id"] === null ? undefined : String(row["inbox_id"]),
    },
    attempts: Number(row["attempts"]),
    repeats: Number(row["repeats"]),
    partsSent: Number(row["parts_sent"]),
    messageIds: JSON.parse(String(row["message_ids"])) as string[],
    createdAt: Number(row["created_at"]),
    expiresAt: Number(row["expires_at"]),
    uncertain: state === "sending" || state === "uncertain",
  };
}
