import { backoffDelayMs, sleep } from "../../infra/backoff.ts";
import { errorText } from "../../infra/errors.ts";
import type { ChannelAccountContext, InboundChat } from "../contract/index.ts";
import { normalizeEntry, resolveAccess } from "./access.ts";
import type { LarkApi } from "./api.ts";
import type { ChatLog } from "./chat-log.ts";
import type { LarkAccount } from "./config.ts";
import { type ConnectionTimings, isFinal, runConnection, toStartError } from "./connection.ts";
import { createDynamicAgents } from "./dynamic-agents.ts";
import { LarkError } from "./errors.ts";
import { takeEvent } from "./events.ts";
import { createLookups } from "./lookups.ts";
import type { WebhookServers } from "./webhook-server.ts";
import { runWebhook } from "./webhook.ts";

const START_CALL_TIMEOUT_MS = 10_000;

export interface RunDeps {
  readonly ctx: ChannelAccountContext<LarkAccount>;
  readonly api: LarkApi;
  readonly log: ChatLog;
  readonly timings: ConnectionTimings;
  readonly servers: WebhookServers;
  pairedIds(accountId: string): readonly string[];
}

/** Runs one account until its signal aborts. @throws ChannelError `auth`, `config`; a missing network is waited for */
export async function runAccount(deps: RunDeps): Promise<void> {
  const { ctx, api, timings } = deps;
  const { account } = ctx;
  ctx.setStatus({ mode: account.mode });
  const bot = await whoAmI(deps);
  if (!bot) return;
  ctx.setStatus({ bot: { openId: bot.openId, name: bot.name }, lastError: null });
  ctx.log.info("bot signed in", { name: bot.name, mode: account.mode });
  const lookups = createLookups({
    api, log: ctx.log, now: ctx.now,
    onMissingPermission(reason, grantUrl) {
      ctx.log.warn("the app lacks a permission of Feishu", { reason, grantUrl });
      ctx.setStatus({ missingPermission: reason, grantUrl });
    },
  });
  const events = {
    ctx, agents: createDynamicAgents(),
    env: { account, botOpenId: bot.openId, lookups, log: deps.log, now: ctx.now, isHeard: (chat: InboundChat, senderId: string) => isHeard(deps, chat, senderId) },
  };
  if (account.mode === "webhook") return runWebhook({ ctx, servers: deps.servers, take: (payload) => takeEvent(events, payload) });
  await runConnection({
    ctx, api, timings,
    async take(payload) {
      const outcome = await takeEvent(events, payload);
      if (outcome.kind === "unavailable") return undefined;
      return outcome.kind === "taken" ? { data: outcome.data } : {};
    },
  });
}

/** The bot's own id, without which nobody could mention it: asked until the platform tells. undefined when stopped meanwhile. @throws ChannelError for refusals */
async function whoAmI({ ctx, api, timings }: RunDeps): Promise<{ readonly openId: string; readonly name: string | undefined } | undefined> {
  for (let attempt = 1; !ctx.signal.aborted; attempt++) {
    try {
      return await api.botInfo(AbortSignal.any([ctx.signal, AbortSignal.timeout(START_CALL_TIMEOUT_MS)]));
    } catch (err) {
      if (ctx.signal.aborted) return undefined;
      if (err instanceof LarkError && isFinal(err)) throw toStartError(err, ctx.account);
      const delayMs = err instanceof LarkError && err.retryAfterMs !== undefined ? err.retryAfterMs : backoffDelayMs(timings.backoff, attempt);
      ctx.setStatus({ connected: false, lastError: errorText(err), reconnectAttempts: attempt });
      ctx.log[attempt === 1 ? "warn" : "debug"]("Feishu not reachable, trying again", { reason: errorText(err), delayMs });
      await sleep(delayMs, ctx.signal);
    }
  }
  return undefined;
}

/** Whether the core would listen to this sender, mentions apart. Only then is the platform asked about people and groups. */
function isHeard({ ctx, log, pairedIds }: RunDeps, chat: InboundChat, senderId: string): boolean {
  const rules = resolveAccess(ctx.account, ctx.cfg(), chat, log.openIdOf);
  const isIn = (list: readonly string[]): boolean => list.some((entry) => entry === "*" || normalizeEntry(entry) === senderId);
  if (chat.type !== "direct") return rules.groupEnabled && rules.groupListed && rules.groupPolicy !== "disabled" && (rules.groupPolicy === "open" || isIn(rules.groupAllowFrom ?? rules.allowFrom));
  switch (rules.dmPolicy) {
    case "disabled":
      return false;
    case "open":
      return true;
    case "allowlist":
      return isIn(rules.allowFrom);
    case "pairing":
      return isIn(rules.allowFrom) || isIn(pairedIds(ctx.accountId).filter((id) => id !== "*"));
  }
}
