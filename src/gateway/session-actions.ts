import { randomUUID } from "node:crypto";
import type { AgentRuntime, EmbeddedPiRunResult, SessionActions, SessionSendRequest, SessionSendResult, SubagentService } from "../agents/index.ts";
import { lastChatOf, type Conversation } from "../auto-reply/index.ts";
import type { ChannelPlugin } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { listAgentIds, normalizeAgentId } from "../routing/index.ts";
import { isTranscriptMessage, readRecentMessages, type SessionService } from "../sessions/index.ts";
import type { SendPayload } from "./send-payload.ts";

export interface SessionActionOptions {
  readonly config: () => OpenClawConfig;
  readonly log: Logger;
  readonly sessions: SessionService;
  readonly agents: () => AgentRuntime;
  readonly conversation: () => Conversation;
  readonly subagents: () => SubagentService;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  readonly send: SendPayload;
}

const HISTORY_BYTES = 4 * 1024 * 1024;
const MAX_PING_PONG = 5;
const REPLY_SKIP = "REPLY_SKIP";
const ANNOUNCE_SKIP = "ANNOUNCE_SKIP";

/** The session tools' way to sessions, conversations and sub-agents. Source: spec tools-and-automation §1.4. */
export function createSessionActions(options: SessionActionOptions): SessionActions {
  const { sessions } = options;

  async function history(sessionKey: string, limit: number): ReturnType<SessionActions["history"]> {
    const entry = await sessions.get(sessionKey);
    if (!entry) throw new Error(`There is no session "${sessionKey}".`);
    const entries = await readRecentMessages(sessions.transcriptPath(sessionKey, entry), { limit, maxBytes: HISTORY_BYTES });
    return entries.filter(isTranscriptMessage).map((item) => ({ ...item.message, role: String(item.message.role), content: item.message.content }));
  }

  return {
    canonicalKey: (raw) => sessions.canonicalKey(raw),
    async list() {
      const rows = await sessions.all();
      return rows
        .toSorted((a, b) => b.entry.updatedAt - a.entry.updatedAt)
        .map(({ agentId, key, entry }) => ({
          key, agentId, channel: entry.lastChannel ?? entry.channel, label: entry.label, displayName: entry.displayName ?? entry.origin?.label, deliveryContext: entry.deliveryContext, updatedAt: entry.updatedAt,
          sessionId: entry.sessionId, model: entry.modelOverride ?? entry.model, contextTokens: entry.contextTokens, totalTokens: entry.totalTokens, thinkingLevel: entry.thinkingLevel,
          verboseLevel: entry.verboseLevel, systemSent: entry.systemSent, abortedLastRun: entry.abortedLastRun, sendPolicy: entry.sendPolicy, lastChannel: entry.lastChannel, lastTo: entry.lastTo,
          lastAccountId: entry.lastAccountId, spawnedBy: entry.spawnedBy, transcriptPath: sessions.transcriptPath(key, entry),
        }));
    },
    history,
    send: (request) => sendToSession(options, request),
    agents(requester) {
      const cfg = options.config();
      const allowed = cfg.agents?.list?.find((agent) => normalizeAgentId(agent.id) === requester)?.subagents?.allowAgents ?? [];
      const allowAny = allowed.includes("*");
      const known = listAgentIds(cfg);
      const ids = allowAny ? known : [...new Set([requester, ...allowed.map(normalizeAgentId)])];
      const nameOf = (id: string): string | undefined => cfg.agents?.list?.find((agent) => normalizeAgentId(agent.id) === id)?.name;
      return { requester, allowAny, agents: ids.map((id) => ({ id, name: nameOf(id), configured: known.includes(id) })) };
    },
    spawn: (request) => options.subagents().spawn(request),
    subagents: (requester, recentMs) => options.subagents().list(requester, recentMs),
    kill: (runId) => options.subagents().kill(runId),
    steer: (runId, message) => options.subagents().steer(runId, message),
  };
}

/** One turn of the other session; after its reply the two may talk on, and the outcome is told in the other's chat. */
async function sendToSession(options: SessionActionOptions, request: SessionSendRequest): Promise<SessionSendResult> {
  const runId = randomUUID();
  const first = turn(options, request.toKey, request.message, request, runId);
  const talk = first.then((reply) => converse(options, request, reply)).catch((err: unknown) => options.log.warn("talk between sessions ended", { from: request.fromKey, to: request.toKey, error: errorText(err) }));
  void talk;
  if (request.timeoutMs === 0) return { runId, status: "accepted" };
  const late = new Promise<"late">((resolve) => {
    const timer = setTimeout(() => resolve("late"), request.timeoutMs);
    const stop = (): void => {
      clearTimeout(timer);
      resolve("late");
    };
    request.signal.addEventListener("abort", stop, { once: true });
    void first.then(() => clearTimeout(timer), () => clearTimeout(timer));
  });
  try {
    const outcome = await Promise.race([first, late]);
    if (outcome === "late") return { runId, status: "timeout", error: "The reply takes longer; it will be told when it is there." };
    return { runId, status: "ok", reply: outcome };
  } catch (err) {
    return { runId, status: "error", error: errorText(err) };
  }
}

async function turn({ conversation }: SessionActionOptions, sessionKey: string, message: string, { fromKey, fromChannel, isOwner }: SessionSendRequest, runId: string = randomUUID()): Promise<string> {
  const { result } = await conversation().runAgent({
    runId, sessionKey, message, isOwner, lane: "nested",
    provenance: { kind: "inter_session", sourceSessionKey: sessionKey === fromKey ? undefined : fromKey, sourceChannel: fromChannel, sourceTool: "sessions_send" },
  });
  if (result.meta.error && result.meta.error.kind !== "empty") throw new Error(result.meta.error.message);
  return textOf(result);
}

const textOf = (result: EmbeddedPiRunResult): string => result.payloads.filter((payload) => !payload.isReasoning && payload.text).map((payload) => payload.text).join("\n\n").trim();

async function converse(options: SessionActionOptions, request: SessionSendRequest, firstReply: string): Promise<void> {
  const turns = Math.min(MAX_PING_PONG, options.config().session?.agentToAgent?.maxPingPongTurns ?? MAX_PING_PONG);
  let reply = firstReply;
  for (let i = 0; i < turns && reply !== "" && reply !== REPLY_SKIP; i++) {
    const isBack = i % 2 === 0;
    const [to, from] = isBack ? [request.fromKey, request.toKey] : [request.toKey, request.fromKey];
    const note = isBack ? `The other conversation replied:\n\n${reply}\n\nAnswer it, or say exactly ${REPLY_SKIP} when nothing more is to be said.` : reply;
    reply = await turn(options, to, note, { ...request, fromKey: from });
  }
  const entry = await options.sessions.get(request.toKey);
  const chat = lastChatOf(entry);
  const plugin = chat && options.channel(chat.channel);
  if (!chat || !plugin?.outbound) return;
  const announced = await turn(options, request.toKey, `The talk with ${request.fromKey} is over. If the person in this chat should know something of it, say it now; else say exactly ${ANNOUNCE_SKIP}.`, request);
  if (announced === "" || announced === ANNOUNCE_SKIP) return;
  await options.send({ ...chat, accountId: chat.accountId ?? plugin.config.defaultAccountId(options.config()) }, { text: announced }, { agentId: options.sessions.agentIdOf(request.toKey), sessionKey: request.toKey });
}
