import { inspectRunProgress } from "../agents/index.ts";
import type { ChannelPlugin } from "../channels/contract/index.ts";
import type { Inbox, InboxRow, PendingHistory, RunStart, SystemEvents } from "../delivery/index.ts";
import { chatKey, mergeRows } from "./inbox-rows.ts";
import { NO_PROMPT_STATE, promptOf, type Prepared } from "./prepared.ts";
import type { BatchTurns } from "./queue/batch-turn.ts";
import type { Announce, SessionWorkers, TurnSession } from "./queue/worker.ts";
import type { Answers } from "./reply/answers.ts";
import { redeliverFinals } from "./reply/redeliver.ts";
import { createRunEvents } from "./reply/run-events.ts";
import type { RunHints } from "./run-hints.ts";
import type { TurnDeps } from "./turn.ts";
import type { PrepareRow, UnderstandDeps } from "./understand.ts";

export interface ReplayDeps extends TurnDeps {
  readonly inbox: Inbox;
  readonly history: Pick<PendingHistory, "clear">;
  readonly systemEvents: Pick<SystemEvents, "commit">;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  readonly downloadMedia: UnderstandDeps["downloadMedia"];
  readonly answers: Answers;
  readonly workers: SessionWorkers;
  readonly turns: BatchTurns;
  readonly prepare: PrepareRow;
  arrive(rows: readonly InboxRow[]): void;
}

const MAX_ATTEMPTS = 3;
/** Files and links are read before there is a run. More than for a run: a process may also end while the message only waits. */
const MAX_UNREAD_ATTEMPTS = 10;
const NOTHING_STEERED: TurnSession = { takeSteered: () => [] };
const nothing: Announce = () => undefined;

/** Takes up what an earlier process left: first the runs that had begun, then the messages that waited. Source: spec decisions §5.4. */
export function createReplay(deps: ReplayDeps): () => Promise<void> {
  const { log, inbox, sessions } = deps;
  // Looked up before the first message of this process can be among them.
  const leftOver = { rows: inbox.unfinished(), previews: deps.previews.orphans() };

  async function replay(): Promise<void> {
    for (const preview of leftOver.previews.splice(0)) {
      deps.previews.closed(preview.id);
      await deps.channel(preview.channel)?.streaming?.closeOrphan?.(deps.config(), preview.accountId, preview.ref)?.catch((err: unknown) => log.warn("orphaned preview not closed", { err }));
    }
    deps.outbox.resume();
    const rows = leftOver.rows.splice(0);
    const begun = Map.groupBy(rows.filter((row) => row.runId !== undefined), (row) => row.runId as string);
    for (const [runId, own] of begun) {
      const sessionKey = own.at(-1)?.sessionKey;
      if (sessionKey !== undefined) deps.workers.runFirst(sessionKey, own, () => resume(runId, sessionKey, own));
    }
    const unread = rows.filter((row) => row.runId === undefined);
    inbox.countAttempt(unread.map(({ id }) => id));
    for (const row of unread) {
      if (row.attempts < MAX_UNREAD_ATTEMPTS) deps.arrive([row]);
      else void giveUp([row]); // its chat may not be connected yet
    }
  }

  /** What ends the process each time must not keep it from ever starting. */
  async function giveUp(rows: readonly InboxRow[]): Promise<void> {
    const text = "⚠️ The gateway was restarted several times while it worked on your message and has given it up. Please send it again, perhaps in another form.";
    const isForUs = !rows.some((row) => row.isUnheard);
    if (isForUs) await deps.answers.tell(rows, text).catch((err: unknown) => log.error("giving up not told", { err }));
    inbox.finish(rows.map(({ id }) => id));
  }

  async function resume(runId: string, sessionKey: string, rows: readonly InboxRow[]): Promise<Announce> {
    const ids = rows.map((row) => row.id);
    try {
      return await resumeRun(runId, sessionKey, rows, ids);
    } catch (err) {
      log.error("unfinished run not taken up", { runId, sessionKey, err });
      await deps.answers.tell(rows, "⚠️ The gateway was restarted while it worked on your message and could not go on. Please send it again.");
      inbox.finish(ids);
      return nothing;
    }
  }

  async function resumeRun(runId: string, sessionKey: string, rows: readonly InboxRow[], ids: readonly string[]): Promise<Announce> {
    const last = rows.at(-1) as InboxRow;
    const entry = await sessions.get(sessionKey);
    const progress = entry ? await inspectRunProgress(sessions.transcriptPath(sessionKey, entry), runId) : ({ kind: "absent" } as const);
    log.info("unfinished run found", { runId, sessionKey, progress: progress.kind, attempts: last.attempts });
    if (last.attempts >= MAX_ATTEMPTS && progress.kind !== "answered") {
      await giveUp(rows);
      return nothing;
    }
    const message = mergeRows(rows);
    const media = last.client ? (last.client.attachments ?? []) : (await deps.downloadMedia(message)).media;
    const start = rows.find((row) => row.start)?.start;
    const prepared = deps.prepare(rows, message, sessionKey, { agentId: sessions.agentIdOf(sessionKey), media });
    const item: Prepared = { ...prepared, notices: start?.notices ?? [], hints: start?.hints as RunHints | undefined };
    if (progress.kind === "answered") {
      await redeliver(runId, item, progress.texts);
      forgetTold(sessionKey, item, start);
      inbox.finish(ids);
      return nothing;
    }
    inbox.bindRun(ids, runId, sessionKey);
    const prompt = progress.kind === "open" ? undefined : (start?.prompt ?? promptOf(deps.config(), item, NO_PROMPT_STATE));
    const authority = { ...item.authority, isOwner: item.authority.isOwner && start?.isOwner !== false };
    return deps.turns.turn({ sessionKey, runId, item, rows, prompt, originRunIds: [], authority, session: NOTHING_STEERED, onDone: () => forgetTold(sessionKey, item, start) });
  }

  function forgetTold(sessionKey: string, { message }: Prepared, start: RunStart | undefined): void {
    if (!start) return;
    deps.systemEvents.commit(sessionKey, start.toldUpTo.events);
    if (message.chat.type !== "direct") deps.history.clear(chatKey(message), start.toldUpTo.talk);
  }

  /** The answer was complete when the process died: its pieces have the ids they would have had. */
  async function redeliver(runId: string, item: Prepared, texts: readonly string[]): Promise<void> {
    if (!item.route || !item.plugin) {
      createRunEvents(deps.events, runId, item.ctx.SessionKey ?? "").final(texts.join("\n\n"));
      return;
    }
    await redeliverFinals(deps, { runId, sessionKey: item.ctx.SessionKey ?? "", agentId: item.agentId, plugin: item.plugin, route: item.route, hints: item.hints }, texts);
  }

  return replay;
}
