import type { EmbeddedPiRunResult, ModelRef, ReplyPayload } from "../agents/index.ts";
import { HEARTBEAT_PROMPT } from "../agents/index.ts";
import { channelSection, resolveUserZone, type ChatAddress } from "../auto-reply/index.ts";
import type { ChannelPlugin } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { DeliveryResult, SystemEvents } from "../delivery/index.ts";
import type { Clock } from "../infra/clock.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { currentTimeLine } from "../infra/text/index.ts";
import type { SessionService } from "../sessions/index.ts";
import { isWithinActiveHours } from "./active-hours.ts";
import { readHeartbeatFile } from "./heartbeat-file.ts";
import { cronEventPrompt, EXEC_EVENT_PROMPT, EXEC_EVENT_SILENT_PROMPT } from "./heartbeat-prompts.ts";
import { judgeHeartbeat, type HeartbeatVerdict } from "./judge.ts";
import type { HeartbeatSettings } from "./settings.ts";
import { resolveHeartbeatTarget, resolveVisibility, type HeartbeatTarget, type HeartbeatVisibility } from "./target.ts";

/** Source: spec gateway-protocol §6, event `heartbeat`. */
export interface HeartbeatEvent {
  readonly ts: number;
  readonly status: "sent" | "ok-empty" | "ok-token" | "skipped" | "failed";
  readonly reason?: string | undefined;
  readonly to?: string | undefined;
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
  /** At most 200 characters. */
  readonly preview?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly hasMedia?: boolean | undefined;
  readonly silent?: boolean | undefined;
  readonly indicatorType?: "ok" | "alert" | "error" | undefined;
}

export interface HeartbeatTurn {
  readonly sessionKey: string;
  readonly prompt: string;
  readonly model: ModelRef | undefined;
  readonly suppressToolErrors: boolean;
  /** true: the turn is no part of the conversation and does not keep the session awake. */
  discard(result: EmbeddedPiRunResult): boolean;
}

export interface HeartbeatDeps {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sessions: SessionService;
  readonly systemEvents: SystemEvents;
  readonly workspaceDir: (agentId: string) => string;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  /** Why a channel's account cannot send now; undefined when it can. */
  readonly notReady: (channel: string, accountId: string) => string | undefined;
  /** undefined when the text names no model. */
  readonly parseModel: (text: string, agentId: string) => Promise<ModelRef | undefined>;
  /** false while only the offline guide would answer. */
  readonly hasModel: (agentId: string) => Promise<boolean>;
  readonly isBusy: (sessionKey: string) => boolean;
  readonly runTurn: (turn: HeartbeatTurn) => Promise<EmbeddedPiRunResult>;
  readonly send: (destination: ChatAddress, payload: ReplyPayload, from: { readonly agentId: string; readonly sessionKey: string }) => Promise<DeliveryResult>;
}

export interface HeartbeatRequest {
  readonly settings: HeartbeatSettings;
  readonly sessionKey: string;
  /** `interval`, `wake`, `manual`, `exec-event`, `cron:<id>`, `hook:<id>`, … */
  readonly reason: string;
}

export interface HeartbeatOutcome {
  readonly event: HeartbeatEvent;
  /** The model's run, when there was one. */
  readonly result?: EmbeddedPiRunResult | undefined;
}

const DUPLICATE_MS = 24 * 60 * 60_000;
const PREVIEW_CHARS = 200;

/** One heartbeat. Never rejects: what goes wrong is in the event. Source: spec agent-pipeline-output §7. */
export async function runHeartbeat(deps: HeartbeatDeps, request: HeartbeatRequest): Promise<HeartbeatOutcome> {
  const startedAt = deps.clock.now();
  const base = (): Pick<HeartbeatEvent, "ts" | "durationMs"> => ({ ts: deps.clock.now(), durationMs: deps.clock.now() - startedAt });
  try {
    const plan = await planHeartbeat(deps, request);
    if (plan.kind === "skip") return { event: { ...base(), status: "skipped", reason: plan.reason } };
    const { settings, sessionKey } = request;
    let verdict: HeartbeatVerdict = { kind: "ok-empty" };
    const result = await deps.runTurn({
      sessionKey, prompt: plan.prompt, model: plan.model, suppressToolErrors: settings.suppressToolErrorWarnings,
      discard: (run) => {
        verdict = judgeHeartbeat(run, settings);
        return verdict.kind !== "alert";
      },
    });
    if (result.meta.error && result.meta.error.kind !== "empty") return { event: { ...base(), status: "failed", reason: result.meta.error.message, indicatorType: "error" }, result };
    if (result.meta.aborted) return { event: { ...base(), status: "skipped", reason: "aborted" }, result };
    return { event: { ...base(), ...(await conclude(deps, request, plan, verdict)) }, result };
  } catch (err) {
    deps.log.error("heartbeat failed", { agentId: request.settings.agentId, err });
    return { event: { ...base(), status: "failed", reason: errorText(err), indicatorType: "error" } };
  }
}

