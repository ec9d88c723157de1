export { createGateway, type Gateway, type GatewayOptions } from "./gateway.ts";
export { GatewayStartError } from "./start-error.ts";
