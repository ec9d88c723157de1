import type { AgentRuntime, LinkUnderstanding, MediaUnderstanding, ThinkLevel, UnderstoodMedia } from "../agents/index.ts";
import type { ChannelPlugin, InboundMessage, MsgContext } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { Inbox, InboxRow } from "../delivery/index.ts";
import type { Clock } from "../infra/clock.ts";
import type { Logger } from "../infra/log.ts";
import { resolveSessionKey } from "../routing/index.ts";
import { resolveSendPolicy, type SessionEntry, type SessionService } from "../sessions/index.ts";
import { isStopMessage } from "./abort-words.ts";
import { channelSection } from "./channel-section.ts";
import type { CommandOutcome, CommandScope } from "./commands/run.ts";
import type { Heard } from "./hearing.ts";
import { finalizeInboundContext, type FinalizeInput, type ReceivedMedia } from "./inbound-context.ts";
import { type MessageWords, withLinkWords, withMediaWords } from "./media-words.ts";
import { mergeRows, replyRoute, weakest } from "./inbox-rows.ts";
import type { Prepared } from "./prepared.ts";
import { acknowledge } from "./reply/ack-reaction.ts";
import type { StatusReactions } from "./reply/status-reactions.ts";
import type { Answers } from "./reply/answers.ts";
import { createRunEvents, type RunEventSinks } from "./reply/run-events.ts";
import { startSession } from "./session-init.ts";

export interface UnderstandDeps {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly inbox: Inbox;
  readonly sessions: SessionService;
  readonly agents: AgentRuntime;
  readonly events: RunEventSinks;
  readonly answers: Answers;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  readonly downloadMedia: (message: InboundMessage) => Promise<{ media: ReceivedMedia[]; problem: string | undefined }>;
  readonly ownerIds: (channel: string, accountId: string) => readonly string[];
  readonly runCommand: (rows: readonly InboxRow[], ctx: MsgContext, scope: CommandScope) => Promise<CommandOutcome>;
  readonly isBusy: (sessionKey: string) => boolean;
  /** Stops the session for the senders of `rows`. */
  readonly stop: (sessionKey: string, rows: readonly InboxRow[]) => Promise<{ runIds: string[]; queued: number }>;
  /** Ends all that the session has given away; how many were running. */
  readonly stopSubagents: (sessionKey: string) => Promise<number>;
  submit(sessionKey: string, item: Prepared): Promise<void>;
  /** Files and links of a message put into words. */
  readonly media: Pick<MediaUnderstanding, "understand">;
  readonly links: LinkUnderstanding;
  /** Listens to a recording that may not be for the bot; undefined when it is not. */
  readonly hear: (row: InboxRow) => Promise<Heard | undefined>;
  /** A message has come in and may be looked at, before anything is done about it. */
  onReceived?(ctx: MsgContext): void;
}

/** ms for all files, and then for all links, of a message; later ones of the chat wait for them. */
const MEDIA_LIMIT_MS = 180_000;
const EXPIRED_NOTICE = { daily: "🧹 A new conversation was started (new day).", idle: "🧹 A new conversation was started (long silence)." } as const;

