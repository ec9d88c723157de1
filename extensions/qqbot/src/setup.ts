import type { ChannelSetupAdapter } from "openclaw/plugin-sdk";
import { DEFAULT_ACCOUNT } from "./config.ts";

/** `channels add --channel qqbot --token <AppID>:<AppSecret>`. */
export const setup: ChannelSetupAdapter = {
  validateInput(input) {
    if (input.useEnv === true) return input.token === undefined ? undefined : "Give only one of --token and --use-env.";
    if (input.token === undefined) return "QQ needs --token <AppID>:<AppSecret>, or --use-env (QQBOT_APP_ID, QQBOT_CLIENT_SECRET).";
    return /^[^:\s]+:[^:\s]+$/.test(input.token.trim()) ? undefined : "The token of QQ is <AppID>:<AppSecret>, from 开发设置 of the bot on q.qq.com.";
  },
  applyAccountConfig(_cfg, accountId, input) {
    const [appId, clientSecret] = (input.token ?? "").trim().split(":");
    const keys = { enabled: true, ...(input.name ? { name: input.name } : {}), ...(input.useEnv === true ? {} : { appId, clientSecret }) };
    const id = accountId.trim().toLowerCase();
    return { channels: { qqbot: id === "" || id === DEFAULT_ACCOUNT ? keys : { enabled: true, accounts: { [id]: keys } } } };
  },
};
