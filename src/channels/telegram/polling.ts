import type { Update } from "grammy/types";
import { backoffDelayMs, type BackoffPolicy, sleep } from "../../infra/backoff.ts";
import type { ChannelAccountContext } from "../contract/index.ts";
import { assemble, type HeldUpdate } from "./assemble.ts";
import { callSignal, type TelegramClient } from "./client.ts";
import type { TelegramAccount } from "./config.ts";
import { failureText, isBadToken, readFailure, type TelegramFailure, toChannelError } from "./errors.ts";
import type { IntakeHandler } from "./intake.ts";
import type { OffsetStore } from "./offset.ts";

export interface PollingTimings {
  /** Telegram holds a poll open this long. Short, since a silently dead socket shows only by a missing answer. */
  readonly pollSeconds: number;
  /** A poll without an answer is given up after this. */
  readonly abortMs: number;
  /** The same while recovering: short, so that a returned network is used soon. */
  readonly recoverAbortMs: number;
  readonly backoff: BackoffPolicy;
}

export const POLLING_TIMINGS: PollingTimings = {
  pollSeconds: 8,
  abortMs: 12_000,
  recoverAbortMs: 6_000,
  backoff: { initialMs: 500, maxMs: 5_000, factor: 2, jitter: 0.2 },
};

export const ALLOWED_UPDATES = [
  "message",
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "callback_query",
  "message_reaction",
  "my_chat_member",
] as const;

/** How often held parts of an album or a long text are asked for again. */
const HELD_POLL_MS = 200;
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Takes updates until the signal aborts. Telegram is told that an update arrived only after the core accepted it, and the
 * offset file follows the same rule, so that a killed process loses nothing. Source: spec decisions §5.7, pains #11.
 * @throws ChannelError `auth` when Telegram refuses the token
 */
export async function runPolling(deps: {
  readonly ctx: ChannelAccountContext<TelegramAccount>;
  readonly client: TelegramClient;
  readonly handler: IntakeHandler;
  readonly offsets: OffsetStore;
  readonly timings: PollingTimings;
}): Promise<void> {
  const { ctx, client, handler, offsets, timings } = deps;
  const { signal } = ctx;
  const stored = await offsets.load();
  let confirmed = stored ?? -1;
  let savedOffset = confirmed;
  const held = new Map<number, HeldUpdate>();
  const handled = new Set<number>();
  let failures = 0;

  while (!signal.aborted) {
    const { waitMs } = assemble(sorted(held), ctx.now());
    if (waitMs !== undefined && held.size > 0) await sleep(Math.min(waitMs, HELD_POLL_MS), signal);
    if (signal.aborted) break;
    try {
      const updates = await poll(held.size > 0 || failures > 0 ? 0 : timings.pollSeconds);
      if (failures > 0) ctx.log.info("polling again", { attempts: failures });
      failures = 0;
      ctx.setStatus({ connected: true, lastConnectedAt: ctx.now(), lastError: null, reconnectAttempts: 0 });
      for (const update of updates) {
        if (update.update_id > confirmed && !handled.has(update.update_id) && !held.has(update.update_id)) {
          held.set(update.update_id, { update, arrivedAtMs: ctx.now() });
        }
      }
    } catch (err) {
      if (signal.aborted) break;
      await recover(readFailure(err));
      continue;
    }
    const accepted = await handOver();
    await moveOffset();
    if (!accepted) await backOff("the gateway does not accept messages at the moment");
  }
  ctx.setStatus({ connected: false });

  async function poll(timeoutSeconds: number): Promise<Update[]> {
    const recovering = failures > 0;
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), recovering ? timings.recoverAbortMs : timings.abortMs);
    const onStop = (): void => abort.abort();
    signal.addEventListener("abort", onStop, { once: true });
    try {
      return await client.poll.getUpdates(
        { offset: confirmed + 1, limit: 100, timeout: timeoutSeconds, allowed_updates: ALLOWED_UPDATES },
        callSignal(abort.signal),
      );
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onStop);
    }
  }

  async function recover(failure: TelegramFailure): Promise<void> {
    client.resetPolling();
    if (isBadToken(failure)) throw toChannelError(failure);
    if (failure.kind === "api" && failure.retryAfterMs !== undefined) {
      ctx.setStatus({ lastError: failureText(failure) });
      await sleep(Math.min(failure.retryAfterMs, MAX_RETRY_AFTER_MS), signal);
      return;
    }
    const conflict = failure.kind === "api" && failure.code === 409;
    await backOff(conflict ? toChannelError(failure).message : failure.kind === "aborted" ? "Telegram did not answer in time" : failureText(failure));
  }

  async function backOff(reason: string): Promise<void> {
    failures++;
    const delayMs = backoffDelayMs(timings.backoff, failures);
    ctx.setStatus({ connected: false, lastError: reason, reconnectAttempts: failures });
    ctx.log[failures === 1 ? "warn" : "debug"]("polling interrupted, trying again", { reason, attempt: failures, delayMs });
    await sleep(delayMs, signal);
  }

  /** false when the core refused to take a group; the rest of that chat waits with it. */
  async function handOver(): Promise<boolean> {
    const { ready } = assemble(sorted(held), ctx.now());
    for (const group of ready) {
      if ((await handler.handle(group)) === "retry") return false;
      for (const { update_id: id } of group) {
        held.delete(id);
        handled.add(id);
      }
    }
    return true;
  }

  async function moveOffset(): Promise<void> {
    const firstHeld = Math.min(...held.keys());
    const limit = Number.isFinite(firstHeld) ? firstHeld - 1 : Math.max(confirmed, ...handled);
    for (const id of handled) {
      if (id > limit) continue;
      confirmed = Math.max(confirmed, id);
      handled.delete(id);
    }
    if (confirmed <= savedOffset) return;
    try {
      await offsets.save(confirmed);
      savedOffset = confirmed;
    } catch (err) {
      // Telegram keeps the state too; the file only speeds up the next start.
      ctx.log.warn("update offset not written", { err });
    }
  }
}

const sorted = (held: ReadonlyMap<number, HeldUpdate>): HeldUpdate[] => [...held.values()].toSorted((a, b) => a.update.update_id - b.update.update_id);
