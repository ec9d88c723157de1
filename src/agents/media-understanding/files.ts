import { basename } from "node:path";
import { truncateText } from "../../infra/text/index.ts";
import { readPdfText } from "../tools/media/pdf-tool.ts";
import type { ReceivedFile } from "./types.ts";

const MAX_CHARS = 50_000;
export const MAX_FILE_BYTES = 5 * 1024 * 1024;
const TEXT_TYPES = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|x-sh|sql|csv)\b|application\/[\w.-]+\+(json|xml)\b)/i;
const TEXT_NAMES = /\.(txt|md|markdown|csv|tsv|json|jsonl|ya?ml|toml|ini|log|xml|html?|css|js|ts|py|sh|sql|rb|go|rs|java|c|h|cpp)$/i;

export const isPdf = ({ mimeType, fileName, path }: ReceivedFile): boolean => mimeType === "application/pdf" || /\.pdf$/i.test(fileName ?? path);
export const isTextFile = (file: ReceivedFile): boolean => TEXT_TYPES.test(file.mimeType) || (!/^(image|audio|video)\//.test(file.mimeType) && TEXT_NAMES.test(file.fileName ?? file.path));

/** The words of a text file or PDF as a block for the model; undefined when it holds none. */
export async function fileBlock(file: ReceivedFile, bytes: Uint8Array, signal: AbortSignal): Promise<string | undefined> {
  const text = isPdf(file) ? await readPdfText(bytes, signal) : decode(bytes);
  if (text === undefined || text.trim() === "") return undefined;
  const shown = text.length > MAX_CHARS ? `${truncateText(text, MAX_CHARS)}\n[cut: the file has ${text.length} characters]` : text;
  // Nothing in the file can end the block.
  return `<file name="${attribute(file.fileName ?? basename(file.path))}" mime="${attribute(file.mimeType)}">\n${shown.replace(/<(\/?)file\b/gi, "&lt;$1file")}\n</file>`;
}

const attribute = (text: string): string => text.replace(/[&"<>\r\n]/g, (char) => `&#${char.charCodeAt(0)};`);

/** undefined for what is no text. */
function decode(bytes: Uint8Array): string | undefined {
  const [a, b] = bytes;
  const encoding = a === 0xff && b === 0xfe ? "utf-16le" : a === 0xfe && b === 0xff ? "utf-16be" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: encoding === "utf-8" }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    // Older files of the West and of China; what is in neither is not guessed at.
    const text = new TextDecoder("gb18030").decode(bytes);
    return /[\0\uFFFD]/.test(text) ? undefined : text;
  }
}
