import type { EmbeddedPiRunResult, HeartbeatRun, InputProvenance, ModelRef, ThinkLevel } from "../agents/index.ts";
import type { ChannelPlugin, MsgContext } from "../channels/contract/index.ts";
import type { DeliveryResult, SystemEvents } from "../delivery/index.ts";
import { resolveUserZone, stampClientText } from "./envelope.ts";
import { buildChatContext } from "./groups.ts";
import type { ReceivedMedia } from "./inbound-context.ts";
import type { ReplyRoute } from "./reply/channel-sink.ts";
import { readSystemLines } from "./system-lines.ts";
import { runTurn, type TurnDeps } from "./turn.ts";
import { buildUserPrompt } from "./user-prompt.ts";

export interface AgentRequest {
  readonly runId: string;
  readonly sessionKey: string;
  /** undefined: the run goes on from where a restart interrupted it. */
  readonly message: string | undefined;
  readonly isOwner: boolean;
  readonly attachments?: readonly ReceivedMedia[] | undefined;
  readonly thinking?: ThinkLevel | undefined;
  readonly timeoutMs?: number | undefined;
  readonly extraSystemPrompt?: string | undefined;
  readonly model?: ModelRef | undefined;
  /** Sends the answer there too. */
  readonly deliver?: ReplyRoute | undefined;
  readonly lane?: "main" | "subagent" | "cron" | "nested" | undefined;
  /** Who asked, when the turn is made for somebody. */
  readonly senderId?: string | undefined;
  /** Who the message is from, when no person wrote it. */
  readonly provenance?: InputProvenance | undefined;
  /** The message is said as it is, and the turn may leave no trace. */
  readonly heartbeat?: HeartbeatRun | undefined;
}

export interface AgentTurnDeps extends TurnDeps {
  readonly systemEvents: SystemEvents;
  readonly channel: (id: string) => ChannelPlugin | undefined;
}

/** One agent turn outside any channel's queue. */
export function createAgentTurns(deps: AgentTurnDeps) {
  return async (request: AgentRequest): Promise<{ result: EmbeddedPiRunResult; delivered: readonly DeliveryResult[] }> => {
    const { sessionKey } = request;
    const { entry } = await deps.sessions.ensure(sessionKey, { chatType: "direct" });
    const cfg = deps.config();
    const media = request.attachments ?? [];
    const { message } = request;
    const ctx: MsgContext = {
      Body: message, BodyForAgent: message, OriginatingChannel: request.deliver?.channel ?? "webchat", Provider: "webchat", Surface: "webchat",
      ChatType: "direct", SessionKey: sessionKey, CommandAuthorized: true,
      ...(media.length > 0 ? { MediaPaths: media.map((item) => item.path), MediaTypes: media.map((item) => item.mimeType) } : {}),
    };
    const body = message === undefined || request.heartbeat ? message : stampClientText(message, deps.clock.now(), resolveUserZone(cfg));
    const system = readSystemLines(deps, { key: sessionKey, agentId: deps.sessions.agentIdOf(sessionKey), isNew: entry.systemSent !== true && request.isOwner && !request.heartbeat });
    const outcome = await runTurn(deps, {
      runId: request.runId, sessionKey, agentId: deps.sessions.agentIdOf(sessionKey),
      prompt: body === undefined ? undefined : buildUserPrompt({ ctx, body, systemLines: system.lines, abortedLastRun: entry.abortedLastRun === true, isNewSession: entry.systemSent !== true }), ctx,
      authority: { source: "gateway", senderId: request.senderId ?? "gateway-client", isOwner: request.isOwner && system.trusted, commandAuthorized: true }, ownerIds: [],
      plugin: request.deliver ? deps.channel(request.deliver.channel) : undefined, route: request.deliver, lane: request.lane ?? "main",
      thinking: request.thinking, timeoutMs: request.timeoutMs, model: request.model, heartbeat: request.heartbeat, provenance: request.provenance,
      extraSystemPrompt: [buildChatContext(ctx, "mention"), request.extraSystemPrompt].filter(Boolean).join("\n\n"),
    });
    system.commit();
    outcome.announce();
    return { result: outcome.result, delivered: request.deliver ? await outcome.delivered : [] };
  };
}
