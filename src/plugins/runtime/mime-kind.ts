import { extensionOf, mimeTypeOf, sniffImageType } from "../../media/index.ts";

/** Types of files. Source: spec plugin-sdk §13. */

export type MediaKind = "image" | "audio" | "video" | "document" | "unknown";

const UNKNOWN_TYPE = "application/octet-stream";

const MAGIC: readonly (readonly [(head: string) => boolean, string])[] = [
  [(head) => head.startsWith("%PDF-"), "application/pdf"],
  [(head) => head.startsWith("OggS"), "audio/ogg"],
  [(head) => head.startsWith("ID3") || /^\xFF[\xFB\xF3\xF2]/.test(head), "audio/mpeg"],
  [(head) => head.startsWith("fLaC"), "audio/flac"],
  [(head) => head.startsWith("RIFF") && head.slice(8, 12) === "WAVE", "audio/wav"],
  [(head) => head.slice(4, 8) === "ftyp" && /^M4A /.test(head.slice(8, 12)), "audio/mp4"],
  [(head) => head.slice(4, 8) === "ftyp" && /^(?:heic|heix|mif1|msf1)/.test(head.slice(8, 12)), "image/heic"],
  [(head) => head.slice(4, 8) === "ftyp" && head.slice(8, 10) === "qt", "video/quicktime"],
  [(head) => head.slice(4, 8) === "ftyp", "video/mp4"],
  [(head) => head.startsWith("\x1A\x45\xDF\xA3"), "video/webm"],
  [(head) => head.startsWith("PK\x03\x04"), "application/zip"],
];

function sniff(bytes: Uint8Array | undefined): string | undefined {
  if (!bytes?.length) return undefined;
  const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return sniffImageType(bytes) ?? MAGIC.find(([test]) => test(head))?.[1];
}

/** By content, then by name, then by what a server said. A container (zip, octet-stream) is overruled by the name. */
export async function detectMime(input: { readonly buffer?: Uint8Array | undefined; readonly headerMime?: string | null | undefined; readonly filePath?: string | undefined }): Promise<string | undefined> {
  const sniffed = sniff(input.buffer);
  const named = input.filePath === undefined ? UNKNOWN_TYPE : mimeTypeOf(/^https?:/i.test(input.filePath) ? (URL.parse(input.filePath)?.pathname ?? "") : input.filePath);
  const header = input.headerMime?.split(";")[0]?.trim().toLowerCase();
  const isContainer = (type: string | undefined): boolean => type === UNKNOWN_TYPE || type === "application/zip";
  if (sniffed && !(isContainer(sniffed) && named !== UNKNOWN_TYPE)) return sniffed;
  if (named !== UNKNOWN_TYPE) return named;
  if (header && !isContainer(header)) return header;
  return sniffed ?? header ?? undefined;
}

export function mediaKindFromMime(mime?: string | null): MediaKind {
  const type = mime?.toLowerCase() ?? "";
  if (type === "") return "unknown";
  for (const kind of ["image", "audio", "video"] as const) if (type.startsWith(`${kind}/`)) return kind;
  return type.startsWith("text/") || type.startsWith("application/") ? "document" : "unknown";
}

/** Whether platforms take it as a voice note. */
export function isVoiceCompatibleAudio({ contentType, fileName }: { readonly contentType?: string | null | undefined; readonly fileName?: string | null | undefined }): boolean {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  if (type !== undefined && /^audio\/(?:ogg|opus|mpeg|mp3|mp4|x-m4a|m4a)$/.test(type)) return true;
  return /\.(?:oga|ogg|opus|mp3|m4a)$/i.test(fileName ?? "");
}

/** `.png`; undefined for types without a usual one. */
export function extensionForMime(mime?: string | null): string | undefined {
  const extension = mime ? extensionOf(mime) : "bin";
  return extension === "bin" ? undefined : `.${extension}`;
}
