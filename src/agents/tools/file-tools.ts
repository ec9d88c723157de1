import { Type } from "typebox";
import { isErrno } from "../../infra/atomic-file.ts";
import { optionalNumber, prepareFileArguments, requireString } from "./arguments.ts";
import { toolText, type AgentTool, type ToolResult } from "./contract.ts";
import type { AccessibleFile, FileAccess } from "./file-access.ts";

const PAGE_LINES = 2000;
const PAGE_BYTES = 50 * 1024;
const MAX_PAGES = 8;
const MAX_READ_BYTES = 512 * 1024;
/** Larger files are refused rather than pulled into memory; exec can cut them. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_INLINE_IMAGE_BYTES = 5 * 1024 * 1024;

export interface FileToolOptions {
  readonly access: FileAccess;
  /** Window of the model in tokens; a single read takes at most a fifth of it. */
  readonly contextTokens: number;
}

const READ_PARAMETERS = Type.Object({
  path: Type.Optional(Type.String({ description: "File, relative to the workspace or absolute" })),
  offset: Type.Optional(Type.Number({ description: "First line, from 1" })),
  limit: Type.Optional(Type.Number({ description: "Number of lines" })),
});

export function createReadTool({ access, contextTokens }: FileToolOptions): AgentTool {
  const capBytes = Math.min(MAX_READ_BYTES, Math.max(PAGE_BYTES, Math.floor(contextTokens * 4 * 0.2)));
  return {
    name: "read",
    label: "Read",
    summary: "Read a file (text or image)",
    description: "Read a text file or look at an image (png, jpg, gif, webp). Long files come in pages; go on with offset.",
    parameters: READ_PARAMETERS,
    prepare: prepareFileArguments,
    describe: (args) => String(args["path"] ?? ""),
    async execute(args, { signal }) {
      const path = requireString(args, "path", "file_path");
      const file = await access.forRead(path);
      const info = await file.stat().catch((err: unknown) => {
        throw isErrno(err, "ENOENT") ? new Error(`ENOENT: no such file or directory, access '${path}'`) : err;
      });
      if (info.isDirectory) throw new Error(`${path} is a directory; use exec with ls to list it.`);
      if (info.size > MAX_FILE_BYTES) throw new Error(`${path} has ${info.size} bytes, too many to read at once; use exec to cut out a part.`);
      const bytes = await file.read(signal);
      const mime = sniffImage(bytes);
      if (mime) return readImage(file, bytes, mime);
      return toolText(page(bytes.toString("utf8"), optionalNumber(args, "offset"), optionalNumber(args, "limit"), capBytes));
    },
  };
}

/** An image of the sandbox is handed over as it was read: its path means nothing, or something else, outside. */
function readImage({ real, isOnHost }: AccessibleFile, bytes: Buffer, mimeType: string): ToolResult {
  const text = `Read image file [${mimeType}]`;
  if (isOnHost) return toolText(`${text}\n[media attached: ${real} (${mimeType})]`);
  if (bytes.length > MAX_INLINE_IMAGE_BYTES) throw new Error(`The image has ${bytes.length} bytes; at most ${MAX_INLINE_IMAGE_BYTES} can be shown. Make a smaller copy.`);
  return { content: [{ type: "text", text }, { type: "image", data: bytes.toString("base64"), mimeType }] };
}

function page(text: string, offset = 1, limit: number | undefined, capBytes: number): string {
  const lines = text.split("\n");
  if (lines.at(-1) === "" && lines.length > 1) lines.pop();
  const first = Math.max(1, Math.floor(offset));
  if (first > lines.length) throw new Error(`Offset ${first} is beyond end of file (${lines.length} lines total)`);
  const maxLines = limit === undefined ? PAGE_LINES * MAX_PAGES : Math.max(1, Math.floor(limit));
  const maxBytes = limit === undefined ? capBytes : Math.max(capBytes, PAGE_BYTES);
  const out: string[] = [];
  let bytes = 0;
  let at = first - 1;
  for (; at < lines.length && out.length < maxLines; at++) {
    const line = lines[at] as string;
    bytes += Buffer.byteLength(line) + 1;
    if (out.length > 0 && bytes > maxBytes) break;
    out.push(bytes > maxBytes && out.length === 0 ? line.slice(0, maxBytes) : line);
  }
  const body = out.join("\n");
  if (at >= lines.length) return body;
  if (bytes > maxBytes) return `${body}\n\n[Read output capped at ${maxBytes} bytes for this call. Use offset=${at + 1} to continue.]`;
  if (limit !== undefined) return `${body}\n\n[${lines.length - at} more lines in file. Use offset=${at + 1} to continue.]`;
  return `${body}\n\n[Showing lines ${first}-${at} of ${lines.length}. Use offset=${at + 1} to continue.]`;
}

function sniffImage(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString("latin1");
  if (head.startsWith("\x89PNG")) return "image/png";
  if (head.startsWith("\xFF\xD8\xFF")) return "image/jpeg";
  if (head.startsWith("GIF8")) return "image/gif";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "image/webp";
  return undefined;
}

