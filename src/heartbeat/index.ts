export { createHeartbeatService, type HeartbeatService, type WakeRequest } from "./service.ts";
export type { HeartbeatEvent, HeartbeatTurn } from "./run.ts";
export { summarizeHeartbeats } from "./settings.ts";
