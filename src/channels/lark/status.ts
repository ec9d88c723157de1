import { errorText } from "../../infra/errors.ts";
import type { ChannelAccountSnapshot, ChannelStatusIssue } from "../contract/index.ts";
import type { LarkApi } from "./api.ts";
import type { LarkAccount } from "./config.ts";
import { DEFAULT_WEBHOOK_PATH } from "./webhook.ts";

export interface LarkProbe {
  readonly ok: boolean;
  readonly error: string | null;
  readonly elapsedMs: number;
  readonly appId: string;
  readonly botOpenId?: string | undefined;
  readonly botName?: string | undefined;
}

/** Token and bot/v3/info. Never rejects. */
export async function probe(api: LarkApi, account: LarkAccount, timeoutMs: number, now: () => number): Promise<LarkProbe> {
  const started = now();
  const signal = AbortSignal.timeout(timeoutMs);
  let onLate: (() => void) | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    onLate = () => reject(new Error(`no answer within ${timeoutMs} ms`));
    signal.addEventListener("abort", onLate, { once: true });
  });
  try {
    const bot = await Promise.race([api.botInfo(signal), late]);
    return { ok: true, error: null, elapsedMs: now() - started, appId: account.appId, botOpenId: bot.openId, botName: bot.name };
  } catch (err) {
    return { ok: false, error: errorText(err), elapsedMs: now() - started, appId: account.appId };
  } finally {
    if (onLate) signal.removeEventListener("abort", onLate);
  }
}

export function describeAccount(account: LarkAccount, reason: string | undefined): ChannelAccountSnapshot {
  const { config } = account;
  return {
    accountId: account.accountId, name: config.name, enabled: account.enabled, configured: reason === undefined, tokenSource: account.appSecret === "" ? "none" : "config", mode: account.mode, baseUrl: account.apiRoot,
    dmPolicy: config.dmPolicy ?? "pairing", allowFrom: (config.allowFrom ?? []).map(String), ...(account.mode === "webhook" ? { webhookPath: config.webhookPath ?? DEFAULT_WEBHOOK_PATH } : {}),
  };
}

/** What an operator would not see from the error alone. */
export function collectStatusIssues(snapshots: readonly ChannelAccountSnapshot[]): ChannelStatusIssue[] {
  return snapshots.flatMap((snapshot): ChannelStatusIssue[] => {
    const missing = typeof snapshot["missingPermission"] === "string" ? snapshot["missingPermission"] : undefined;
    if (snapshot.enabled === false || missing === undefined) return [];
    const grantUrl = typeof snapshot["grantUrl"] === "string" ? snapshot["grantUrl"] : undefined;
    return [{ channel: "feishu", accountId: snapshot.accountId, kind: "permissions", message: missing, fix: grantUrl === undefined ? "Grant it in the developer console (Permissions & Scopes / 权限管理) and publish a version." : `Grant it at ${grantUrl} and publish a version.` }];
  });
}
