import { readFile, realpath, stat } from "node:fs/promises";
import { extname, isAbsolute, join, relative } from "node:path";
import type { AgentMessage } from "@mariozechner/pi-agent-core";
import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import { errorText } from "../../../infra/errors.ts";
import type { Logger } from "../../../infra/log.ts";
import { expandPath } from "../../../routing/index.ts";

/** Media stand in transcripts as `[media attached: <path> (<type>)]`; the bytes are read when a request is built. */
const NOTE = /\[media attached(?: \d+\/\d+)?: ([^\]\n|]+?)(?: \(([^)\n]+)\))?(?: \|[^\]\n]*)?\]/g;
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
};
const MAX_BYTES = 5 * 1024 * 1024;
/** Images kept in one request; older ones stay notes, so that a long album does not fill the window. */
const MAX_IMAGES = 12;

export interface ImageHydrationOptions {
  readonly workspaceDir: string;
  /** Folders besides the workspace whose files may be shown to the model. */
  readonly allowedRoots: readonly string[];
  readonly maxSidePx: number;
  readonly log: Logger;
}

export interface ImageLoader {
  hydrate(messages: AgentMessage[]): Promise<AgentMessage[]>;
}

export function createImageLoader(options: ImageHydrationOptions): ImageLoader {
  const cache = new Map<string, ImageContent | string>();

  async function load(path: string, type: string | undefined): Promise<ImageContent | string | undefined> {
    const full = isAbsolute(path) || path.startsWith("~") ? expandPath(path) : join(options.workspaceDir, path);
    const mimeType = type?.startsWith("image/") ? type : IMAGE_TYPES[extname(full).toLowerCase()];
    if (!mimeType) return undefined;
    try {
      const real = await realpath(full);
      if (![options.workspaceDir, ...options.allowedRoots].some((root) => isInside(root, real))) return undefined;
      const { size, mtimeMs } = await stat(real);
      const key = `${real}|${size}|${mtimeMs}`;
      let image = cache.get(key);
      if (image === undefined) cache.set(key, (image = await prepareImage(await readFile(real), mimeType, options.maxSidePx)));
      return image;
    } catch (err) {
      options.log.debug("image of a message not readable", { path, err });
      return `[image not available: ${errorText(err)}]`;
    }
  }

  return {
    async hydrate(messages) {
      let budget = MAX_IMAGES;
      const out = messages.slice();
      for (let i = out.length - 1; i >= 0 && budget > 0; i--) {
        const message = out[i];
        if (message?.role !== "user" && message?.role !== "toolResult") continue;
        const content: (TextContent | ImageContent)[] = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
        const images: ImageContent[] = [];
        for (const block of content) {
          if (block.type !== "text" || !block.text.includes("[media attached")) continue;
          for (const match of block.text.matchAll(NOTE)) {
            if (budget <= 0) break;
            const loaded = await load((match[1] ?? "").trim(), match[2]);
            if (typeof loaded === "object") {
              images.push(loaded);
              budget--;
            }
          }
        }
        if (images.length > 0) out[i] = { ...message, content: [...content, ...images] };
      }
      return out;
    },
  };
}

function isInside(root: string, path: string): boolean {
  const rel = relative(root, path);
  return rel === "" || (!rel.startsWith("..") && !isAbsolute(rel));
}

/** Within side and byte limits as it is, else re-encoded as JPEG at falling sizes and qualities; else a note. */
async function prepareImage(bytes: Buffer, mimeType: string, maxSidePx: number): Promise<ImageContent | string> {
  const photon = await import("@silvia-odwyer/photon-node");
  let image: InstanceType<typeof photon.PhotonImage>;
  try {
    image = photon.PhotonImage.new_from_byteslice(new Uint8Array(bytes));
  } catch {
    return "[image not shown: it cannot be decoded]";
  }
  try {
    const side = Math.max(image.get_width(), image.get_height());
    if (side <= maxSidePx && bytes.length <= MAX_BYTES) return { type: "image", data: bytes.toString("base64"), mimeType };
    for (const scale of [1, 0.75, 0.5, 0.35]) {
      const factor = Math.min(1, (maxSidePx * scale) / side);
      const resized = photon.resize(
        image, Math.max(1, Math.round(image.get_width() * factor)), Math.max(1, Math.round(image.get_height() * factor)), photon.SamplingFilter.Lanczos3,
      );
      try {
        for (const quality of [85, 70, 50]) {
          const jpeg = Buffer.from(resized.get_bytes_jpeg(quality));
          if (jpeg.length <= MAX_BYTES) return { type: "image", data: jpeg.toString("base64"), mimeType: "image/jpeg" };
        }
      } finally {
        resized.free();
      }
    }
    return "[image not shown: too large]";
  } finally {
    image.free();
  }
}
