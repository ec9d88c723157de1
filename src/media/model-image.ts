import { imageSize } from "./image-size.ts";
import type { ImageWorker } from "./image-worker.ts";
import { sniffImageType } from "./mime.ts";

/** An image as models take it, or the reason why there is none. */
export type ModelImage = { readonly kind: "image"; readonly base64: string; readonly mimeType: string } | { readonly kind: "refused"; readonly reason: string };

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_PIXELS = 64_000_000;

/**
 * Within `maxSidePx` and 5 MB as it is, else re-encoded as JPEG at falling sizes and qualities. Decodes in any case: an
 * image that a provider cannot read would fail this and every later request. Source: spec agent-pipeline §5.4.
 */
export async function toModelImage(worker: ImageWorker, bytes: Buffer, maxSidePx: number): Promise<ModelImage> {
  const size = imageSize(bytes);
  if (size && size.width * size.height > MAX_PIXELS) return { kind: "refused", reason: `${size.width}×${size.height} pixels are too many` };
  const mimeType = sniffImageType(bytes);
  const done = await worker.run({ bytes, maxSidePx, maxBytes: MAX_BYTES, mayStay: mimeType !== undefined && bytes.length <= MAX_BYTES });
  switch (done.kind) {
    case "stays":
      return { kind: "image", base64: bytes.toString("base64"), mimeType: mimeType ?? "image/png" };
    case "jpeg":
      return { kind: "image", base64: Buffer.from(done.bytes).toString("base64"), mimeType: "image/jpeg" };
    case "undecodable":
      return { kind: "refused", reason: "it cannot be decoded" };
    case "too-large":
      return { kind: "refused", reason: "it is too large" };
    case "too-slow":
      return { kind: "refused", reason: "decoding it takes too long" };
  }
}
