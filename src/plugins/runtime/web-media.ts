import { realpath, stat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createGuardedFetch, GuardedFetchError } from "../../infra/guarded-fetch.ts";
import { errorText } from "../../infra/errors.ts";
import { readRegularFile } from "../../infra/regular-file.ts";
import { extensionOf, imageSize, saveMedia, type createImageWorker } from "../../media/index.ts";
import { isInside } from "../discovery.ts";
import { detectMime, mediaKindFromMime, type MediaKind } from "./mime-kind.ts";

/** Files and addresses that a plugin reads, bounded. Source: spec plugin-sdk §13, channels §2.6. */

type ImageWorker = ReturnType<typeof createImageWorker>;

export interface MediaDeps {
  readonly stateDir: string;
  readonly images: ImageWorker;
  /** Origins that may be anywhere: loopback servers in tests. */
  readonly allowOrigins?: readonly string[] | (() => readonly string[]) | undefined;
}

export type MediaFetchErrorCode = "max_bytes" | "http_error" | "fetch_failed";

export class MediaFetchError extends Error {
  override readonly name = "MediaFetchError";
  readonly code: MediaFetchErrorCode;
  constructor(code: MediaFetchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type LocalMediaErrorCode = "path-not-allowed" | "invalid-root" | "invalid-file-url" | "unsafe-bypass" | "not-found" | "invalid-path" | "not-file";

export class LocalMediaAccessError extends Error {
  override readonly name = "LocalMediaAccessError";
  readonly code: LocalMediaErrorCode;
  constructor(code: LocalMediaErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface MediaSsrfPolicy {
  readonly allowPrivateNetwork?: boolean | undefined;
  readonly dangerouslyAllowPrivateNetwork?: boolean | undefined;
  readonly allowedHostnames?: readonly string[] | undefined;
}

export interface RemoteMediaRequest {
  readonly url: string;
  /** Takes the place of the network, for platforms with a client of their own. */
  readonly fetchImpl?: ((url: string, init?: RequestInit) => Promise<Response>) | undefined;
  readonly filePathHint?: string | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxRedirects?: number | undefined;
  readonly ssrfPolicy?: MediaSsrfPolicy | undefined;
  readonly requestInit?: { readonly headers?: Readonly<Record<string, string>> | undefined; readonly signal?: AbortSignal | undefined } | undefined;
}

export interface FetchedMedia {
  readonly buffer: Buffer;
  readonly contentType?: string | undefined;
  readonly fileName?: string | undefined;
}

const DEFAULT_FETCH_BYTES = 100 * 1024 * 1024;
const DEFAULT_SAVE_BYTES = 5 * 1024 * 1024;
const KIND_LIMITS: Readonly<Record<MediaKind, number>> = { image: 6, audio: 16, video: 16, document: 100, unknown: 100 };
const SIDES = [2048, 1536, 1280, 1024, 800] as const;

export interface LoadMediaOptions {
  readonly maxBytes?: number | undefined;
  /** Default true: an image over the limit is made smaller. */
  readonly optimizeImages?: boolean | undefined;
  readonly ssrfPolicy?: MediaSsrfPolicy | undefined;
  /** Where local files may lie; `any` only together with `sandboxValidated` and `readFile`. */
  readonly localRoots?: readonly string[] | "any" | undefined;
  readonly sandboxValidated?: boolean | undefined;
  readonly readFile?: ((path: string) => Promise<Buffer>) | undefined;
}

export interface LoadedMedia extends FetchedMedia {
  readonly kind: MediaKind;
}

export interface SavedMedia {
  readonly id: string;
  readonly path: string;
  readonly size: number;
  readonly contentType?: string | undefined;
}

export function createMediaAccess(deps: MediaDeps) {
  /** @throws MediaFetchError */
  async function fetchRemoteMedia(request: RemoteMediaRequest): Promise<FetchedMedia> {
    const maxBytes = request.maxBytes ?? DEFAULT_FETCH_BYTES;
    const answer = request.fetchImpl ? await fetchWith(request.fetchImpl, request.url, maxBytes) : await fetchGuarded(request, maxBytes);
    const fileName = nameFromDisposition(answer.headers.get("content-disposition")) ?? nameFromUrl(answer.url) ?? (request.filePathHint ? basename(request.filePathHint) : undefined);
    const contentType = await detectMime({ buffer: answer.buffer, headerMime: answer.headers.get("content-type"), filePath: request.filePathHint ?? fileName });
    return { buffer: answer.buffer, contentType, fileName: withExtension(fileName, contentType) };
  }

  async function fetchGuarded(request: RemoteMediaRequest, maxBytes: number) {
    const url = URL.parse(request.url);
    if (!url) throw new MediaFetchError("fetch_failed", "not a valid URL");
    const policy = request.ssrfPolicy;
    const anywhere = policy?.allowPrivateNetwork === true || policy?.dangerouslyAllowPrivateNetwork === true || policy?.allowedHostnames?.includes(url.hostname) === true;
    const trusted = typeof deps.allowOrigins === "function" ? deps.allowOrigins() : (deps.allowOrigins ?? []);
    const guarded = createGuardedFetch({ allowOrigins: anywhere ? [...trusted, url.origin] : trusted });
    try {
      const got = await guarded(url, { maxBytes, maxRedirects: request.maxRedirects, headers: request.requestInit?.headers, signal: request.requestInit?.signal });
      if (!got.ok) throw new MediaFetchError("http_error", `Failed to fetch media from ${url.hostname}: HTTP ${got.status} ${got.statusText}`.trim());
      return { buffer: Buffer.from(got.body), headers: got.headers, url: got.url };
    } catch (err) {
      if (err instanceof MediaFetchError) throw err;
      const tooLarge = err instanceof GuardedFetchError && err.code === "too-large";
      throw new MediaFetchError(tooLarge ? "max_bytes" : "fetch_failed", tooLarge ? `Failed to fetch media from ${url.hostname}: content exceeds maxBytes ${maxBytes}` : `Failed to fetch media from ${url.hostname}: ${errorText(err)}`, { cause: err });
    }
  }

  async function readLocal(source: string, options: LoadMediaOptions): Promise<Buffer> {
    const path = localPath(source);
    if (options.localRoots === "any") {
      if (!options.sandboxValidated || !options.readFile) throw new LocalMediaAccessError("unsafe-bypass", 'localRoots "any" needs sandboxValidated and a readFile of the caller');
      return options.readFile(path);
    }
    const roots = options.localRoots ?? [join(tmpdir(), "openclaw"), "/tmp/openclaw", ...["media", "agents", "workspace", "sandboxes"].map((name) => join(deps.stateDir, name))];
    const bad = roots.find((root) => !isAbsolute(root) || resolve(root) === "/");
    if (bad !== undefined) throw new LocalMediaAccessError("invalid-root", `${bad} cannot be a media root: give an absolute folder, not the whole disk`);
    const real = await realpath(path).catch((err: unknown) => {
      throw new LocalMediaAccessError("not-found", `Local media file not found: ${path}`, { cause: err });
    });
    const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => resolve(root))));
    if (!realRoots.some((root) => isInside(real, root))) throw new LocalMediaAccessError("path-not-allowed", `Local media path is not under an allowed directory: ${path}`);
    if (!(await stat(real)).isFile()) throw new LocalMediaAccessError("not-file", `Local media path is not a file: ${path}`);
    return options.readFile ? options.readFile(real) : readRegularFile(real, { maxBytes: DEFAULT_FETCH_BYTES });
  }

  /** @throws MediaFetchError, LocalMediaAccessError, or Error for what is larger than the limit of its kind */
  async function loadWebMedia(source: string, limits?: number | LoadMediaOptions): Promise<LoadedMedia> {
    const options: LoadMediaOptions = typeof limits === "number" ? { maxBytes: limits } : (limits ?? {});
    const cleaned = source.replace(/^\s*MEDIA\s*:\s*/i, "").trim();
    const isRemote = /^https?:\/\//i.test(cleaned);
    // An image may be larger than the limit: it is made smaller.
    const room = options.maxBytes === undefined || options.optimizeImages !== false ? DEFAULT_FETCH_BYTES : options.maxBytes;
    const media = isRemote ? await fetchRemoteMedia({ url: cleaned, maxBytes: room, ssrfPolicy: options.ssrfPolicy }) : await describeLocal(cleaned, await readLocal(cleaned, options));
    const kind = mediaKindFromMime(media.contentType);
    const cap = options.maxBytes ?? KIND_LIMITS[kind] * 1024 * 1024;
    if (media.buffer.length <= cap) return { ...media, kind };
    if (kind === "image" && options.optimizeImages !== false && media.contentType !== "image/gif") return { ...(await shrink(media, cap)), kind };
    throw new Error(`Media exceeds ${(cap / 1024 / 1024).toFixed(0)}MB limit (got ${(media.buffer.length / 1024 / 1024).toFixed(2)}MB)`);
  }

  async function shrink(media: FetchedMedia, maxBytes: number): Promise<FetchedMedia> {
    for (const maxSidePx of SIDES) {
      const work = await deps.images.run({ bytes: media.buffer, maxSidePx, maxBytes, mayStay: false });
      if (work.kind === "jpeg") return { buffer: Buffer.from(work.bytes), contentType: "image/jpeg", fileName: media.fileName?.replace(/\.[^.]+$/, ".jpg") };
      if (work.kind !== "too-large") break;
    }
    throw new Error(`Image could not be reduced below ${(maxBytes / 1024 / 1024).toFixed(0)}MB`);
  }

  return {
    fetchRemoteMedia, loadWebMedia,
    /** Writes into `<state>/media/<subdir>`. @throws Error when it is larger than `maxBytes` or the folder's name is none */
    async saveMediaBuffer(buffer: Uint8Array, contentType?: string, subdir = "inbound", maxBytes = DEFAULT_SAVE_BYTES, originalFilename?: string): Promise<SavedMedia> {
      if (buffer.length > maxBytes) throw new Error(`Media exceeds ${(maxBytes / 1024 / 1024).toFixed(0)}MB limit`);
      if (subdir.split("/").some((part) => !/^[\w-][\w.-]*$/.test(part))) throw new Error(`${JSON.stringify(subdir)} is no folder of the media store`);
      const mime = await detectMime({ buffer: Buffer.from(buffer), headerMime: contentType, filePath: originalFilename });
      const path = await saveMedia(deps.stateDir, subdir, buffer, mime ?? "application/octet-stream", originalFilename);
      return { id: basename(path), path, size: buffer.length, contentType: mime };
    },
    async getImageMetadata(buffer: Buffer): Promise<{ width: number; height: number } | null> {
      const size = imageSize(buffer);
      return size ? { width: size.width, height: size.height } : null;
    },
    /** @throws Error when it is no image that can be read */
    async resizeToJpeg({ buffer, maxSide }: { readonly buffer: Buffer; readonly maxSide: number; readonly quality?: number | undefined; readonly withoutEnlargement?: boolean | undefined }): Promise<Buffer> {
      const work = await deps.images.run({ bytes: buffer, maxSidePx: maxSide, maxBytes: DEFAULT_FETCH_BYTES, mayStay: false });
      if (work.kind !== "jpeg") throw new Error(`the image cannot be resized: ${work.kind}`);
      return Buffer.from(work.bytes);
    },
  };
}

async function describeLocal(source: string, buffer: Buffer): Promise<FetchedMedia> {
  const fileName = basename(localPath(source));
  const contentType = await detectMime({ buffer, filePath: fileName });
  return { buffer, contentType, fileName: withExtension(fileName, contentType) };
}

function localPath(source: string): string {
  if (source.startsWith("file:")) {
    try {
      return fileURLToPath(source);
    } catch (err) {
      throw new LocalMediaAccessError("invalid-file-url", `Invalid file:// URL: ${source}`, { cause: err });
    }
  }
  if (source === "" || source.includes("\0")) throw new LocalMediaAccessError("invalid-path", "Local media path is empty or holds a NUL character");
  return source.startsWith("~/") ? join(homedir(), source.slice(2)) : source;
}

async function fetchWith(fetchImpl: NonNullable<RemoteMediaRequest["fetchImpl"]>, url: string, maxBytes: number) {
  let response: Response;
  try {
    response = await fetchImpl(url);
  } catch (err) {
    throw new MediaFetchError("fetch_failed", `Failed to fetch media: ${errorText(err)}`, { cause: err });
  }
  if (!response.ok) throw new MediaFetchError("http_error", `Failed to fetch media: HTTP ${response.status} ${response.statusText}`.trim());
  const chunks: Uint8Array[] = [];
  let size = Number(response.headers.get("content-length") ?? 0);
  if (size <= maxBytes) {
    size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  }
  if (size > maxBytes) throw new MediaFetchError("max_bytes", `Failed to fetch media: content exceeds maxBytes ${maxBytes}`);
  return { buffer: Buffer.concat(chunks), headers: response.headers, url: response.url || url };
}

function nameFromDisposition(header: string | null): string | undefined {
  const encoded = /filename\*\s*=\s*(?:UTF-8|utf-8)''([^;]+)/.exec(header ?? "")?.[1];
  if (encoded !== undefined) {
    try {
      return basename(decodeURIComponent(encoded.trim()));
    } catch {
      // badly encoded: the plain name may be there
    }
  }
  const plain = /filename\s*=\s*"?([^";]+)"?/.exec(header ?? "")?.[1];
  return plain === undefined ? undefined : basename(plain.trim());
}

const nameFromUrl = (url: string): string | undefined => basename(URL.parse(url)?.pathname ?? "") || undefined;

/** A name without extension gets that of its type. */
function withExtension(name: string | undefined, contentType: string | undefined): string | undefined {
  if (name === undefined || contentType === undefined || /\.[A-Za-z0-9]{1,8}$/.test(name)) return name;
  const extension = extensionOf(contentType);
  return extension === "bin" ? name : `${name}.${extension}`;
}

