import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChannelAccountSnapshot, ChannelHttp, ChannelPlugin, InboundMessage, InboundSystemEvent, OutboundMessage, ReceiveOutcome } from "../../src/channels/contract/index.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { type Logger, silentLogger } from "../../src/infra/log.ts";
import { noHttp } from "./channel-http.ts";
import type { Waiting } from "./waiting.ts";

/** What a test of any channel may choose of the account. */
export interface AccountOptions {
  readonly accountId?: string | undefined;
  /** A folder that outlives the account; else a new one that goes with it. */
  readonly stateDir?: string | undefined;
  readonly http?: ChannelHttp | undefined;
  readonly log?: Logger | undefined;
  /** false: only sends. */
  readonly start?: boolean | undefined;
  readonly commands?: readonly { name: string; description: string }[] | undefined;
  receive?(message: InboundMessage): ReceiveOutcome | Promise<ReceiveOutcome>;
}

interface Emulator extends AsyncDisposable {
  readonly waitUntil: Waiting["until"];
}

interface AccountRun<Api extends Emulator, Account> {
  readonly api: Api;
  /** The emulator belongs to the account and ends with it. */
  readonly ownsApi: boolean;
  readonly stateDir: string;
  readonly plugin: ChannelPlugin<Account>;
  readonly cfg: OpenClawConfig;
  /** Where `send` sends when the test names no place. */
  readonly to: string;
  readonly now?: (() => number) | undefined;
  /** The config after a change that the platform made; else it stays as it was. */
  patched?(cfg: OpenClawConfig, patch: Readonly<Record<string, unknown>>): OpenClawConfig;
}

/** The folder of an account under test. */
export const accountDir = async ({ stateDir }: AccountOptions, name: string): Promise<string> => stateDir ?? mkdtemp(join(tmpdir(), `${name}-`));

/** One account of a real plugin against its emulator, with a core that only writes down. */
export function runAccount<Api extends Emulator, Account>(options: AccountOptions, run: AccountRun<Api, Account>) {
  const { api, plugin, stateDir } = run;
  const accountId = options.accountId ?? "default";
  let { cfg } = run;
  const received: InboundMessage[] = [];
  const events: InboundSystemEvent[] = [];
  const patches: Readonly<Record<string, unknown>>[] = [];
  const seen = new Set<string>();
  const status: ChannelAccountSnapshot = { accountId };
  const stop = new AbortController();
  async function take(key: string, accept: () => ReceiveOutcome | Promise<ReceiveOutcome>): Promise<ReceiveOutcome> {
    if (seen.has(key)) return { kind: "duplicate" };
    const outcome = await accept();
    if (outcome.kind !== "unavailable") seen.add(key);
    return outcome;
  }
  const running = options.start === false
    ? undefined
    : plugin.gateway?.startAccount({
        cfg: () => cfg, accountId, account: plugin.config.resolveAccount(cfg, accountId), log: options.log ?? silentLogger, signal: stop.signal, now: run.now ?? Date.now, stateDir,
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
        http: options.http ?? noHttp,
        nativeCommands: () => options.commands ?? [],
        patchConfig(patch) {
          patches.push(patch);
          cfg = run.patched?.(cfg, patch) ?? cfg;
          return Promise.resolve();
        },
      });
  const ended = (running ?? Promise.resolve()).then(() => undefined, (err: unknown) => err);
  const end = (): Promise<unknown> => {
    stop.abort();
    return ended;
  };
  return {
    api, plugin, stateDir, received, events, patches, status,
    get cfg() {
      return cfg;
    },
    /** undefined when it ended by itself or by `stop`, else what it threw. */
    ended,
    stop: end,
    connected: (): Promise<boolean> => api.waitUntil(() => status.connected === true, "a connected account"),
    receivedCount: (count = 1): Promise<InboundMessage> => api.waitUntil(() => received[count - 1], `message ${count}`),
    async send(message: Partial<OutboundMessage>, skipParts = 0) {
      const parts: { readonly index: number; readonly messageId: string }[] = [];
      const outcome = await plugin.outbound?.send(cfg, { accountId, to: run.to, text: "", ...message }, { signal: new AbortController().signal, skipParts, onPart: ({ index, messageId }) => parts.push({ index, messageId }) });
      return { outcome, parts: parts.map(({ index }) => index), ids: parts.map(({ messageId }) => messageId) };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await end();
      if (run.ownsApi) await api[Symbol.asyncDispose]();
      if (options.stateDir === undefined) await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
