export type { Connection } from "./connection.ts";
export { createPresenceStore, createPresenceTracker, presenceText } from "./presence.ts";
export type { PresenceStore, PresenceTracker, PresenceUpdate } from "./presence.ts";
export { createWsServer } from "./server.ts";
export type { BroadcastOptions, WsLimits, WsServer, WsServerDeps } from "./server.ts";
