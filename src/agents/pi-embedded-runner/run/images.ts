import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import { errorText } from "../../../infra/errors.ts";
import type { Logger } from "../../../infra/log.ts";
import { readRegularFile } from "../../../infra/regular-file.ts";
import { createImageWorker, toModelImage } from "../../../media/index.ts";
import { expandPath } from "../../../routing/index.ts";
import { countDroppedImages, findImageRefs, type ImageRef } from "./image-refs.ts";

const MAX_CACHED_CHARS = 24 * 1024 * 1024;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const DROPPED_TEXT = "[image no longer in context]";

/** Prepared images of one gateway, the least recently used going first; bounded by characters of base64. */
export interface ImageStore {
  /** A note in words where the file is no image a model can read. @throws when the file cannot be read */
  load(realPath: string, maxSidePx: number): Promise<ImageContent | TextContent>;
}

export function createImageStore(): ImageStore {
  const cache = new Map<string, ImageContent | TextContent>();
  const worker = createImageWorker();
  let chars = 0;
  const sizeOf = (block: ImageContent | TextContent): number => (block.type === "image" ? block.data.length : block.text.length);

  return {
    async load(realPath, maxSidePx) {
      const { size, mtimeMs } = await stat(realPath);
      const key = `${realPath}|${size}|${mtimeMs}|${maxSidePx}`;
      const known = cache.get(key);
      if (known) {
        cache.delete(key);
        cache.set(key, known);
        return known;
      }
      const result = size > MAX_FILE_BYTES ? ({ kind: "refused", reason: "the file is too large" } as const) : await toModelImage(worker, await readRegularFile(realPath), maxSidePx);
      const block: ImageContent | TextContent =
        result.kind === "image" ? { type: "image", data: result.base64, mimeType: result.mimeType } : { type: "text", text: `[image not shown: ${result.reason}]` };
      cache.set(key, block);
      chars += sizeOf(block);
      for (const [oldest, value] of cache) {
        if (chars <= MAX_CACHED_CHARS) break;
        cache.delete(oldest);
        chars -= sizeOf(value);
      }
      return block;
    },
  };
}

export interface ImageHydrationOptions {
  readonly store: ImageStore;
  readonly workspaceDir: string;
  /** Folders besides the workspace whose files may be shown to the model; "anywhere" for the owner in person. */
  readonly allowedRoots: readonly string[] | "anywhere";
  readonly maxSidePx: number;
  /** ms that the provider keeps a prefix. */
  readonly cacheTtlMs: number;
  readonly log: Logger;
}

type Content = (TextContent | ImageContent)[];

/**
 * Media stand in transcripts by reference; the bytes of images are put behind their message when a request is built, each
 * file once, at its first mention. Source: spec agent-pipeline §5.4, decisions §3.3.
 */
export async function hydrateImages(messages: AgentMessage[], options: ImageHydrationOptions): Promise<AgentMessage[]> {
  const found = imagesByMessage(messages);
  const moments = messages.map((message, index) => ({ timestamp: message.timestamp, images: found.get(index)?.count ?? 0 }));
  let toDrop = countDroppedImages(moments, options.cacheTtlMs);
  const out = messages.slice();
  for (const [index, { content, refs, inline }] of found) {
    const next: Content = [];
    for (const block of content) {
      if (block.type !== "image" || toDrop <= 0) next.push(block);
      else next.push({ type: "text", text: DROPPED_TEXT });
      if (block.type === "image" && toDrop > 0) toDrop--;
    }
    for (const ref of refs) {
      if (toDrop > 0) toDrop--;
      else next.push(...(await loadRef(ref, options)));
    }
    if (refs.length > 0 || inline > 0) out[index] = { ...out[index], content: next } as AgentMessage;
  }
  return out;
}

/** Where images belong, in order; a file counts at its first mention only. */
function imagesByMessage(messages: readonly AgentMessage[]): Map<number, { content: Content; refs: ImageRef[]; inline: number; count: number }> {
  const found = new Map<number, { content: Content; refs: ImageRef[]; inline: number; count: number }>();
  const known = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== "user" && message.role !== "toolResult") continue;
    const content: Content = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    const refs: ImageRef[] = [];
    for (const block of content) {
      if (block.type !== "text") continue;
      for (const ref of findImageRefs(block.text, message.role === "user")) {
        if (!known.has(ref.path)) refs.push(ref);
        known.add(ref.path);
      }
    }
    const inline = content.filter((block) => block.type === "image").length;
    if (refs.length + inline > 0) found.set(index, { content, refs, inline, count: refs.length + inline });
  }
  return found;
}

async function loadRef(ref: ImageRef, options: ImageHydrationOptions): Promise<Content> {
  const { path } = ref;
  const full = isAbsolute(path) || path.startsWith("~") ? expandPath(path) : join(options.workspaceDir, path);
  try {
    const real = await realpath(full);
    if (!(await isAllowed(real, options))) return [];
    return [await options.store.load(real, options.maxSidePx)];
  } catch (err) {
    options.log.debug("image of a message not readable", { path, err });
    return ref.isAttachment ? [{ type: "text", text: `[image not available: ${errorText(err).replace(/,.*$/s, "")}]` }] : [];
  }
}

async function isAllowed(real: string, { allowedRoots, workspaceDir }: ImageHydrationOptions): Promise<boolean> {
  if (allowedRoots === "anywhere") return true;
  for (const root of [workspaceDir, ...allowedRoots]) {
    const rel = relative(await realpath(root).catch(() => root), real);
    if (!rel.startsWith("..") && !isAbsolute(rel)) return true;
  }
  return false;
}
