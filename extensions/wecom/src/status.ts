import { type ChannelAccountSnapshot, errorText } from "openclaw/plugin-sdk";
import type { AppApi } from "./agent/api-client.ts";
import { dmRules } from "./access.ts";
import type { BotLink } from "./bot/link.ts";
import type { WecomAccount } from "./config.ts";

/** The app is asked for a token; a long connection that is open has been accepted. Never rejects. */
export async function probe(account: WecomAccount, app: AppApi | undefined, link: BotLink | undefined, timeoutMs: number, now: () => number): Promise<{ readonly ok: boolean; readonly error: string | null; readonly elapsedMs: number; readonly bot: { readonly id: string | undefined } }> {
  const started = now();
  const bot = { id: account.bot?.botId };
  const done = (error: string | null): { ok: boolean; error: string | null; elapsedMs: number; bot: typeof bot } => ({ ok: error === null, error, elapsedMs: now() - started, bot });
  if (account.bot?.mode === "websocket" && !link) return done("the long connection is not open");
  if (!app) return done(null);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => (timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)));
  try {
    await Promise.race([app.checkCredentials(), late]);
    return done(null);
  } catch (err) {
    return done(errorText(err));
  } finally {
    clearTimeout(timer);
  }
}

export const modeOf = ({ bot, app }: WecomAccount): string => [bot?.mode, app ? "app" : undefined].filter(Boolean).join("+");

export function describeAccount(account: WecomAccount, reason: string | undefined): ChannelAccountSnapshot {
  const { policy, allowFrom } = dmRules(account);
  return { accountId: account.accountId, name: account.config.name, enabled: account.enabled, configured: reason === undefined, mode: modeOf(account), dmPolicy: policy, allowFrom: [...allowFrom] };
}
