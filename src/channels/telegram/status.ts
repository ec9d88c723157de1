import type { ChannelAccountSnapshot, ChannelStatusIssue } from "../contract/index.ts";
import { callSignal, type TelegramClient } from "./client.ts";
import type { TelegramAccount } from "./config.ts";
import { failureText, readFailure } from "./errors.ts";
import { describeBot } from "./run-account.ts";

export interface TelegramProbe {
  readonly ok: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly elapsedMs: number;
  readonly bot?: Record<string, unknown> | undefined;
  readonly webhook?: { readonly url: string; readonly hasCustomCert: boolean } | undefined;
}

/** getMe and getWebhookInfo. Never rejects. Source: spec channels §2.2. */
export async function probe(client: TelegramClient, timeoutMs: number, now: () => number): Promise<TelegramProbe> {
  const started = now();
  const signal = callSignal(AbortSignal.timeout(timeoutMs));
  try {
    const me = await client.api.getMe(signal);
    const info = await client.api.getWebhookInfo(signal);
    return {
      ok: true,
      status: null,
      error: null,
      elapsedMs: now() - started,
      bot: describeBot(me),
      webhook: { url: info.url ?? "", hasCustomCert: info.has_custom_certificate },
    };
  } catch (err) {
    const failure = readFailure(err);
    return {
      ok: false,
      status: failure.kind === "api" ? failure.code : null,
      error: failure.kind === "aborted" ? `no answer within ${timeoutMs} ms` : failureText(failure),
      elapsedMs: now() - started,
    };
  }
}

export function describeAccount(account: TelegramAccount, reason: string | undefined): ChannelAccountSnapshot {
  const { config } = account;
  const openGroups = Object.entries(config.groups ?? {}).filter(([, group]) => group.requireMention === false);
  return {
    accountId: account.accountId,
    name: config.name,
    enabled: account.enabled,
    configured: reason === undefined,
    tokenSource: account.tokenSource,
    mode: config.webhookUrl ? "webhook" : "polling",
    dmPolicy: config.dmPolicy ?? "pairing",
    allowFrom: (config.allowFrom ?? []).map(String),
    allowUnmentionedGroups: openGroups.length > 0,
    ...(config.webhookUrl ? { webhookUrl: config.webhookUrl, webhookPath: config.webhookPath ?? "/telegram-webhook" } : {}),
  };
}

export function collectStatusIssues(snapshots: readonly ChannelAccountSnapshot[]): ChannelStatusIssue[] {
  return snapshots.flatMap((snapshot): ChannelStatusIssue[] => {
    const { accountId } = snapshot;
    const bot = snapshot.bot;
    const readsAll = typeof bot === "object" && bot !== null && "canReadAllGroupMessages" in bot ? bot.canReadAllGroupMessages : undefined;
    if (snapshot.enabled === false || snapshot.configured === false) return [];
    if (snapshot.allowUnmentionedGroups === true && readsAll === false) {
      return [
        {
          channel: "telegram",
          accountId,
          kind: "config",
          message: "A group has requireMention:false, but the bot's privacy mode is on: Telegram shows it only messages that name it.",
          fix: "In @BotFather choose /setprivacy → Disable, then remove the bot from the group and add it again.",
        },
      ];
    }
    return [];
  });
}
