import { gateVisibleText, type EmbeddedPiRunResult, type ModelRef, type ReplyPayload, type ThinkLevel } from "../agents/index.ts";
import { lastChatOf, resolveUserZone, type ChatAddress } from "../auto-reply/index.ts";
import type { ChannelPlugin } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { DeliveryResult, SystemEvents } from "../delivery/index.ts";
import { sleep } from "../infra/backoff.ts";
import type { Clock } from "../infra/clock.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { currentTimeLine, truncateText } from "../infra/text/index.ts";
import { canonicalSessionKey, mainSessionKey, resolveDefaultAgentId } from "../routing/index.ts";
import type { SessionService } from "../sessions/index.ts";
import type { CronDeliveryStatus, CronJob, CronOutcome, CronPayload } from "./types.ts";

/** One turn in a session of its own. */
export interface CronTurn {
  readonly jobId: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly prompt: string;
  readonly model: ModelRef | undefined;
  readonly thinking: ThinkLevel | undefined;
  readonly timeoutMs: number | undefined;
  readonly isOwner: boolean;
  readonly signal: AbortSignal;
}

export interface CronExecuteDeps {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sessions: SessionService;
  readonly systemEvents: SystemEvents;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  readonly parseModel: (text: string, agentId: string) => Promise<ModelRef | undefined>;
  readonly runTurn: (turn: CronTurn) => Promise<EmbeddedPiRunResult>;
  /** Runs the session's heartbeat now; what came of it. */
  readonly wake: (request: { agentId: string; sessionKey: string; reason: string }) => Promise<{ status: string; reason?: string | undefined }>;
  readonly send: (to: ChatAddress, payload: ReplyPayload, from: { readonly agentId: string; readonly sessionKey: string }) => Promise<DeliveryResult>;
  /** The sent text stands in the chat's own session too, so that it can be answered, and in the web chats that show it. */
  readonly mirror: (sessionKey: string, text: string) => Promise<void>;
  readonly postWebhook: (url: string, body: unknown, signal: AbortSignal) => Promise<void>;
}

const BUSY_RETRY_MS = 250;
const BUSY_LIMIT_MS = 2 * 60_000;
const MAX_SUMMARY_CHARS = 2000;

/** Does what a job says. Source: spec tools-and-automation part 2 §7. */
export async function executeCronJob(deps: CronExecuteDeps, job: CronJob, signal: AbortSignal): Promise<CronOutcome> {
  const agentId = job.agentId ?? resolveDefaultAgentId(deps.config());
  return job.payload.kind === "systemEvent" ? remind(deps, job, job.payload.text, agentId, signal) : runIsolated(deps, job, job.payload, agentId, signal);
}

function homeSession(deps: CronExecuteDeps, job: CronJob, agentId: string): string {
  const { sessionKey } = job;
  return sessionKey === undefined ? mainSessionKey(agentId) : canonicalSessionKey(sessionKey, { defaultAgentId: agentId, scope: deps.config().session?.scope });
}

/** The text waits in the session; `now` has the heartbeat say it. */
async function remind(deps: CronExecuteDeps, job: CronJob, text: string, agentId: string, signal: AbortSignal): Promise<CronOutcome> {
  const sessionKey = homeSession(deps, job, agentId);
  deps.systemEvents.push(sessionKey, text, { contextKey: `cron:${job.id}` });
  const done = { summary: truncateText(text, MAX_SUMMARY_CHARS), deliveryStatus: "not-requested" as const };
  if (job.wakeMode === "next-heartbeat") return { status: "ok", ...done };
  const giveUpAt = deps.clock.now() + BUSY_LIMIT_MS;
  for (;;) {
    const woken = await deps.wake({ agentId, sessionKey, reason: `cron:${job.id}` });
    const isBusy = woken.status === "skipped" && woken.reason === "requests-in-flight";
    // A busy session reads the line with its next message anyway.
    if (!isBusy || signal.aborted || deps.clock.now() >= giveUpAt) {
      return woken.status === "failed" ? { status: "error", error: woken.reason ?? "the heartbeat failed", ...done } : { status: "ok", ...done };
    }
    await sleep(BUSY_RETRY_MS, signal);
  }
}

