import { randomBytes } from "node:crypto";
import type { Clock } from "../infra/clock.ts";

/** Keys in a path that let a connected node read the canvas. Source: spec gateway-protocol §9.7. */
export interface CanvasCapabilities {
  /** 24 characters of base64url, for as long as the connection lives and it is used every ten minutes. */
  issue(connId: string): string;
  revoke(connId: string): void;
  /** Whether the key is good; using it lengthens its life. */
  use(token: string): boolean;
}

const TTL_MS = 10 * 60_000;
const TOKEN_BYTES = 18;

export function createCanvasCapabilities(clock: Clock): CanvasCapabilities {
  const issued = new Map<string, { readonly connId: string; expiresAtMs: number }>();
  return {
    issue(connId) {
      const token = randomBytes(TOKEN_BYTES).toString("base64url");
      issued.set(token, { connId, expiresAtMs: clock.now() + TTL_MS });
      return token;
    },
    revoke(connId) {
      for (const [token, entry] of issued) if (entry.connId === connId) issued.delete(token);
    },
    use(token) {
      const entry = issued.get(token);
      if (!entry) return false;
      if (entry.expiresAtMs < clock.now()) {
        issued.delete(token);
        return false;
      }
      entry.expiresAtMs = clock.now() + TTL_MS;
      return true;
    },
  };
}
