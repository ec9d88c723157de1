/** Spec: gateway-protocol §1, §2.8. */
export const PROTOCOL_VERSION = 3;
export const MAX_PAYLOAD_BYTES = 26_214_400;
export const MAX_BUFFERED_BYTES = 52_428_800;
export const TICK_INTERVAL_MS = 30_000;
export const HANDSHAKE_TIMEOUT_MS = 10_000;
