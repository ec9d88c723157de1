import { CommandLaneClearedError } from "../../agents/index.ts";
import type { Authority, Inbox, InboxRow, PendingHistory, SystemEvents } from "../../delivery/index.ts";
import { errorText } from "../../infra/errors.ts";
import { buildChatContext } from "../groups.ts";
import { chatKey, weakest } from "../inbox-rows.ts";
import { clientRunIds, NO_PROMPT_STATE, promptOf, type Prepared } from "../prepared.ts";
import type { Answers } from "../reply/answers.ts";
import { allOf } from "../reply/status-reactions.ts";
import { createRunEvents } from "../reply/run-events.ts";
import { readSystemLines } from "../system-lines.ts";
import { runTurn, type TurnDeps } from "../turn.ts";
import { buildCollectPrompt, overflowNotice, type Batch } from "./session-queue.ts";
import type { Announce, TurnSession } from "./worker.ts";

export interface BatchTurnDeps extends TurnDeps {
  readonly inbox: Inbox;
  readonly history: PendingHistory;
  readonly systemEvents: SystemEvents;
  readonly ownerIds: (channel: string, accountId: string) => readonly string[];
  readonly answers: Answers;
  readonly isDraining: () => boolean;
}

export interface TurnRequest {
  readonly sessionKey: string;
  readonly runId: string;
  /** Its chat gets the answer, its options apply. */
  readonly item: Prepared;
  readonly rows: readonly InboxRow[];
  /** undefined goes on from the transcript. */
  readonly prompt: string | undefined;
  readonly originRunIds: readonly string[];
  readonly authority: Authority;
  readonly session: TurnSession;
  /** The answer is out: what the prompt used up may be forgotten. */
  onDone(): void;
}

export interface BatchTurns {
  /** One turn over what waited together. Never rejects: a failure is told to the senders. */
  runBatch(sessionKey: string, batch: Batch<Prepared>, runId: string, session: TurnSession): Promise<Announce>;
  /** Never rejects. Rows stay in the inbox when the gateway is stopping. */
  turn(request: TurnRequest): Promise<Announce>;
}

const nothing: Announce = () => undefined;

export function createBatchTurns(deps: BatchTurnDeps): BatchTurns {
  const { log, clock, inbox, agents, sessions } = deps;

  async function runBatch(sessionKey: string, batch: Batch<Prepared>, runId: string, session: TurnSession): Promise<Announce> {
    const all = [...batch.summarised, ...batch.items];
    const rows = all.flatMap((item) => item.rows);
    const newest = batch.items.at(-1) as Prepared;
    try {
      const notice = overflowNotice(batch);
      const item: Prepared = {
        ...newest, notices: [...batch.items.flatMap((each) => each.notices), ...(notice ? [notice] : [])], status: allOf(all.flatMap((each) => each.status ?? [])),
      };
      const isGroup = newest.message.chat.type !== "direct";
      const history = isGroup ? deps.history.read(chatKey(newest.message)) : { lines: [], upTo: 0 };
      const entry = await sessions.get(sessionKey);
      const isNewSession = entry?.systemSent !== true;
      const authority = weakest(rows);
      const system = readSystemLines(deps, { key: sessionKey, agentId: sessions.agentIdOf(sessionKey), isNew: isNewSession && authority.isOwner });
      const first = {
        systemLines: system.lines, abortedLastRun: entry?.abortedLastRun === true, isNewSession,
        history: history.lines.map((line) => ({ sender: line.sender, body: line.body.replace(/\r\n?/g, "\n"), timestamp: line.atMs })),
      };
      const prompts = batch.items.map((each, index) => promptOf(deps.config(), each, index === 0 ? first : { ...NO_PROMPT_STATE, isNewSession }));
      const prompt = buildCollectPrompt(prompts, batch.lines, batch.summarised.length);
      const isOwner = authority.isOwner && system.trusted;
      inbox.bindRun(rows.map((row) => row.id), runId, sessionKey, { prompt, isOwner, notices: item.notices, hints: item.hints, toldUpTo: { events: system.upTo, talk: history.upTo } });
      return await turn({
        sessionKey, runId, item, rows, prompt, session,
        originRunIds: clientRunIds(all).filter((id) => id !== runId),
        authority: { ...authority, isOwner },
        onDone() {
          system.commit();
          if (isGroup) deps.history.clear(chatKey(newest.message), history.upTo);
        },
      });
    } catch (err) {
      return await failed({ sessionKey, runId, item: newest, rows, originRunIds: [], session }, err);
    }
  }

  async function turn(request: TurnRequest): Promise<Announce> {
    const { sessionKey, item } = request;
    try {
      const entry = await sessions.get(sessionKey);
      const result = await runTurn(deps, {
        runId: request.runId, sessionKey, agentId: item.agentId, prompt: request.prompt, ctx: item.ctx, authority: request.authority,
        ownerIds: item.authority.source === "gateway" ? [] : deps.ownerIds(item.message.channel, item.message.accountId),
        plugin: item.plugin, route: item.route, lane: "main", thinking: item.thinking, timeoutMs: item.timeoutMs, originRunIds: request.originRunIds,
        extraSystemPrompt: buildChatContext(item.ctx, entry?.groupActivation ?? item.activation), skillFilter: item.message.skillFilter, notices: item.notices,
        groupPolicy: item.groupPolicy, hints: item.hints, status: item.status,
      });
      if (result.suspended) return result.announce; // stays in the inbox: the next process goes on
      try {
        request.onDone();
      } catch (err) {
        log.error("what the run consumed is not forgotten", { sessionKey, err }); // the answer is out: no reason to call it failed
      }
      finish(request);
      return result.announce;
    } catch (err) {
      return await failed(request, err);
    }
  }

  function finish({ rows, session }: Pick<TurnRequest, "rows" | "session">): void {
    inbox.finish([...rows, ...session.takeSteered()].map((row) => row.id));
  }

  async function failed(request: Pick<TurnRequest, "sessionKey" | "runId" | "item" | "rows" | "originRunIds" | "session">, err: unknown): Promise<Announce> {
    if (deps.isDraining()) return nothing;
    const { sessionKey, runId, item } = request;
    const events = createRunEvents(deps.events, runId, sessionKey, request.originRunIds);
    if (err instanceof CommandLaneClearedError) {
      // Stopped before its turn came; who stopped it has told the chat.
      agents.runs.end(runId, { status: "timeout" });
      finish(request);
      return () => events.aborted("stop", undefined);
    }
    const text = `⚠️ The message could not be processed: ${errorText(err)}`;
    log.error("turn failed", { sessionKey, runId, err });
    events.emit({ stream: "lifecycle", data: { phase: "error", error: errorText(err), endedAt: clock.now() } });
    if (item.route) {
      await deps.answers.sendPlain(item.message, text, `${runId}:failed`).catch((later: unknown) => log.error("failure not told", { err: later }));
    }
    finish(request);
    return () => events.error(text);
  }

  return { runBatch, turn };
}
