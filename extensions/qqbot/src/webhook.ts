import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { type ChannelAccountContext, type ChannelHttpResponse, errorText } from "openclaw/plugin-sdk";
import { z } from "zod";
import type { QQBotAccount } from "./config.ts";
import { payload, type WSPayload } from "./socket.ts";

const ADDRESS_CHECK = 13;
const ACKNOWLEDGED = { op: 12 };
const SEED_BYTES = 32;
/** What precedes an Ed25519 seed in PKCS #8 (RFC 8410 §7). */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
/** Events are remembered for a day: an older call could be one that somebody recorded. */
const MAX_AGE_MS = 12 * 3_600_000;
const REFUSAL_QUIET_MS = 60_000;
/** What is signed for QQ can never be read as an event, which begins with a brace. */
const addressCheck = z.object({ op: z.literal(ADDRESS_CHECK), d: z.object({ plain_token: z.string().regex(/^\w{1,128}$/), event_ts: z.union([z.string(), z.number()]).transform(String).pipe(z.string().regex(/^\d{1,16}$/)) }) });

export interface CallbackKey {
  /** Signature of QQ's question whether the address is ours, in hex. */
  answer(eventTs: string, plainToken: string): string;
  /** Whether QQ has signed this body at this time. */
  isSigned(timestamp: string, body: Buffer, signature: string): boolean;
}

/** The key that QQ and the bot share: the secret, repeated to 32 bytes, is its seed. Source: spec channels-cn §1.3 (platform webhook mode). */
export function callbackKey(clientSecret: string): CallbackKey {
  const secret = Buffer.from(clientSecret);
  const seed = Buffer.alloc(SEED_BYTES, secret.length > 0 ? secret : 0);
  const own: KeyObject = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" });
  const theirs = createPublicKey(own);
  return {
    answer: (eventTs, plainToken) => sign(null, Buffer.from(eventTs + plainToken), own).toString("hex"),
    isSigned: (timestamp, body, signature) => /^[0-9a-f]{128}$/i.test(signature) && verify(null, Buffer.concat([Buffer.from(timestamp), body]), theirs, Buffer.from(signature, "hex")),
  };
}

export const webhookPath = ({ accountId, config }: Pick<QQBotAccount, "accountId" | "config">): string => config.webhookPath ?? (accountId === "default" ? "/qqbot/webhook" : `/qqbot/webhook/${accountId}`);

const json = (status: number, body: object): ChannelHttpResponse => ({ status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

/** `connectionMode: "webhook"`: events come to a path of the gateway, until the signal aborts. `onEvent`: false is answered so that it comes again. */
export async function runWebhook(ctx: ChannelAccountContext<QQBotAccount>, onEvent: (event: WSPayload) => Promise<boolean>): Promise<void> {
  const { account, signal, log, now } = ctx;
  const key = callbackKey(account.clientSecret ?? "");
  const path = webhookPath(account);
  let quietUntilMs = 0;
  function refuse(): ChannelHttpResponse {
    // Once a minute: anybody can call.
    if (now() >= quietUntilMs) {
      quietUntilMs = now() + REFUSAL_QUIET_MS;
      log.warn("event refused: it is not signed with the bot's secret, or it is old", { fix: `If it came from QQ: check ${account.configPath}.clientSecret and this machine's clock.` });
    }
    return json(401, { error: "wrong signature" });
  }

  async function take(event: WSPayload): Promise<boolean> {
    try {
      return await onEvent(event);
    } catch (err) {
      // It would be no clearer if it came again.
      log.error("QQ event not understood", { type: event.t, reason: errorText(err) });
      return true;
    }
  }

  const withdraw = ctx.http.route(path, { auth: "plugin" }, async ({ method, headers }, rawBody) => {
    if (method !== "POST") return { status: 405 };
    const body = parseJson(rawBody);
    const asked = addressCheck.safeParse(body).data;
    if (asked) return json(200, { plain_token: asked.d.plain_token, signature: key.answer(asked.d.event_ts, asked.d.plain_token) });
    const timestamp = one(headers["x-signature-timestamp"]);
    const isFresh = /^\d{1,12}$/.test(timestamp) && Math.abs(now() - Number(timestamp) * 1000) <= MAX_AGE_MS;
    if (!isFresh || !key.isSigned(timestamp, rawBody, one(headers["x-signature-ed25519"]))) return refuse();
    const event = payload.safeParse(body).data;
    if (!event) return json(400, { error: "no event" });
    return event.op !== 0 || (await take(event)) ? json(200, ACKNOWLEDGED) : json(503, { error: "not taken over, send it again" });
  });
  ctx.setStatus({ mode: "webhook", webhookPath: path, connected: true, lastConnectedAt: now(), lastError: null });
  try {
    await new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));
  } finally {
    withdraw();
  }
}

const one = (header: string | string[] | undefined): string => (typeof header === "string" ? header : "");

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
