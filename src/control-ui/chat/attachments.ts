import { byteSize } from "../ui/format.ts";

export const MAX_IMAGES = 8;
/** The gateway's limit on the decoded size. */
const MAX_BYTES = 5_000_000;
const MAX_EDGE_PX = 2048;
const PASSED_THROUGH = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  /** base64, no prefix. */
  readonly content: string;
  readonly bytes: number;
}

export type AttachmentProblem = "not-an-image" | "too-large" | "unreadable";

export class AttachmentError extends Error {
  override readonly name = "AttachmentError";
  readonly problem: AttachmentProblem;
  readonly file: string;
  constructor(problem: AttachmentProblem, file: string) {
    super(`${file}: ${problem}`);
    this.problem = problem;
    this.file = file;
  }
}

export const dataUrl = (attachment: Pick<Attachment, "mimeType" | "content">): string => `data:${attachment.mimeType};base64,${attachment.content}`;

/** Reads an image; one that is too large, or of a kind models do not take, is drawn again as JPEG. @throws AttachmentError */
export async function readImage(file: File): Promise<Attachment> {
  const name = file.name || `image.${file.type.split("/")[1] ?? "png"}`;
  if (!file.type.startsWith("image/") || file.type === "image/svg+xml") throw new AttachmentError("not-an-image", name);
  const blob = file.size <= MAX_BYTES && PASSED_THROUGH.has(file.type) ? file : await shrink(file, name);
  if (blob.size > MAX_BYTES) throw new AttachmentError("too-large", `${name} (${byteSize(blob.size)})`);
  if (blob.size === 0) throw new AttachmentError("unreadable", name);
  const content = await toBase64(blob);
  const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  return { id, name, mimeType: blob.type, content, bytes: blob.size };
}

async function shrink(file: File, name: string): Promise<Blob> {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new AttachmentError("unreadable", name);
  });
  const scale = Math.min(1, MAX_EDGE_PX / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new AttachmentError("unreadable", name))), "image/jpeg", 0.88);
  });
}

function toBase64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^data:[^,]*,/, "")));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("unreadable")));
    reader.readAsDataURL(blob);
  });
}