interface Plan {
  readonly kind: "run";
  readonly prompt: string;
  readonly model: ModelRef | undefined;
  readonly target: HeartbeatTarget;
  readonly visibility: HeartbeatVisibility;
  /** A reminder is due: it is said each time, in the same words too. */
  readonly isReminder: boolean;
}

async function planHeartbeat(deps: HeartbeatDeps, { settings, sessionKey, reason }: HeartbeatRequest): Promise<Plan | { kind: "skip"; reason: string }> {
  const cfg = deps.config();
  const skip = (why: string): { kind: "skip"; reason: string } => ({ kind: "skip", reason: why });
  const now = deps.clock.now();
  if (!isWithinActiveHours(settings.activeHours, now, resolveUserZone(cfg))) return skip("quiet-hours");
  if (deps.isBusy(sessionKey)) return skip("requests-in-flight");
  const { events } = deps.systemEvents.peek(sessionKey);
  const cron = events.filter((event) => event.contextKey?.startsWith("cron:"));
  const exec = events.filter((event) => event.contextKey?.startsWith("exec:"));
  const isPlain = cron.length === 0 && exec.length === 0;
  if (isPlain && !/^(?:exec|cron|wake|hook|manual)/.test(reason) && (await readHeartbeatFile(deps.workspaceDir(settings.agentId))) === "empty") return skip("empty-heartbeat-file");
  if (!(await deps.hasModel(settings.agentId))) return skip("no-model");
  const entry = await deps.sessions.get(sessionKey);
  const target = resolveHeartbeatTarget(cfg, settings, !isPlain, entry, deps.channel);
  const visibility = resolveVisibility(cfg, target.kind === "send" ? channelSection(cfg, target.destination.channel, target.destination.accountId) : {});
  if (!visibility.showAlerts && !visibility.showOk && !visibility.useIndicator) return skip("alerts-disabled");
  const canDeliver = target.kind !== "none" && visibility.showAlerts;
  const prompt = cron.length > 0 ? cronEventPrompt(cron.map((event) => event.text), canDeliver) : exec.length > 0 ? (canDeliver ? EXEC_EVENT_PROMPT : EXEC_EVENT_SILENT_PROMPT) : (settings.prompt ?? HEARTBEAT_PROMPT);
  return {
    kind: "run", target, visibility, isReminder: cron.length > 0, prompt: `${prompt}\n${currentTimeLine(now, resolveUserZone(cfg))}`,
    model: settings.model === undefined ? undefined : await deps.parseModel(settings.model, settings.agentId),
  };
}

/** Says what is to be said, once. */
async function conclude(deps: HeartbeatDeps, { settings, sessionKey }: HeartbeatRequest, plan: Plan, verdict: HeartbeatVerdict): Promise<Omit<HeartbeatEvent, "ts">> {
  const { target, visibility } = plan;
  const indicator = (type: "ok" | "alert" | "error"): Pick<HeartbeatEvent, "indicatorType"> => (visibility.useIndicator ? { indicatorType: type } : {});
  const at = target.kind === "send" ? { channel: target.destination.channel, to: target.destination.to, accountId: target.destination.accountId } : target.kind === "webchat" ? { channel: "webchat" } : {};
  if (verdict.kind !== "alert") {
    const isShown = visibility.showOk && target.kind === "send" && deps.notReady(target.destination.channel, target.destination.accountId) === undefined;
    if (isShown) await deps.send(target.destination, { text: "HEARTBEAT_OK" }, { agentId: settings.agentId, sessionKey });
    return { status: verdict.kind, ...at, silent: !isShown, ...indicator("ok") };
  }
  const hasMedia = verdict.payloads.some((payload) => (payload.mediaUrls?.length ?? 0) > 0);
  const about = { preview: verdict.text.slice(0, PREVIEW_CHARS), hasMedia, ...at, ...indicator("alert") };
  const skipped = (reason: string): Omit<HeartbeatEvent, "ts"> => ({ status: "skipped", reason, ...about });
  const entry = await deps.sessions.get(sessionKey);
  const isRecent = deps.clock.now() - (entry?.lastHeartbeatSentAt ?? 0) < DUPLICATE_MS;
  if (!plan.isReminder && !hasMedia && isRecent && entry?.lastHeartbeatText?.trim() === verdict.text) return skipped("duplicate");
  if (target.kind === "none") return skipped(target.reason);
  if (!visibility.showAlerts) return skipped("alerts-disabled");
  if (target.kind === "send") {
    const problem = deps.notReady(target.destination.channel, target.destination.accountId);
    if (problem !== undefined) return skipped(problem);
    for (const payload of verdict.payloads) {
      const sent = await deps.send(target.destination, payload, { agentId: settings.agentId, sessionKey });
      if (sent.kind === "failed") return { status: "failed", reason: sent.reason, ...about, ...indicator("error") };
    }
  }
  await deps.sessions.update(sessionKey, { lastHeartbeatText: verdict.text, lastHeartbeatSentAt: deps.clock.now() });
  return { status: "sent", ...about };
}
