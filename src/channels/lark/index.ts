export { createLarkPlugin } from "./plugin.ts";
export type { LarkPluginOptions } from "./plugin.ts";
export type { LarkAccount } from "./config.ts";
