export { createTelegramPlugin } from "./plugin.ts";
export type { TelegramPluginOptions } from "./plugin.ts";
export type { TelegramAccount } from "./config.ts";
