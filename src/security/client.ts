import type { IncomingHttpHeaders } from "node:http";
import { hostnameOf, isLoopbackAddress, isLoopbackHostname, matchesAddressList, normalizeAddress } from "./addresses.ts";
import type { SecurityConfig } from "./config.ts";

/** What a request tells about its sender before anything was proved. */
export interface PeerRequest {
  readonly remoteAddress: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface ResolvedClient {
  /** The address that counts for limits and logs; "" when the socket has none any more. */
  readonly ip: string;
  readonly peerIsLoopback: boolean;
  readonly peerIsTrustedProxy: boolean;
  readonly isForwarded: boolean;
  /** Same machine, by a known name, not forwarded by a stranger (spec: gateway-protocol §2.7). */
  readonly isLocal: boolean;
  readonly hostname: string;
  readonly origin: string | undefined;
}

export function firstHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value[0] : value;
}

export function resolveClient(req: PeerRequest, config: SecurityConfig): ResolvedClient {
  const peer = normalizeAddress(req.remoteAddress);
  const peerIsTrustedProxy = matchesAddressList(peer, config.gateway?.trustedProxies);
  const isForwarded = ["x-forwarded-for", "x-real-ip", "x-forwarded-host", "forwarded"].some(
    (name) => req.headers[name] !== undefined,
  );
  const ip = peerIsTrustedProxy ? forwardedAddress(req.headers, config, peer) : peer;
  const hostname = hostnameOf(req.headers.host);
  const namedLocally = isLoopbackHostname(hostname) || hostname.endsWith(".ts.net");
  return {
    ip,
    peerIsLoopback: isLoopbackAddress(peer),
    peerIsTrustedProxy,
    isForwarded,
    isLocal: isLoopbackAddress(ip) && namedLocally && (!isForwarded || peerIsTrustedProxy),
    hostname,
    origin: firstHeader(req.headers, "origin"),
  };
}

/** The right-most address of X-Forwarded-For that is no trusted proxy itself; a malformed one stops the search. */
function forwardedAddress(headers: IncomingHttpHeaders, config: SecurityConfig, peer: string): string {
  const chain = [headers["x-forwarded-for"] ?? ""].flat().join(",").split(",").map((part) => part.trim());
  for (const part of chain.reverse()) {
    if (part === "") continue;
    const ip = normalizeAddress(hostnameOf(part) || part);
    if (ip === "") return peer;
    if (!matchesAddressList(ip, config.gateway?.trustedProxies)) return ip;
  }
  const realIp = config.gateway?.allowRealIpFallback ? normalizeAddress(firstHeader(headers, "x-real-ip")) : "";
  return realIp || peer;
}
