/**
 * What a plugin may import, as `openclaw/plugin-sdk` or any path below it.
 * Source: spec plugin-sdk §5 and §14; the channel contract is that of decisions §6.
 */
export * from "./names.ts";
export * from "./unbound.ts";
export type * from "./types.ts";
export { createPluginSdk } from "./create-sdk.ts";
export { offlineHost } from "./offline-host.ts";
export type { SdkHost } from "./host.ts";
