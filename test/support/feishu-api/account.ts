import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChannelAccountSnapshot, InboundMessage, InboundSystemEvent, OutboundMessage, ReceiveOutcome } from "../../../src/channels/contract/index.ts";
import { createLarkPlugin, type LarkPluginOptions } from "../../../src/channels/lark/index.ts";
import type { OpenClawConfig } from "../../../src/config/index.ts";
import { silentLogger } from "../../../src/infra/log.ts";
import { noHttp } from "../channel-http.ts";
import { ALICE, APP, type FakeFeishu, startFakeFeishu } from "./index.ts";

export interface TestAccountOptions {
  readonly api?: FakeFeishu | undefined;
  readonly config?: Record<string, unknown> | undefined;
  readonly accountId?: string | undefined;
  readonly stateDir?: string | undefined;
  readonly plugin?: Partial<LarkPluginOptions> | undefined;
  /** The plugin of another account, as in one gateway. */
  readonly usePlugin?: ReturnType<typeof createLarkPlugin> | undefined;
  readonly start?: boolean | undefined;
  /** false for accounts that do not connect. */
  readonly awaitConnection?: boolean | undefined;
  readonly patchConfig?: ((patch: Readonly<Record<string, unknown>>) => void) | undefined;
  receive?(message: InboundMessage): ReceiveOutcome | Promise<ReceiveOutcome>;
}

const TIMINGS = { backoff: { initialMs: 2, maxMs: 10, factor: 2, jitter: 0 } };

/** One account of the real plugin against the emulator, with a core that only writes down. */
export async function startTestAccount(options: TestAccountOptions = {}) {
  const api = options.api ?? (await startFakeFeishu());
  const stateDir = options.stateDir ?? (await mkdtemp(join(tmpdir(), "feishu-")));
  const accountId = options.accountId ?? "default";
  const section = { appId: APP, appSecret: "secret1", dmPolicy: "open", allowFrom: ["*"], ...options.config };
  const world = { cfg: { channels: { feishu: section } } as OpenClawConfig };
  const plugin = options.usePlugin ?? createLarkPlugin({ env: api.env, stateDir, cardIntervalMs: 5, timings: TIMINGS, ...options.plugin });
  const received: InboundMessage[] = [];
  const events: InboundSystemEvent[] = [];
  const seen = new Set<string>();
  const status: ChannelAccountSnapshot = { accountId };
  const stop = new AbortController();
  const isStarted = options.start !== false;
  const running = !isStarted
    ? undefined
    : plugin.gateway?.startAccount({
        cfg: () => world.cfg, accountId, account: plugin.config.resolveAccount(world.cfg, accountId), log: silentLogger, signal: stop.signal, now: options.plugin?.now ?? Date.now, stateDir,
        async receive(message) {
          const key = `${message.chat.id}:${message.messageId}`;
          if (seen.has(key)) return { kind: "duplicate" };
          const outcome = (await options.receive?.(message)) ?? { kind: "accepted", id: "1" };
          if (outcome.kind !== "unavailable") seen.add(key);
          if (outcome.kind === "accepted") received.push(message);
          return outcome;
        },
        receiveEvent(event) {
          events.push(event);
          return Promise.resolve({ kind: "accepted", id: "1" });
        },
        setStatus: (patch) => void Object.assign(status, patch),
        http: noHttp,
        nativeCommands: () => [],
        patchConfig(patch) {
          options.patchConfig?.(patch);
          world.cfg = { ...world.cfg, ...patch };
          return Promise.resolve();
        },
      });
  const ended = (running ?? Promise.resolve()).then(() => undefined, (err: unknown) => err);
  if (isStarted && options.awaitConnection !== false) await api.connected();
  return {
    api, plugin, stateDir, received, events, status,
    get cfg() {
      return world.cfg;
    },
    /** undefined when it ended by itself or by `stop`, else what it threw. */
    ended,
    receivedCount: (count = 1): Promise<InboundMessage> => api.waitUntil(() => received.length >= count && received[count - 1], `message ${count}`),
    stop: (): Promise<unknown> => {
      stop.abort();
      return ended;
    },
    async send(message: Partial<OutboundMessage>, skipParts = 0) {
      const parts: number[] = [];
      const outcome = await plugin.outbound?.send(world.cfg, { accountId, to: `user:${ALICE}`, text: "", ...message }, { signal: new AbortController().signal, skipParts, onPart: (part) => parts.push(part.index) });
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
