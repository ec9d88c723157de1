import type { AuthResult, Authority } from "../../security/index.ts";

/**
 * What an HTTP caller may do once its bearer was accepted: the shared secret, a trusted proxy's user and an open gateway
 * all stand for the operator (decisions §7.1). Device tokens are no bearers.
 */
export function httpAuthority(auth: Extract<AuthResult, { ok: true }>): Authority {
  if (auth.method === "device-token" || auth.method === "tailscale") return { role: "operator", scopes: [], isOwner: false };
  return { role: "operator", scopes: ["operator.admin"], isOwner: true };
}
