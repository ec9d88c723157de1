import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { errorText } from "../../infra/errors.ts";
import type { ChannelAccountContext } from "../contract/index.ts";
import { callbackSignature, decryptBody, isSameSecret } from "./callback-crypto.ts";
import type { LarkAccount } from "./config.ts";
import type { EventOutcome } from "./events.ts";
import type { WebhookAnswer, WebhookRequest, WebhookServers } from "./webhook-server.ts";

export const DEFAULT_WEBHOOK_PATH = "/feishu/events";
const DEFAULT_PORT = 3000;
/** Of a signed request. */
const MAX_SIGNATURE_AGE_MS = 600_000;
/** The platform repeats an event for some hours; what is older than the memory of duplicates is never new. */
const MAX_EVENT_AGE_MS = 12 * 3_600_000;

const encrypted = z.object({ encrypt: z.string().min(1) });
const challenge = z.looseObject({ type: z.literal("url_verification"), challenge: z.string(), token: z.string().default("") });
const signed = z.looseObject({
  header: z.looseObject({ token: z.string().default(""), app_id: z.string().default(""), create_time: z.coerce.number().optional(), event_type: z.string().optional() }),
});

export interface WebhookDeps {
  readonly ctx: ChannelAccountContext<LarkAccount>;
  readonly servers: WebhookServers;
  take(payload: Buffer): Promise<EventOutcome>;
}

/** Events by HTTP on a server of its own until the signal aborts. @throws ChannelError when the port or the path is taken */
export async function runWebhook({ ctx, servers, take }: WebhookDeps): Promise<void> {
  const { account: { config }, signal, now, log } = ctx;
  const { webhookHost: host = "127.0.0.1", webhookPort = DEFAULT_PORT, webhookPath: path = DEFAULT_WEBHOOK_PATH } = config;
  const listening = await servers.add(host, webhookPort, {
    path,
    handle: (request) => handle({ ctx, servers, take }, request),
    onError: (err) => log.warn("webhook request failed", { error: errorText(err) }),
  });
  ctx.setStatus({ connected: true, lastConnectedAt: now(), lastError: null, webhookPath: path, port: listening.port });
  log.info("webhook listening", { host, port: listening.port, path });
  try {
    await new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
  } finally {
    await listening.close();
    ctx.setStatus({ connected: false });
  }
}

/** What cannot be proved to come from the platform is logged and answered with nothing. Source: spec channels-cn §4.3. */
async function handle({ ctx, take }: WebhookDeps, request: WebhookRequest): Promise<WebhookAnswer> {
  const { account: { config, appId }, log, now } = ctx;
  const refuse = (reason: string): WebhookAnswer => {
    log.warn("webhook request refused", { reason });
    return { status: 200 };
  };
  const opened = openBody(request.rawBody, config.encryptKey);
  if ("problem" in opened) return refuse(opened.problem);
  const asked = challenge.safeParse(opened.value);
  if (asked.success) {
    if (!isSameSecret(asked.data.token, config.verificationToken ?? "")) return refuse("url_verification with a wrong token");
    return { status: 200, body: JSON.stringify({ challenge: asked.data.challenge }) };
  }
  const event = signed.safeParse(opened.value);
  if (!event.success) return refuse("no event of schema 2.0");
  const { token, app_id: app, create_time: createdMs } = event.data.header;
  const problem = config.encryptKey ? signatureProblem(request, config.encryptKey, now()) : undefined;
  if (problem !== undefined) return refuse(problem);
  if (!isSameSecret(token, config.verificationToken ?? "")) return refuse("wrong verification token");
  if (app !== appId) return refuse("event of another app");
  if (createdMs === undefined || Math.abs(now() - createdMs) > MAX_EVENT_AGE_MS) return refuse("event too old");
  ctx.setStatus({ lastEventAt: now() });
  return toAnswer(await take(Buffer.from(JSON.stringify(opened.value))), event.data.header.event_type ?? "");
}

function toAnswer(outcome: EventOutcome, type: string): WebhookAnswer {
  switch (outcome.kind) {
    case "taken":
      return { status: 200, body: outcome.data === undefined ? "{}" : JSON.stringify(outcome.data) };
    case "unknown":
      return { status: 200, body: JSON.stringify(`no ${type} event handle`) };
    case "unavailable":
      return { status: 503 };
  }
}

function openBody(rawBody: Buffer, encryptKey: string | undefined): { readonly value: unknown } | { readonly problem: string } {
  try {
    const outer: unknown = JSON.parse(rawBody.toString("utf8"));
    const sealed = encrypted.safeParse(outer);
    if (!sealed.success) return encryptKey ? { problem: "the body is not encrypted, though encryptKey is set" } : { value: outer };
    if (!encryptKey) return { problem: "the body is encrypted: set encryptKey" };
    return { value: JSON.parse(decryptBody(sealed.data.encrypt, encryptKey)) };
  } catch {
    // Neither text nor key is repeated in the log.
    return { problem: "the body is no JSON, or is encrypted with another key" };
  }
}

function signatureProblem({ headers, rawBody }: WebhookRequest, encryptKey: string, nowMs: number): string | undefined {
  const timestamp = one(headers, "x-lark-request-timestamp");
  const signature = one(headers, "x-lark-signature");
  if (!isSameSecret(signature.toLowerCase(), callbackSignature(timestamp, one(headers, "x-lark-request-nonce"), encryptKey, rawBody))) return "wrong signature";
  // Some tenants count milliseconds.
  const sentMs = Number(timestamp) * (timestamp.length > 11 ? 1 : 1000);
  return Number.isFinite(sentMs) && Math.abs(nowMs - sentMs) <= MAX_SIGNATURE_AGE_MS ? undefined : "the signature is too old";
}

const one = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name];
  return typeof value === "string" ? value : "";
};
