import { createWecomPlugin, type WecomPluginOptions } from "../../../extensions/wecom/src/plugin.ts";
import type { OpenClawConfig } from "../../../src/config/index.ts";
import { accountDir, type AccountOptions, runAccount } from "../channel-account.ts";
import { ALICE, BOT, type FakeWecom, startFakeWecom } from "./index.ts";

export interface TestAccountOptions extends AccountOptions {
  readonly api?: FakeWecom | undefined;
  readonly config?: Record<string, unknown> | undefined;
  /** The whole section, instead of a bot with the long connection. */
  readonly section?: Record<string, unknown> | undefined;
  readonly plugin?: Partial<WecomPluginOptions> | undefined;
  readonly bindings?: OpenClawConfig["bindings"];
  /** false for accounts that do not connect. */
  readonly awaitConnection?: boolean | undefined;
}

/** Quick enough for tests. */
export const TEST_TIMINGS = { pingMs: 40, maxMisses: 2, connectMs: 2000, ackMs: 300, firstDelayMs: 5, maxDelayMs: 20, stableMs: 10_000 } as const;

export async function startTestAccount(options: TestAccountOptions = {}) {
  const api = options.api ?? (await startFakeWecom());
  const section = options.section ?? { botId: BOT, secret: "secret1", ...options.config };
  const account = runAccount(options, {
    api, ownsApi: !options.api, to: `user:${ALICE}`, stateDir: await accountDir(options, "wecom"),
    cfg: { channels: { wecom: section }, ...(options.bindings ? { bindings: options.bindings } : {}) },
    plugin: createWecomPlugin({ env: api.env, timings: { ...TEST_TIMINGS, pingMs: 5000 }, streamIntervalMs: 20, pollWaitMs: 400, ...options.plugin }),
  });
  if (options.start !== false && options.awaitConnection !== false) await account.connected();
  return account;
}
