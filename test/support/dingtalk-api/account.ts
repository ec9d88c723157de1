import { createDingTalkPlugin, type DingTalkPluginOptions } from "../../../extensions/dingtalk/src/plugin.ts";
import { accountDir, type AccountOptions, runAccount } from "../channel-account.ts";
import { ALICE, type FakeDingTalk, startFakeDingTalk } from "./index.ts";

interface TestAccountOptions extends AccountOptions {
  readonly api?: FakeDingTalk | undefined;
  readonly config?: Record<string, unknown> | undefined;
  readonly plugin?: Partial<DingTalkPluginOptions> | undefined;
  /** false for accounts that do not connect. */
  readonly awaitConnection?: boolean | undefined;
}

export async function startTestAccount(options: TestAccountOptions = {}) {
  const api = options.api ?? (await startFakeDingTalk());
  const account = runAccount(options, {
    api, ownsApi: !options.api, to: `user:${ALICE}`, stateDir: await accountDir(options, "dingtalk"),
    cfg: { channels: { dingtalk: { clientId: "app1", clientSecret: "secret1", initialReconnectDelay: 5, maxReconnectDelay: 20, ...options.config } } },
    plugin: createDingTalkPlugin({ env: api.env, ...options.plugin }),
  });
  if (options.start !== false && options.awaitConnection !== false) await api.connected();
  return account;
}