async function runIsolated(deps: CronExecuteDeps, job: CronJob, payload: Extract<CronPayload, { kind: "agentTurn" }>, agentId: string, signal: AbortSignal): Promise<CronOutcome> {
  const target = resolveTarget(deps, job, agentId);
  if (target.kind === "error" && job.delivery?.bestEffort !== true) return { status: "error", error: target.error, deliveryStatus: "unknown" };
  const sessionKey = `agent:${agentId}:cron:${job.id}`;
  const { entry } = await deps.sessions.reset(sessionKey, { archive: false, patch: { label: label(job.name), chatType: "direct" } });
  const runKey = `${sessionKey}:run:${entry.sessionId}`;
  await deps.sessions.update(runKey, { sessionId: entry.sessionId, sessionFile: deps.sessions.transcriptPath(sessionKey, entry), label: label(job.name), chatType: "direct" });
  const { model, note } = await chooseModel(deps, payload.model, agentId);
  const result = await deps.runTurn({
    jobId: job.id, agentId, sessionKey, prompt: buildPrompt(deps, job, payload, target.kind === "chat" || target.kind === "webchat"), model, thinking: payload.thinking as ThinkLevel | undefined,
    timeoutMs: payload.timeoutSeconds === undefined ? undefined : payload.timeoutSeconds * 1000, isOwner: job.authority?.isOwner ?? true, signal,
  });
  const { agentMeta, error, aborted } = result.meta;
  const said = result.payloads.filter((item) => !item.isReasoning && (item.text?.trim() || (item.mediaUrls?.length ?? 0) > 0));
  const summary = said.findLast((item) => item.text?.trim())?.text?.trim();
  const about = {
    ...(summary === undefined ? {} : { summary: truncateText(summary, MAX_SUMMARY_CHARS) }), sessionId: entry.sessionId, sessionKey: runKey, model: agentMeta.model, provider: agentMeta.provider,
    usage: { input_tokens: agentMeta.usage.input, output_tokens: agentMeta.usage.output, total_tokens: agentMeta.usage.total },
  };
  if (aborted) return { status: "error", error: "cron: job execution timed out", ...about, delivered: false, deliveryStatus: "not-delivered" };
  if (error && error.kind !== "empty") return { status: "error", error: error.message, ...about, delivered: false, deliveryStatus: "not-delivered" };
  const delivery = await deliver(deps, job, agentId, target, { result, said, summary }, signal);
  const webhook = job.notify === true && target.kind !== "webhook" ? deps.config().cron?.webhook : undefined;
  if (webhook !== undefined) {
    const posted = await postSummary(deps, job, webhook, summary, signal);
    if (posted.deliveryError !== undefined) deps.log.warn("cron.webhook was not reached", { jobId: job.id, error: posted.deliveryError });
  }
  return { status: "ok", ...(note ? { error: note } : {}), ...about, ...delivery };
}

const label = (name: string): string => `Cron: ${name}`.slice(0, 64);

async function chooseModel(deps: CronExecuteDeps, wanted: string | undefined, agentId: string): Promise<{ model: ModelRef | undefined; note?: string }> {
  if (wanted === undefined) return { model: undefined };
  const model = await deps.parseModel(wanted, agentId);
  if (model) return { model };
  deps.log.warn("the model of a cron job is unknown or not allowed; the default is used", { model: wanted });
  return { model: undefined, note: `model ${wanted} is not available; the default was used` };
}

function buildPrompt(deps: CronExecuteDeps, job: CronJob, payload: Extract<CronPayload, { kind: "agentTurn" }>, announces: boolean): string {
  const lines = [`[cron:${job.id} ${job.name}] ${payload.message}`, currentTimeLine(deps.clock.now(), resolveUserZone(deps.config()))];
  if (announces) lines.push("", "Your answer is sent to the chat as it is: write it as plain text for the person, and do not send it with the message tool yourself.");
  return lines.join("\n");
}

type Target =
  | { readonly kind: "chat"; readonly address: ChatAddress; readonly sessionKey: string | undefined }
  /** The job was asked for in a web chat: its session is where the answer is read. */
  | { readonly kind: "webchat"; readonly sessionKey: string }
  | { readonly kind: "webhook"; readonly url: string }
  | { readonly kind: "none" }
  | { readonly kind: "error"; readonly error: string };

