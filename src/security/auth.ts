import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../infra/clock.ts";
import { isLoopbackAddress, matchesAddressList } from "./addresses.ts";
import { firstHeader } from "./client.ts";
import type { ResolvedClient } from "./client.ts";
import type { SecurityConfig } from "./config.ts";
import { createFailureLimiter, DEFAULT_FAILURE_LIMITS } from "./failure-limiter.ts";
import type { FailureLimiter } from "./failure-limiter.ts";
import { secretEquals, secretFingerprint } from "./secrets.ts";

export type AuthMode = "none" | "token" | "password" | "trusted-proxy";
export type AuthMethod = AuthMode | "tailscale" | "device-token";

export interface ResolvedAuth {
  readonly mode: AuthMode;
  readonly token: string | undefined;
  readonly password: string | undefined;
  readonly allowTailscale: boolean;
}

export type AuthResult =
  | { readonly ok: true; readonly method: AuthMethod; readonly user?: string | undefined; readonly fingerprint: string }
  | { readonly ok: false; readonly reason: string; readonly retryAfterMs?: number | undefined };

export interface Credentials {
  readonly token?: string | undefined;
  readonly password?: string | undefined;
}

/** Budgets of failed attempts are kept apart per kind of secret (spec: gateway-protocol §2.5). */
export type AuthBudget = "shared-secret" | "device-token" | "hook-auth";

/** Asks the local Tailscale daemon who owns an address; undefined when it does not know. */
export type TailscaleWhois = (ip: string) => Promise<{ readonly login: string } | undefined>;

/** Loopback browsers share one key of their own, so that a page cannot lock out the CLI of the same machine. */
const LOOPBACK_BROWSER_KEY = "198.18.0.1";

/** Credentials come from the config, then from the environment. */
export function resolveAuth(config: SecurityConfig, env: NodeJS.ProcessEnv): ResolvedAuth {
  const auth = config.gateway?.auth;
  const token = auth?.token?.trim() || env["OPENCLAW_GATEWAY_TOKEN"]?.trim() || undefined;
  const password = auth?.password || env["OPENCLAW_GATEWAY_PASSWORD"] || undefined;
  const mode = auth?.mode ?? (password ? "password" : "token");
  const serving = config.gateway?.tailscale?.mode === "serve";
  return {
    mode,
    token,
    password,
    allowTailscale: auth?.allowTailscale ?? (serving && mode !== "password" && mode !== "trusted-proxy"),
  };
}

export interface AuthGate {
  current(): ResolvedAuth;
  /** HTTP: bearer by mode, or the trusted proxy's headers. Counts failures and answers `rate_limited` when locked. */
  authenticateHttp(headers: IncomingHttpHeaders, peerAddress: string | undefined, client: ResolvedClient): AuthResult;
  /**
   * WebSocket: as above, with the credentials of the connect frame; counts nothing, since a device token may still
   * replace a shared secret. The caller settles the attempt with `fail` or `succeed` in the same turn.
   */
  checkShared(credentials: Credentials, headers: IncomingHttpHeaders, peerAddress: string | undefined, client: ResolvedClient): AuthResult;
  /** Who a request from the tailnet comes from, verified by whois; undefined when Tailscale does not apply or fails. */
  identifyTailscale(headers: IncomingHttpHeaders, client: ResolvedClient): Promise<AuthResult | undefined>;
  /** ms the sender must wait for this budget; 0 when free. */
  retryAfterMs(budget: AuthBudget, client: ResolvedClient): number;
  fail(budget: AuthBudget, client: ResolvedClient): void;
  succeed(budget: AuthBudget, client: ResolvedClient): void;
  /** Whether what was accepted earlier would be accepted now (called after a reload, to close what would not). */
  isStillValid(accepted: Extract<AuthResult, { ok: true }>, headers: IncomingHttpHeaders, peerAddress: string | undefined): boolean;
}

export interface AuthGateDeps {
  readonly config: () => SecurityConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly whois?: TailscaleWhois | undefined;
}

