import type { EmbeddedPiRunResult, LinkUnderstanding, MediaUnderstanding } from "../agents/index.ts";
import type { ChannelPlugin, InboundMessage, InboundSystemEvent, MsgContext, ReceiveOutcome } from "../channels/contract/index.ts";
import type { DeliveryResult, Inbox, InboxRow, PendingHistory, SystemEvents } from "../delivery/index.ts";
import { sleep } from "../infra/backoff.ts";
import { errorText } from "../infra/errors.ts";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import { resolveSessionKey } from "../routing/index.ts";
import { isStopMessage } from "./abort-words.ts";
import { createAgentTurns, type AgentRequest } from "./agent-turn.ts";
import type { CommandServices } from "./commands/contract.ts";
import type { CommandRegistry } from "./commands/registry.ts";
import { createCommandRunner } from "./commands/run.ts";
import type { ReceivedMedia } from "./inbound-context.ts";
import { chatKey } from "./inbox-rows.ts";
import { createHearing } from "./hearing.ts";
import { createIntake, type AdmitVerdict, type ClientMessage } from "./intake.ts";
import { clientRunIds, rowIds, type Prepared } from "./prepared.ts";
import { createBatchTurns } from "./queue/batch-turn.ts";
import { createUnreadReport } from "./queue/report.ts";
import { createSessionWorkers } from "./queue/worker.ts";
import { createAnswers } from "./reply/answers.ts";
import { createReading } from "./reading.ts";
import { createRunEvents } from "./reply/run-events.ts";
import { createReplay } from "./replay.ts";
import type { TurnDeps } from "./turn.ts";
import { createUnderstanding } from "./understand.ts";

export interface ConversationDeps extends TurnDeps {
  readonly inbox: Inbox;
  readonly history: PendingHistory;
  readonly systemEvents: SystemEvents;
  readonly registry: CommandRegistry;
  readonly commandServices: (conversation: Conversation) => CommandServices;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  /** Decides about a message, pure but for reading the pairing store. */
  readonly admit: (message: InboundMessage, transcript?: string) => AdmitVerdict;
  /** Makes or refreshes a pairing request; the text for the stranger, or undefined when nothing is to be said. */
  readonly requestPairing: (message: InboundMessage) => Promise<string | undefined>;
  readonly downloadMedia: (message: InboundMessage) => Promise<{ media: ReceivedMedia[]; problem: string | undefined }>;
  readonly ownerIds: (channel: string, accountId: string) => readonly string[];
  readonly version: string;
  /** Files of a message put into words. */
  readonly media: Pick<MediaUnderstanding, "understand">;
  readonly links: LinkUnderstanding;
  /** A message has come in and may be looked at, before anything is done about it. */
  onReceived?(ctx: MsgContext): void;
}

export interface Conversation {
  receive(message: InboundMessage): Promise<ReceiveOutcome>;
  /** A message whose channel has decided itself that it may come in. */
  receiveAdmitted(message: InboundMessage, verdict: AdmitVerdict & { kind: "run" }): ReceiveOutcome;
  receiveEvent(event: InboundSystemEvent): Promise<ReceiveOutcome>;
  /** A client's message: journaled, then handled like any other. @throws Error when the journal refuses */
  sendChat(message: ClientMessage): void;
  /** One agent turn outside any channel. */
  runAgent(request: AgentRequest): Promise<{ result: EmbeddedPiRunResult; delivered: readonly DeliveryResult[] }>;
  /**
   * Aborts what runs; the aborted runs say so themselves. `rpc` leaves what waits in its place; `stop`, a person's word,
   * drops it too, with what is still being read, and tells the chats it came from.
   */
  stop(sessionKey: string, by: "rpc" | "stop"): Promise<{ runIds: string[]; queued: number }>;
  /** Aborts one run, also one that waits for its lane or whose message is still being read. What it hit. */
  abortRun(sessionKey: string, runId: string): string[];
  /** Ends what the session does, tells senders what will not be read, and lets go of the transcript. @throws SessionBusyError */
  settle(sessionKey: string, by: "rpc" | "stop"): Promise<void>;
  isBusy(sessionKey: string): boolean;
  queueDepth(sessionKey: string): number;
  /** Takes up what an earlier process left unfinished. */
  replay(): Promise<void>;
  /** Refuses new messages, lets runs end for `timeoutMs`, then suspends them for the next process. */
  drain(timeoutMs: number): Promise<void>;
}