/** The chat is settled before the run: an answer goes where it was asked to go, whatever happens meanwhile. */
function resolveTarget(deps: CronExecuteDeps, job: CronJob, agentId: string): Target {
  const { delivery } = job;
  if (!delivery || delivery.mode === "none") return { kind: "none" };
  if (delivery.mode === "webhook") return { kind: "webhook", url: delivery.to ?? "" };
  const cfg = deps.config();
  const home = homeSession(deps, job, agentId);
  const entry = deps.sessions.storeFor(agentId).get(home);
  const last = lastChatOf(entry);
  const wanted = delivery.channel === undefined || delivery.channel === "last" ? last?.channel : delivery.channel;
  if (wanted === undefined && delivery.to === undefined && job.sessionKey !== undefined && entry !== undefined) return { kind: "webchat", sessionKey: home };
  if (wanted === undefined) return { kind: "error", error: "Channel is required (no chat is known yet). Set delivery.channel and delivery.to, or write to the agent from the chat once." };
  const plugin = deps.channel(wanted);
  if (!plugin?.outbound) return { kind: "error", error: `Channel ${wanted} cannot send. Set delivery.channel to one that is configured.` };
  const isLast = last?.channel === plugin.id;
  const raw = delivery.to ?? (isLast ? last.to : undefined);
  if (raw === undefined) return { kind: "error", error: `delivery.to is required for channel ${plugin.id}.` };
  const accountId = delivery.accountId ?? (isLast ? last.accountId : undefined) ?? plugin.config.defaultAccountId(cfg);
  const target = plugin.outbound.resolveTarget?.(cfg, raw, accountId) ?? { ok: true as const, to: raw };
  if (!target.ok) return { kind: "error", error: target.error };
  const own = isLast && (delivery.to === undefined || target.to === last.to);
  const threadId = delivery.threadId ?? ("threadId" in target ? target.threadId : undefined) ?? (own ? last.threadId : undefined);
  return { kind: "chat", address: { channel: plugin.id, accountId, to: target.to, threadId }, sessionKey: own ? home : undefined };
}

interface Said {
  readonly result: EmbeddedPiRunResult;
  readonly said: readonly ReplyPayload[];
  readonly summary: string | undefined;
}

type Delivery = Pick<CronOutcome, "delivered" | "deliveryError"> & { readonly deliveryStatus: CronDeliveryStatus };

async function deliver(deps: CronExecuteDeps, job: CronJob, agentId: string, target: Target, { result, said, summary }: Said, signal: AbortSignal): Promise<Delivery> {
  switch (target.kind) {
    case "none":
      return { delivered: false, deliveryStatus: "not-delivered" };
    case "error":
      report(deps, job, agentId, summary);
      return { delivered: false, deliveryStatus: "not-delivered", deliveryError: target.error };
    case "webhook":
      return postSummary(deps, job, target.url, summary, signal);
    case "webchat":
      if (summary !== undefined && !gateVisibleText(summary).silent) await deps.mirror(target.sessionKey, summary);
      return { delivered: true, deliveryStatus: "delivered" };
    case "chat":
      break;
  }
  const { address } = target;
  const already = result.messagingSends.some((send) => send.channel === address.channel && send.to === address.to);
  const hasMedia = said.some((payload) => (payload.mediaUrls?.length ?? 0) > 0);
  // Told already, or told not to tell: that is what the job wanted.
  if (already || (!hasMedia && (summary === undefined || gateVisibleText(summary).silent))) return { delivered: true, deliveryStatus: "delivered" };
  for (const payload of hasMedia ? said : said.slice(-1)) {
    const sent = await deps.send(address, payload, { agentId, sessionKey: `agent:${agentId}:cron:${job.id}` });
    if (sent.kind === "failed") {
      report(deps, job, agentId, summary);
      return { delivered: false, deliveryStatus: "not-delivered", deliveryError: sent.reason };
    }
  }
  if (target.sessionKey !== undefined && summary !== undefined) {
    await deps.mirror(target.sessionKey, summary).catch((err: unknown) => deps.log.warn("what a cron job said does not stand in the chat's session", { jobId: job.id, err }));
  }
  return { delivered: true, deliveryStatus: "delivered" };
}

/** What could not be sent is at least known to the agent. */
function report(deps: CronExecuteDeps, job: CronJob, agentId: string, summary: string | undefined): void {
  deps.systemEvents.push(homeSession(deps, job, agentId), `Cron: ${job.name}: ${summary ?? "finished without an answer"}`, { contextKey: `cron:${job.id}` });
}

async function postSummary(deps: CronExecuteDeps, job: CronJob, url: string, summary: string | undefined, signal: AbortSignal): Promise<Delivery> {
  if (summary === undefined) return { delivered: false, deliveryStatus: "not-requested" };
  try {
    await deps.postWebhook(url, { action: "finished", jobId: job.id, name: job.name, status: "ok", summary, ts: deps.clock.now() }, signal);
    return { delivered: true, deliveryStatus: "delivered" };
  } catch (err) {
    return { delivered: false, deliveryStatus: "not-delivered", deliveryError: errorText(err) };
  }
}
