import { backoffDelayMs, type ChannelAccountContext, ChannelError, sleep } from "openclaw/plugin-sdk";
import type { BotSettings, WecomAccount } from "../config.ts";
import { createAgent } from "../http.ts";
import type { Frame } from "./frames.ts";
import { type BotLink, type LinkTimings, runLink } from "./link.ts";

export interface ConnectionTimings extends LinkTimings {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A link that lived so long was a good one: the next tries begin from the start. */
  readonly stableMs: number;
}

export const CONNECTION_TIMINGS: ConnectionTimings = { pingMs: 30_000, maxMisses: 2, connectMs: 15_000, ackMs: 5000, firstDelayMs: 1000, maxDelayMs: 30_000, stableMs: 10_000 };
const DEFAULT_ATTEMPTS = 10;
const MAX_REFUSALS = 5;

/**
 * The long connection of one bot until the account's signal aborts. A bot has one connection: when a newer one takes over, this
 * one stays away. @throws ChannelError `auth` (WS_AUTH_FAILURE_EXHAUSTED) or `unreachable` (WS_RECONNECT_EXHAUSTED). Source: spec channels-cn §2.2.
 */
export async function runConnection(deps: {
  readonly ctx: ChannelAccountContext<WecomAccount>;
  readonly bot: BotSettings;
  readonly timings: ConnectionTimings;
  /** undefined: there is none now. */
  onLink(link: BotLink | undefined): void;
  onCallback(frame: Frame): Promise<void>;
}): Promise<void> {
  const { ctx, bot, timings } = deps;
  const { signal, log, now } = ctx;
  const maxAttempts = ctx.account.config.maxReconnectAttempts ?? DEFAULT_ATTEMPTS;
  let attempt = 0;
  let refusals = 0;
  while (!signal.aborted) {
    const startedMs = now();
    const end = await runLink({
      url: bot.websocketUrl, agent: createAgent(bot.websocketUrl, ctx.account.proxyUrl), botId: bot.botId, secret: bot.secret, timings, signal,
      onOpen(link) {
        refusals = 0;
        deps.onLink(link);
        ctx.setStatus({ connected: true, lastConnectedAt: now(), lastError: null, reconnectAttempts: 0 });
        log.info("connected to WeCom");
      },
      onCallback: deps.onCallback,
      onProblem: (message, err) => log.warn(message, err === undefined ? {} : { err }),
    });
    deps.onLink(undefined);
    if (end.kind === "stopped" || signal.aborted) return;
    if (end.kind === "replaced") return await stayAway(ctx);
    if (now() - startedMs >= timings.stableMs) attempt = 0;
    attempt++;
    if (end.kind === "refused" && ++refusals >= MAX_REFUSALS) {
      throw new ChannelError("auth", `WS_AUTH_FAILURE_EXHAUSTED: ${end.reason}`, `Check botId and secret of ${ctx.account.configPath}, and that the bot uses the long connection (API 模式, 使用长连接).`);
    }
    if (maxAttempts >= 0 && attempt > maxAttempts) throw new ChannelError("unreachable", `WS_RECONNECT_EXHAUSTED: ${end.reason}`, "Check the network; see maxReconnectAttempts of channels.wecom (-1: without end).");
    const delayMs = backoffDelayMs({ initialMs: timings.firstDelayMs, maxMs: timings.maxDelayMs, factor: 2, jitter: 0 }, attempt);
    ctx.setStatus({ connected: false, reconnectAttempts: attempt, lastError: end.reason });
    log[attempt === 1 ? "warn" : "debug"]("connection to WeCom lost, connecting again", { reason: end.reason, attempt, delayMs });
    await sleep(delayMs, signal);
  }
}

async function stayAway({ signal, log, setStatus, account }: ChannelAccountContext<WecomAccount>): Promise<void> {
  const reason = `Another connection of this bot took over; only one can be open. Stop the other one, then restart the account (${account.configPath}).`;
  setStatus({ connected: false, lastError: reason });
  log.error("another connection of the bot took over", { fix: reason });
  await new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
}