/** A run did not end in time after it was told to. */
export class SessionBusyError extends Error {
  override readonly name = "SessionBusyError";
  constructor(sessionKey: string) {
    super(`Session ${sessionKey} is still active; try again in a moment.`);
  }
}

/** ms that an aborted run may take to end. */
const SETTLE_MS = 15_000;
const STOPPED = "The conversation was stopped.";
/** ms that suspended runs have to write what they know. */
const SUSPEND_MS = 2000;

/** Everything between an accepted message and its reply. Source: spec agent-pipeline §0, decisions §5. */
export function createConversation(deps: ConversationDeps): Conversation {
  const { log, inbox, agents, sessions } = deps;
  const working = new Set<Promise<unknown>>();
  const inOrder = createKeyedQueue();
  const reading = createReading();
  let draining = false;
  const isDraining = (): boolean => draining;

  const answers = createAnswers(deps);
  const reportUnread = createUnreadReport({ events: deps.events, sendPlain: answers.sendPlain });
  const turns = createBatchTurns({ ...deps, answers, isDraining });
  const workers = createSessionWorkers({ ...deps, background, isDraining, reportUnread, runBatch: (...args) => turns.runBatch(...args) });
  const { handle, prepare } = createUnderstanding({
    ...deps, answers, hear: createHearing(deps), isBusy: workers.isBusy, submit,
    runCommand: createCommandRunner({
      ...deps, answers,
      services: () => deps.commandServices(conversation),
      async resetSession(sessionKey, reason) {
        await settle(sessionKey, "stop");
        await sessions.reset(sessionKey, { reason });
      },
    }),
    stop: stopWithReading,
    stopSubagents: (sessionKey) => deps.commandServices(conversation).subagents().killAll(sessionKey),
  });
  const intake = createIntake({ ...deps, arrive, arriveInTurn, isDraining, sendPlain: answers.sendPlain });
  const replay = createReplay({ ...deps, answers, workers, turns, prepare, arrive });
  const runAgent = createAgentTurns(deps);

  /** Work for some messages; its failure is told to their senders, never thrown into the void. */
  function background(rows: readonly InboxRow[], work: () => Promise<void>): void {
    const task = work().catch(async (err: unknown) => {
      log.error("message not handled", { err, channel: rows[0]?.message.channel });
      await answers.tell(rows, `⚠️ Something went wrong on this side: ${errorText(err)}`).catch((later: unknown) => log.error("failure not told", { err: later }));
      inbox.finish(rows.map((row) => row.id));
    });
    working.add(task);
    void task.finally(() => working.delete(task));
  }

  /**
   * Messages of one chat are understood in the order in which they came, also when an earlier one has a file to fetch.
   * Only a request to stop overtakes.
   */
  function arrive(rows: readonly InboxRow[]): void {
    const last = rows.at(-1);
    if (!last) return;
    if (last.authority.commandAuthorized && isStopMessage(last.message)) return background(rows, () => handle(rows));
    const done = reading.begin(rows, sessionKeyOf(last));
    background(rows, () => inOrder(last.client?.sessionKey ?? `${chatKey(last.message)}|${last.agentId ?? ""}`, () => handle(rows)).finally(done));
  }

  function arriveInTurn(rows: readonly InboxRow[]): void {
    const waiting = rows.map((row) => ({ row, done: reading.begin([row], sessionKeyOf(row)) }));
    background(rows, async () => {
      for (const { row, done } of waiting) {
        await handle([row]).finally(done);
        await workers.whenIdle(sessionKeyOf(row));
      }
    });
  }

  const sessionKeyOf = ({ client, message, agentId }: InboxRow): string => client?.sessionKey ?? resolveSessionKey(deps.config(), message, agentId).sessionKey;

  async function submit(sessionKey: string, item: Prepared): Promise<void> {
    const stopped = reading.stopOf(item.rows);
    if (!stopped) return workers.submit(sessionKey, item);
    item.status?.clear();
    for (const runId of clientRunIds([item])) {
      createRunEvents(deps.events, runId, sessionKey).aborted(stopped.by, undefined);
      agents.runs.end(runId, { status: "timeout" });
    }
    if (item.route && !isSameChat(item, stopped.asking)) await reportUnread([item], sessionKey, STOPPED);
    inbox.finish(rowIds([item]));
  }

  /** What runs, or is about to. */
  function abortRuns(sessionKey: string, by: "rpc" | "stop"): { readonly runIds: string[]; readonly cleared: number } {
    const pending = workers.pendingRun(sessionKey);
    const cleared = by === "stop" || pending !== undefined ? agents.lanes.clearSession(sessionKey) : 0;
    const isComing = pending !== undefined && cleared === 0 && agents.runs.abortComing(pending, by);
    return { runIds: [...agents.runs.abort({ sessionKey }, by), ...(isComing ? [pending] : [])], cleared };
  }

  async function stopAll(sessionKey: string, by: "rpc" | "stop", asking: readonly InboxRow[]): Promise<{ runIds: string[]; queued: number }> {
    const waiting = workers.clear(sessionKey);
    const { runIds, cleared } = abortRuns(sessionKey, by);
    // Who asked reads the count; others are told what became of their messages.
    const elsewhere = waiting.filter((item) => !isSameChat(item, asking));
    await reportUnread(elsewhere, sessionKey, STOPPED);
    inbox.finish(rowIds(waiting));
    return { runIds, queued: waiting.length + cleared };
  }

  async function stopWithReading(sessionKey: string, asking: readonly InboxRow[]): Promise<{ runIds: string[]; queued: number }> {
    const unread = reading.stop(sessionKey, { by: "stop", asking }).length;
    const { runIds, queued } = await stopAll(sessionKey, "stop", asking);
    return { runIds, queued: queued + unread };
  }

  async function stop(sessionKey: string, by: "rpc" | "stop"): Promise<{ runIds: string[]; queued: number }> {
    if (by === "stop") return stopWithReading(sessionKey, []);
    const pending = workers.pendingRun(sessionKey);
    const { runIds, cleared } = abortRuns(sessionKey, by);
    const hit = cleared > 0 && pending !== undefined ? [...runIds, pending] : runIds;
    return { runIds: hit.length > 0 ? hit : stopRead(sessionKey), queued: 0 };
  }

  function abortRun(sessionKey: string, runId: string): string[] {
    if (agents.runs.get(runId)) return agents.runs.abort({ runId }, "rpc");
    if (workers.pendingRun(sessionKey) !== runId) return stopRead(sessionKey, runId);
    return agents.lanes.clearSession(sessionKey) > 0 || agents.runs.abortComing(runId, "rpc") ? [runId] : [];
  }

  /** For clients: messages that are still being read are the runs that they wait for. */
  function stopRead(sessionKey: string, runId?: string): string[] {
    const rows = reading.stop(sessionKey, { by: "rpc", asking: [] }, ({ client }) => client !== undefined && (runId === undefined || client.runId === runId));
    return rows.flatMap(({ client }) => client?.runId ?? []);
  }

  async function settle(sessionKey: string, by: "rpc" | "stop"): Promise<void> {
    await stopAll(sessionKey, by, []);
    if (!(await agents.runs.waitIdle(sessionKey, SETTLE_MS))) throw new SessionBusyError(sessionKey);
    const entry = await sessions.get(sessionKey);
    if (entry) agents.forgetSession(entry.sessionId, sessions.transcriptPath(sessionKey, entry));
  }

  async function drain(timeoutMs: number): Promise<void> {
    draining = true;
    intake.close();
    await Promise.race([Promise.allSettled(working), sleep(timeoutMs)]);
    agents.lanes.clear();
    for (const run of agents.runs.all()) agents.runs.abort({ runId: run.runId }, "shutdown");
    await Promise.race([Promise.allSettled(working), sleep(SUSPEND_MS)]);
  }

  const conversation: Conversation = {
    receive: intake.receive, receiveAdmitted: intake.receiveAdmitted, receiveEvent: intake.receiveEvent, sendChat: intake.sendChat, runAgent, stop, abortRun, settle, isBusy: workers.isBusy, replay, drain,
    queueDepth: workers.depth,
  };
  return conversation;
}

function isSameChat({ route, rows }: Prepared, asking: readonly InboxRow[]): boolean {
  const last = asking.at(-1);
  if (!last) return false;
  if (last.client) return rows.at(-1)?.client !== undefined;
  return route !== undefined && route.channel === last.message.channel && route.accountId === last.message.accountId && route.to === last.message.to && route.threadId === last.message.chat.threadId;
}
