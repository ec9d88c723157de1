import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { MsgContext } from "../channels/contract/index.ts";
import type { SessionWatch } from "../sessions/index.ts";
import { fireEvent, type HookRunner } from "./hooks.ts";

/** `session_start`, `session_end` and `before_reset`. Source: spec plugin-sdk §7. */
export function createSessionWatch(hooks: HookRunner, agentIdOf: (sessionKey: string) => string): SessionWatch {
  return {
    started(key, { sessionId }, resumedFrom) {
      if (hooks.has("session_start")) void hooks.notify("session_start", { sessionId, ...(resumedFrom === undefined ? {} : { resumedFrom }) }, { agentId: agentIdOf(key), sessionId });
    },
    async beforeReset(key, { sessionId }, sessionFile, reason) {
      fireEvent(hooks, { type: "command", action: reason, sessionKey: key, context: { sessionId, sessionFile } });
      if (!hooks.has("before_reset")) return;
      const { messages } = await readMessages(sessionFile);
      void hooks.notify("before_reset", { sessionFile, messages, reason }, { agentId: agentIdOf(key), sessionKey: key, sessionId });
    },
    async ended(key, { sessionId, updatedAt }, transcript) {
      if (!hooks.has("session_end")) return;
      const { messages, startedAtMs } = transcript === undefined ? { messages: [], startedAtMs: undefined } : await readMessages(transcript);
      void hooks.notify(
        "session_end",
        { sessionId, messageCount: messages.length, ...(startedAtMs === undefined || updatedAt === undefined ? {} : { durationMs: Math.max(0, updatedAt - startedAtMs) }) },
        { agentId: agentIdOf(key), sessionId },
      );
    },
  };
}

/** Messages as they lie in the file; none when there is no file. */
async function readMessages(path: string): Promise<{ messages: unknown[]; startedAtMs: number | undefined }> {
  const messages: unknown[] = [];
  let startedAtMs: number | undefined;
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      const entry = parse(line);
      if (entry?.type === "session" && typeof entry.timestamp === "string") startedAtMs = Date.parse(entry.timestamp);
      if (entry?.type === "message") messages.push(entry.message);
    }
  } catch {
    // There is no file yet: the session had no message.
  }
  return { messages, startedAtMs };
}

function parse(line: string): { type?: unknown; timestamp?: unknown; message?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // a torn line
  }
}

/** `message_received`; nobody waits for it. */
export function tellReceived(hooks: HookRunner, ctx: MsgContext): void {
  fireEvent(hooks, {
    type: "message", action: "received", sessionKey: ctx.SessionKey,
    context: { from: ctx.From, to: ctx.To, content: ctx.BodyForCommands ?? "", channelId: ctx.Provider ?? "webchat", accountId: ctx.AccountId, messageId: ctx.MessageSid, timestamp: ctx.Timestamp },
  });
  if (!hooks.has("message_received")) return;
  const conversation = ctx.OriginatingTo ?? ctx.To ?? ctx.From;
  void hooks.notify(
    "message_received",
    {
      from: ctx.From, content: ctx.BodyForCommands ?? ctx.RawBody ?? ctx.Body ?? "", timestamp: ctx.Timestamp,
      metadata: {
        to: ctx.To, provider: ctx.Provider, surface: ctx.Surface, threadId: ctx.MessageThreadId, originatingChannel: ctx.OriginatingChannel, originatingTo: ctx.OriginatingTo, messageId: ctx.MessageSid,
        senderId: ctx.SenderId, senderName: ctx.SenderName, senderUsername: ctx.SenderUsername, senderE164: ctx.SenderE164, guildId: ctx.GroupSpace, channelName: ctx.GroupChannel,
      },
    },
    { channelId: ctx.Provider ?? "webchat", accountId: ctx.AccountId, conversationId: conversation },
  );
}
