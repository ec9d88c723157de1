import { backoffDelayMs, type ChannelAccountContext, ChannelError, errorText, sleep } from "openclaw/plugin-sdk";
import type { DingTalkApi } from "./api.ts";
import { addressProblem, type DingTalkAccount } from "./config.ts";
import { DingTalkError } from "./errors.ts";
import type { Callback } from "./frames.ts";
import { type LinkEnd, type LinkTimings, runLink } from "./link.ts";

export const LINK_TIMINGS: LinkTimings = { pingMs: 20_000, maxMisses: 2, connectMs: 20_000 };
/** A link that lived so long was a good one: the next tries begin from the start. */
const STABLE_MS = 10_000;

/** The keys of `channels.dingtalk` about reconnecting, with their defaults. Source: spec channels-cn §3.1. */
interface ReconnectPolicy {
  readonly attempts: number;
  readonly cycles: number;
  readonly deadlineMs: number;
  delayMs(attempt: number): number;
}

export function reconnectPolicy({ config }: DingTalkAccount, random: () => number = Math.random): ReconnectPolicy {
  const { initialReconnectDelay: initialMs = 1000, maxReconnectDelay: maxMs = 60_000, reconnectJitter: jitter = 0.3 } = config;
  if (config.useConnectionManager === false) {
    return { attempts: Number.POSITIVE_INFINITY, cycles: 1, deadlineMs: Number.POSITIVE_INFINITY, delayMs: () => initialMs };
  }
  return {
    attempts: config.maxConnectionAttempts ?? 10, cycles: config.maxReconnectCycles ?? 10, deadlineMs: config.reconnectDeadlineMs ?? 50_000,
    delayMs(attempt) {
      const base = backoffDelayMs({ initialMs, maxMs, factor: 2, jitter: 0 }, attempt);
      return Math.round(Math.min(maxMs, Math.max(0, base * (1 + jitter * (2 * random() - 1)))));
    },
  };
}

/** Stream mode of one account until its signal aborts. @throws ChannelError `auth`, or `unreachable` when all cycles are used up */
export async function runStream(deps: {
  readonly ctx: ChannelAccountContext<DingTalkAccount>;
  readonly api: DingTalkApi;
  readonly timings: LinkTimings;
  take(callback: Callback): Promise<boolean>;
}): Promise<void> {
  const { ctx } = deps;
  const { signal, log, now } = ctx;
  const policy = reconnectPolicy(ctx.account);
  let attempt = 0;
  let cycle = 1;
  let cycleStartMs = now();
  let reason = "";
  while (!signal.aborted) {
    const startedMs = now();
    const end = await connectOnce(deps);
    if (end.kind === "stopped" || signal.aborted) return;
    if (now() - startedMs >= STABLE_MS) [attempt, cycle, cycleStartMs] = [0, 1, now()];
    attempt++;
    // At once, but only once in a row: a platform that sends each new connection away is not to be hammered.
    if (end.kind === "replace" && attempt === 1) {
      log.info("DingTalk moves the connection");
      continue;
    }
    reason = end.kind === "lost" ? end.reason : "DingTalk closes each new connection";
    if (attempt > policy.attempts || now() - cycleStartMs > policy.deadlineMs) {
      if (cycle >= policy.cycles) break;
      [attempt, cycle, cycleStartMs] = [1, cycle + 1, now()];
    }
    const delayMs = policy.delayMs(attempt);
    ctx.setStatus({ connected: false, reconnectAttempts: attempt, lastError: reason });
    log[attempt === 1 ? "warn" : "debug"]("connection to DingTalk lost, connecting again", { reason, attempt, cycle, delayMs });
    await sleep(delayMs, signal);
  }
  if (!signal.aborted) throw new ChannelError("unreachable", `DingTalk could not be reached: ${reason}`, "Check the network; see the reconnect keys of channels.dingtalk.");
}

async function connectOnce(deps: Parameters<typeof runStream>[0]): Promise<LinkEnd> {
  const { ctx, api, timings } = deps;
  try {
    const { endpoint, ticket } = await api.openConnection(ctx.signal);
    const problem = addressProblem(endpoint);
    if (problem !== undefined) return { kind: "lost", reason: `Stream endpoint: ${problem}` };
    const url = new URL(endpoint);
    url.searchParams.set("ticket", ticket);
    return await runLink({
      url: url.href, keepAlive: ctx.account.config.keepAlive !== false, timings, signal: ctx.signal,
      onOpen() {
        ctx.setStatus({ connected: true, lastConnectedAt: ctx.now(), lastError: null, reconnectAttempts: 0 });
        ctx.log.info("connected to DingTalk");
      },
      onFrame({ type, headers }) {
        ctx.setStatus({ lastEventAt: ctx.now() });
        ctx.log[ctx.account.config.debug === true ? "info" : "debug"]("frame from DingTalk", { type, topic: headers.topic, messageId: headers.messageId });
      },
      onCallback: deps.take,
      onProblem: (message, err) => ctx.log.warn(message, err === undefined ? {} : { error: errorText(err) }),
    });
  } catch (err) {
    if (ctx.signal.aborted) return { kind: "stopped" };
    // Wrong credentials do not become right by asking again and again.
    if (err instanceof DingTalkError && (err.kind === "token" || err.kind === "refused" || err.kind === "permission")) {
      throw new ChannelError("auth", err.message, `Check ${ctx.account.configPath}.clientId and clientSecret, and that the app is published with Stream mode.`, { cause: err });
    }
    return { kind: "lost", reason: errorText(err) };
  }
}
