import { createTelegramPlugin, type TelegramAccount, type TelegramPluginOptions } from "../../../src/channels/telegram/index.ts";
import { accountDir, type AccountOptions, runAccount } from "../channel-account.ts";
import { type FakeTelegram, startFakeTelegram } from "./index.ts";

interface TestAccountOptions extends AccountOptions {
  readonly api?: FakeTelegram | undefined;
  readonly config?: Partial<TelegramAccount["config"]> | undefined;
  readonly plugin?: Partial<TelegramPluginOptions> | undefined;
}

export async function startTestAccount(options: TestAccountOptions = {}) {
  const api = options.api ?? (await startFakeTelegram());
  return runAccount(options, {
    api, ownsApi: !options.api, to: "telegram:42", stateDir: await accountDir(options, "telegram"),
    cfg: { channels: { telegram: { botToken: api.token, apiRoot: api.url, ...options.config } } },
    plugin: createTelegramPlugin({
      env: {}, throttle: false, mediaRetryDelayMs: 5, previewIntervalMs: 30,
      ...options.plugin,
      timings: { pollSeconds: 2, backoff: { initialMs: 20, maxMs: 100, factor: 2, jitter: 0 }, ...options.plugin?.timings },
    }),
  });
}
