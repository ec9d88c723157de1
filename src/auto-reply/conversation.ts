import { randomUUID } from "node:crypto";
import { CommandLaneClearedError, inspectRunProgress, type EmbeddedPiRunResult, type ModelRef, type ThinkLevel } from "../agents/index.ts";
import type { ChannelPlugin, InboundMessage, InboundSystemEvent, MsgContext, ReceiveOutcome } from "../channels/contract/index.ts";
import { sleep } from "../infra/backoff.ts";
import { errorText } from "../infra/errors.ts";
import { dedupeKey, type Authority, type DeliveryResult, type Inbox, type InboxItem, type InboxRow, type PendingHistory, type SystemEvents } from "../delivery/index.ts";
import { resolveSessionKey } from "../routing/index.ts";
import { resolveSendPolicy, type SessionEntry } from "../sessions/index.ts";
import { createKeyedQueue } from "../infra/keyed-queue.ts";
import { isAbortRequest } from "./abort-words.ts";
import type { CommandServices } from "./commands/contract.ts";
import type { CommandRegistry } from "./commands/registry.ts";
import { createCommandRunner } from "./commands/run.ts";
import { createDebouncer } from "./debounce.ts";
import { formatSystemStamp, resolveUserZone, stampClientText } from "./envelope.ts";
import { buildChatContext } from "./groups.ts";
import { finalizeInboundContext, type ReceivedMedia } from "./inbound-context.ts";
import { chatKey, mergeRows, replyRoute, weakest } from "./inbox-rows.ts";
import { buildCollectPrompt, SessionQueue } from "./queue/session-queue.ts";
import { resolveQueueSettings } from "./queue/settings.ts";
import { createAnswers } from "./reply/answers.ts";
import type { ReplyRoute } from "./reply/channel-sink.ts";
import { buildFinalPayloads } from "./reply/redeliver.ts";
import { createRunEvents } from "./reply/run-events.ts";
import { startSession } from "./session-init.ts";
import { redeliverFinals, runTurn, type TurnDeps, type TurnResult } from "./turn.ts";
import { buildUserPrompt } from "./user-prompt.ts";

export interface ConversationDeps extends TurnDeps {
  readonly inbox: Inbox;
  readonly history: PendingHistory;
  readonly systemEvents: SystemEvents;
  readonly registry: CommandRegistry;
  readonly commandServices: (conversation: Conversation) => CommandServices;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  /** Decides about a message, pure but for reading the pairing store. */
  readonly admit: (message: InboundMessage) => AdmitVerdict;
  /** Makes or refreshes a pairing request; the text for the stranger, or undefined when nothing is to be said. */
  readonly requestPairing: (message: InboundMessage) => Promise<string | undefined>;
  readonly downloadMedia: (message: InboundMessage) => Promise<{ media: ReceivedMedia[]; problem: string | undefined }>;
  readonly ownerIds: (channel: string, accountId: string) => readonly string[];
  readonly version: string;
}

export type AdmitVerdict =
  | { readonly kind: "run"; readonly commandAuthorized: boolean; readonly wasMentioned: boolean; readonly isOwner: boolean }
  | { readonly kind: "pair" }
  | { readonly kind: "history"; readonly limit: number }
  | { readonly kind: "drop"; readonly reason: string };

