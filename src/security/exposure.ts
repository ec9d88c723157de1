import { isLoopbackAddress, isLoopbackHostname } from "./addresses.ts";
import { resolveAuth } from "./auth.ts";
import type { SecurityConfig } from "./config.ts";

/**
 * Why the gateway must not start listening on `bindHost` with this config (spec: gateway-protocol §2.6, §10); each
 * line says what to change. Empty: it may.
 */
export function checkExposure(config: SecurityConfig, env: NodeJS.ProcessEnv, bindHost: string): readonly string[] {
  const gateway = config.gateway;
  const auth = resolveAuth(config, env);
  const isLoopback = isLoopbackHostname(bindHost);
  const problems: string[] = [];
  if (!isLoopback) {
    if (auth.mode === "none") problems.push(`refusing to bind to ${bindHost} without auth: set gateway.auth.mode to "token" or "password"`);
    if (auth.mode === "token" && !auth.token) problems.push(`refusing to bind to ${bindHost} without a token: set gateway.auth.token`);
    if (auth.mode === "password" && !auth.password) problems.push(`refusing to bind to ${bindHost} without a password: set gateway.auth.password`);
    const ui = gateway?.controlUi;
    const hasOrigins = (ui?.allowedOrigins?.length ?? 0) > 0 || ui?.dangerouslyAllowHostHeaderOriginFallback === true;
    if (ui?.enabled !== false && !hasOrigins) {
      problems.push(`the Control UI on ${bindHost} needs gateway.controlUi.allowedOrigins (the URLs it is opened under); list them or set gateway.controlUi.enabled to false`);
    }
  }
  const tailscale = gateway?.tailscale?.mode ?? "off";
  if (tailscale !== "off" && !isLoopback) problems.push(`gateway.tailscale.mode "${tailscale}" needs a loopback bind: set gateway.bind to "loopback"`);
  if (tailscale === "funnel" && (auth.mode !== "password" || !auth.password)) {
    problems.push('gateway.tailscale.mode "funnel" opens the gateway to the internet and needs a password: set gateway.auth.mode to "password" and gateway.auth.password');
  }
  if (auth.mode === "trusted-proxy") {
    const proxies = gateway?.trustedProxies ?? [];
    if (!gateway?.auth?.trustedProxy?.userHeader) problems.push("gateway.auth.mode trusted-proxy needs gateway.auth.trustedProxy.userHeader (the header that names the user)");
    if (proxies.length === 0) problems.push("gateway.auth.mode trusted-proxy needs gateway.trustedProxies (the proxy's address)");
    else if (isLoopback && !proxies.some((entry) => isLoopbackAddress(entry.split("/", 1)[0]))) {
      problems.push("gateway.auth.mode trusted-proxy on a loopback bind needs a loopback address in gateway.trustedProxies, e.g. 127.0.0.1");
    }
  }
  return problems;
}