const WRITE_PARAMETERS = Type.Object({ path: Type.Optional(Type.String()), content: Type.Optional(Type.String()) });

export function createWriteTool({ access }: FileToolOptions): AgentTool {
  return {
    name: "write",
    label: "Write",
    summary: "Create or overwrite a file",
    description: "Write a whole file; folders are created, an existing file is replaced. Use edit for small changes.",
    parameters: WRITE_PARAMETERS,
    prepare: prepareFileArguments,
    describe: (args) => `${String(args["path"] ?? "")} (${typeof args["content"] === "string" ? args["content"].length : 0} chars)`,
    async execute(args) {
      const path = requireString(args, "path", "file_path");
      const content = requireString(args, "content");
      await (await access.forWrite(path)).write(content);
      return toolText(`Successfully wrote ${Buffer.byteLength(content)} bytes to ${path}`);
    },
  };
}

const EDIT_PARAMETERS = Type.Object({ path: Type.Optional(Type.String()), oldText: Type.Optional(Type.String()), newText: Type.Optional(Type.String()) });

export function createEditTool({ access }: FileToolOptions): AgentTool {
  return {
    name: "edit",
    label: "Edit",
    summary: "Replace an exact piece of text in a file",
    description: "Replace oldText by newText. oldText must occur exactly once; give enough context around it.",
    parameters: EDIT_PARAMETERS,
    prepare: prepareFileArguments,
    describe: (args) => `in ${String(args["path"] ?? "")}`,
    async execute(args) {
      const path = requireString(args, "path", "file_path");
      const oldText = requireString(args, "oldText", "old_string");
      const newText = args["newText"];
      if (typeof newText !== "string") throw new Error("Missing required parameter: newText (newText or new_string). Supply correct parameters before retrying.");
      const file = await access.forWrite(path);
      let text: string;
      try {
        text = (await file.read()).toString("utf8");
      } catch (err) {
        if (isErrno(err, "ENOENT")) throw new Error(`File not found: ${path}`, { cause: err });
        throw err;
      }
      const next = replaceOnce(text, oldText, newText, path);
      if (next === text) throw new Error(`No changes made to ${path}. The new text equals the old one.`);
      await file.write(next);
      return toolText(`Successfully replaced text in ${path}.`);
    },
  };
}

/** Exact first, else with blanks, quotes and dashes normalised; line ends and BOM of the file are kept. */
export function replaceOnce(text: string, oldText: string, newText: string, path: string): string {
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  // A file of mixed line ends is taken as it is: converting it would change lines nobody spoke of.
  const crlf = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
  const plain = (value: string): string => (crlf ? value.replaceAll("\r\n", "\n") : value);
  const body = plain(text.slice(bom.length));
  const wanted = plain(oldText.replace(/^\uFEFF/, ""));
  const replacement = plain(newText.replace(/^\uFEFF/, ""));
  const restore = (value: string): string => bom + (crlf ? value.replaceAll("\n", "\r\n") : value);
  const exact = occurrences(body, wanted);
  if (exact.length === 1) return restore(body.slice(0, exact[0]) + replacement + body.slice((exact[0] as number) + wanted.length));
  if (exact.length > 1) throw new Error(`Found ${exact.length} occurrences of the text in ${path}. Add surrounding lines so that it is unique.`);
  const fuzzy = fuzzyRanges(body, wanted);
  if (fuzzy.length === 1) {
    const [from, to] = fuzzy[0] as [number, number];
    return restore(body.slice(0, from) + replacement + body.slice(to));
  }
  if (fuzzy.length > 1) throw new Error(`Found ${fuzzy.length} occurrences of the text in ${path}. Add surrounding lines so that it is unique.`);
  throw new Error(`Could not find the exact text in ${path}. Read the file again and copy it exactly, blanks included.`);
}

function occurrences(text: string, wanted: string): number[] {
  const out: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) out.push(at);
  return out;
}

/** Whole lines whose normalised forms are equal. */
function fuzzyRanges(text: string, wanted: string): [number, number][] {
  const normal = (line: string): string =>
    line.normalize("NFKC").replace(/[\u2018\u2019]/g, "'").replace(/[\u201C\u201D]/g, '"').replace(/[\u2010-\u2015\u2212]/g, "-").replace(/\s+/g, " ").trim();
  const lines = text.split("\n");
  const target = wanted.replace(/\n$/, "").split("\n").map(normal);
  const starts: number[] = [];
  let offset = 0;
  for (const line of lines) {
    starts.push(offset);
    offset += line.length + 1;
  }
  const out: [number, number][] = [];
  for (let i = 0; i + target.length <= lines.length; i++) {
    if (!target.every((line, j) => normal(lines[i + j] as string) === line)) continue;
    const last = i + target.length - 1;
    const end = (starts[last] as number) + (lines[last] as string).length;
    out.push([starts[i] as number, wanted.endsWith("\n") && end < text.length ? end + 1 : end]);
  }
  return out;
}
