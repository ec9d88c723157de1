import { type ChannelAccountSnapshot, type ChannelStatusIssue, errorText } from "openclaw/plugin-sdk";
import type { DingTalkApi } from "./api.ts";
import { type DingTalkAccount, isCardAccount } from "./config.ts";

/** Asks for a token: the only call that every app may make. Never rejects. */
export async function probe(api: DingTalkApi, account: DingTalkAccount, timeoutMs: number, now: () => number): Promise<{ readonly ok: boolean; readonly error: string | null; readonly elapsedMs: number; readonly bot: { readonly robotCode: string } }> {
  const started = now();
  const bot = { robotCode: account.clientId };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => (timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)));
  try {
    await Promise.race([api.checkCredentials(), late]);
    return { ok: true, error: null, elapsedMs: now() - started, bot };
  } catch (err) {
    return { ok: false, error: errorText(err), elapsedMs: now() - started, bot };
  } finally {
    clearTimeout(timer);
  }
}

export function describeAccount(account: DingTalkAccount, reason: string | undefined): ChannelAccountSnapshot {
  const { config } = account;
  return {
    accountId: account.accountId, name: config.name, enabled: account.enabled, configured: reason === undefined, tokenSource: account.tokenSource,
    mode: config.connectionMode ?? "stream", messageType: isCardAccount(account) ? "card" : "markdown", dmPolicy: config.dmPolicy ?? "pairing", allowFrom: config.allowFrom ?? [],
  };
}

/** What an operator would not see from the error alone. */
export function collectStatusIssues(snapshots: readonly ChannelAccountSnapshot[]): ChannelStatusIssue[] {
  return snapshots.flatMap((snapshot): ChannelStatusIssue[] => {
    const degraded = typeof snapshot["cardProblem"] === "string" ? snapshot["cardProblem"] : undefined;
    if (snapshot.enabled === false || degraded === undefined) return [];
    return [{
      channel: "dingtalk", accountId: snapshot.accountId, kind: "permissions", message: `Cards do not work, answers go out as Markdown: ${degraded}`,
      fix: "Grant Card.Streaming.Write and Card.Instance.Write to the app and check cardTemplateId.",
    }];
  });
}
