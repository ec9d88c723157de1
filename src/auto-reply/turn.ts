import { formatModelRef, type ActiveRun, type AgentRuntime, type EmbeddedPiRunResult, type HeartbeatRun, type InputProvenance, type Lane, type ModelRef, type ReplyPayload, type ThinkLevel } from "../agents/index.ts";
import type { ChannelPlugin, GroupToolPolicy, MsgContext } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { Authority, DeliveryResult } from "../delivery/index.ts";
import type { Clock } from "../infra/clock.ts";
import type { SessionService } from "../sessions/index.ts";
import { channelSection, subsection } from "./channel-section.ts";
import { fallbackChange } from "./fallback-notice.ts";
import type { ReplyRoute } from "./reply/channel-sink.ts";
import { finalPayloads } from "./reply/final-payloads.ts";
import { openDelivery, type DeliveryDeps } from "./reply/open-delivery.ts";
import type { RunEnding } from "./reply/run-delivery.ts";
import { NO_REMINDER_NOTE, promisesReminder } from "./reply/promised-reminder.ts";
import { createRunEvents, type RunEvents, type RunEventSinks } from "./reply/run-events.ts";
import type { StatusReactions } from "./reply/status-reactions.ts";
import { chatTypeOf, runChannel } from "./run-channel.ts";
import type { RunHints } from "./run-hints.ts";
import { recordRun } from "./run-record.ts";
import { resolveRunSettings } from "./run-settings.ts";

export interface TurnDeps extends DeliveryDeps {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly sessions: SessionService;
  readonly agents: AgentRuntime;
  readonly events: RunEventSinks;
  /** One line per account of a channel. */
  channelSummary(): readonly string[];
  /** Whether a job is planned that belongs to the session. */
  hasPlannedJob(sessionKey: string): Promise<boolean>;
}

export interface TurnInput {
  readonly runId: string;
  readonly sessionKey: string;
  readonly agentId: string;
  /** undefined continues from the transcript after a restart. */
  readonly prompt: string | undefined;
  readonly ctx: MsgContext | undefined;
  readonly authority: Authority;
  readonly ownerIds: readonly string[];
  readonly plugin: ChannelPlugin | undefined;
  /** Where replies are sent; undefined for clients, who read events. */
  readonly route: ReplyRoute | undefined;
  readonly lane: Lane;
  readonly thinking?: ThinkLevel | undefined;
  readonly timeoutMs?: number | undefined;
  readonly extraSystemPrompt?: string | undefined;
  readonly skillFilter?: readonly string[] | undefined;
  readonly groupPolicy?: GroupToolPolicy | undefined;
  readonly originRunIds?: readonly string[] | undefined;
  readonly model?: ModelRef | undefined;
  /** What the message itself asks for; wins over `thinking` and `model`. */
  readonly hints?: RunHints | undefined;
  /** Said before the answer (an expired session, a changed model). */
  readonly notices?: readonly string[] | undefined;
  /** Reactions on the messages that the run answers. */
  readonly status?: StatusReactions | undefined;
  readonly heartbeat?: HeartbeatRun | undefined;
  readonly provenance?: InputProvenance | undefined;
  onBegin?(): void;
}

export interface TurnResult {
  readonly result: EmbeddedPiRunResult;
  readonly payloads: readonly ReplyPayload[];
  /** The run was ended by the gateway's stop: nothing was said, it continues after the restart. */
  readonly suspended: boolean;
  /** Tells clients how the run ended; to be called when the session is ready for the next message. */
  readonly announce: () => void;
  /** Resolves when the channel has taken (or finally refused) the answer. */
  readonly delivered: Promise<readonly DeliveryResult[]>;
}

export const DEFAULT_TIMEOUT_SEC = 600;

