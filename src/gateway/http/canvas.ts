import { watch } from "node:fs";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { ensureCanvasRoot, readCanvasFile, withPageScript, type CanvasCapabilities } from "../../canvas/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Logger } from "../../infra/log.ts";
import { isHostKnown, isOriginAllowed, resolveClient, type AuthGate, type ResolvedClient } from "../../security/index.ts";
import { canonicalizeUrl, type CanonicalUrl } from "./canonical-path.ts";
import { SURFACE_ORDER, type HttpSurface } from "./front-door.ts";
import { sendText } from "./respond.ts";

export interface CanvasDeps {
  readonly config: () => OpenClawConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly auth: AuthGate;
  readonly capabilities: CanvasCapabilities;
  /** Where the pages lie unless `canvasHost.root` names another folder. */
  readonly defaultRoot: string;
  readonly expandPath: (path: string) => string;
  readonly log: Logger;
}

export interface CanvasHost {
  readonly surface: HttpSurface;
  isEnabled(): boolean;
  /** Takes the sockets that wait for changed files. True when the upgrade was its own. */
  interceptUpgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  close(): void;
}

const CANVAS = "/__openclaw__/canvas";
const A2UI = "/__openclaw__/a2ui";
const RELOAD = "/__openclaw__/ws";
const CAP = /^\/__openclaw__\/cap\/([^/]+)(\/.*)?$/;
const RELOAD_PAUSE_MS = 100;
const MAX_SOCKETS = 64;
/** A page of the agent gets an origin of its own: it must not reach what the Control UI keeps. */
const POLICY = "sandbox allow-scripts allow-forms allow-popups allow-modals; frame-ancestors 'self'";

const isBelow = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

/** Pages that the agent writes, for the canvas of a node. Source: spec gateway-protocol §9.7. */
export function createCanvasHost(deps: CanvasDeps): CanvasHost {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 });
  let watcher: ReturnType<typeof watch> | undefined;
  let pause: NodeJS.Timeout | undefined;

  const isEnabled = (): boolean => deps.config().canvasHost?.enabled !== false && deps.env["OPENCLAW_SKIP_CANVAS_HOST"] !== "1";
  const reloads = (): boolean => deps.config().canvasHost?.liveReload !== false;
  const rootOf = (): string => {
    const configured = deps.config().canvasHost?.root?.trim();
    return configured ? deps.expandPath(configured) : deps.defaultRoot;
  };

  /** The path that is meant, when the request may have it. */
  function admit(url: CanonicalUrl, req: IncomingMessage, client: ResolvedClient): string | undefined {
    const scoped = CAP.exec(url.path);
    if (scoped) return deps.capabilities.use(scoped[1] ?? "") ? (scoped[2] ?? "/") : undefined;
    const byQuery = url.query.get("oc_cap");
    if (byQuery !== null && deps.capabilities.use(byQuery)) return url.path;
    if (client.isLocal || deps.auth.authenticateHttp(req.headers, req.socket.remoteAddress, client).ok) return url.path;
    return undefined;
  }

  function watchRoot(): void {
    if (watcher) return;
    try {
      watcher = watch(rootOf(), { recursive: true }, () => {
        pause ??= setTimeout(() => {
          pause = undefined;
          for (const socket of sockets.clients) socket.send("reload", () => undefined);
        }, RELOAD_PAUSE_MS);
      });
      watcher.on("error", (err) => deps.log.warn("changes of the canvas are not seen", { err }));
    } catch (err) {
      deps.log.warn("changes of the canvas are not seen", { err });
    }
  }

  sockets.on("connection", (socket) => {
    watchRoot();
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      if (sockets.clients.size > 0) return;
      watcher?.close();
      watcher = undefined;
    });
  });

  return {
    isEnabled,
    surface: {
      name: "canvas",
      order: SURFACE_ORDER.canvas,
      auth: "open",
      methods: ["GET", "HEAD"],
      matches: (path) => isEnabled() && (isBelow(path, CANVAS) || isBelow(path, A2UI) || path === RELOAD || path.startsWith("/__openclaw__/cap/")),
      async handle({ req, res, url, client }) {
        res.setHeader("Cache-Control", "no-store");
        const path = admit(url, req, client);
        if (path === undefined) return sendText(res, 401, "Unauthorized");
        if (path === RELOAD) return sendText(res, 426, "Upgrade Required", { Upgrade: "websocket" });
        if (isBelow(path, A2UI)) return sendText(res, 503, "A2UI assets not found");
        if (!isBelow(path, CANVAS)) return sendText(res, 404, "Not Found");
        await ensureCanvasRoot(rootOf());
        const file = await readCanvasFile(rootOf(), path.slice(CANVAS.length) || "/");
        if (!file) return sendText(res, 404, "Not Found");
        const body = file.type.startsWith("text/html") ? withPageScript(file.bytes, reloads()) : file.bytes;
        res.writeHead(200, { "Content-Type": file.type, "Content-Length": String(body.length), "Content-Security-Policy": POLICY, "Access-Control-Allow-Origin": "null" });
        res.end(req.method === "HEAD" ? undefined : body);
      },
    },
    interceptUpgrade(req, socket, head) {
      const url = canonicalizeUrl(req.url);
      if (!url || (CAP.exec(url.path)?.[2] ?? url.path) !== RELOAD || !isEnabled()) return false;
      const client = resolveClient({ remoteAddress: req.socket.remoteAddress, headers: req.headers }, deps.config());
      const { origin, host } = req.headers;
      // A page of the canvas has the origin "null"; a page of somebody else's may not listen.
      const isOwnPage = origin === undefined || origin === "null" || isOriginAllowed(origin, host, deps.config());
      const isIn = isOwnPage && isHostKnown(host, deps.config()) && admit(url, req, client) !== undefined;
      if (!isIn || !reloads() || sockets.clients.size >= MAX_SOCKETS) {
        socket.end(`HTTP/1.1 ${isIn ? "503 Service Unavailable" : "401 Unauthorized"}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        return true;
      }
      sockets.handleUpgrade(req, socket, head, (ws) => sockets.emit("connection", ws, req));
      return true;
    },
    close() {
      clearTimeout(pause);
      watcher?.close();
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}
