import { randomUUID } from "node:crypto";
import type { InboundMessage } from "../../channels/contract/index.ts";
import type { InboxRow } from "../../delivery/index.ts";
import type { CommandButtons } from "../commands/contract.ts";
import type { TurnDeps } from "../turn.ts";
import { createRunEvents } from "./run-events.ts";

export interface AnswerOptions {
  /** false keeps it out of the transcript. */
  readonly record?: boolean | undefined;
  /** The client's run goes on after it. */
  readonly keepOpen?: boolean | undefined;
  readonly buttons?: CommandButtons | undefined;
}

/** What is said without the model. */
export interface Answers {
  /** To the chat the rows came from, or to the client's run, which ends with it. */
  answer(rows: readonly InboxRow[], sessionKey: string, text: string, options?: AnswerOptions): Promise<void>;
  /** A notice about the rows themselves, in no transcript. */
  tell(rows: readonly InboxRow[], text: string): Promise<void>;
  /** Into a chat, once per `id`. */
  sendPlain(message: InboundMessage, text: string, id: string, buttons?: CommandButtons): Promise<void>;
}

export function createAnswers(deps: Pick<TurnDeps, "clock" | "sessions" | "agents" | "outbox" | "events">): Answers {
  async function answer(
    rows: readonly InboxRow[], sessionKey: string, text: string,
    options: AnswerOptions = {},
  ): Promise<void> {
    const last = rows.at(-1);
    if (!last) return;
    if (!last.client) {
      await sendPlain(last.message, text, `reply:${last.id}:${options.keepOpen ? randomUUID() : "0"}`, options.buttons);
      return;
    }
    if (options.record !== false) {
      await deps.sessions.appendMessage(sessionKey, {
        role: "assistant", content: [{ type: "text", text }], api: "openclaw", provider: "openclaw", model: "gateway-injected", timestamp: deps.clock.now(), stopReason: "stop",
        usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
      });
    }
    if (!options.keepOpen) {
      const events = createRunEvents(deps.events, last.client.runId, sessionKey);
      events.emit({ stream: "lifecycle", data: { phase: "start", startedAt: deps.clock.now() } });
      events.emit({ stream: "lifecycle", data: { phase: "end", endedAt: deps.clock.now() } });
      events.final(text);
      deps.agents.runs.end(last.client.runId, { status: "ok" });
    }
  }

  const tell = (rows: readonly InboxRow[], text: string): Promise<void> => answer(rows, rows.at(-1)?.client?.sessionKey ?? "", text, { record: false });

  async function sendPlain(message: InboundMessage, text: string, id: string, buttons?: CommandButtons): Promise<void> {
    await deps.outbox.deliver({
      id, channel: message.channel,
      message: { accountId: message.accountId, to: message.to, threadId: message.chat.threadId, replyContext: message.replyContext, text, ...(buttons ? { buttons } : {}) },
    });
  }

  return { answer, tell, sendPlain };
}
