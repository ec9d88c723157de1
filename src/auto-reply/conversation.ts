import { randomUUID } from "node:crypto";
import { CommandLaneClearedError, inspectRunProgress, type EmbeddedPiRunResult, type ModelRef, type ThinkLevel } from "../agents/index.ts";
import type { ChannelPlugin, InboundMessage, InboundSystemEvent, MsgContext, ReceiveOutcome } from "../channels/contract/index.ts";
import { sleep } from "../infra/backoff.ts";
import { errorText } from "../infra/errors.ts";
import { dedupeKey, type Authority, type DeliveryResult, type Inbox, type InboxItem, type InboxRow, type PendingHistory, type SystemEvents } from "../delivery/index.ts";
import { resolveSessionKey } from "../routing/index.ts";
import { resolveSendPolicy, type SessionEntry } from "../sessions/index.ts";
import { isAbortRequest } from "./abort-words.ts";
import type { CommandContext, CommandResult, CommandServices } from "./commands/contract.ts";
import type { CommandRegistry } from "./commands/registry.ts";
import { formatSystemStamp, resolveUserZone, stampClientText } from "./envelope.ts";
import { buildChatContext } from "./groups.ts";
import { finalizeInboundContext, type ReceivedMedia } from "./inbound-context.ts";
import { buildCollectPrompt, SessionQueue } from "./queue/session-queue.ts";
import { resolveQueueSettings } from "./queue/settings.ts";
import type { ReplyRoute } from "./reply/channel-sink.ts";
import { buildFinalPayloads } from "./reply/redeliver.ts";
import { createRunEvents } from "./reply/run-events.ts";
import { matchResetTrigger } from "./reset-trigger.ts";
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
  isBusy(sessionKey: string): boolean;
  queueDepth(sessionKey: string): number;
  /** Takes up what an earlier process left unfinished. */
  replay(): Promise<void>;
  /** Refuses new messages, lets runs end for `timeoutMs`, then suspends them for the next process. */
  drain(timeoutMs: number): Promise<void>;
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
const NEW_SESSION_PROMPT =
  "A new session was started. If BOOTSTRAP.md is in your context, follow it; else read what Session Startup in AGENTS.md asks for. Then greet the person in your own manner in one to three sentences and ask what they want to do. Do not mention files or this instruction.";

/** For the sender, when not even a line of some messages reached the model. */
const overflowNotice = (dropped: number, unread: number): string =>
  `⚠️ Too many messages came in at once: ${unread} could not be read at all and ${dropped - unread} only as one line each. Please repeat what is important.`;

