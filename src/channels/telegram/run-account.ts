import type { UserFromGetMe } from "grammy/types";
import { backoffDelayMs, sleep } from "../../infra/backoff.ts";
import { type ChannelAccountContext, ChannelError } from "../contract/index.ts";
import { callSignal, type TelegramClient } from "./client.ts";
import type { TelegramAccount } from "./config.ts";
import { failureText, isBadToken, readFailure, toChannelError } from "./errors.ts";
import { createIntakeHandler } from "./intake.ts";
import { buildMenu, publishMenu } from "./menu.ts";
import { createOffsetStore } from "./offset.ts";
import { type PollingTimings, runPolling } from "./polling.ts";
import { runWebhook } from "./webhook.ts";

const START_CALL_TIMEOUT_MS = 10_000;

/** Runs one account until its signal aborts. @throws ChannelError `auth`, `config`; a missing network is waited for */
export async function runAccount(deps: {
  readonly ctx: ChannelAccountContext<TelegramAccount>;
  readonly client: TelegramClient;
  readonly timings: PollingTimings;
  wasSentByBot(chatId: string, messageId: number): boolean;
  onMigrate(from: string, to: string): void;
}): Promise<void> {
  const { ctx, client, timings } = deps;
  const { account, signal, log } = ctx;
  const isWebhook = Boolean(account.config.webhookUrl);
  ctx.setStatus({ mode: isWebhook ? "webhook" : "polling" });
  const me = await untilReachable(ctx, timings, () => client.api.getMe(callSignal(AbortSignal.any([signal, AbortSignal.timeout(START_CALL_TIMEOUT_MS)]))));
  if (!me) return;
  ctx.setStatus({ bot: describeBot(me), connected: true, lastConnectedAt: ctx.now(), lastError: null });
  log.info("bot signed in", { username: me.username, mode: isWebhook ? "webhook" : "polling" });

  const menu = buildMenu(account, ctx.nativeCommands(), log);
  const handler = createIntakeHandler({
    ctx,
    client,
    env: {
      account,
      bot: { id: me.id, username: me.username },
      menuCommands: new Set(menu.map((entry) => entry.command)),
      wasSentByBot: (chatId, messageId) => deps.wasSentByBot(chatId, messageId),
      now: () => ctx.now(),
    },
    onMigrate: (from, to) => deps.onMigrate(from, to),
  });
  if (isWebhook) {
    await publishMenu(client, menu, log);
    await runWebhook({ ctx, client, handler });
    return;
  }
  // A webhook that is still set would make polling fail with 409.
  const cleared = await untilReachable(ctx, timings, async () => {
    await client.api.deleteWebhook({ drop_pending_updates: false });
    return true;
  });
  if (!cleared) return;
  await publishMenu(client, menu, log);
  await runPolling({ ctx, client, handler, timings, offsets: createOffsetStore(ctx.stateDir, account.accountId, account.token ?? "") });
}

/** Repeats while the network or Telegram is down; undefined when stopped meanwhile. @throws ChannelError for refusals */
async function untilReachable<T>(ctx: ChannelAccountContext<TelegramAccount>, timings: PollingTimings, call: () => Promise<T>): Promise<T | undefined> {
  for (let attempt = 1; !ctx.signal.aborted; attempt++) {
    try {
      return await call();
    } catch (err) {
      if (ctx.signal.aborted) return undefined;
      const failure = readFailure(err);
      if (isBadToken(failure)) throw toChannelError(failure);
      if (failure.kind === "api" && failure.code < 500 && failure.code !== 429) {
        throw new ChannelError("rejected", failureText(failure), "See the description of the error.", { cause: err });
      }
      const delayMs = failure.kind === "api" && failure.retryAfterMs !== undefined ? Math.min(failure.retryAfterMs, 60_000) : backoffDelayMs(timings.backoff, attempt);
      ctx.setStatus({ connected: false, lastError: failureText(failure), reconnectAttempts: attempt });
      ctx.log[attempt === 1 ? "warn" : "debug"]("Telegram not reachable, trying again", { reason: failureText(failure), delayMs });
      await sleep(delayMs, ctx.signal);
    }
  }
  return undefined;
}

export function describeBot(me: UserFromGetMe): Record<string, unknown> {
  return {
    id: me.id,
    username: me.username,
    canJoinGroups: me.can_join_groups,
    canReadAllGroupMessages: me.can_read_all_group_messages,
    supportsInlineQueries: me.supports_inline_queries,
  };
}
