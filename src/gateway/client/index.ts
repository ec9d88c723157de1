export { connectGateway, DEFAULT_CALL_TIMEOUT_MS } from "./client.ts";
export type { ConnectOptions, GatewayClient, RequestOptions } from "./client.ts";
export { GatewayCallError, GatewayConnectError } from "./errors.ts";
export type { ConnectErrorCode } from "./errors.ts";
export { describeTarget, resolveTarget } from "./target.ts";
export type { GatewayTarget, TargetFlags } from "./target.ts";
