export type * from "./types.ts";
export { GatewayError, invalidRequest, unavailable, toErrorShape } from "./errors.ts";
export type { GatewayErrorOptions } from "./errors.ts";
export { EVENTS, eventRule } from "./events.ts";
export type { EventRule } from "./events.ts";
export { parseConnectParams, parseRequestFrame, parseWith } from "./frames.ts";
export type { Parsed } from "./frames.ts";
export { formatIssues } from "./format-issues.ts";
export {
  HANDSHAKE_TIMEOUT_MS,
  MAX_BUFFERED_BYTES,
  MAX_PAYLOAD_BYTES,
  PROTOCOL_VERSION,
  TICK_INTERVAL_MS } from "./limits.ts";
export { scopeOfMethod } from "./method-scopes.ts";
export { defineMethod, isWebchatClient } from "./method.ts";
export type { Caller, GatewayMethod, MethodCall, MethodDefinition } from "./method.ts";
export { createMethodRouter, ROLE_REFUSED_PREFIX } from "./router.ts";
export type { MethodRouter } from "./router.ts";
