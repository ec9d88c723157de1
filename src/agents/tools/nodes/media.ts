import type { ToolImage, ToolText } from "../contract.ts";
import type { NodeActions } from "./contract.ts";

const MIME: Readonly<Record<string, string>> = { jpg: "image/jpeg", jpeg: "image/jpeg", png: "image/png", mp4: "video/mp4", mov: "video/quicktime" };
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** Files that a node gave as `{format, base64}`: kept, named for the answer, and pictures shown to the model. @throws Error */
export async function keepMedia(actions: NodeActions, name: string, payload: unknown): Promise<{ readonly path: string; readonly blocks: readonly (ToolText | ToolImage)[] }> {
  const { format, base64 } = (typeof payload === "object" && payload !== null ? payload : {}) as Record<string, unknown>;
  const mimeType = typeof format === "string" ? MIME[format.toLowerCase()] : undefined;
  if (mimeType === undefined || typeof base64 !== "string" || !/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64)) throw new Error("the node gave no picture or recording");
  const bytes = Buffer.from(base64, "base64");
  const path = await actions.save(bytes, mimeType, name);
  const isShown = mimeType.startsWith("image/") && bytes.length <= MAX_IMAGE_BYTES;
  return { path, blocks: [{ type: "text", text: `${mimeType.startsWith("image/") ? "MEDIA" : "FILE"}:${path}` }, ...(isShown ? [{ type: "image" as const, data: bytes.toString("base64"), mimeType }] : [])] };
}
