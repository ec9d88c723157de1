import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { errorText } from "../infra/errors.ts";
import { mimeTypeOf } from "./mime.ts";
import { saveMedia } from "./store.ts";

export interface ResolvedMedia {
  readonly path: string;
  readonly mimeType: string;
  readonly fileName: string;
}

/** Files that an agent may send: those of its workspace, or of its sandbox and then of nothing else. */
export type FilesToSend = { readonly workspaceDir: string } | { readonly readInside: (path: string) => Promise<Uint8Array> };

export type ResolveMediaOptions = FilesToSend & {
  readonly stateDir: string;
  /** Fetches a public URL; private addresses are refused there. */
  readonly fetchUrl: (url: string, maxBytes: number) => Promise<{ bytes: Uint8Array; mimeType: string }>;
};

const LIMITS: readonly (readonly [string, number])[] = [["image/", 6], ["audio/", 16], ["video/", 16]];
const DEFAULT_LIMIT_MB = 100;

/**
 * A file or URL that a reply names, as a local file that may leave this machine: inside the agent's workspace, or among
 * received media; a relative path counts from the workspace. Source: spec channels §2.6.
 */
export async function resolveOutboundMedia(source: string, options: ResolveMediaOptions): Promise<ResolvedMedia | { readonly error: string }> {
  try {
    const cleaned = source.replace(/^MEDIA:/, "").trim();
    if (/^https?:\/\//i.test(cleaned)) {
      const { bytes, mimeType } = await options.fetchUrl(cleaned, DEFAULT_LIMIT_MB * 1024 * 1024);
      const fileName = basename(new URL(cleaned).pathname) || "file";
      const tooLarge = sizeRefusal(bytes.length, mimeType);
      if (tooLarge) return { error: tooLarge };
      return { path: await saveMedia(options.stateDir, "outbound", bytes, mimeType, fileName), mimeType, fileName };
    }
    return await resolveLocal(cleaned, options);
  } catch (err) {
    return { error: errorText(err) };
  }
}

async function resolveLocal(source: string, options: ResolveMediaOptions): Promise<ResolvedMedia | { readonly error: string }> {
  const plain = source.startsWith("file:") ? fileURLToPath(source) : source.startsWith("~/") ? join(homedir(), source.slice(2)) : source;
  const roots = [join(options.stateDir, "media"), ...("workspaceDir" in options ? [options.workspaceDir] : [])];
  const full = isAbsolute(plain) ? plain : join(roots.at(-1) as string, plain);
  const real = isAbsolute(plain) || "workspaceDir" in options ? await realpath(full).catch(() => undefined) : undefined;
  let allowed = false;
  for (const root of roots) if (real !== undefined && isInside(await realpath(root).catch(() => root), real)) allowed = true;
  if (!allowed && "readInside" in options) return copyFromSandbox(plain, options.readInside, options.stateDir);
  if (real === undefined) return { error: "not found" };
  if (!allowed) return { error: "only files of the workspace may be sent" };
  const info = await stat(real);
  if (!info.isFile()) return { error: "not a file" };
  const mimeType = mimeTypeOf(real);
  const tooLarge = sizeRefusal(info.size, mimeType);
  return tooLarge ? { error: tooLarge } : { path: real, mimeType, fileName: basename(real) };
}

/** What is sent is a copy: the file inside can become something else at any time. */
async function copyFromSandbox(path: string, readInside: (path: string) => Promise<Uint8Array>, stateDir: string): Promise<ResolvedMedia | { readonly error: string }> {
  const bytes = await readInside(path);
  const mimeType = mimeTypeOf(path);
  const tooLarge = sizeRefusal(bytes.length, mimeType);
  return tooLarge ? { error: tooLarge } : { path: await saveMedia(stateDir, "outbound", bytes, mimeType, basename(path)), mimeType, fileName: basename(path) };
}

function sizeRefusal(bytes: number, mimeType: string): string | undefined {
  const limitMb = LIMITS.find(([prefix]) => mimeType.startsWith(prefix))?.[1] ?? DEFAULT_LIMIT_MB;
  return bytes > limitMb * 1024 * 1024 ? `larger than ${limitMb} MB` : undefined;
}

function isInside(root: string, path: string): boolean {
  const rel = relative(root, path);
  return rel !== "" && !rel.startsWith("..") && !isAbsolute(rel);
}
