import { lookup as dnsLookup } from "node:dns/promises";
import { request as httpRequest } from "node:http";
import type { IncomingMessage, RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { errorText } from "./errors.ts";
import { isFakeIpAddress, isPublicAddress } from "./public-address.ts";

export type FetchRefusal = "bad-url" | "private-address" | "too-many-redirects" | "too-large" | "timeout" | "aborted" | "network";

/** `code` says why; the message names the host, never credentials or the query. */
export class GuardedFetchError extends Error {
  override readonly name = "GuardedFetchError";
  readonly code: FetchRefusal;
  constructor(code: FetchRefusal, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface GuardedFetchInit {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Of the decoded body; default 10 MiB. */
  readonly maxBytes?: number | undefined;
  /** For everything, redirects included; default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Default 3; 0 gives a redirect back as the answer. */
  readonly maxRedirects?: number | undefined;
  /** Keep the first `maxBytes` instead of failing; the result says `truncated`. */
  readonly truncate?: boolean | undefined;
}

export interface GuardedResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly truncated: boolean;
  readonly body: Uint8Array;
  text(): string;
  /** @throws SyntaxError */
  json(): unknown;
}

export type GuardedFetch = (url: string | URL, init?: GuardedFetchInit) => Promise<GuardedResponse>;

export interface GuardedFetchOptions {
  /** Origins (`http://127.0.0.1:4000`) that may be anywhere: configured bases, and loopback servers in tests. */
  readonly allowOrigins?: readonly string[] | (() => readonly string[]) | undefined;
  /** Hosts (and their subdomains) that may resolve into 198.18.0.0/15. */
  readonly fakeIpHosts?: readonly string[] | undefined;
  /** All addresses of a name; default: the system's resolver. */
  readonly resolve?: ((hostname: string) => Promise<readonly string[]>) | undefined;
  readonly userAgent?: string | undefined;
}

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Kept when a redirect leaves the origin; everything else may be a credential. */
const SAFE_HEADERS: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent"]);

/**
 * Fetches on behalf of a model, a page or a stranger: http(s) only, every address of the name must be public, the
 * connection goes to the address that was checked, and each redirect is checked anew (security record B6).
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const resolve = options.resolve ?? resolveBySystem;
  const isTrusted = (url: URL): boolean => {
    const list = typeof options.allowOrigins === "function" ? options.allowOrigins() : (options.allowOrigins ?? []);
    return list.some((entry) => entry.toLowerCase().replace(/\/+$/, "") === url.origin);
  };
  const isFakeIpHost = (hostname: string): boolean =>
    (options.fakeIpHosts ?? []).some((host) => hostname === host || hostname.endsWith(`.${host}`));

  /** The addresses to connect to. @throws GuardedFetchError when one of them is not public */
  const pin = async (url: URL): Promise<readonly string[]> => {
    const hostname = bareHost(url);
    let addresses: readonly string[];
    try {
      addresses = isIP(hostname) === 0 ? await resolve(hostname) : [hostname];
    } catch (err) {
      throw new GuardedFetchError("network", `${hostname} could not be resolved`, { cause: err });
    }
    if (addresses.length === 0) throw new GuardedFetchError("network", `${hostname} has no address`);
    if (isTrusted(url)) return addresses;
    const bad = addresses.find((ip) => !isPublicAddress(ip) && !(isFakeIpAddress(ip) && isFakeIpHost(hostname)));
    if (bad !== undefined) {
      throw new GuardedFetchError("private-address", `${hostname} is not on the public internet; such addresses are not fetched`);
    }
    return addresses;
  };

  return async (input, init = {}) => {
    const timeoutMs = init.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    const maxRedirects = init.maxRedirects ?? DEFAULT_MAX_REDIRECTS;
    let url = parseUrl(input);
    let hop: Hop = {
      method: (init.method ?? "GET").toUpperCase(),
      headers: { "user-agent": options.userAgent ?? "openclaw", "accept-encoding": "gzip, deflate, br", ...lowerKeys(init.headers) },
      body: init.body,
    };
    try {
      for (let redirects = 0; ; redirects++) {
        const addresses = await orAbort(pin(url), signal);
        const answer = await open(url, hop, addresses, signal);
        const location = REDIRECTS.has(answer.statusCode ?? 0) && maxRedirects > 0 ? answer.headers.location : undefined;
        if (location === undefined) return await collect(answer, url, init, signal);
        answer.destroy();
        if (redirects >= maxRedirects) throw new GuardedFetchError("too-many-redirects", `${url.hostname} redirected more than ${maxRedirects} times`);
        const next = parseUrl(location, url);
        hop = nextHop(hop, answer.statusCode ?? 0, next.origin === url.origin);
        url = next;
      }
    } catch (err) {
      if (err instanceof GuardedFetchError) throw err;
      if (init.signal?.aborted) throw new GuardedFetchError("aborted", `fetch of ${url.hostname} was aborted`, { cause: err });
      if (deadline.aborted) throw new GuardedFetchError("timeout", `${url.hostname} did not answer within ${timeoutMs} ms`, { cause: err });
      throw new GuardedFetchError("network", `fetch of ${url.hostname} failed: ${errorText(err)}`, { cause: err });
    }
  };
}

interface Hop {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** The next request of a redirect chain; another origin sees no credentials and no body. */
function nextHop(hop: Hop, status: number, sameOrigin: boolean): Hop {
  const toGet = status === 303 || ((status === 301 || status === 302) && hop.method === "POST");
  const dropBody = toGet || !sameOrigin;
  const entries = Object.entries(hop.headers).filter(
    ([name]) => (sameOrigin || SAFE_HEADERS.has(name) || name === "accept-encoding") && !(dropBody && name.startsWith("content-")),
  );
  const method = toGet || (!sameOrigin && hop.method !== "HEAD") ? "GET" : hop.method;
  return { method, headers: Object.fromEntries(entries), body: dropBody ? undefined : hop.body };
}

function parseUrl(input: string | URL, base?: URL): URL {
  let url: URL;
  try {
    url = new URL(input, base);
  } catch (err) {
    throw new GuardedFetchError("bad-url", "not a valid URL; give one that begins with http:// or https://", { cause: err });
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new GuardedFetchError("bad-url", `${url.protocol} URLs are not fetched; only http and https are`);
  }
  if (url.username || url.password) throw new GuardedFetchError("bad-url", "a URL with a user name or password in it is not fetched");
  return url;
}

/** Without brackets and trailing dot; the URL parser has already turned 0x7f.1 and its like into dotted form. */
const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return (await dnsLookup(hostname, { all: true })).map((entry) => entry.address);
}

function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error("aborted"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function open(url: URL, hop: Hop, addresses: readonly string[], signal: AbortSignal): Promise<IncomingMessage> {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_hostname, lookupOptions, callback) => {
    const first = pinned[0];
    if (lookupOptions.all) callback(null, pinned);
    else callback(null, first?.address ?? "", first?.family ?? 4);
  };
  const options: RequestOptions = { method: hop.method, headers: { ...hop.headers }, lookup, signal, agent: false };
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(url, options, resolve);
    request.on("error", reject);
    request.end(hop.body);
  });
}

