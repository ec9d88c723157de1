import { createLarkPlugin, type LarkPluginOptions } from "../../../src/channels/lark/index.ts";
import { accountDir, type AccountOptions, runAccount } from "../channel-account.ts";
import { ALICE, APP, type FakeFeishu, startFakeFeishu } from "./index.ts";

interface TestAccountOptions extends AccountOptions {
  readonly api?: FakeFeishu | undefined;
  readonly config?: Record<string, unknown> | undefined;
  readonly plugin?: Partial<LarkPluginOptions> | undefined;
  /** The plugin of another account, as in one gateway. */
  readonly usePlugin?: ReturnType<typeof createLarkPlugin> | undefined;
  /** false for accounts that do not connect. */
  readonly awaitConnection?: boolean | undefined;
}

const TIMINGS = { backoff: { initialMs: 2, maxMs: 10, factor: 2, jitter: 0 } };

export async function startTestAccount(options: TestAccountOptions = {}) {
  const api = options.api ?? (await startFakeFeishu());
  const stateDir = await accountDir(options, "feishu");
  const account = runAccount(options, {
    api, ownsApi: !options.api, to: `user:${ALICE}`, stateDir, now: options.plugin?.now,
    cfg: { channels: { feishu: { appId: APP, appSecret: "secret1", dmPolicy: "open", allowFrom: ["*"], ...options.config } } },
    plugin: options.usePlugin ?? createLarkPlugin({ env: api.env, stateDir, cardIntervalMs: 5, timings: TIMINGS, ...options.plugin }),
    patched: (cfg, patch) => ({ ...cfg, ...patch }),
  });
  if (options.start !== false && options.awaitConnection !== false) await api.connected();
  return account;
}
