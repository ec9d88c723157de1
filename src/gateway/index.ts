export { createGateway, GatewayStartError, type Gateway, type GatewayOptions } from "./gateway.ts";
