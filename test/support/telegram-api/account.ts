import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChannelAccountSnapshot, InboundMessage, InboundSystemEvent, ReceiveOutcome } from "../../../src/channels/contract/index.ts";
import { createTelegramPlugin, type TelegramAccount, type TelegramPluginOptions } from "../../../src/channels/telegram/index.ts";
import type { OpenClawConfig } from "../../../src/config/index.ts";
import { silentLogger } from "../../../src/infra/log.ts";
import { type FakeTelegram, startFakeTelegram } from "./index.ts";
import { noHttp } from "../channel-http.ts";

export interface TestAccountOptions {
  readonly api?: FakeTelegram | undefined;
  readonly config?: Partial<TelegramAccount["config"]> | undefined;
  readonly stateDir?: string | undefined;
  readonly plugin?: Partial<TelegramPluginOptions> | undefined;
  readonly commands?: readonly { name: string; description: string }[] | undefined;
  receive?(message: InboundMessage): ReceiveOutcome | Promise<ReceiveOutcome>;
  readonly start?: boolean | undefined;
}

/** One account of the real plugin against the emulator, with a core that only writes down. */
export async function startTestAccount(options: TestAccountOptions = {}) {
  const api = options.api ?? (await startFakeTelegram());
  const stateDir = options.stateDir ?? (await mkdtemp(join(tmpdir(), "telegram-")));
  const cfg: OpenClawConfig = { channels: { telegram: { botToken: api.token, apiRoot: api.url, ...options.config } } };
  const plugin = createTelegramPlugin({
    env: {},
    throttle: false,
    mediaRetryDelayMs: 5,
    previewIntervalMs: 30,
    ...options.plugin,
    timings: { pollSeconds: 2, backoff: { initialMs: 20, maxMs: 100, factor: 2, jitter: 0 }, ...options.plugin?.timings },
  });
  const received: InboundMessage[] = [];
  const events: InboundSystemEvent[] = [];
  const patches: Record<string, unknown>[] = [];
  const status: ChannelAccountSnapshot = { accountId: "default" };
  const seen = new Set<string>();
  const stop = new AbortController();
  const take = async (key: string, accept: () => ReceiveOutcome | Promise<ReceiveOutcome>): Promise<ReceiveOutcome> => {
    if (seen.has(key)) return { kind: "duplicate" };
    const outcome = await accept();
    if (outcome.kind !== "unavailable") seen.add(key);
    return outcome;
  };
  const running =
    options.start === false
      ? Promise.resolve()
      : plugin.gateway?.startAccount({
          cfg: () => cfg,
          accountId: "default",
          account: plugin.config.resolveAccount(cfg, "default"),
          log: silentLogger,
          signal: stop.signal,
          now: Date.now,
          stateDir,
          receive: (message) =>
            take(`${message.chat.id}:${message.messageId}`, async () => {
              const outcome = (await options.receive?.(message)) ?? { kind: "accepted", id: "1" };
              if (outcome.kind === "accepted") received.push(message);
              return outcome;
            }),
          receiveEvent: (event) =>
            take(`${event.chat.id}:${event.dedupeId}`, () => {
              events.push(event);
              return { kind: "accepted", id: "1" };
            }),
          setStatus: (patch) => void Object.assign(status, patch),
          http: noHttp,
          nativeCommands: () => options.commands ?? [],
          patchConfig: async (patch) => void patches.push({ ...patch }),
        });
  const ended = (running ?? Promise.resolve()).then(
    () => undefined,
    (err: unknown) => err,
  );
  return {
    api,
    plugin,
    cfg,
    stateDir,
    received,
    events,
    patches,
    status,
    /** undefined when it ended by itself or by `stop`, else what it threw. */
    ended,
    receivedCount: (count = 1): Promise<InboundMessage> => api.waitUntil(() => received.length >= count && received[count - 1], `message ${count}`),
    stop: async (): Promise<unknown> => {
      stop.abort();
      return ended;
    },
    async send(message: { text: string } & Record<string, unknown>) {
      const parts: string[] = [];
      const outcome = await plugin.outbound?.send(cfg, { accountId: "default", to: "telegram:42", ...message }, { signal: new AbortController().signal, skipParts: Number(message.skipParts ?? 0), onPart: (part) => parts.push(part.messageId) });
      return { outcome, parts };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await ended;
      if (!options.api) await api[Symbol.asyncDispose]();
      if (!options.stateDir) await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
