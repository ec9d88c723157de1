import { lookup } from "node:dns/promises";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, isIP, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { isPublicAddress } from "../infra/public-address.ts";

/** Which places a browser may reach. Source: spec decisions §8.3, tools-and-automation part 2 §11.1. */
export interface BrowserNetworkPolicy {
  readonly allowPrivateNetwork: boolean;
  /** Hosts that may be private. */
  readonly allowedHostnames: readonly string[];
  /** When not empty, the only hosts that may be reached; `*.example.com` for those below one. */
  readonly hostnameAllowlist: readonly string[];
  /** Origins that may be reached wherever they are. */
  readonly allowOrigins: readonly string[];
}

export interface GuardProxy {
  /** `http://127.0.0.1:<port>` for the browser. */
  readonly url: string;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 15_000;

/**
 * The browser's only way out: every connection is made here, to an address that was checked. What a name means is asked
 * once and the answer used, so a name that changes its address gains nothing; WebSockets and redirects come by as well.
 */
export async function startGuardProxy(policy: () => BrowserNetworkPolicy): Promise<GuardProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((req, res) => void forward(req, res, policy()));
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("connect", (req, client: Socket, head: Buffer) => void tunnel(req, client, head, policy()));
  server.on("clientError", (_err, socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function tunnel(req: IncomingMessage, client: Socket, head: Buffer, policy: BrowserNetworkPolicy): Promise<void> {
  client.on("error", () => client.destroy());
  const target = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(req.url ?? "");
  const host = target?.[1] ?? "";
  const port = Number(target?.[2]);
  const verdict = await checkHost(policy, host, port, ["http", "https"]);
  if (!verdict.ok) return void client.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\n\r\n${verdict.reason}`);
  const upstream = connect({ host: verdict.address, port, timeout: CONNECT_TIMEOUT_MS });
  upstream.once("connect", () => {
    upstream.setTimeout(0);
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client);
    client.pipe(upstream);
  });
  upstream.once("timeout", () => upstream.destroy(new Error("timeout")));
  upstream.once("error", () => client.destroy());
  client.once("close", () => upstream.destroy());
  upstream.once("close", () => client.destroy());
}

async function forward(req: IncomingMessage, res: ServerResponse, policy: BrowserNetworkPolicy): Promise<void> {
  const refuse = (status: number, reason: string): void => void res.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(reason);
  const url = URL.canParse(req.url ?? "") ? new URL(req.url ?? "") : undefined;
  if (url?.protocol !== "http:") return refuse(400, "only absolute http URLs are forwarded");
  const port = Number(url.port || 80);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const verdict = await checkHost(policy, host, port, ["http"]);
  if (!verdict.ok) return refuse(403, verdict.reason);
  const { "proxy-connection": _proxy, "proxy-authorization": _auth, ...headers } = req.headers;
  const upstream = httpRequest({ host: verdict.address, port, method: req.method, path: `${url.pathname}${url.search}`, headers: { ...headers, host: url.host }, timeout: CONNECT_TIMEOUT_MS, agent: false }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
  });
  upstream.once("error", () => (res.headersSent ? res.destroy() : refuse(502, "the server cannot be reached")));
  res.once("close", () => upstream.destroy());
  req.pipe(upstream);
}

export type HostVerdict = { readonly ok: true; readonly address: string } | { readonly ok: false; readonly reason: string };

const BLOCKED = "Blocked hostname or private/internal/special-use IP address";

/** Whether a host may be reached, and at which address. */
export async function checkHost(policy: BrowserNetworkPolicy, rawHost: string, port: number, schemes: readonly string[]): Promise<HostVerdict> {
  const host = rawHost.toLowerCase().replace(/\.$/, "");
  if (host === "" || !(port > 0 && port < 65_536)) return { ok: false, reason: "bad address" };
  if (policy.hostnameAllowlist.length > 0 && !matchesHost(policy.hostnameAllowlist, host)) return { ok: false, reason: `${host} is not in browser.ssrfPolicy.hostnameAllowlist` };
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? (await lookup(host, { all: true })).map((entry) => entry.address) : [host];
  } catch {
    return { ok: false, reason: `${host} could not be resolved` };
  }
  const [first] = addresses;
  if (first === undefined) return { ok: false, reason: `${host} has no address` };
  const bracketed = isIP(host) === 6 ? `[${host}]` : host;
  const isTrusted = schemes.some((scheme) => policy.allowOrigins.some((origin) => URL.canParse(origin) && new URL(origin).origin === new URL(`${scheme}://${bracketed}:${port}`).origin));
  if (isTrusted || policy.allowPrivateNetwork || matchesHost(policy.allowedHostnames, host)) return { ok: true, address: first };
  return addresses.every((address) => isPublicAddress(address)) ? { ok: true, address: first } : { ok: false, reason: BLOCKED };
}

function matchesHost(patterns: readonly string[], host: string): boolean {
  return patterns.some((pattern) => {
    const wanted = pattern.trim().toLowerCase();
    return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
  });
}
