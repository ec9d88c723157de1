import { createQQBotPlugin, type QQBotPluginOptions } from "../../../extensions/qqbot/src/plugin.ts";
import { accountDir, type AccountOptions, runAccount } from "../channel-account.ts";
import { ALICE, startFakeQQ } from "./index.ts";

export type FakeQQ = Awaited<ReturnType<typeof startFakeQQ>>;

export interface TestAccountOptions extends AccountOptions {
  readonly api?: FakeQQ | undefined;
  readonly config?: Record<string, unknown> | undefined;
  readonly plugin?: Partial<QQBotPluginOptions> | undefined;
  /** false for accounts that do not connect. */
  readonly awaitConnection?: boolean | undefined;
}

const QUICK = { reconnectMs: [5, 10], calmMs: 20, invalidSessionMs: 5, helloMs: 5000, maxAttempts: 100 };

export async function startTestAccount(options: TestAccountOptions = {}) {
  const api = options.api ?? (await startFakeQQ());
  const stateDir = await accountDir(options, "qqbot");
  const account = runAccount(options, {
    api, ownsApi: !options.api, to: `qqbot:c2c:${ALICE}`, stateDir,
    cfg: { channels: { qqbot: { appId: api.appId, clientSecret: api.secret, ...options.config } } },
    plugin: createQQBotPlugin({ env: api.env, stateDir: () => stateDir, retryMs: 5, streamIntervalMs: 5, ...options.plugin, timings: { ...QUICK, ...options.plugin?.timings } }),
  });
  if (options.start !== false && options.awaitConnection !== false) await account.connected();
  return account;
}
