export { createGatewayExecApprovals } from "./service.ts";
export type { GatewayExecApprovals } from "./service.ts";