export function createAuthGate(deps: AuthGateDeps): AuthGate {
  const current = (): ResolvedAuth => resolveAuth(deps.config(), deps.env);
  const limits = () => {
    const own = deps.config().gateway?.auth?.rateLimit;
    return {
      maxAttempts: own?.maxAttempts ?? DEFAULT_FAILURE_LIMITS.maxAttempts,
      windowMs: own?.windowMs ?? DEFAULT_FAILURE_LIMITS.windowMs,
      lockoutMs: own?.lockoutMs ?? DEFAULT_FAILURE_LIMITS.lockoutMs,
    };
  };
  const main = createFailureLimiter(limits, deps.clock);
  const browser = createFailureLimiter(limits, deps.clock);

  /** The limiter that counts this sender, if any: browsers always; others when configured or when a password can be guessed. */
  const limiterFor = (client: ResolvedClient): { limiter: FailureLimiter; ip: string } | undefined => {
    const loopback = isLoopbackAddress(client.ip);
    if (client.origin !== undefined) return { limiter: browser, ip: loopback ? LOOPBACK_BROWSER_KEY : client.ip };
    const rateLimit = deps.config().gateway?.auth?.rateLimit;
    if (!rateLimit && current().mode !== "password") return undefined;
    if (loopback && (rateLimit?.exemptLoopback ?? true)) return undefined;
    return { limiter: main, ip: client.ip };
  };
  const onLimiter = <T>(budget: AuthBudget, client: ResolvedClient, otherwise: T, use: (l: FailureLimiter, key: string) => T): T => {
    const found = limiterFor(client);
    return found ? use(found.limiter, `${budget}:${found.ip}`) : otherwise;
  };
  const retryAfterMs = (budget: AuthBudget, client: ResolvedClient): number =>
    onLimiter(budget, client, 0, (limiter, key) => limiter.retryAfterMs(key));
  const fail = (budget: AuthBudget, client: ResolvedClient): void =>
    onLimiter(budget, client, undefined, (limiter, key) => limiter.fail(key));
  const succeed = (budget: AuthBudget, client: ResolvedClient): void =>
    onLimiter(budget, client, undefined, (limiter, key) => limiter.succeed(key));

  const checkShared: AuthGate["checkShared"] = (credentials, headers, peerAddress, client) => {
    const auth = current();
    if (auth.mode === "none") return { ok: true, method: "none", fingerprint: "" };
    if (auth.mode === "trusted-proxy") return checkTrustedProxy(deps.config(), headers, peerAddress);
    const wait = retryAfterMs("shared-secret", client);
    if (wait > 0) return { ok: false, reason: "rate_limited", retryAfterMs: wait };
    return checkSecret(auth.mode, credentials[auth.mode], auth[auth.mode]);
  };

  return {
    current,
    checkShared,
    retryAfterMs,
    fail,
    succeed,
    authenticateHttp(headers, peerAddress, client) {
      const bearer = bearerOf(headers);
      const result = checkShared({ token: bearer, password: bearer }, headers, peerAddress, client);
      if (result.ok) succeed("shared-secret", client);
      else if (result.reason !== "rate_limited") fail("shared-secret", client);
      return result;
    },
    async identifyTailscale(headers, client) {
      if (!current().allowTailscale || client.isLocal || !deps.whois) return undefined;
      const login = firstHeader(headers, "tailscale-user-login")?.trim();
      if (!login || !client.peerIsLoopback) return undefined;
      if (["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"].some((name) => !firstHeader(headers, name))) return undefined;
      const ip = firstHeader(headers, "x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
      const owner = await deps.whois(ip);
      if (owner?.login.toLowerCase() !== login.toLowerCase()) return undefined;
      return { ok: true, method: "tailscale", user: login, fingerprint: "" };
    },
    isStillValid(accepted, headers, peerAddress) {
      const auth = current();
      switch (accepted.method) {
        case "none":
          return auth.mode === "none";
        case "token":
        case "password":
          return auth.mode === accepted.method && secretFingerprint(auth[accepted.method]) === accepted.fingerprint;
        case "trusted-proxy":
          return auth.mode === "trusted-proxy" && checkTrustedProxy(deps.config(), headers, peerAddress).ok;
        case "tailscale":
          return auth.allowTailscale;
        case "device-token":
          return true; // the device store decides
      }
    },
  };
}

function checkSecret(kind: "token" | "password", given: string | undefined, expected: string | undefined): AuthResult {
  if (!expected) return { ok: false, reason: `${kind}_missing_config` };
  if (!given) return { ok: false, reason: `${kind}_missing` };
  if (!secretEquals(given, expected)) return { ok: false, reason: `${kind}_mismatch` };
  return { ok: true, method: kind, fingerprint: secretFingerprint(expected) };
}

function checkTrustedProxy(config: SecurityConfig, headers: IncomingHttpHeaders, peerAddress: string | undefined): AuthResult {
  const proxy = config.gateway?.auth?.trustedProxy;
  const refuse = (why: string): AuthResult => ({ ok: false, reason: `trusted_proxy_${why}` });
  if (!proxy?.userHeader) return refuse("config_missing");
  if (!config.gateway?.trustedProxies?.length) return refuse("no_proxies_configured");
  if (!matchesAddressList(peerAddress ?? "", config.gateway.trustedProxies)) return refuse("untrusted_source");
  for (const name of proxy.requiredHeaders ?? []) {
    if (!firstHeader(headers, name)?.trim()) return refuse(`missing_header_${name.toLowerCase()}`);
  }
  const user = firstHeader(headers, proxy.userHeader)?.trim();
  if (!user) return refuse("user_missing");
  if (proxy.allowUsers?.length && !proxy.allowUsers.includes(user)) return refuse("user_not_allowed");
  return { ok: true, method: "trusted-proxy", user, fingerprint: "" };
}

/** The secret of `Authorization: Bearer <secret>`. */
export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
}