/** Runs the agent for one prompt and sends what it says. @throws CommandLaneClearedError, or Error when the disk refuses */
export async function runTurn(deps: TurnDeps, input: TurnInput): Promise<TurnResult> {
  const cfg = deps.config();
  const { entry } = await deps.sessions.ensure(input.sessionKey);
  const agent = deps.agents.agent(input.agentId);
  const events = createRunEvents(deps.events, input.runId, input.sessionKey, input.originRunIds);
  const isGroup = chatTypeOf(input.ctx) !== "direct";
  const settings = await resolveRunSettings({
    cfg, agents: deps.agents, agentId: input.agentId, entry, ctx: input.ctx, isGroup, hints: { thinking: input.thinking, model: input.model, ...input.hints },
  });
  const { model: choice, thinking, verbose } = settings;
  const { route, plugin } = input;
  const delivery = route && plugin
    ? openDelivery(deps, { cfg, runId: input.runId, sessionKey: input.sessionKey, plugin, route, agent, settings, ctx: input.ctx, status: input.status, isHeartbeat: input.heartbeat !== undefined })
    : undefined;
  const notices = input.notices ?? [];
  await delivery?.begin(notices);
  let result: EmbeddedPiRunResult;
  let abortedBy: ActiveRun["abortedBy"];
  let run: ActiveRun | undefined;
  try {
    result = await deps.agents.run(
      {
        runId: input.runId, agentId: input.agentId, sessionKey: input.sessionKey, sessionId: entry.sessionId,
        sessionFile: deps.sessions.transcriptPath(input.sessionKey, entry), prompt: input.prompt, model: choice,
        fallbacks: await deps.agents.models.fallbacks(input.agentId, choice),
        ...settings.profile,
        thinking, reasoning: settings.reasoning, verbose, exec: settings.exec, elevated: settings.elevated,
        timeoutMs: input.timeoutMs ?? (cfg.agents?.defaults?.timeoutSeconds ?? DEFAULT_TIMEOUT_SEC) * 1000,
        lane: input.lane, extraSystemPrompt: input.extraSystemPrompt, channel: runChannel({ ctx: input.ctx, plugin, route }), isOwner: input.authority.isOwner, senderId: input.authority.source === "gateway" ? undefined : input.authority.senderId,
        ownerIds: input.ownerIds, historyLimit: resolveHistoryLimit(cfg, input.sessionKey, input.ctx), skillFilter: input.skillFilter, groupPolicy: input.groupPolicy,
        heartbeat: input.heartbeat, provenance: input.provenance,
        onAgentEvent(event) {
          delivery?.follow(event);
          events.emit(event);
        },
        ...delivery?.callbacks,
      },
      (begun) => {
        run = begun;
        input.onBegin?.();
      },
    );
    abortedBy = run?.abortedBy;
  } catch (err) {
    await delivery?.fail();
    throw err;
  }
  const suspended = abortedBy === "shutdown";
  const change = suspended || result.meta.aborted || result.meta.error ? undefined : fallbackChange(entry, formatModelRef(choice), result.meta.fallback);
  if (change?.clearedFrom !== undefined) {
    const chosen = { selectedProvider: choice.provider, selectedModel: choice.modelId, activeProvider: choice.provider, activeModel: choice.modelId };
    events.emit({ stream: "lifecycle", data: { phase: "fallback_cleared", ...chosen, previousActiveModel: change.clearedFrom } });
  }
  const changeNotice = change && verbose !== "off" ? [change.notice] : [];
  const isPromise = input.lane === "main" && !input.heartbeat && !result.meta.error && promisesReminder(result.lastText);
  const note = isPromise && !(await deps.hasPlannedJob(input.sessionKey)) ? NO_REMINDER_NOTE : undefined;
  const shaped = finalPayloads({ result, sessionKey: input.sessionKey, responseUsage: entry.responseUsage, note, notices: [...(delivery ? [] : notices), ...changeNotice] });
  const { done: delivered = Promise.resolve([]) } = (await delivery?.finish(shaped, endingOf(result, suspended))) ?? {};
  // The answer is out: a disk that refuses its statistics does not make it a failure.
  await recordRun(deps, input.sessionKey, entry, choice, result).catch((err: unknown) => deps.log.error("usage of the run not recorded", { sessionKey: input.sessionKey, err }));
  const announce = (): void => {
    if (!suspended) endChat(events, abortedBy, run?.partialText, result, shaped);
  };
  return { result, payloads: shaped, suspended, delivered, announce };
}

function endingOf({ meta }: EmbeddedPiRunResult, suspended: boolean): RunEnding {
  if (suspended) return "suspended";
  if (meta.aborted && meta.abortReason !== "timeout") return "stopped";
  return meta.error ? "error" : "done";
}

/** Turn limit of the channel for direct or group chats; the main session has none. Source: spec agent-pipeline §5.3. */
function resolveHistoryLimit(cfg: OpenClawConfig, key: string, ctx: MsgContext | undefined): number | undefined {
  const channel = ctx?.OriginatingChannel;
  if (channel === undefined || /^agent:[^:]+:main$/.test(key)) return undefined;
  const section = channelSection(cfg, channel, ctx?.AccountId);
  if (ctx?.ChatType === "direct") {
    const own = subsection(subsection(section, "dms"), ctx.SenderId ?? "")["historyLimit"];
    return numberOf(own) ?? numberOf(section["dmHistoryLimit"]);
  }
  return numberOf(section["historyLimit"]);
}

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

function endChat(events: RunEvents, abortedBy: ActiveRun["abortedBy"], partial: string | undefined, result: EmbeddedPiRunResult, payloads: readonly ReplyPayload[]): void {
  const { meta } = result;
  if (meta.aborted) {
    events.aborted(meta.abortReason === "timeout" ? "timeout" : (abortedBy ?? "rpc"), partial);
    return;
  }
  if (meta.error && meta.error.kind !== "empty") {
    events.error(meta.error.message);
    return;
  }
  const spoken = (result.blocksSent ? result.payloads : payloads).filter((payload) => !payload.isReasoning);
  const media = spoken.flatMap((payload) => payload.mediaUrls ?? []).map((source) => `📎 ${source}`);
  const body = [...spoken.flatMap((payload) => payload.text || []), ...media].join("\n\n");
  events.final(body === "" ? undefined : body, meta.agentMeta.usage);
}
