import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createQQBotPlugin, type QQBotPluginOptions } from "../../../extensions/qqbot/src/plugin.ts";
import type { ChannelAccountSnapshot, InboundMessage, OutboundMessage, ReceiveOutcome } from "../../../src/channels/contract/index.ts";
import type { OpenClawConfig } from "../../../src/config/index.ts";
import { silentLogger } from "../../../src/infra/log.ts";
import { noHttp } from "../channel-http.ts";
import { ALICE, startFakeQQ } from "./index.ts";

export type FakeQQ = Awaited<ReturnType<typeof startFakeQQ>>;

export interface TestAccountOptions {
  readonly api?: FakeQQ | undefined;
  readonly config?: Record<string, unknown> | undefined;
  readonly accountId?: string | undefined;
  readonly stateDir?: string | undefined;
  readonly plugin?: Partial<QQBotPluginOptions> | undefined;
  readonly start?: boolean | undefined;
  /** false for accounts that do not connect. */
  readonly awaitConnection?: boolean | undefined;
  receive?(message: InboundMessage): ReceiveOutcome | Promise<ReceiveOutcome>;
}

const QUICK = { reconnectMs: [5, 10], calmMs: 20, invalidSessionMs: 5, helloMs: 5000, maxAttempts: 100 };

/** One account of the real plugin against the emulator, with a core that only writes down. */
export async function startTestAccount(options: TestAccountOptions = {}) {
  const api = options.api ?? (await startFakeQQ());
  const stateDir = options.stateDir ?? (await mkdtemp(join(tmpdir(), "qqbot-")));
  const accountId = options.accountId ?? "default";
  const cfg: OpenClawConfig = { channels: { qqbot: { appId: api.appId, clientSecret: api.secret, ...options.config } } };
  const plugin = createQQBotPlugin({ env: api.env, stateDir: () => stateDir, retryMs: 5, streamIntervalMs: 5, ...options.plugin, timings: { ...QUICK, ...options.plugin?.timings } });
  const received: InboundMessage[] = [];
  const seen = new Set<string>();
  const status: ChannelAccountSnapshot = { accountId };
  const stop = new AbortController();
  const running = options.start === false
    ? undefined
    : plugin.gateway?.startAccount({
        cfg: () => cfg, accountId, account: plugin.config.resolveAccount(cfg, accountId), log: silentLogger, signal: stop.signal, now: Date.now, stateDir,
        async receive(message) {
          const key = `${message.chat.id}:${message.messageId}`;
          if (seen.has(key)) return { kind: "duplicate" };
          const outcome = (await options.receive?.(message)) ?? { kind: "accepted", id: "1" };
          if (outcome.kind !== "unavailable") seen.add(key);
          if (outcome.kind === "accepted") received.push(message);
          return outcome;
        },
        receiveEvent: () => Promise.resolve({ kind: "accepted", id: "1" }),
        setStatus: (patch) => void Object.assign(status, patch),
        http: noHttp,
        nativeCommands: () => [],
      });
  const ended = (running ?? Promise.resolve()).then(() => undefined, (err: unknown) => err);
  if (running && options.awaitConnection !== false) await api.waitUntil(() => status.connected, "a connection");
  return {
    api, plugin, cfg, stateDir, received, status,
    /** undefined when it ended by itself or by `stop`, else what it threw. */
    ended,
    message: (count = 1): Promise<InboundMessage> => api.waitUntil(() => received[count - 1], `message ${count}`),
    stop: (): Promise<unknown> => {
      stop.abort();
      return ended;
    },
    async send(message: Partial<OutboundMessage>, skipParts = 0) {
      const parts: number[] = [];
      const outcome = await plugin.outbound?.send(cfg, { accountId, to: `qqbot:c2c:${ALICE}`, text: "", ...message }, { signal: new AbortController().signal, skipParts, onPart: (part) => parts.push(part.index) });
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
