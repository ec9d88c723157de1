import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { isErrno } from "../../infra/atomic-file.ts";
import type { SecurityConfig } from "../../security/index.ts";
import { SURFACE_ORDER } from "./front-door.ts";
import type { HttpSurface } from "./front-door.ts";
import { sendJson, sendText } from "./respond.ts";

/** Decisions §2.7. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; " +
  "connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

const MAX_AVATAR_BYTES = 2 * 1024 * 1024;
const MAX_CACHED_FILES = 128;
const MAX_CACHED_FILE_BYTES = 4 * 1024 * 1024;
const STATIC_EXTENSION = /\.(?:js|css|json|map|svg|png|jpg|jpeg|gif|webp|ico|txt|woff2?|webmanifest|wasm)$/i;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".ico": "image/x-icon",
  ".txt": "text/plain; charset=utf-8",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
};

export interface AssistantIdentity {
  readonly assistantName: string;
  readonly assistantAvatar: string;
  readonly assistantAgentId: string;
}

export interface ControlUiDeps {
  readonly config: () => SecurityConfig;
  /** Where the built UI lies; `gateway.controlUi.root` wins. */
  readonly assetsDir: string;
  readonly identity: () => AssistantIdentity;
  /** Bytes of an agent's avatar (≤ 2 MiB; a remote one fetched through the guarded fetch); undefined: it has none. */
  readonly avatar: (agentId: string) => Promise<Uint8Array | undefined>;
}

/** The web app and what it needs before it is connected (spec: gateway-protocol §9.8). Registered last. */
export function createControlUiSurface(deps: ControlUiDeps): HttpSurface {
  const files = createFileCache();
  const base = (): string => normalizeBasePath(deps.config().gateway?.controlUi?.basePath);
  const root = (): string => deps.config().gateway?.controlUi?.root ?? deps.assetsDir;

  return {
    name: "control-ui",
    order: SURFACE_ORDER.controlUi,
    auth: "open",
    matches: (path) => {
      if (deps.config().gateway?.controlUi?.enabled === false) return false;
      const prefix = base();
      if (prefix === "") return path !== "/ui" && !path.startsWith("/ui/");
      return path === prefix || path.startsWith(`${prefix}/`);
    },
    async handle({ req, res, url }) {
      if (req.method !== "GET" && req.method !== "HEAD") return sendText(res, 405, "Method Not Allowed", { Allow: "GET, HEAD" });
      res.setHeader("X-Frame-Options", "DENY");
      res.setHeader("Content-Security-Policy", CONTENT_SECURITY_POLICY);
      res.setHeader("Cache-Control", "no-cache");
      const prefix = base();
      if (prefix !== "" && url.path === prefix) {
        return sendText(res, 302, "", { Location: `${encodeURI(prefix)}/${url.search}` });
      }
      const path = url.path.slice(prefix.length);
      if (path === "/__openclaw/control-ui-config.json") return sendJson(res, 200, { basePath: prefix, ...deps.identity() });
      const agentId = /^\/avatar\/([A-Za-z0-9_-]{1,128})$/.exec(path)?.[1];
      if (agentId !== undefined) return sendAvatar(res, prefix, agentId, url.query.get("meta") === "1", deps.avatar);
      return sendAsset(req, res, root(), path, files);
    },
  };
}