/** From accepted rows to an answer without the model, or to a message that is submitted for a turn. Source: spec agent-pipeline §0. */
export function createUnderstanding(deps: UnderstandDeps): { handle(rows: readonly InboxRow[]): Promise<void>; prepare: PrepareRow } {
  const { inbox, sessions, answers } = deps;

  async function handle(given: readonly InboxRow[]): Promise<void> {
    const unheard = given.find((row) => row.isUnheard);
    const heard = unheard && (await deps.hear(unheard));
    const rows = unheard ? (heard ? [heard.row] : []) : given;
    const last = rows.at(-1);
    if (!last) return;
    const cfg = deps.config();
    const written = mergeRows(rows);
    const { client } = last;
    const { agentId, sessionKey, parentSessionKey } = client
      ? { agentId: sessions.agentIdOf(client.sessionKey), sessionKey: client.sessionKey, parentSessionKey: undefined }
      : resolveSessionKey(cfg, written, last.agentId);
    const authority = weakest(rows);
    const finish = (): void => inbox.finish(rows.map((row) => row.id));

    if (isStopMessage(written) && authority.commandAuthorized) {
      await stopFor(rows, sessionKey);
      finish();
      return;
    }
    const started = await startSession(sessions, cfg, sessionKey, written, {
      nowMs: deps.clock.now(), busy: deps.isBusy(sessionKey), isClient: client !== undefined, parentSessionKey,
      onExpired: (entry) => deps.agents.forgetSession(entry.sessionId, sessions.transcriptPath(sessionKey, entry)),
    });
    // A session that is switched off answers commands and nothing else.
    const isQuiet = async (): Promise<boolean> => resolveSendPolicy(cfg, sessionKey, (await sessions.get(sessionKey)) ?? started.entry) === "deny";
    const endUnanswered = (): void => {
      finish();
      if (client) createRunEvents(deps.events, client.runId, sessionKey).final(undefined);
    };
    if (!/[/!]/.test(written.text) && (await isQuiet())) return endUnanswered();
    const { media: files, problem } = heard ? { media: heard.files, problem: undefined } : await mediaOf(written, last);
    if (problem) await answers.tell(rows, problem);
    const words = await wordsOf(written, files, { sessionKey, agentId, entry: started.entry }, heard?.understood);
    const { message, media } = words;
    const base = prepare(rows, message, sessionKey, { agentId, media, words, parentSessionKey, isNewSession: started.isNew, previousAtMs: started.previousAtMs });
    deps.onReceived?.(base.ctx);
    const command = await deps.runCommand(rows, base.ctx, { sessionKey, agentId, entry: started.entry, authority, isGroup: message.chat.type !== "direct" });
    const expired = started.expired && EXPIRED_NOTICE[started.expired];
    if (command.kind === "done") {
      if (expired && !client) await answers.sendPlain(message, expired, `expired:${last.id}`);
      finish();
      return;
    }
    if (await isQuiet()) return endUnanswered();
    if (command.body.trim() === "" && media.length === 0) {
      if (!problem) await answers.answer(rows, sessionKey, "The message arrived empty. Please send it again.", { record: false });
      finish();
      return;
    }
    await deps.submit(sessionKey, {
      ...base, body: bodyAfterCommands(written, message.text, base.body, command.body), notices: [...(expired ? [expired] : []), ...command.notices], hints: command.hints, status: acknowledgeItem(cfg, base),
    });
  }

  /** Also a message that has to wait sees at once that it was taken. */
  function acknowledgeItem(cfg: OpenClawConfig, { plugin, route, ctx, agentId, message }: Prepared): StatusReactions | undefined {
    return plugin && route && acknowledge({
      cfg, plugin, route, isGroup: message.chat.type !== "direct", wasMentioned: ctx.WasMentioned === true, log: deps.log,
      section: channelSection(cfg, route.channel, route.accountId), identityEmoji: deps.agents.agent(agentId).config?.identity?.emoji,
    });
  }

  async function stopFor(rows: readonly InboxRow[], sessionKey: string): Promise<void> {
    const { runIds, queued } = await deps.stop(sessionKey, rows);
    const subagents = await deps.stopSubagents(sessionKey);
    await sessions.update(sessionKey, runIds.length > 0 ? { abortedLastRun: true } : {});
    const waiting = queued > 0 ? ` ${queued} waiting message(s) dropped.` : "";
    const given = subagents > 0 ? ` ${subagents} sub-agent(s) stopped.` : "";
    await answers.answer(rows, sessionKey, runIds.length > 0 || queued > 0 || subagents > 0 ? `⚙️ Stopped.${waiting}${given}` : "⚙️ Nothing is running.", { record: false });
  }

  const mediaOf = async (message: InboundMessage, row: InboxRow): Promise<{ media: ReceivedMedia[]; problem: string | undefined }> =>
    row.client ? { media: [...(row.client.attachments ?? [])], problem: undefined } : deps.downloadMedia(message);

  /** What is in the message's files and behind its links. */
  async function wordsOf(written: InboundMessage, files: readonly ReceivedMedia[], session: { readonly sessionKey: string; readonly agentId: string; readonly entry: Readonly<SessionEntry> }, known?: UnderstoodMedia): Promise<MessageWords> {
    const { agentId, sessionKey, entry } = session;
    const place = { channel: written.channel, chatType: written.chat.type, sessionKey };
    const links = await deps.links.understand(written.text, place, AbortSignal.timeout(MEDIA_LIMIT_MS));
    if (files.length === 0) return { message: withLinkWords(written, links), media: files, links };
    const model = entry.providerOverride && entry.modelOverride ? { provider: entry.providerOverride, modelId: entry.modelOverride } : (await deps.agents.models.selectDefault(agentId)).ref;
    const understood = known ?? await deps.media.understand(files, place, { agentId, model, signal: AbortSignal.timeout(MEDIA_LIMIT_MS) });
    return { message: withLinkWords(withMediaWords(written, understood), links), media: files.filter((_file, index) => !understood.replaced.has(index)), understood, links };
  }

  function prepare(rows: readonly InboxRow[], message: InboundMessage, sessionKey: string, known: Parameters<PrepareRow>[3]): Prepared {
    const last = rows.at(-1) as InboxRow;
    const { client } = last;
    const cfg = deps.config();
    const authority = weakest(rows);
    const plugin = client ? undefined : deps.channel(message.channel);
    const ctx = finalizeInboundContext(cfg, {
      message, sessionKey, commandAuthorized: authority.commandAuthorized, wasMentioned: rows.some((row) => row.wasMentioned), media: known.media, words: known.words,
      parentSessionKey: known.parentSessionKey, isNewSession: known.isNewSession, previousAtMs: known.previousAtMs, ownerAllowFrom: client ? undefined : deps.ownerIds(message.channel, message.accountId), gatewayScopes: authority.scopes,
    });
    return {
      rows, ctx, authority, agentId: known.agentId, plugin, message, body: ctx.BodyForAgent ?? "", notices: [],
      route: client ? undefined : replyRoute(message, last.id), thinking: client?.thinking as ThinkLevel | undefined, timeoutMs: client?.timeoutMs,
      activation: plugin?.security?.resolveAccess(plugin.config.resolveAccount(cfg, message.accountId), cfg, message.chat).requireMention === false ? "always" : "mention",
      groupPolicy: message.chat.type === "direct" ? undefined : plugin?.groups?.resolveToolPolicy?.({
        cfg, accountId: message.accountId, groupId: message.chat.id, threadId: message.chat.threadId, senderId: message.sender.id,
        senderName: message.sender.name, senderUsername: message.sender.username, senderE164: message.sender.e164,
      }),
    };
  }

  return { handle, prepare };
}

/** What is left after directives, in the frame that the channel put around `text` and with the words found for the message. */
function bodyAfterCommands(written: InboundMessage, text: string, whole: string, rest: string): string {
  if (rest === text) return whole;
  const framed = written.agentText ?? written.text;
  const outer = framed === "" ? 0 : whole.indexOf(framed);
  const inner = text === "" ? -1 : (framed === "" ? whole : framed).lastIndexOf(text);
  const at = outer + inner;
  return outer < 0 || inner < 0 ? rest : whole.slice(0, at) + rest + whole.slice(at + text.length);
}

/** What a turn needs to know of rows, before commands have looked at them. */
export type PrepareRow = (
  rows: readonly InboxRow[], message: InboundMessage, sessionKey: string,
  known: { readonly agentId: string; readonly media: readonly ReceivedMedia[] } & Pick<FinalizeInput, "parentSessionKey" | "isNewSession" | "previousAtMs" | "words">,
) => Prepared;