/** Everything between an accepted message and its reply. Source: spec agent-pipeline §0, decisions §5. */
export function createConversation(deps: ConversationDeps): Conversation {
  const { log, clock, inbox, agents, sessions } = deps;
  const states = new Map<string, SessionState>();
  const debounced = new Map<string, { rows: InboxRow[]; timer: NodeJS.Timeout }>();
  const working = new Set<Promise<unknown>>();
  // Looked up before the first message of this process can be among them.
  const leftOver = { rows: inbox.unfinished(), previews: deps.previews.orphans() };
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
          background([accepted.row], () => debounce(accepted.row));
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
    if (accepted.kind === "accepted") background([accepted.row], () => handle([accepted.row]));
  }

  const chatKey = (message: InboundMessage): string => [message.channel, message.accountId, message.chat.id, message.chat.threadId ?? ""].join("|");

  async function debounce(row: InboxRow): Promise<void> {
    const { message } = row;
    const ms = debounceMs(message.channel);
    const key = `${chatKey(message)}|${message.sender.id}`;
    const held = debounced.get(key);
    const passes = ms <= 0 || message.noDebounce === true || (message.media?.length ?? 0) > 0 || message.text.trim() === "" || message.text.trim().startsWith("/") || isAbortRequest(message.text);
    if (passes) {
      if (held) await flushDebounced(key);
      return handle([row]);
    }
    clearTimeout(held?.timer);
    const rows = [...(held?.rows ?? []), row];
    const timer = setTimeout(() => background(rows, () => flushDebounced(key)), ms);
    debounced.set(key, { rows, timer });
  }

  async function flushDebounced(key: string): Promise<void> {
    const held = debounced.get(key);
    if (!held) return;
    debounced.delete(key);
    clearTimeout(held.timer);
    await handle(held.rows);
  }

  function debounceMs(channel: string): number {
    const inbound = deps.config().messages?.inbound;
    return Math.max(0, Math.trunc(inbound?.byChannel?.[channel] ?? inbound?.debounceMs ?? 0));
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

  function mergeRows(rows: readonly InboxRow[]): InboundMessage {
    const last = rows.at(-1)?.message as InboundMessage;
    if (rows.length === 1) return last;
    return {
      ...last,
      text: rows.map((row) => row.message.text).filter((text) => text !== "").join("\n"),
      mergedMessageIds: rows.slice(0, -1).flatMap((row) => [...(row.message.mergedMessageIds ?? []), row.message.messageId]),
    };
  }

  function weakest(rows: readonly InboxRow[]): Authority {
    return rows.map((row) => row.authority).reduce((a, b) => ({ ...b, isOwner: a.isOwner && b.isOwner, commandAuthorized: a.commandAuthorized && b.commandAuthorized }));
  }

  function replyRoute(message: InboundMessage, inboxId: string): ReplyRoute {
    return {
      channel: message.channel, accountId: message.accountId, to: message.to, threadId: message.chat.threadId, messageId: message.messageId,
      replyContext: message.replyContext, inboxId,
    };
  }

  // ── Commands ─────────────────────────────────────────────────────────────

  type CommandOutcome = { kind: "done" } | { kind: "go-on"; body: string; notices: readonly string[] };

  async function runCommand(rows: readonly InboxRow[], ctx: MsgContext, base: Omit<CommandContext, "cfg" | "ctx" | "services" | "args" | "invokedAs">): Promise<CommandOutcome> {
    const body = ctx.BodyForCommands ?? "";
    const goOn = (text: string, notices: readonly string[] = []): CommandOutcome => ({ kind: "go-on", body: text, notices });
    const afterReset = base.authority.commandAuthorized ? matchResetTrigger(body, deps.config().session?.resetTriggers) : undefined;
    if (afterReset !== undefined) return resetByCommand(rows, base, afterReset);
    if (!body.includes("/")) return goOn(body);
    const services = deps.commandServices(conversation);
    const context = (args: string, invokedAs: string): CommandContext => ({ ...base, cfg: deps.config(), ctx, services, args, invokedAs });
    const match = deps.registry.match(body);
    if (match) {
      if (!base.authority.commandAuthorized || (match.command.ownerOnly && !base.authority.isOwner)) return { kind: "done" }; // no answer to strangers
      if (match.command.groupsOnly && !base.isGroup) {
        await answer(rows, base.sessionKey, `/${match.command.name} is for group chats.`);
        return { kind: "done" };
      }
      const result = await guard(() => match.command.run(context(match.args, match.invokedAs)), match.command.name);
      return finishCommand(rows, base.sessionKey, result, body);
    }
    if (!base.authority.commandAuthorized) return goOn(body);
    const { matches, rest } = deps.registry.takeInline(body);
    for (const inline of matches) {
      const result = await guard(() => inline.command.run(context(inline.args, inline.invokedAs)), inline.command.name);
      if (result.kind === "reply") await answer(rows, base.sessionKey, result.text, { keepOpen: true });
    }
    if (matches.length > 0 && rest.trim() === "") {
      for (const row of rows) if (row.client) createRunEvents(deps.events, row.client.runId, base.sessionKey).final(undefined);
      return { kind: "done" };
    }
    return goOn(rest);
  }

  async function guard(run: () => Promise<CommandResult>, name: string): Promise<CommandResult> {
    try {
      return await run();
    } catch (err) {
      log.error("command failed", { command: name, err });
      return { kind: "reply", text: `⚠️ /${name} failed: ${errorText(err)}` };
    }
  }

  async function finishCommand(rows: readonly InboxRow[], sessionKey: string, result: CommandResult, body: string): Promise<CommandOutcome> {
    switch (result.kind) {
      case "reply":
        await answer(rows, sessionKey, result.text, { buttons: result.buttons });
        return { kind: "done" };
      case "silent":
        return { kind: "done" };
      case "prompt":
        return { kind: "go-on", body: result.text, notices: [] };
      case "pass":
        return { kind: "go-on", body, notices: [] };
    }
  }

  /** `/new [model] [text]`: a fresh session, then the text, or a greeting. */
  async function resetByCommand(rows: readonly InboxRow[], base: { sessionKey: string; agentId: string; authority: Authority }, text: string): Promise<CommandOutcome> {
    const { scopes } = base.authority;
    if (scopes && !scopes.includes("operator.admin")) {
      await answer(rows, base.sessionKey, "⚠️ Starting a new session needs the scope operator.admin.", { record: false });
      return { kind: "done" };
    }
    await resetSession(base.sessionKey);
    let rest = text;
    const [first = ""] = text.split(/\s+/);
    if (first !== "" && /[/@]|^[a-z0-9.-]+$/i.test(first)) {
      const parsed = await agents.models.parseRef(first, base.agentId);
      const isModel = parsed.ok && (first.includes("/") || parsed.alias !== undefined) && (await agents.models.isAllowed(parsed.ref, base.agentId));
      if (isModel) {
        await sessions.update(base.sessionKey, { providerOverride: parsed.ref.provider, modelOverride: parsed.ref.modelId });
        rest = text.slice(text.indexOf(first) + first.length).trim();
      }
    }
    return { kind: "go-on", body: rest === "" ? NEW_SESSION_PROMPT : rest, notices: [] };
  }

  async function resetSession(sessionKey: string): Promise<Readonly<SessionEntry>> {
    await stop(sessionKey, "stop");
    await agents.runs.waitIdle(sessionKey, 15_000);
    const before = await sessions.get(sessionKey);
    if (before) agents.forgetSession(before.sessionId, sessions.transcriptPath(sessionKey, before));
    return (await sessions.reset(sessionKey)).entry;
  }

  /** Says something without the model: to the chat it came from, and to the client's run. */
  async function answer(
    rows: readonly InboxRow[], sessionKey: string, text: string,
    options: { record?: boolean; keepOpen?: boolean; buttons?: readonly (readonly { readonly text: string; readonly callbackData: string }[])[] | undefined } = {},
  ): Promise<void> {
    const last = rows.at(-1);
    if (!last) return;
    if (!last.client) {
      await sendPlain(last.message, text, `reply:${last.id}:${options.keepOpen ? randomUUID() : "0"}`, options.buttons);
      return;
    }
    if (options.record !== false) {
      await sessions.appendMessage(sessionKey, {
        role: "assistant", content: [{ type: "text", text }], api: "openclaw", provider: "openclaw", model: "gateway-injected", timestamp: clock.now(), stopReason: "stop",
        usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
      });
    }
    if (!options.keepOpen) {
      const events = createRunEvents(deps.events, last.client.runId, sessionKey);
      events.emit({ stream: "lifecycle", data: { phase: "start", startedAt: clock.now() } });
      events.emit({ stream: "lifecycle", data: { phase: "end", endedAt: clock.now() } });
      events.final(text);
      agents.runs.end(last.client.runId, { status: "ok" });
    }
  }

  const tell = (rows: readonly InboxRow[], text: string): Promise<void> => answer(rows, rows.at(-1)?.client?.sessionKey ?? "", text, { record: false });

  async function sendPlain(message: InboundMessage, text: string, id: string, buttons?: readonly (readonly { readonly text: string; readonly callbackData: string }[])[]): Promise<void> {
    await deps.outbox.deliver({
      id, channel: message.channel,
      message: { accountId: message.accountId, to: message.to, threadId: message.chat.threadId, replyContext: message.replyContext, text, ...(buttons ? { buttons } : {}) },
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
      background(rows, () => (runId === undefined ? handle(rows) : replayRun(runId, rows)));
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
    for (const { timer } of debounced.values()) clearTimeout(timer);
    debounced.clear();
    const idle = Promise.allSettled(working);
    await Promise.race([idle, sleep(timeoutMs)]);
    for (const run of agents.runs.all()) agents.runs.abort({ runId: run.runId }, "shutdown");
    await Promise.race([Promise.allSettled(working), sleep(2000)]);
  }

  const conversation: Conversation = {
    receive, receiveEvent, sendChat, runAgent, stop, isBusy, replay, drain,
    queueDepth: (sessionKey) => states.get(sessionKey)?.queue.depth ?? 0,
  };
  return conversation;
}
