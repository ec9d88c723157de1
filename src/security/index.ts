export { matchesAddressList, normalizeAddress } from "./addresses.ts";
export { bearerOf, createAuthGate, resolveAuth } from "./auth.ts";
export type {
  AuthBudget,
  AuthGate,
  AuthGateDeps,
  AuthMethod,
  AuthMode,
  AuthResult,
  Credentials,
  ResolvedAuth,
  TailscaleWhois } from "./auth.ts";
export { authorize } from "./authorize.ts";
export type { Action, Authority, MethodScope, Verdict } from "./authorize.ts";
export { firstHeader, resolveClient } from "./client.ts";
export type { PeerRequest, ResolvedClient } from "./client.ts";
export type { SecurityConfig } from "./config.ts";
export { createFailureLimiter } from "./failure-limiter.ts";
export type { FailureLimiter, FailureLimits } from "./failure-limiter.ts";
export { exceedsJsonDepth, parseUntrustedJson } from "./json.ts";
export { isHostKnown, isOriginAllowed } from "./origin.ts";
export { coversScope, coversScopes, OPERATOR_SCOPES } from "./scopes.ts";
export type { OperatorScope } from "./scopes.ts";
export { createToken, secretEquals } from "./secrets.ts";
export { createTailscaleWhois } from "./tailscale-whois.ts";
export { checkExposure } from "./exposure.ts";
export { wrapExternalContent } from "./untrusted.ts";
