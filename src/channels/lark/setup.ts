import { normalizeAccountId } from "../../routing/index.ts";
import type { ChannelSetupAdapter } from "../contract/index.ts";
import { DEFAULT_ACCOUNT } from "./config.ts";

/** `channels add --channel feishu --token <App ID>:<App Secret>`; `--use-env` takes FEISHU_APP_ID and FEISHU_APP_SECRET by reference. */
export const setup: ChannelSetupAdapter = {
  validateInput(input) {
    if (input.useEnv === true) return input.token === undefined ? undefined : "Give only one of --token and --use-env.";
    if (input.token === undefined) return "Feishu needs --token <App ID>:<App Secret>, or --use-env (FEISHU_APP_ID, FEISHU_APP_SECRET).";
    return /^cli_\w+:[^:\s]+$/.test(input.token.trim()) ? undefined : "The token of Feishu is <App ID>:<App Secret>, from Credentials & Basic Info / 凭证与基础信息 of the app; the App ID begins with cli_.";
  },
  applyAccountConfig(cfg, accountId, input) {
    const [appId, appSecret] = input.useEnv === true ? ["${FEISHU_APP_ID}", "${FEISHU_APP_SECRET}"] : (input.token ?? "").trim().split(":");
    const keys = { enabled: true, ...(input.name ? { name: input.name } : {}), appId, appSecret };
    const id = normalizeAccountId(accountId);
    const base = cfg.channels?.feishu;
    if (id === DEFAULT_ACCOUNT && Object.keys(base?.accounts ?? {}).length === 0) return { channels: { feishu: keys } };
    return { channels: { feishu: { enabled: true, accounts: { [id]: keys } } } };
  },
};
