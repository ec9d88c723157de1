import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Update } from "grammy/types";
import { sleep } from "../../infra/backoff.ts";
import { type ChannelAccountContext, ChannelError } from "../contract/index.ts";
import { assemble, type HeldUpdate } from "./assemble.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccount } from "./config.ts";
import { failureText, readFailure, toChannelError } from "./errors.ts";
import type { IntakeHandler } from "./intake.ts";
import { ALLOWED_UPDATES } from "./polling.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const BODY_TIMEOUT_MS = 30_000;
/** Telegram repeats an update whose answer takes longer than it likes to wait. */
const ANSWER_TIMEOUT_MS = 10_000;
const TICK_MS = 100;

/**
 * Receives updates on a server of its own until the signal aborts. 200 means that the core took the update over; anything
 * else makes Telegram repeat it. Source: spec channels §4.5, security-record B4.
 * @throws ChannelError when the port is taken or Telegram refuses the address
 */
export async function runWebhook(deps: {
  readonly ctx: ChannelAccountContext<TelegramAccount>;
  readonly client: TelegramClient;
  readonly handler: IntakeHandler;
}): Promise<void> {
  const { ctx, client, handler } = deps;
  const { webhookUrl, webhookSecret, webhookPath = "/telegram-webhook", webhookHost = "127.0.0.1", webhookPort = 8787 } = ctx.account.config;
  if (!webhookUrl || !webhookSecret) throw new ChannelError("config", "Webhook mode needs webhookUrl and webhookSecret", "Set both, or remove webhookUrl to poll instead.");

  const held: (HeldUpdate & { settle(result: "done" | "retry"): void })[] = [];
  let pumping: Promise<void> | undefined;

  const server = createServer((req, res) => {
    serve(req, res).catch((err: unknown) => {
      ctx.log.warn("webhook request failed", { err });
      answer(res, 500, "error");
    });
  });
  server.requestTimeout = BODY_TIMEOUT_MS;
  server.headersTimeout = BODY_TIMEOUT_MS;
  const port = await listen(server, webhookHost, webhookPort);
  try {
    await client.api.setWebhook({ url: webhookUrl, secret_token: webhookSecret, allowed_updates: ALLOWED_UPDATES });
  } catch (err) {
    await close(server);
    throw toChannelError(readFailure(err));
  }
  ctx.setStatus({ connected: true, lastConnectedAt: ctx.now(), lastError: null, webhookPath, webhookUrl, port });
  ctx.log.info("webhook listening", { host: webhookHost, port, path: webhookPath });
  await new Promise<void>((resolve) => {
    if (ctx.signal.aborted) resolve();
    else ctx.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  for (const entry of held.splice(0)) entry.settle("retry");
  await close(server);
  await client.api.deleteWebhook({ drop_pending_updates: false }).catch((err: unknown) => ctx.log.debug("webhook not removed", { reason: failureText(readFailure(err)) }));
  ctx.setStatus({ connected: false });

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = (req.url ?? "/").split("?")[0];
    if (req.method === "GET" && path === "/healthz") return answer(res, 200, "ok");
    if (req.method !== "POST" || path !== webhookPath) return answer(res, 404, "not found");
    if (!sameSecret(req.headers["x-telegram-bot-api-secret-token"], webhookSecret ?? "")) return answer(res, 401, "unauthorized");
    const body = await readBody(req);
    if (typeof body === "number") return answer(res, body, body === 413 ? "too large" : "timeout");
    const update = parseUpdate(body);
    if (!update) return answer(res, 400, "bad request");
    const result = await Promise.race([accept(update), sleep(ANSWER_TIMEOUT_MS).then(() => "retry" as const)]);
    answer(res, result === "done" ? 200 : 503, result === "done" ? "ok" : "unavailable");
  }

  function accept(update: Update): Promise<"done" | "retry"> {
    return new Promise((settle) => {
      held.push({ update, arrivedAtMs: ctx.now(), settle });
      pumping ??= pump()
        .catch((err: unknown) => ctx.log.error("webhook queue stopped", { err }))
        .finally(() => (pumping = undefined));
    });
  }

  async function pump(): Promise<void> {
    while (held.length > 0) {
      held.sort((a, b) => a.update.update_id - b.update.update_id);
      const { ready, waitMs } = assemble(held, ctx.now());
      for (const group of ready) {
        const result = await handler.handle(group);
        for (const update of group) {
          const index = held.findIndex((entry) => entry.update === update);
          if (index !== -1) held.splice(index, 1)[0]?.settle(result);
        }
      }
      if (waitMs !== undefined && ready.length === 0) await sleep(Math.min(waitMs, TICK_MS), ctx.signal);
    }
  }
}

/** Constant time, whatever the lengths. */
function sameSecret(given: string | string[] | undefined, secret: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(typeof given === "string" ? given : ""), digest(secret)) && typeof given === "string";
}

function parseUpdate(body: string): Update | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && "update_id" in value && Number.isInteger(value.update_id) ? (value as Update) : undefined;
  } catch {
    // Not JSON: answered with 400.
    return undefined;
  }
}

async function readBody(req: IncomingMessage): Promise<string | 413 | 408> {
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => req.destroy(), BODY_TIMEOUT_MS);
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) return 413;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch {
    // The sender was too slow or went away.
    return 408;
  } finally {
    clearTimeout(timer);
  }
}

function answer(res: ServerResponse, status: number, text: string): void {
  if (res.headersSent) return;
  res.writeHead(status, { "content-type": "text/plain", ...(status >= 400 ? { connection: "close" } : {}) });
  res.end(text);
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (err) => {
      reject(new ChannelError("config", `The webhook cannot listen on ${host}:${port} (${err.message})`, "Choose another channels.telegram.webhookPort.", { cause: err }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
