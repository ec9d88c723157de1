import express from "express";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger } from "../../infra/log.ts";
import { isHostKnown, isOriginAllowed, resolveClient } from "../../security/index.ts";
import type { AuthGate, AuthResult, ResolvedClient, SecurityConfig } from "../../security/index.ts";
import { HttpError } from "./body.ts";
import { canonicalizeUrl } from "./canonical-path.ts";
import type { CanonicalUrl } from "./canonical-path.ts";
import { sendHttpError, sendJson, sendText } from "./respond.ts";

/** Lower goes first (spec: gateway-protocol §9). */
export const SURFACE_ORDER = {
  hooks: 10,
  toolsInvoke: 20,
  slack: 30,
  plugin: 40,
  responses: 50,
  chatCompletions: 60,
  canvas: 70,
  controlUi: 80,
} as const;

export interface SurfaceRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly url: CanonicalUrl;
  readonly client: ResolvedClient;
  /** How the bearer was accepted; undefined on surfaces without gateway auth. */
  readonly auth: Extract<AuthResult, { ok: true }> | undefined;
}

/**
 * One part of the HTTP surface.
 * `bearer`: host, origin and bearer are checked before `handle`. `open`: host and origin only.
 * `plugin`: the surface authenticates by signature or token itself; pages of foreign origins are refused.
 */
export interface HttpSurface {
  readonly name: string;
  readonly order: number;
  readonly auth: "bearer" | "open" | "plugin";
  /** Verbs; others get 405 with Allow, before auth. Undefined: the surface decides. */
  readonly methods?: readonly string[] | undefined;
  matches(path: string): boolean;
  /** Resolves false to let the next surface try. Thrown HttpErrors become answers, anything else 500. */
  handle(request: SurfaceRequest): Promise<boolean | void>;
}

export interface HttpFrontDoorDeps {
  readonly config: () => SecurityConfig;
  readonly auth: AuthGate;
  readonly log: Logger;
  readonly readiness: () => "ready" | "starting" | "draining";
}

export interface HttpFrontDoor {
  /** For http.createServer. */
  readonly handler: RequestListener;
  /** Adds a surface; the result removes it. */
  register(surface: HttpSurface): () => void;
}

const HEALTH_PATHS: Readonly<Record<string, "live" | "ready">> = {
  "/healthz": "live",
  "/health": "live",
  "/readyz": "ready",
  "/ready": "ready",
};

/** Everything under here needs the bearer, whatever its surface says (security record C10). */
const isProtectedPath = (path: string): boolean => path === "/api/channels" || path.startsWith("/api/channels/");

