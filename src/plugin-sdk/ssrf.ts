import { isIP } from "node:net";
import { createGuardedFetch, GuardedFetchError } from "../infra/guarded-fetch.ts";
import { isPublicAddress } from "../infra/public-address.ts";

/** Fetching what strangers name. Source: spec plugin-sdk §14, security record B6. */

export class SsrFBlockedError extends Error {
  override readonly name = "SsrFBlockedError";
}

/** A private, special or reserved address in any spelling: `127.1`, decimal, hexadecimal, mapped into IPv6. */
export function isPrivateIpAddress(address: string): boolean {
  const ip = canonicalIp(address);
  return ip !== undefined && !isPublicAddress(ip);
}

/** The URL parser knows all spellings of IPv4. undefined: no address. */
function canonicalIp(address: string): string | undefined {
  const text = address.trim().toLowerCase().replace(/^\[|\]$/g, "").split("%", 1)[0] ?? "";
  if (text === "" || /[\s/@?#\\]/.test(text)) return undefined;
  const url = URL.parse(text.includes(":") ? `http://[${text}]/` : `http://${text}/`);
  const host = url?.hostname.replace(/^\[|\]$/g, "") ?? "";
  return isIP(host) === 0 ? undefined : host;
}

const BLOCKED_NAMES = new Set(["localhost", "localhost.localdomain", "metadata.google.internal"]);

/** `localhost` and names that only a private network has. */
export function isBlockedHostname(hostname: string): boolean {
  const name = hostname.trim().toLowerCase().replace(/\.+$/, "");
  return name === "" ? false : BLOCKED_NAMES.has(name) || /\.(?:localhost|local|internal)$/.test(name);
}

export const isBlockedHostnameOrIp = (hostname: string): boolean => isBlockedHostname(hostname) || isPrivateIpAddress(hostname);

export interface SsrFPolicy {
  readonly allowPrivateNetwork?: boolean | undefined;
  readonly dangerouslyAllowPrivateNetwork?: boolean | undefined;
  /** Hosts that may be anywhere. */
  readonly allowedHostnames?: readonly string[] | undefined;
  /** When given, only these hosts (`*.example.com` for sub-domains). */
  readonly hostnameAllowlist?: readonly string[] | undefined;
}

export interface GuardedFetchRequest {
  readonly url: string;
  readonly init?: RequestInit | undefined;
  /** For tests: takes the place of the network. The rules about hosts hold. */
  readonly fetchImpl?: ((url: string, init?: RequestInit) => Promise<Response>) | undefined;
  readonly maxRedirects?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly policy?: SsrFPolicy | undefined;
  readonly maxBytes?: number | undefined;
  readonly auditContext?: string | undefined;
}

export interface GuardedFetchAnswer {
  readonly response: Response;
  readonly finalUrl: string;
  /** Ends the connection; call it when the body is read. */
  release(): Promise<void>;
}

const DEFAULT_MAX_BYTES = 100 * 1024 * 1024;

/**
 * Every address of the name must be public, the connection goes to the address that was checked, and each redirect is
 * checked anew.
 * @throws SsrFBlockedError for a host that is not allowed, Error otherwise
 */
export async function fetchWithSsrFGuard(request: GuardedFetchRequest): Promise<GuardedFetchAnswer> {
  const { policy, init } = request;
  const url = URL.parse(request.url);
  if (!url) throw new Error("Invalid URL: must be http or https");
  const allowAny = policy?.allowPrivateNetwork === true || policy?.dangerouslyAllowPrivateNetwork === true || policy?.allowedHostnames?.some((host) => host.toLowerCase() === url.hostname) === true;
  if (policy?.hostnameAllowlist?.length && !policy.hostnameAllowlist.some((pattern) => hostMatches(pattern, url.hostname))) {
    throw new SsrFBlockedError(`Blocked hostname (not in allowlist): ${url.hostname}`);
  }
  if (!allowAny && isBlockedHostnameOrIp(url.hostname)) throw new SsrFBlockedError(`Blocked hostname or private/internal/special-use IP address: ${url.hostname}`);
  if (request.fetchImpl) return { response: await request.fetchImpl(request.url, { ...init, redirect: "manual" }), finalUrl: request.url, release: async () => undefined };
  const guarded = createGuardedFetch({ allowOrigins: allowAny ? [url.origin] : [] });
  try {
    const answer = await guarded(url, {
      method: init?.method, headers: Object.fromEntries(new Headers(init?.headers)), body: await bodyOf(init?.body),
      signal: request.signal ?? init?.signal ?? undefined, maxRedirects: request.maxRedirects, timeoutMs: request.timeoutMs, maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES,
    });
    const headers = new Headers(answer.headers);
    headers.delete("content-encoding"); // the body is decoded
    headers.delete("content-length");
    const empty = [101, 204, 205, 304].includes(answer.status);
    const response = new Response(empty ? null : Buffer.from(answer.body), { status: answer.status, statusText: answer.statusText, headers });
    return { response, finalUrl: answer.url, release: async () => undefined };
  } catch (err) {
    if (err instanceof GuardedFetchError && err.code === "private-address") throw new SsrFBlockedError(err.message, { cause: err });
    throw err;
  }
}

async function bodyOf(body: RequestInit["body"]): Promise<string | Uint8Array | undefined> {
  if (body === undefined || body === null) return undefined;
  return typeof body === "string" ? body : new Uint8Array(await new Response(body).arrayBuffer());
}

function hostMatches(pattern: string, host: string): boolean {
  const wanted = pattern.trim().toLowerCase();
  return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
}
