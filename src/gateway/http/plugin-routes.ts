import type { IncomingMessage, ServerResponse } from "node:http";
import type { ChannelHttp, ChannelHttpRequest } from "../../channels/contract/index.ts";
import { PluginTimeoutError } from "../../plugins/index.ts";
import { readBody } from "./body.ts";
import { canonicalizeUrl } from "./canonical-path.ts";
import { SURFACE_ORDER, type HttpSurface, type SurfaceRequest } from "./front-door.ts";

type NodeHandler = (req: IncomingMessage, res: ServerResponse) => unknown;

/** One path that a plugin or channel serves. Source: spec plugin-sdk §10, decisions §2.8. */
export interface PluginRoute {
  /** Begins with "/"; compared with the canonical path, and made into one. */
  readonly path: string;
  /** `plugin`: the route checks its callers itself. `gateway`: the gateway's bearer is needed. */
  readonly auth: "plugin" | "gateway";
  readonly match: "exact" | "prefix";
  /** Who serves it, for the log and for conflicts. */
  readonly owner: string;
  readonly handler: NodeHandler;
}

export interface PluginRoutes {
  readonly surfaces: readonly HttpSurface[];
  /** The route that already stands on this path with the same kind of match. */
  find(path: string, match: PluginRoute["match"]): PluginRoute | undefined;
  /** Takes the place of one with the same path and match; the result withdraws it. */
  add(route: PluginRoute): () => void;
  /** Asked for every path without a route, one after another, until one resolves true. */
  addHandler(owner: string, handler: (req: IncomingMessage, res: ServerResponse) => unknown): () => void;
}

interface HandlerEntry {
  readonly owner: string;
  readonly handler: NodeHandler;
  lateInARow: number;
}

/** A handler that lets so many requests in a row wait to the end is not asked any more until the next start. */
const MAX_LATE = 3;
const CHANNEL_BODY_LIMIT = { maxBytes: 1024 * 1024, timeoutMs: 30_000 };

export function createPluginRoutes(): PluginRoutes {
  let routes: readonly PluginRoute[] = [];
  let handlers: readonly HandlerEntry[] = [];

  /** As requests are read; a path that no request can have stays as it is. */
  const canonical = (path: string): string => canonicalizeUrl(path)?.path ?? path;

  const routeFor = (path: string): PluginRoute | undefined =>
    routes.find((route) => route.match === "exact" && route.path === path) ?? routes.find((route) => route.match === "prefix" && isUnder(path, route.path));

  const serve = async ({ req, res, url }: SurfaceRequest): Promise<boolean> => {
    await routeFor(url.path)?.handler(req, res);
    return true;
  };
  const surfaces: readonly HttpSurface[] = [
    { name: "plugin-routes", order: SURFACE_ORDER.plugin, auth: "plugin", matches: (path) => routeFor(path)?.auth === "plugin", handle: serve },
    { name: "plugin-routes-with-bearer", order: SURFACE_ORDER.plugin, auth: "bearer", matches: (path) => routeFor(path)?.auth === "gateway", handle: serve },
    {
      name: "plugin-handlers",
      order: SURFACE_ORDER.plugin + 1,
      auth: "plugin",
      matches: () => handlers.length > 0,
      async handle({ req, res }) {
        for (const entry of handlers) if (await isTaken(entry, req, res)) return true;
        return res.headersSent;
      },
    },
  ];

  /** Every request without a route passes here: one handler that hangs must not keep them all. */
  async function isTaken(entry: HandlerEntry, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
    try {
      const taken = (await entry.handler(req, res)) === true;
      entry.lateInARow = 0;
      return taken;
    } catch (err) {
      if (!(err instanceof PluginTimeoutError) || res.headersSent) throw err;
      if (++entry.lateInARow >= MAX_LATE) handlers = handlers.filter((other) => other !== entry);
      return false;
    }
  }

  return {
    surfaces,
    find: (path, match) => routes.find((route) => route.path === canonical(path) && route.match === match),
    add(given) {
      const route = { ...given, path: canonical(given.path) };
      routes = [...routes.filter((other) => other.path !== route.path || other.match !== route.match), route];
      return () => {
        routes = routes.filter((other) => other !== route);
      };
    },
    addHandler(owner, handler) {
      const entry: HandlerEntry = { owner, handler, lateInARow: 0 };
      handlers = [...handlers, entry];
      return () => {
        handlers = handlers.filter((other) => other !== entry);
      };
    },
  };
}

function isUnder(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}

/** A channel's handler, which answers with a value, as one of node:http. */
export function channelHandler(handler: Parameters<ChannelHttp["route"]>[2]): NodeHandler {
  return async (req, res) => {
    const url = new URL(req.url ?? "/", "http://localhost");
    const rawBody = req.method === "GET" || req.method === "HEAD" ? Buffer.alloc(0) : await readBody(req, CHANNEL_BODY_LIMIT);
    const request: ChannelHttpRequest = { method: req.method ?? "GET", path: url.pathname, query: url.searchParams, headers: req.headers, remoteAddress: req.socket.remoteAddress };
    const { status, headers = {}, body = "" } = await handler(request, rawBody);
    res.writeHead(status, headers).end(body);
  };
}
