import { isIP } from "node:net";
import { hostnameOf, isLoopbackHostname } from "./addresses.ts";
import type { SecurityConfig } from "./config.ts";

/** A browser's Origin header as `scheme://host[:port]` in lower case; undefined for `null`, nonsense and foreign schemes. */
export function parseOrigin(origin: string | undefined): { origin: string; host: string; hostname: string } | undefined {
  if (!origin || origin === "null") return undefined;
  let url: URL;
  try {
    url = new URL(origin);
  } catch {
    return undefined; // not a URL: treated as no origin at all, which no check accepts
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  return { origin: `${url.protocol}//${url.host}`.toLowerCase(), host: url.host.toLowerCase(), hostname: hostnameOf(url.host) };
}

const allowedOrigins = (config: SecurityConfig): readonly string[] =>
  (config.gateway?.controlUi?.allowedOrigins ?? []).map((entry) => parseOrigin(entry)?.origin ?? entry.trim().toLowerCase());

/**
 * Whether a page of this origin may talk to the gateway (spec: gateway-protocol §2.6): it is listed, or page and
 * gateway are both addressed as this machine, or the fallback on the Host header is switched on.
 */
export function isOriginAllowed(origin: string | undefined, hostHeader: string | undefined, config: SecurityConfig): boolean {
  const page = parseOrigin(origin);
  if (!page) return false;
  const allowed = allowedOrigins(config);
  if (allowed.includes(page.origin) || allowed.includes("*")) return true;
  const hostname = hostnameOf(hostHeader);
  if (isLoopbackHostname(page.hostname) && isLoopbackHostname(hostname)) return true;
  return (
    config.gateway?.controlUi?.dangerouslyAllowHostHeaderOriginFallback === true &&
    page.host === hostHeader?.trim().toLowerCase()
  );
}

/**
 * Whether the Host header names this gateway (decisions §2.2): against DNS rebinding, a name must be local, a literal
 * address, of the tailnet, or one of `gateway.controlUi.allowedOrigins`.
 */
export function isHostKnown(hostHeader: string | undefined, config: SecurityConfig): boolean {
  const hostname = hostnameOf(hostHeader);
  if (hostname === "") return false;
  if (isLoopbackHostname(hostname) || isIP(hostname) !== 0 || hostname.endsWith(".ts.net")) return true;
  if (config.gateway?.controlUi?.dangerouslyAllowHostHeaderOriginFallback === true) return true;
  return allowedOrigins(config).some((entry) => parseOrigin(entry)?.hostname === hostname);
}
