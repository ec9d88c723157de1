import type { ChannelSetupAdapter } from "openclaw/plugin-sdk";
import { DEFAULT_ACCOUNT } from "./config.ts";

/** `channels add --channel dingtalk --token <clientId>:<clientSecret>`, or the environment for the default account. */
export const setup: ChannelSetupAdapter = {
  validateInput(input) {
    if (input.useEnv === true) return input.token === undefined ? undefined : "Give only one of --token and --use-env.";
    if (input.token === undefined) return "DingTalk needs --token <Client ID>:<Client Secret>, or --use-env (DINGTALK_CLIENT_ID, DINGTALK_CLIENT_SECRET).";
    return /^[^:\s]+:[^:\s]+$/.test(input.token.trim()) ? undefined : "The token of DingTalk is <Client ID>:<Client Secret>, from 凭证与基础信息 of the app.";
  },
  applyAccountConfig(_cfg, accountId, input) {
    const [clientId, clientSecret] = (input.token ?? "").trim().split(":");
    const keys = { enabled: true, ...(input.name ? { name: input.name } : {}), ...(input.useEnv === true ? {} : { clientId, clientSecret }) };
    const id = accountId.trim().toLowerCase();
    return { channels: { dingtalk: id === "" || id === DEFAULT_ACCOUNT ? keys : { enabled: true, accounts: { [id]: keys } } } };
  },
};