export interface ClientMessage {
  readonly sessionKey: string;
  readonly runId: string;
  readonly text: string;
  readonly attachments: readonly ReceivedMedia[];
  readonly scopes: readonly string[];
  readonly isOwner: boolean;
  readonly thinking?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface AgentRequest {
  readonly runId: string;
  readonly sessionKey: string;
  readonly message: string;
  readonly isOwner: boolean;
  readonly attachments?: readonly ReceivedMedia[] | undefined;
  readonly thinking?: ThinkLevel | undefined;
  readonly timeoutMs?: number | undefined;
  readonly extraSystemPrompt?: string | undefined;
  readonly model?: ModelRef | undefined;
  /** Sends the answer there too. */
  readonly deliver?: ReplyRoute | undefined;
  readonly lane?: "main" | "subagent" | "cron" | "nested" | undefined;
}

export interface Conversation {
  receive(message: InboundMessage): Promise<ReceiveOutcome>;
  receiveEvent(event: InboundSystemEvent): Promise<ReceiveOutcome>;
  /** A client's message: journaled, then handled like any other. @throws Error when the journal refuses */
  sendChat(message: ClientMessage): void;
  /** One agent turn outside any channel. */
  runAgent(request: AgentRequest): Promise<{ result: EmbeddedPiRunResult; delivered: readonly DeliveryResult[] }>;
  /** Aborts runs and clears what waits; the aborted runs say so themselves. */
  stop(sessionKey: string, by: "rpc" | "stop"): Promise<{ runIds: string[]; queued: number }>;
  /** Ends what the session does and lets go of its transcript, so that it may be reset or deleted. @throws SessionBusyError */
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

interface Prepared {
  readonly rows: readonly InboxRow[];
  readonly ctx: MsgContext;
  readonly authority: Authority;
  readonly body: string;
  readonly agentId: string;
  readonly plugin: ChannelPlugin | undefined;
  readonly route: ReplyRoute | undefined;
  readonly message: InboundMessage;
  readonly isNewSession: boolean;
  readonly notices: readonly string[];
  readonly thinking: ThinkLevel | undefined;
  readonly timeoutMs: number | undefined;
}

interface SessionState {
  running: boolean;
  readonly queue: SessionQueue<Prepared>;
  /** Rows whose text was put into the running turn. */
  steered: InboxRow[];
}

const MAX_ATTEMPTS = 3;
/** ms that an aborted run may take to end. */
const SETTLE_MS = 15_000;
/** For the sender, when not even a line of some messages reached the model. */
const overflowNotice = (dropped: number, unread: number): string =>
  `⚠️ Too many messages came in at once: ${unread} could not be read at all and ${dropped - unread} only as one line each. Please repeat what is important.`;

/** Everything between an accepted message and its reply. Source: spec agent-pipeline §0, decisions §5. */
export function createConversation(deps: ConversationDeps): Conversation {
  const { log, clock, inbox, agents, sessions } = deps;
  const states = new Map<string, SessionState>();
  const working = new Set<Promise<unknown>>();
  // Looked up before the first message of this process can be among them.
  const leftOver = { rows: inbox.unfinished(), previews: deps.previews.orphans() };
  const inOrder = createKeyedQueue();
  const debouncer = createDebouncer({
    delayMs(channel) {
      const inbound = deps.config().messages?.inbound;
      return Math.max(0, Math.trunc(inbound?.byChannel?.[channel] ?? inbound?.debounceMs ?? 0));
    },
    flush: arrive,
  });
  const { answer, tell, sendPlain } = createAnswers(deps);
  const runCommand = createCommandRunner({
    ...deps,
    answers: { answer, tell, sendPlain },
    services: () => deps.commandServices(conversation),
    async resetSession(sessionKey) {
      await settle(sessionKey, "stop");
      await sessions.reset(sessionKey);
    },
  });
  let draining = false;

  const state = (key: string): SessionState => {
    let found = states.get(key);
    if (!found) states.set(key, (found = { running: false, queue: new SessionQueue(), steered: [] }));
    return found;
  };

  /** Background work of one message; its failure is told to the sender, never thrown into the void. */
  function background(rows: readonly InboxRow[], work: () => Promise<void>): void {
    const task = work().catch(async (err: unknown) => {
      log.error("message not handled", { err, channel: rows[0]?.message.channel });
      await tell(rows, `⚠️ Something went wrong on this side: ${errorText(err)}`).catch((later: unknown) => log.error("failure not told", { err: later }));
      inbox.finish(rows.map((row) => row.id));
    });
    working.add(task);
    void task.finally(() => working.delete(task));
  }

  // ── Accepting ────────────────────────────────────────────────────────────

  async function receive(message: InboundMessage): Promise<ReceiveOutcome> {
    if (draining) return { kind: "unavailable", reason: "the gateway is stopping" };
    const key = dedupeKey(message);
    try {
      const verdict = deps.admit(message);
      switch (verdict.kind) {
        case "run": {
          const authority: Authority = { source: message.channel, senderId: message.sender.id, isOwner: verdict.isOwner, commandAuthorized: verdict.commandAuthorized };
          const accepted = inbox.accept(key, { message, authority, wasMentioned: verdict.wasMentioned });
          if (accepted.kind === "duplicate") return { kind: "duplicate" };
          debouncer.take(accepted.row);
          return { kind: "accepted", id: accepted.row.id };
        }
        case "pair": {
          if (inbox.seen(key)) return { kind: "duplicate" };
          const text = await deps.requestPairing(message);
          if (text !== undefined) void sendPlain(message, text, `pair:${key}`).catch((err: unknown) => log.error("pairing code not sent", { err }));
          return { kind: "dropped", reason: "pairing" };
        }
        case "history":
          if (inbox.seen(key)) return { kind: "duplicate" };
          deps.history.add(chatKey(message), { sender: message.sender.name ?? message.sender.username ?? message.sender.id, body: message.text || "<media>", atMs: message.timestampMs }, verdict.limit);
          return { kind: "dropped", reason: "not-mentioned" };
        case "drop":
          return inbox.seen(key) ? { kind: "duplicate" } : { kind: "dropped", reason: verdict.reason };
      }
    } catch (err) {
      log.error("message not accepted", { channel: message.channel, err });
      return { kind: "unavailable", reason: errorText(err) };
    }
  }

  async function receiveEvent(event: InboundSystemEvent): Promise<ReceiveOutcome> {
    if (draining) return { kind: "unavailable", reason: "the gateway is stopping" };
    if (inbox.seen(`event|${event.channel}|${event.accountId}|${event.dedupeId}`)) return { kind: "duplicate" };
    const verdict = deps.admit({
      channel: event.channel, accountId: event.accountId, messageId: event.dedupeId, chat: event.chat, sender: { id: event.actorId },
      text: "", timestampMs: clock.now(), from: "", to: "", mentions: { bot: true, anyone: true, implicit: true },
    });
    if (verdict.kind !== "run") return { kind: "dropped", reason: verdict.kind };
    const { sessionKey } = resolveSessionKey(deps.config(), { channel: event.channel, accountId: event.accountId, chat: event.chat, sender: { id: event.actorId } });
    deps.systemEvents.push(sessionKey, event.text, { contextKey: event.contextKey, trusted: false });
    return { kind: "accepted", id: event.dedupeId };
  }

  function sendChat(client: ClientMessage): void {
    const message: InboundMessage = {
      channel: "webchat", accountId: "default", messageId: client.runId, chat: { id: client.sessionKey, type: "direct" },
      sender: { id: "gateway-client" }, text: client.text, timestampMs: clock.now(), from: "webchat", to: client.sessionKey,
    };
    const authority: Authority = { source: "gateway", senderId: "gateway-client", isOwner: client.isOwner, commandAuthorized: true, scopes: client.scopes };
    const item: InboxItem = {
      message, authority, wasMentioned: false,
      client: { sessionKey: client.sessionKey, runId: client.runId, thinking: client.thinking, timeoutMs: client.timeoutMs, attachments: client.attachments },
    };
    const accepted = inbox.accept(dedupeKey(message), item);
    if (accepted.kind === "accepted") arrive([accepted.row]);
  }

  /**
   * Messages of one chat are understood in the order in which they came, also when an earlier one has a file to fetch.
   * Only a request to stop overtakes.
   */
  function arrive(rows: readonly InboxRow[]): void {
    const last = rows.at(-1);
    if (!last) return;
    const overtakes = isAbortRequest(last.message.text);
    background(rows, () => (overtakes ? handle(rows) : inOrder(last.client?.sessionKey ?? chatKey(last.message), () => handle(rows))));
  }

  // ── Understanding ────────────────────────────────────────────────────────

  async function handle(rows: readonly InboxRow[]): Promise<void> {
    const last = rows.at(-1);
    if (!last) return;
    const cfg = deps.config();
    const message = mergeRows(rows);
    const { client } = last;
    const { agentId, sessionKey } = client ? { agentId: sessions.agentIdOf(client.sessionKey), sessionKey: client.sessionKey } : resolveSessionKey(cfg, message);
    const authority = weakest(rows);
    const ids = rows.map((row) => row.id);
    const route = client ? undefined : replyRoute(message, last.id);

    if (isAbortRequest(message.text) && authority.commandAuthorized) {
      const { runIds, queued } = await stop(sessionKey, "stop");
      await sessions.update(sessionKey, runIds.length > 0 ? { abortedLastRun: true } : {});
      await answer(rows, sessionKey, runIds.length > 0 ? `⚙️ Stopped.${queued > 0 ? ` ${queued} waiting message(s) dropped.` : ""}` : "⚙️ Nothing is running.", { record: false });
      inbox.finish(ids);
      return;
    }

    const started = await startSession(sessions, cfg, sessionKey, message, {
      nowMs: clock.now(), busy: isBusy(sessionKey), isClient: client !== undefined,
      onExpired: (entry) => agents.forgetSession(entry.sessionId, sessions.transcriptPath(sessionKey, entry)),
    });
    if (resolveSendPolicy(cfg, sessionKey, started.entry) === "deny" && !/^\/send\b/i.test(message.text.trim())) {
      inbox.finish(ids);
      if (client) createRunEvents(deps.events, client.runId, sessionKey).final(undefined);
      return;
    }
    const { media, problem } = client ? { media: [...(client.attachments ?? [])], problem: undefined } : await deps.downloadMedia(message);
    const history = client ? { lines: [], upTo: 0 } : deps.history.read(chatKey(message));
    const ctx = finalizeInboundContext(cfg, {
      message, sessionKey, commandAuthorized: authority.commandAuthorized, wasMentioned: rows.some((row) => row.wasMentioned), media,
      history: history.lines, previousAtMs: started.entry.updatedAt, ownerAllowFrom: client ? undefined : deps.ownerIds(message.channel, message.accountId),
      gatewayScopes: authority.scopes,
    });
    if (problem) await tell(rows, problem);

    const command = await runCommand(rows, ctx, { sessionKey, agentId, entry: started.entry, authority, isGroup: message.chat.type !== "direct" });
    if (command.kind === "done") {
      inbox.finish(ids);
      return;
    }
    if (command.body.trim() === "" && media.length === 0) {
      await answer(rows, sessionKey, "The message arrived empty. Please send it again.", { record: false });
      inbox.finish(ids);
      return;
    }
    const session = (await sessions.get(sessionKey)) ?? started.entry;
    const notices = started.expired ? [`🧹 A new conversation was started (${started.expired === "daily" ? "new day" : "long silence"}).`] : [];
    submit(sessionKey, {
      rows, ctx, authority, agentId, plugin: client ? undefined : deps.channel(message.channel), route, message,
      body: command.body === message.text ? (ctx.BodyForAgent ?? "") : command.body,
      isNewSession: session.systemSent !== true, notices: [...notices, ...command.notices],
      thinking: client?.thinking as ThinkLevel | undefined, timeoutMs: client?.timeoutMs,
    });
  }

  // ── Queueing ─────────────────────────────────────────────────────────────

  function submit(sessionKey: string, item: Prepared): void {
    const session = state(sessionKey);
    if (!session.running) {
      session.running = true;
      background(item.rows, () => work(sessionKey, session, item));
      return;
    }
    const cfg = deps.config();
    const settings = resolveQueueSettings(cfg, item.message.channel, sessionEntrySync(sessionKey), item.plugin?.defaults?.queue?.debounceMs);
    const run = agents.runs.bySession(sessionKey)[0];
    const steerable = (settings.mode === "steer" || settings.mode === "steer-backlog") && (item.ctx.MediaPaths?.length ?? 0) === 0;
    closeClientRun(item, sessionKey);
    if (steerable && run?.steer?.(promptOf(item, [])) === true) {
      inbox.bindRun(item.rows.map((row) => row.id), run.runId, sessionKey);
      session.steered.push(...item.rows);
      if (settings.mode === "steer") return;
    }
    if (settings.mode === "interrupt") {
      agents.runs.abort({ sessionKey }, "interrupt");
      inbox.finish(session.queue.clear().flatMap((queued) => queued.rows.map((row) => row.id)));
    }
    const mergeKey = JSON.stringify([item.authority.isOwner, item.authority.commandAuthorized, item.authority.source, item.authority.scopes, item.route?.channel, item.route?.accountId, item.route?.to, item.route?.threadId]);
    const notice = session.queue.push({ item, mergeKey, preview: item.body }, settings, clock.now());
    if (!notice) return;
    for (const dropped of notice.dropped) {
      background(dropped.rows, async () => {
        await tell(dropped.rows, `⚠️ Too many messages are waiting (limit ${settings.cap}); this one was dropped: “${dropped.body.slice(0, 80)}”. Please send it again later.`);
        inbox.finish(dropped.rows.map((row) => row.id));
      });
    }
  }

  function sessionEntrySync(sessionKey: string): Readonly<SessionEntry> | undefined {
    return sessions.storeFor(sessions.agentIdOf(sessionKey)).get(sessionKey);
  }

  /** A queued client message ends its own run at once; the later run names it in `originRunIds`. */
  function closeClientRun(item: Prepared, sessionKey: string): void {
    for (const row of item.rows) if (row.client) createRunEvents(deps.events, row.client.runId, sessionKey).final(undefined);
  }

  async function work(sessionKey: string, session: SessionState, first: Prepared): Promise<void> {
    try {
      let announce = await runBatch(sessionKey, [first], [], [], first.rows[0]?.client?.runId ?? randomUUID(), []);
      for (;;) {
        // The end is told only when the next message would find the session free.
        if (session.queue.depth === 0) session.running = false;
        announce();
        const settings = resolveQueueSettings(deps.config(), first.message.channel, sessionEntrySync(sessionKey));
        if (session.queue.depth === 0 || draining) break;
        const wait = session.queue.lastEnqueuedAt + settings.debounceMs - clock.now();
        if (wait > 0) {
          await sleep(wait);
          continue;
        }
        const batch = session.queue.take(settings.mode);
        if (!batch) break;
        const origins = batch.items.flatMap((item) => item.rows.flatMap((row) => (row.client ? [row.client.runId] : [])));
        announce = await runBatch(sessionKey, batch.items, batch.summary, batch.summarised, randomUUID(), origins);
      }
    } finally {
      if (states.get(sessionKey) === session) release(sessionKey, session);
    }
  }

  /** Ends a worker: what came meanwhile gets a new one. */
  function release(sessionKey: string, session: SessionState): void {
    session.running = false;
    if (session.queue.depth === 0) {
      states.delete(sessionKey);
      return;
    }
    const next = draining ? undefined : session.queue.take("followup");
    if (next?.items[0]) submit(sessionKey, next.items[0]);
  }

  function promptOf(item: Prepared, systemLines: readonly string[], abortedLastRun = false): string {
    const body = item.rows.some((row) => row.client) ? stampClientText(item.body, item.message.timestampMs, resolveUserZone(deps.config())) : item.body;
    return buildUserPrompt({ ctx: item.ctx, body, systemLines, abortedLastRun, isNewSession: item.isNewSession });
  }

  async function runBatch(sessionKey: string, items: readonly Prepared[], summary: readonly string[], summarised: readonly Prepared[], runId: string, originRunIds: readonly string[]): Promise<() => void> {
    const newest = items.at(-1) as Prepared;
    const unread = summarised.length - summary.length;
    const last = unread > 0 ? { ...newest, notices: [...newest.notices, overflowNotice(summarised.length, unread)] } : newest;
    const rows = [...summarised, ...items].flatMap((item) => item.rows);
    inbox.bindRun(rows.map((row) => row.id), runId, sessionKey);
    const pending = deps.systemEvents.peek(sessionKey);
    const lines = pending.events.map((event) => `[${formatSystemStamp(event.atMs, resolveUserZone(deps.config()))}] ${event.text}`);
    const entry = await sessions.get(sessionKey);
    const prompts = items.map((item, index) => promptOf(item, index === 0 ? lines : [], index === 0 && entry?.abortedLastRun === true));
    const prompt = buildCollectPrompt(prompts, summary, summarised.length);
    const trusted = pending.events.every((event) => event.trusted);
    const done = await turn({
      sessionKey, runId, item: last, rows, prompt, originRunIds,
      authority: { ...weakest(rows), isOwner: weakest(rows).isOwner && trusted },
      onDone: () => {
        deps.systemEvents.commit(sessionKey, pending.upTo);
        if (last.message.chat.type !== "direct") deps.history.clear(chatKey(last.message), deps.history.read(chatKey(last.message)).upTo);
      },
    });
    return done?.announce ?? (() => undefined);
  }

  async function turn(input: {
    sessionKey: string; runId: string; item: Prepared; rows: readonly InboxRow[]; prompt: string | undefined; originRunIds: readonly string[]; authority: Authority; onDone(): void;
  }): Promise<TurnResult | undefined> {
    const { sessionKey, item, rows } = input;
    const entry = await sessions.get(sessionKey);
    const activation = entry?.groupActivation ?? "mention";
    const ids = (): string[] => [...rows.map((row) => row.id), ...state(sessionKey).steered.splice(0).map((row) => row.id)];
    try {
      const result = await runTurn(deps, {
        runId: input.runId, sessionKey, agentId: item.agentId, prompt: input.prompt, ctx: item.ctx, authority: input.authority,
        ownerIds: item.authority.source === "gateway" ? [] : deps.ownerIds(item.message.channel, item.message.accountId),
        plugin: item.plugin, route: item.route, lane: "main", thinking: item.thinking, timeoutMs: item.timeoutMs, originRunIds: input.originRunIds,
        extraSystemPrompt: buildChatContext(item.ctx, activation), skillFilter: item.message.skillFilter, notices: item.notices,
        groupPolicy: item.message.chat.type === "direct" ? undefined : item.plugin?.groups?.resolveToolPolicy?.({
          cfg: deps.config(), accountId: item.message.accountId, groupId: item.message.chat.id, threadId: item.message.chat.threadId, senderId: item.message.sender.id,
          senderName: item.message.sender.name, senderUsername: item.message.sender.username, senderE164: item.message.sender.e164,
        }),
      });
      if (result.suspended) return result; // stays in the inbox: the next process goes on
      try {
        input.onDone();
      } catch (err) {
        log.error("what the run consumed is not forgotten", { sessionKey, err }); // the answer is out: no reason to call it failed
      }
      inbox.finish(ids());
      return result;
    } catch (err) {
      if (draining) return undefined;
      const text = err instanceof CommandLaneClearedError ? undefined : `⚠️ The message could not be processed: ${errorText(err)}`;
      if (text) {
        log.error("turn failed", { sessionKey, runId: input.runId, err });
        const events = createRunEvents(deps.events, input.runId, sessionKey, input.originRunIds);
        events.emit({ stream: "lifecycle", data: { phase: "error", error: errorText(err), endedAt: clock.now() } });
        events.error(text);
        if (item.route) await sendPlain(item.message, text, `${input.runId}:failed`);
      }
      inbox.finish(ids());
      return undefined;
    }
  }

  // ── Control ──────────────────────────────────────────────────────────────

  function isBusy(sessionKey: string): boolean {
    return states.get(sessionKey)?.running === true || agents.runs.bySession(sessionKey).length > 0;
  }

  async function stop(sessionKey: string, by: "rpc" | "stop"): Promise<{ runIds: string[]; queued: number }> {
    const waiting = states.get(sessionKey)?.queue.clear() ?? [];
    inbox.finish(waiting.flatMap((item) => item.rows.map((row) => row.id)));
    const cleared = agents.lanes.clearSession(sessionKey);
    const runIds = agents.runs.abort({ sessionKey }, by);
    return { runIds, queued: waiting.length + cleared };
  }

  async function settle(sessionKey: string, by: "rpc" | "stop"): Promise<void> {
    await stop(sessionKey, by);
    if (!(await agents.runs.waitIdle(sessionKey, SETTLE_MS))) throw new SessionBusyError(sessionKey);
    const entry = await sessions.get(sessionKey);
    if (entry) agents.forgetSession(entry.sessionId, sessions.transcriptPath(sessionKey, entry));
  }

  async function runAgent(request: AgentRequest): Promise<{ result: EmbeddedPiRunResult; delivered: readonly DeliveryResult[] }> {
    const { sessionKey } = request;
    await sessions.ensure(sessionKey, { chatType: "direct" });
    const cfg = deps.config();
    const media = request.attachments ?? [];
    const ctx: MsgContext = {
      Body: request.message, BodyForAgent: request.message, OriginatingChannel: request.deliver?.channel ?? "webchat", Provider: "webchat", Surface: "webchat",
      ChatType: "direct", SessionKey: sessionKey, CommandAuthorized: true,
      ...(media.length > 0 ? { MediaPaths: media.map((item) => item.path), MediaTypes: media.map((item) => item.mimeType) } : {}),
    };
    const body = stampClientText(request.message, clock.now(), resolveUserZone(cfg));
    const entry = await sessions.get(sessionKey);
    const pending = deps.systemEvents.peek(sessionKey);
    const lines = pending.events.map((event) => `[${formatSystemStamp(event.atMs, resolveUserZone(cfg))}] ${event.text}`);
    const outcome = await runTurn(deps, {
      runId: request.runId, sessionKey, agentId: sessions.agentIdOf(sessionKey),
      prompt: buildUserPrompt({ ctx, body, systemLines: lines, abortedLastRun: entry?.abortedLastRun === true, isNewSession: entry?.systemSent !== true }), ctx,
      authority: { source: "gateway", senderId: "gateway-client", isOwner: request.isOwner && pending.events.every((event) => event.trusted), commandAuthorized: true }, ownerIds: [],
      plugin: request.deliver ? deps.channel(request.deliver.channel) : undefined, route: request.deliver, lane: request.lane ?? "main",
      thinking: request.thinking, timeoutMs: request.timeoutMs, model: request.model,
      extraSystemPrompt: [buildChatContext(ctx, "mention"), request.extraSystemPrompt].filter(Boolean).join("\n\n"),
    });
    deps.systemEvents.commit(sessionKey, pending.upTo);
    outcome.announce();
    return { result: outcome.result, delivered: request.deliver ? await outcome.delivered : [] };
  }

  // ── Restart ──────────────────────────────────────────────────────────────

  async function replay(): Promise<void> {
    for (const preview of leftOver.previews.splice(0)) {
      deps.previews.closed(preview.id);
      await deps.channel(preview.channel)?.streaming?.closeOrphan?.(deps.config(), preview.accountId, preview.ref)?.catch((err: unknown) => log.warn("orphaned preview not closed", { err }));
    }
    deps.outbox.resume();
    const byRun = new Map<string, InboxRow[]>();
    for (const row of leftOver.rows.splice(0)) {
      const key = row.runId ?? row.id;
      byRun.set(key, [...(byRun.get(key) ?? []), row]);
    }
    for (const rows of byRun.values()) {
      const runId = rows[0]?.runId;
      if (runId === undefined) arrive(rows);
      else background(rows, () => replayRun(runId, rows));
    }
  }

  async function replayRun(runId: string, rows: readonly InboxRow[]): Promise<void> {
    const last = rows.at(-1) as InboxRow;
    const sessionKey = last.sessionKey as string;
    const ids = rows.map((row) => row.id);
    const entry = await sessions.get(sessionKey);
    const progress = entry ? await inspectRunProgress(sessions.transcriptPath(sessionKey, entry), runId) : ({ kind: "absent" } as const);
    log.info("unfinished run found", { runId, sessionKey, progress: progress.kind, attempts: last.attempts });
    if (last.attempts >= MAX_ATTEMPTS && progress.kind !== "answered") {
      await tell(rows, "⚠️ The gateway was restarted several times while it worked on your message and has given it up. Please send it again, perhaps in another form.");
      inbox.finish(ids);
      return;
    }
    const message = mergeRows(rows);
    const { media } = last.client ? { media: [...(last.client.attachments ?? [])] } : await deps.downloadMedia(message);
    const ctx = finalizeInboundContext(deps.config(), {
      message, sessionKey, commandAuthorized: last.authority.commandAuthorized, wasMentioned: rows.some((row) => row.wasMentioned), media, history: [],
    });
    const item: Prepared = {
      rows, ctx, authority: weakest(rows), body: ctx.BodyForAgent ?? "", agentId: sessions.agentIdOf(sessionKey), plugin: last.client ? undefined : deps.channel(message.channel),
      route: last.client ? undefined : replyRoute(message, last.id), message, isNewSession: false, notices: [], thinking: last.client?.thinking as ThinkLevel | undefined, timeoutMs: last.client?.timeoutMs,
    };
    if (progress.kind === "answered") {
      await redeliver(runId, item, progress.texts);
      inbox.finish(ids);
      return;
    }
    const session = state(sessionKey);
    session.running = true;
    try {
      inbox.bindRun(ids, runId, sessionKey);
      const prompt = progress.kind === "open" ? undefined : promptOf(item, []);
      const done = await turn({ sessionKey, runId, item, rows, prompt, originRunIds: [], authority: item.authority, onDone: () => undefined });
      done?.announce();
    } finally {
      release(sessionKey, session);
    }
  }

  /** The answer was complete when the process died: its pieces have the ids they would have had. */
  async function redeliver(runId: string, item: Prepared, texts: readonly string[]): Promise<void> {
    const payloads = buildFinalPayloads(texts);
    if (!item.route || !item.plugin) {
      createRunEvents(deps.events, runId, item.ctx.SessionKey ?? "").final(texts.join("\n\n"));
      return;
    }
    await redeliverFinals(deps, { runId, plugin: item.plugin, route: item.route, workspaceDir: agents.agent(item.agentId).workspaceDir }, payloads);
  }

  async function drain(timeoutMs: number): Promise<void> {
    draining = true;
    debouncer.clear();
    const idle = Promise.allSettled(working);
    await Promise.race([idle, sleep(timeoutMs)]);
    for (const run of agents.runs.all()) agents.runs.abort({ runId: run.runId }, "shutdown");
    await Promise.race([Promise.allSettled(working), sleep(2000)]);
  }

  const conversation: Conversation = {
    receive, receiveEvent, sendChat, runAgent, stop, settle, isBusy, replay, drain,
    queueDepth: (sessionKey) => states.get(sessionKey)?.queue.depth ?? 0,
  };
  return conversation;
}
