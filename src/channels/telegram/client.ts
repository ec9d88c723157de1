import { lookup } from "node:dns";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import type { InputFile, RawApi } from "grammy";
import type { Env, TelegramAccount } from "./config.ts";

/** The Bot API for one token. The only file that loads the SDK. */
export interface TelegramClient {
  /** Sends keep to Telegram's limits (30 a second, 1 a second per direct chat, 20 a minute per group). */
  readonly api: RawApi;
  /** A client with sockets of its own for long polling, so that a dead one never holds up a send. */
  readonly poll: RawApi;
  fileUrl(filePath: string): string;
  inputFile(path: string, fileName: string): InputFile;
  /** Drops the polling sockets; the next poll opens a new one. */
  resetPolling(): void;
  close(): void;
}

export interface ClientOptions {
  readonly env: Env;
  /** false only where a test measures something else than waiting. */
  readonly throttle: boolean;
}

type CallSignal = Parameters<RawApi["getMe"]>[0];

/** grammY's types name an older AbortSignal; it uses only the listener methods that Node's has too. */
export const callSignal = (signal: AbortSignal): CallSignal => signal as unknown as CallSignal;

export async function createTelegramClient(account: TelegramAccount & { readonly token: string }, options: ClientOptions): Promise<TelegramClient> {
  const { Api, InputFile } = await import("grammy");
  const agents = { send: createAgent(account, options.env), poll: createAgent(account, options.env) };
  const clientOptions = (kind: "send" | "poll") => ({
    apiRoot: account.apiRoot,
    timeoutSeconds: account.config.timeoutSeconds ?? 60,
    baseFetchConfig: { agent: () => agents[kind], compress: true },
  });
  const api = new Api(account.token, clientOptions("send"));
  const poll = new Api(account.token, clientOptions("poll"));
  if (options.throttle) {
    const { apiThrottler } = await import("@grammyjs/transformer-throttler");
    const throttler = apiThrottler();
    // Edits, reactions and typing have no such limits; letting them count would make replies wait.
    api.config.use((prev, method, payload, signal) =>
      method.startsWith("send") && method !== "sendChatAction" ? throttler(prev, method, payload, signal) : prev(method, payload, signal),
    );
  }
  return {
    api: api.raw,
    poll: poll.raw,
    fileUrl: (filePath) => `${account.apiRoot}/file/bot${account.token}/${filePath.replace(/^\/+/, "")}`,
    inputFile: (path, fileName) => new InputFile(path, fileName),
    resetPolling() {
      agents.poll.destroy();
      agents.poll = createAgent(account, options.env);
    },
    close() {
      agents.poll.destroy();
      agents.send.destroy();
    },
  };
}

function createAgent(account: TelegramAccount, env: Env): HttpAgent | HttpsAgent {
  const { network, proxy } = account.config;
  const autoSelectFamily =
    env.OPENCLAW_TELEGRAM_DISABLE_AUTO_SELECT_FAMILY === "1" ? false : env.OPENCLAW_TELEGRAM_ENABLE_AUTO_SELECT_FAMILY === "1" ? true : network?.autoSelectFamily;
  const order = env.OPENCLAW_TELEGRAM_DNS_RESULT_ORDER ?? network?.dnsResultOrder;
  const options = {
    keepAlive: true,
    ...(autoSelectFamily === undefined ? {} : { autoSelectFamily }),
    ...(order === "ipv4first" || order === "verbatim" ? { lookup: orderedLookup(order) } : {}),
    ...(proxy ? { proxyEnv: { HTTPS_PROXY: proxy, HTTP_PROXY: proxy } } : {}),
  };
  return account.apiRoot.startsWith("http:") ? new HttpAgent(options) : new HttpsAgent(options);
}

const orderedLookup =
  (order: "ipv4first" | "verbatim"): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, order }, callback);
