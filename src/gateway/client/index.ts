export { connectGateway } from "./client.ts";
export type { GatewayClient } from "./client.ts";
export { GatewayCallError, GatewayConnectError } from "./errors.ts";
export { describeTarget, resolveTarget } from "./target.ts";
export type { GatewayTarget } from "./target.ts";