async function collect(answer: IncomingMessage, url: URL, init: GuardedFetchInit, signal: AbortSignal): Promise<GuardedResponse> {
  const maxBytes = init.maxBytes ?? DEFAULT_MAX_BYTES;
  const chunks: Uint8Array[] = [];
  let size = 0;
  let truncated = false;
  const onAbort = (): void => void answer.destroy(new Error("aborted"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    // The limit counts decoded bytes, so that a small bomb does not unpack into memory.
    for await (const chunk of decode(answer) as AsyncIterable<Buffer>) {
      if (size + chunk.length > maxBytes) {
        if (!init.truncate) throw new GuardedFetchError("too-large", `the answer of ${url.hostname} is larger than ${maxBytes} bytes`);
        chunks.push(chunk.subarray(0, maxBytes - size));
        size = maxBytes;
        truncated = true;
        break;
      }
      chunks.push(chunk);
      size += chunk.length;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    answer.destroy();
  }
  const body = Buffer.concat(chunks, size);
  const status = answer.statusCode ?? 0;
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: answer.statusMessage ?? "",
    headers: headersOf(answer),
    url: url.href,
    truncated,
    body,
    text: () => new TextDecoder("utf-8").decode(body),
    json: () => JSON.parse(new TextDecoder("utf-8").decode(body)) as unknown,
  };
}

function decode(answer: IncomingMessage): Readable {
  const decoders = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };
  const encoding = (answer.headers["content-encoding"] ?? "").trim().toLowerCase();
  const create = Object.hasOwn(decoders, encoding) ? decoders[encoding as keyof typeof decoders] : undefined;
  if (!create) return answer;
  // Errors reach the reader of the decoded stream.
  return pipeline(answer, create(), () => undefined);
}

function headersOf(answer: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < answer.rawHeaders.length; i += 2) {
    const name = answer.rawHeaders[i];
    const value = answer.rawHeaders[i + 1];
    if (name !== undefined && value !== undefined) headers.append(name, value);
  }
  return headers;
}

const lowerKeys = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
