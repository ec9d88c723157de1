import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWecomPlugin, type WecomPluginOptions } from "../../../extensions/wecom/src/plugin.ts";
import type { ChannelAccountSnapshot, ChannelHttp, InboundMessage, InboundSystemEvent, OutboundMessage, ReceiveOutcome } from "../../../src/channels/contract/index.ts";
import type { OpenClawConfig } from "../../../src/config/index.ts";
import { type Logger, silentLogger } from "../../../src/infra/log.ts";
import { noHttp } from "../channel-http.ts";
import { ALICE, BOT, type FakeWecom, startFakeWecom } from "./index.ts";

export interface TestAccountOptions {
  readonly api?: FakeWecom | undefined;
  readonly config?: Record<string, unknown> | undefined;
  /** The whole section, instead of a bot with the long connection. */
  readonly section?: Record<string, unknown> | undefined;
  readonly accountId?: string | undefined;
  readonly plugin?: Partial<WecomPluginOptions> | undefined;
  readonly http?: ChannelHttp | undefined;
  readonly log?: Logger | undefined;
  readonly start?: boolean | undefined;
  readonly bindings?: OpenClawConfig["bindings"];
  /** false for accounts that do not connect. */
  readonly awaitConnection?: boolean | undefined;
  receive?(message: InboundMessage): ReceiveOutcome | Promise<ReceiveOutcome>;
}

/** Quick enough for tests. */
export const TEST_TIMINGS = { pingMs: 40, maxMisses: 2, connectMs: 2000, ackMs: 300, firstDelayMs: 5, maxDelayMs: 20, stableMs: 10_000 } as const;

/** One account of the real plugin against the emulator, with a core that only writes down. */
export async function startTestAccount(options: TestAccountOptions = {}) {
  const api = options.api ?? (await startFakeWecom());
  const stateDir = await mkdtemp(join(tmpdir(), "wecom-"));
  const accountId = options.accountId ?? "default";
  const section = options.section ?? { botId: BOT, secret: "secret1", ...options.config };
  const cfg: OpenClawConfig = { channels: { wecom: section }, ...(options.bindings ? { bindings: options.bindings } : {}) };
  const plugin = createWecomPlugin({ env: api.env, timings: { ...TEST_TIMINGS, pingMs: 5000 }, streamIntervalMs: 20, pollWaitMs: 400, ...options.plugin });
  const received: InboundMessage[] = [];
  const notes: InboundSystemEvent[] = [];
  const seen = new Set<string>();
  const status: ChannelAccountSnapshot = { accountId };
  const stop = new AbortController();
  const isStarted = options.start !== false;
  const running = !isStarted
    ? undefined
    : plugin.gateway?.startAccount({
        cfg: () => cfg, accountId, account: plugin.config.resolveAccount(cfg, accountId), log: options.log ?? silentLogger, signal: stop.signal, now: Date.now, stateDir,
        async receive(message) {
          const key = `${message.chat.id}:${message.messageId}`;
          if (seen.has(key)) return { kind: "duplicate" };
          const outcome = (await options.receive?.(message)) ?? { kind: "accepted", id: "1" };
          if (outcome.kind !== "unavailable") seen.add(key);
          if (outcome.kind === "accepted") received.push(message);
          return outcome;
        },
        receiveEvent(event) {
          notes.push(event);
          return Promise.resolve({ kind: "accepted", id: "1" });
        },
        setStatus: (patch) => void Object.assign(status, patch),
        http: options.http ?? noHttp,
        nativeCommands: () => [],
      });
  const ended = (running ?? Promise.resolve()).then(() => undefined, (err: unknown) => err);
  if (isStarted && options.awaitConnection !== false) await api.waitUntil(() => status.connected === true, "connected account");
  return {
    api, plugin, cfg, stateDir, received, notes, status,
    /** undefined when it ended by itself or by `stop`, else what it threw. */
    ended,
    receivedCount: (count = 1): Promise<InboundMessage> => api.waitUntil(() => received.length >= count && received[count - 1], `message ${count}`),
    stop: (): Promise<unknown> => {
      stop.abort();
      return ended;
    },
    async send(message: Partial<OutboundMessage>, skipParts = 0) {
      const parts: number[] = [];
      const outcome = await plugin.outbound?.send(cfg, { accountId, to: `user:${ALICE}`, text: "", ...message }, { signal: new AbortController().signal, skipParts, onPart: (part) => parts.push(part.index) });
      return { outcome, parts };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await ended;
      if (!options.api) await api[Symbol.asyncDispose]();
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
