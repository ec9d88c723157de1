import { WecomError, refusal } from "./errors.ts";
import type { WecomAccount } from "./config.ts";
import { createAgent, sendHttp } from "./http.ts";

const MAX_USED = 2000;

/** Sends the one later answer that a callback message allows. Source: spec channels-cn §2.4 (response_url). */
export function createResponder(account: Pick<WecomAccount, "apiRoot" | "proxyUrl" | "timeoutMs">): (url: string, text: string, signal: AbortSignal) => Promise<void> {
  const used = new Set<string>();
  return async (url, text, signal) => {
    const what = "take a later answer";
    if (used.has(url)) throw new WecomError("window", "The response address of the message is used up");
    if (!isPlatformAddress(url, account.apiRoot)) throw new WecomError("window", "The response address of the message is no address of WeCom");
    const body = JSON.stringify({ msgtype: "markdown", markdown: { content: text } });
    const answer = await sendHttp({ what, method: "POST", url, headers: { "content-type": "application/json" }, body, agent: createAgent(url, account.proxyUrl), timeoutMs: account.timeoutMs, maxBytes: 1024 * 1024, signal });
    if (answer.status >= 500) throw new WecomError("retry", `WeCom is not available (${what}, HTTP ${answer.status})`);
    used.add(url);
    const oldest = used.values().next().value;
    if (used.size > MAX_USED && oldest !== undefined) used.delete(oldest);
    const code = errcodeOf(answer.body.toString("utf8"));
    if (answer.status !== 200 || code !== 0) throw refusal(what, code === 0 ? answer.status : code, undefined);
  };
}

/** The address comes with a message: what is said is sent to the platform only. */
function isPlatformAddress(address: string, apiRoot: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && (url.origin === new URL(apiRoot).origin || (url.protocol === "https:" && /(?:^|\.)weixin\.qq\.com$/.test(url.hostname)));
}

function errcodeOf(text: string): number {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "errcode" in value && typeof value.errcode === "number" ? value.errcode : 0;
  } catch {
    return 0; // an empty answer
  }
}
