import { randomUUID } from "node:crypto";
import type { InboundMessage, OutboundMessage } from "../../channels/contract/index.ts";
import type { InboxRow } from "../../delivery/index.ts";
import { agentIdOfKey, resolveDefaultAgentId } from "../../routing/index.ts";
import type { CommandButtons, CommandExtras } from "../commands/contract.ts";
import type { TurnDeps } from "../turn.ts";
import { attachFiles } from "./attachments.ts";
import { toOutboundMedia } from "./open-delivery.ts";
import { createRunEvents } from "./run-events.ts";

export interface AnswerOptions {
  /** false keeps it out of the transcript. */
  readonly record?: boolean | undefined;
  /** The client's run goes on after it. */
  readonly keepOpen?: boolean | undefined;
  readonly buttons?: CommandButtons | undefined;
  readonly extras?: CommandExtras | undefined;
}

/** What is said without the model. */
export interface Answers {
  /** To the chat the rows came from, or to the client's run, which ends with it. */
  answer(rows: readonly InboxRow[], sessionKey: string, text: string, options?: AnswerOptions): Promise<void>;
  /** A notice about the rows themselves, in no transcript. */
  tell(rows: readonly InboxRow[], text: string): Promise<void>;
  /** Into a chat, once per `id`. */
  sendPlain(message: InboundMessage, text: string, id: string): Promise<void>;
}

type Content = Pick<OutboundMessage, "text" | "media" | "buttons" | "replyToId" | "channelData">;

export function createAnswers(deps: Pick<TurnDeps, "config" | "clock" | "sessions" | "agents" | "outbox" | "events" | "stateDir" | "fetchUrl">): Answers {
  async function answer(
    rows: readonly InboxRow[], sessionKey: string, text: string,
    options: AnswerOptions = {},
  ): Promise<void> {
    const last = rows.at(-1);
    if (!last) return;
    if (!last.client) {
      await send(last.message, { ...(await withExtras(sessionKey, text, options.extras)), ...(options.buttons ? { buttons: options.buttons } : {}) }, `reply:${last.id}:${options.keepOpen ? randomUUID() : "0"}`);
      return;
    }
    const shown = [text, ...(options.extras?.mediaUrls ?? []).map((source) => `📎 ${source}`)].filter((part) => part !== "").join("\n\n");
    if (options.record !== false) {
      await deps.sessions.appendMessage(sessionKey, {
        role: "assistant", content: [{ type: "text", text: shown }], api: "openclaw", provider: "openclaw", model: "gateway-injected", timestamp: deps.clock.now(), stopReason: "stop",
        usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
      });
    }
    if (!options.keepOpen) {
      const events = createRunEvents(deps.events, last.client.runId, sessionKey);
      events.emit({ stream: "lifecycle", data: { phase: "start", startedAt: deps.clock.now() } });
      events.emit({ stream: "lifecycle", data: { phase: "end", endedAt: deps.clock.now() } });
      events.final(shown);
      deps.agents.runs.end(last.client.runId, { status: "ok" });
    }
  }

  const tell = (rows: readonly InboxRow[], text: string): Promise<void> => answer(rows, rows.at(-1)?.client?.sessionKey ?? "", text, { record: false });

  async function withExtras(sessionKey: string, text: string, { mediaUrls = [], audioAsVoice, replyToId, channelData }: CommandExtras = {}): Promise<Content> {
    const agentId = agentIdOfKey(sessionKey, resolveDefaultAgentId(deps.config()));
    const sources = mediaUrls.map((source) => ({ source, asVoice: audioAsVoice === true }));
    const { media, problems } = await attachFiles(sources, (source, asVoice) => toOutboundMedia(deps, deps.agents.filesToSend(agentId, sessionKey), source, asVoice));
    return {
      text: [text, ...problems].filter((part) => part !== "").join("\n\n"),
      ...(media.length > 0 ? { media } : {}), ...(replyToId === undefined ? {} : { replyToId }), ...(channelData ? { channelData } : {}),
    };
  }

  async function send(message: InboundMessage, content: Content, id: string): Promise<void> {
    const { accountId, to, chat, replyContext } = message;
    await deps.outbox.deliver({ id, channel: message.channel, message: { accountId, to, threadId: chat.threadId, replyContext, ...content } });
  }

  const sendPlain = (message: InboundMessage, text: string, id: string): Promise<void> => send(message, { text }, id);

  return { answer, tell, sendPlain };
}
