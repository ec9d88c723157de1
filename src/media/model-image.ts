import { imageSize } from "./image-size.ts";
import { sniffImageType } from "./mime.ts";

/** An image as models take it, or the reason why there is none. */
export type ModelImage = { readonly kind: "image"; readonly base64: string; readonly mimeType: string } | { readonly kind: "refused"; readonly reason: string };

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_PIXELS = 64_000_000;
const SCALES = [1, 0.75, 0.5, 0.35];
const QUALITIES = [85, 70, 50];

/**
 * Within `maxSidePx` and 5 MB as it is, else re-encoded as JPEG at falling sizes and qualities. Decodes in any case: an
 * image that a provider cannot read would fail this and every later request. Source: spec agent-pipeline §5.4.
 */
export async function toModelImage(bytes: Buffer, maxSidePx: number): Promise<ModelImage> {
  const size = imageSize(bytes);
  if (size && size.width * size.height > MAX_PIXELS) return { kind: "refused", reason: `${size.width}×${size.height} pixels are too many` };
  const photon = await import("@silvia-odwyer/photon-node");
  let image: InstanceType<typeof photon.PhotonImage>;
  try {
    image = photon.PhotonImage.new_from_byteslice(new Uint8Array(bytes));
  } catch {
    return { kind: "refused", reason: "it cannot be decoded" }; // photon throws strings
  }
  try {
    const side = Math.max(image.get_width(), image.get_height());
    const mimeType = sniffImageType(bytes);
    if (mimeType && side <= maxSidePx && bytes.length <= MAX_BYTES) return { kind: "image", base64: bytes.toString("base64"), mimeType };
    for (const scale of SCALES) {
      const factor = Math.min(1, (maxSidePx * scale) / side);
      const resized = photon.resize(
        image, Math.max(1, Math.round(image.get_width() * factor)), Math.max(1, Math.round(image.get_height() * factor)), photon.SamplingFilter.Lanczos3,
      );
      try {
        for (const quality of QUALITIES) {
          const jpeg = Buffer.from(resized.get_bytes_jpeg(quality));
          if (jpeg.length <= MAX_BYTES) return { kind: "image", base64: jpeg.toString("base64"), mimeType: "image/jpeg" };
        }
      } finally {
        resized.free();
      }
    }
    return { kind: "refused", reason: "it is too large" };
  } finally {
    image.free();
  }
}
