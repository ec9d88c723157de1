export type { RestartPolicy } from "./account-runner.ts";
export type { HealthPolicy } from "./health-monitor.ts";
export { createChannelManager } from "./manager.ts";
export type { ChannelManager, ChannelManagerOptions } from "./manager.ts";
export { selectOwners } from "./owners.ts";
export type { ChannelConflict, ChannelOrigin, ChannelRegistration } from "./owners.ts";
export type { ChannelsStatusResult } from "./status-result.ts";