/** The one way in for HTTP: canonical path, headers, health, host, origin, verb, bearer, then the surface. */
export function createHttpFrontDoor(deps: HttpFrontDoorDeps): HttpFrontDoor {
  let surfaces: readonly HttpSurface[] = [];

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    setSecurityHeaders(res, deps.config());
    const url = canonicalizeUrl(req.url);
    if (!url) return sendText(res, 404, "Not Found");
    if (serveHealth(req, res, url, deps.readiness)) return;
    const client = resolveClient({ remoteAddress: req.socket.remoteAddress, headers: req.headers }, deps.config());
    for (const surface of surfaces) {
      if (!surface.matches(url.path)) continue;
      if ((await pass(surface, { req, res, url, client })) !== false) return;
    }
    if (!isHostAccepted(req, client)) return sendText(res, 421, "Misdirected Request");
    sendText(res, 404, "Not Found");
  };

  /** False: the surface declined and the next may try. */
  const pass = async (surface: HttpSurface, request: Omit<SurfaceRequest, "auth">): Promise<boolean | void> => {
    const { req, res, url, client } = request;
    const selfAuthenticated = surface.auth === "plugin" && !isProtectedPath(url.path);
    if (!selfAuthenticated && !isHostAccepted(req, client)) return sendText(res, 421, "Misdirected Request");
    if (!isPageAccepted(req, selfAuthenticated)) {
      return sendHttpError(res, new HttpError(403, "forbidden", "origin not allowed (allow it in gateway.controlUi.allowedOrigins)"));
    }
    if (surface.methods && !surface.methods.includes(req.method ?? "")) {
      return sendText(res, 405, "Method Not Allowed", { Allow: surface.methods.join(", ") });
    }
    if (surface.auth !== "bearer" && !isProtectedPath(url.path)) return surface.handle({ ...request, auth: undefined });
    const auth = deps.auth.authenticateHttp(req.headers, req.socket.remoteAddress, client);
    if (!auth.ok) return sendHttpError(res, authError(auth));
    return surface.handle({ ...request, auth });
  };

  /** Decisions §2.2: an unknown name is misdirected, unless the caller proves by a bearer that it means us. */
  const isHostAccepted = (req: IncomingMessage, client: ResolvedClient): boolean => {
    if (isHostKnown(req.headers.host, deps.config())) return true;
    if (!req.headers.authorization) return false;
    const auth = deps.auth.authenticateHttp(req.headers, req.socket.remoteAddress, client);
    return auth.ok && (auth.method === "token" || auth.method === "password");
  };

  /** A page may read the UI it was served; a changing request must come from an allowed page (security record A4). */
  const isPageAccepted = (req: IncomingMessage, selfAuthenticated: boolean): boolean => {
    const { origin } = req.headers;
    const changes = req.method !== "GET" && req.method !== "HEAD";
    if (!changes && !selfAuthenticated) return true;
    if (origin !== undefined) return isOriginAllowed(origin, req.headers.host, deps.config());
    // A visit by a link (an OAuth provider sending the browser back) is cross-site and changes nothing by itself.
    const site = changes ? req.headers["sec-fetch-site"] : undefined;
    return site === undefined || site === "same-origin" || site === "none";
  };

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use((req, res) => {
    serve(req, res).catch((err: unknown) => answerFailure(res, err, deps.log));
  });

  return {
    handler: (req, res) => app(req, res),
    register(surface) {
      surfaces = [...surfaces, surface].sort((a, b) => a.order - b.order);
      return () => {
        surfaces = surfaces.filter((other) => other !== surface);
      };
    },
  };
}

function serveHealth(req: IncomingMessage, res: ServerResponse, url: CanonicalUrl, readiness: HttpFrontDoorDeps["readiness"]): boolean {
  const kind = Object.hasOwn(HEALTH_PATHS, url.path) ? HEALTH_PATHS[url.path] : undefined;
  if (!kind) return false;
  if (req.method !== "GET" && req.method !== "HEAD") {
    sendText(res, 405, "Method Not Allowed", { Allow: "GET, HEAD" });
    return true;
  }
  const status = kind === "live" ? "live" : readiness();
  const ok = status === "live" || status === "ready";
  sendJson(res, ok ? 200 : 503, { ok, status }, { "Cache-Control": "no-store" });
  return true;
}

function authError(failure: Extract<AuthResult, { ok: false }>): HttpError {
  if (failure.reason !== "rate_limited") return new HttpError(401, "unauthorized", "Unauthorized");
  const seconds = Math.max(1, Math.ceil((failure.retryAfterMs ?? 1000) / 1000));
  return new HttpError(429, "rate_limited", "Too many failed authentication attempts. Please try again later.", {
    "Retry-After": String(seconds),
  });
}

function setSecurityHeaders(res: ServerResponse, config: SecurityConfig): void {
  res.setHeader("X-Content-Type-Options", "nosniff");
  res.setHeader("Referrer-Policy", "no-referrer");
  const hsts = config.gateway?.http?.securityHeaders?.strictTransportSecurity;
  if (hsts && !/[\r\n]/.test(hsts)) res.setHeader("Strict-Transport-Security", hsts);
}

function answerFailure(res: ServerResponse, err: unknown, log: Logger): void {
  if (err instanceof HttpError) return sendHttpError(res, err);
  log.error("http handler failed", { method: res.req.method, err });
  if (res.headersSent) res.destroy();
  else sendText(res, 500, "Internal Server Error");
}