export function normalizeBasePath(basePath: string | undefined): string {
  const trimmed = (basePath ?? "").trim().replace(/\/+$/, "").replace(/^\/*/, "/");
  return trimmed === "/" || trimmed.includes("..") ? "" : trimmed;
}

async function sendAvatar(res: ServerResponse, prefix: string, agentId: string, meta: boolean, avatar: ControlUiDeps["avatar"]): Promise<void> {
  const bytes = await avatar(agentId);
  const type = bytes && bytes.length <= MAX_AVATAR_BYTES ? sniffImage(bytes) : undefined;
  if (meta) return sendJson(res, 200, { avatarUrl: type ? `${prefix}/avatar/${agentId}` : null });
  if (!bytes || !type) return sendText(res, 404, "Not Found");
  res.writeHead(200, { "Content-Type": type, "Content-Length": String(bytes.length) });
  res.end(res.req.method === "HEAD" ? undefined : bytes);
}

/** By the first bytes, never by a name; SVG is no image here, since it can hold scripts. */
export function sniffImage(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "image/webp";
  return undefined;
}

interface CachedFile {
  readonly signature: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer | undefined;
  readonly etag: string;
}

type FileCache = (path: string) => Promise<CachedFile | undefined>;

const compress = promisify(gzip);

/** Files with their compressed form, valid by size and time; at most MAX_CACHED_FILES are kept. */
function createFileCache(): FileCache {
  const cache = new Map<string, CachedFile>();
  return async (path) => {
    const info = await statFile(path);
    if (!info) return undefined;
    const known = cache.get(path);
    if (known?.signature === info.signature) return known;
    const bytes = await readFile(path);
    const compressible = /\.(?:html|js|css|json|map|svg|txt|webmanifest|wasm)$/.test(path) && bytes.length > 1024;
    const file: CachedFile = {
      signature: info.signature,
      bytes,
      gzipped: compressible ? await compress(bytes, { level: 6 }) : undefined,
      etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    };
    if (bytes.length <= MAX_CACHED_FILE_BYTES) {
      cache.delete(path);
      cache.set(path, file);
      const eldest = cache.keys().next().value;
      if (cache.size > MAX_CACHED_FILES && eldest !== undefined) cache.delete(eldest);
    }
    return file;
  };
}

async function statFile(path: string): Promise<{ signature: string } | undefined> {
  try {
    const info = await stat(path);
    return info.isFile() ? { signature: `${info.size}:${info.mtimeMs}:${info.ino}` } : undefined;
  } catch (err) {
    if (isErrno(err, "ENOENT", "ENOTDIR", "ENAMETOOLONG")) return undefined;
    throw err;
  }
}

async function sendAsset(req: IncomingMessage, res: ServerResponse, root: string, path: string, files: FileCache): Promise<void> {
  const index = join(root, "index.html");
  // A page deep in the app may name its assets relatively: any …/assets/x is the asset x.
  const assetsAt = path.lastIndexOf("/assets/");
  const relative = assetsAt > 0 ? path.slice(assetsAt) : path;
  const wanted = relative === "/" ? index : join(root, relative);
  let found = (await isInside(root, wanted)) ? await files(wanted) : undefined;
  let served = wanted;
  if (!found && STATIC_EXTENSION.test(path)) return sendText(res, 404, "Not Found");
  if (!found) {
    found = await files(index);
    served = index;
  }
  if (!found) {
    return sendText(res, 503, "Control UI assets not found. Build them with `npx -y pnpm@10 build`, or set gateway.controlUi.root to a directory that holds them.");
  }
  const hashed = relative.startsWith("/assets/") && served === wanted && /-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/.test(relative);
  if (hashed) res.setHeader("Cache-Control", "public, max-age=31536000, immutable");
  res.setHeader("ETag", found.etag);
  res.setHeader("Vary", "Accept-Encoding");
  if (req.headers["if-none-match"]?.split(/,\s*/).includes(found.etag)) {
    res.writeHead(304);
    return void res.end();
  }
  const zipped = found.gzipped && /\bgzip\b/.test(String(req.headers["accept-encoding"] ?? "")) ? found.gzipped : undefined;
  if (zipped) res.setHeader("Content-Encoding", "gzip");
  const body = zipped ?? found.bytes;
  res.writeHead(200, { "Content-Type": TYPES[extname(served).toLowerCase()] ?? "application/octet-stream", "Content-Length": String(body.length) });
  res.end(req.method === "HEAD" ? undefined : body);
}

/** Links are followed before the comparison, so that none leads out of the root. */
async function isInside(root: string, path: string): Promise<boolean> {
  try {
    const [realRoot, real] = await Promise.all([realpath(root), realpath(path)]);
    return real === realRoot || real.startsWith(realRoot + sep);
  } catch (err) {
    if (isErrno(err, "ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP", "EACCES")) return false;
    throw err;
  }
}
