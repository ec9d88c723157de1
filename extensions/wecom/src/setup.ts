import type { ChannelSetupAdapter } from "openclaw/plugin-sdk";
import { DEFAULT_ACCOUNT } from "./config.ts";

/** `channels add --channel wecom --token <botId>:<secret>`: a bot with the long connection. */
export const setup: ChannelSetupAdapter = {
  validateInput(input) {
    if (input.token === undefined) return "WeCom needs --token <Bot ID>:<Secret> of a bot with the long connection (智能机器人, API 模式).";
    return /^[^:\s]+:[^:\s]+$/.test(input.token.trim()) ? undefined : "The token of WeCom is <Bot ID>:<Secret>, from API 模式 of the bot.";
  },
  applyAccountConfig(_cfg, accountId, input) {
    const [botId, secret] = (input.token ?? "").trim().split(":");
    const keys = { enabled: true, ...(input.name ? { name: input.name } : {}), botId, secret };
    const id = accountId.trim().toLowerCase();
    return { channels: { wecom: id === "" || id === DEFAULT_ACCOUNT ? keys : { enabled: true, accounts: { [id]: keys } } } };
  },
};
