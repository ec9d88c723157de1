import { createHmac, timingSafeEqual } from "node:crypto";
import { type ChannelAccountContext, type ChannelHttpResponse, errorText } from "openclaw/plugin-sdk";
import type { DingTalkAccount } from "./config.ts";

const MAX_AGE_MS = 3_600_000;
const REFUSAL_QUIET_MS = 60_000;

/** Whether the headers `timestamp` and `sign` were made with the app's secret within the last hour. Source: DingTalk's HTTP mode. */
export function isSignedBy(secret: string, timestamp: string, sign: string, nowMs: number): boolean {
  if (!/^\d{10,16}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp)) > MAX_AGE_MS) return false;
  const expected = createHmac("sha256", secret).update(`${timestamp}\n${secret}`).digest();
  const given = Buffer.from(sign, "base64");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** `connectionMode: "webhook"`: messages come to a path of the gateway, until the signal aborts. */
export async function runWebhook(ctx: ChannelAccountContext<DingTalkAccount>, take: (data: string) => Promise<boolean>): Promise<void> {
  const { account, signal, log, now } = ctx;
  let quietUntilMs = 0;
  const refuse = (): ChannelHttpResponse => {
    // Once a minute: anybody can call.
    if (now() >= quietUntilMs) {
      quietUntilMs = now() + REFUSAL_QUIET_MS;
      log.warn("message refused: it is not signed with the app's secret, or it is old", { fix: `If it came from DingTalk: check ${account.configPath}.clientSecret and this machine's clock.` });
    }
    return { status: 403, body: "wrong signature" };
  };
  const path = account.config.webhookPath ?? (account.accountId === "default" ? "/dingtalk/webhook" : `/dingtalk/webhook/${account.accountId}`);
  const withdraw = ctx.http.route(path, { auth: "plugin" }, async ({ method, headers }, rawBody) => {
    if (method !== "POST") return { status: 405 };
    if (!isSignedBy(account.clientSecret, one(headers["timestamp"]), one(headers["sign"]), now())) return refuse();
    ctx.setStatus({ lastEventAt: now() });
    try {
      return (await take(rawBody.toString("utf8"))) ? { status: 200, headers: { "content-type": "application/json" }, body: "{}" } : { status: 503 };
    } catch (err) {
      log.warn("message not understood", { error: errorText(err) });
      return { status: 400 };
    }
  });
  ctx.setStatus({ mode: "webhook", webhookPath: path, connected: true, lastConnectedAt: now(), lastError: null });
  try {
    await new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
  } finally {
    withdraw();
  }
}

const one = (header: string | string[] | undefined): string => (typeof header === "string" ? header : "");
