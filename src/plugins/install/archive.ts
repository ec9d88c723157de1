import { mkdir, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { gunzipSync } from "node:zlib";
import { readRegularFile } from "../../infra/regular-file.ts";
import { PluginInstallError } from "./source.ts";
import { unzip } from "./zip.ts";

/** Unpacked from an archive in all. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 20_000;

interface ArchiveFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Unpacks a .tgz, .tar.gz, .tar or .zip. Only plain files are taken: links, devices and paths that lead out are refused.
 * @throws PluginInstallError
 */
export async function extractArchive(archive: string, target: string): Promise<void> {
  const bytes = await readRegularFile(archive, { maxBytes: MAX_TOTAL_BYTES });
  const files = unpack(bytes);
  if (files.length === 0) throw new PluginInstallError(`${archive} holds no files`);
  refuseClashes(files);
  for (const file of files) {
    const path = join(target, file.path);
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await writeFile(path, file.bytes, { mode: 0o644 });
  }
}

function unpack(bytes: Buffer): readonly ArchiveFile[] {
  try {
    if (bytes.readUInt32BE(0) === 0x504b0304) return onlyOnce(unzip(bytes, { maxFiles: MAX_FILES, maxTotalBytes: MAX_TOTAL_BYTES }).map((file) => ({ path: safePath(file.name), bytes: file.bytes })));
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return untar(isGzip ? gunzipSync(bytes, { maxOutputLength: MAX_TOTAL_BYTES }) : bytes);
  } catch (err) {
    if (err instanceof PluginInstallError) throw err;
    throw damaged({ cause: err });
  }
}

const damaged = (options?: ErrorOptions): PluginInstallError => new PluginInstallError("the archive is damaged, or of another kind than .tgz, .tar and .zip", options);

/** @throws PluginInstallError when a path is a file and a folder at once */
function refuseClashes(files: readonly ArchiveFile[]): void {
  const paths = new Set(files.map(({ path }) => path));
  for (const { path } of files) for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) if (paths.has(folder)) throw damaged();
}

/** In a .zip readers differ in which of two files of one name they take; in a .tar the later one counts. */
function onlyOnce(files: readonly ArchiveFile[]): readonly ArchiveFile[] {
  const seen = new Set<string>();
  for (const { path } of files) {
    if (seen.has(path)) throw new PluginInstallError(`the archive holds ${JSON.stringify(path)} twice`);
    seen.add(path);
  }
  return files;
}

/** The path inside of the target, or a refusal. */
function safePath(raw: string): string {
  const path = normalize(raw.replaceAll("\\", "/"));
  if (raw === "" || raw.includes("\0") || isAbsolute(path) || path === "." || path === ".." || path.startsWith(`..${sep}`) || /^[A-Za-z]:/.test(path)) {
    throw new PluginInstallError(`the archive holds a path that leads out of it: ${JSON.stringify(raw)}`);
  }
  return path;
}

function untar(bytes: Buffer): ArchiveFile[] {
  const files: ArchiveFile[] = [];
  let nextName: string | undefined;
  for (let at = 0; at + 512 <= bytes.length; ) {
    const header = bytes.subarray(at, at + 512);
    if (header[0] === 0) break;
    const text = (from: number, length: number): string => header.toString("utf8", from, from + length).split("\0", 1)[0] ?? "";
    if (text(257, 5) !== "ustar" && !/^[0-7 ]+$/.test(text(148, 8).trim())) throw new Error("no tar header");
    const size = Number.parseInt(text(124, 12).trim() || "0", 8);
    if (!Number.isSafeInteger(size) || size < 0 || at + 512 + size > bytes.length) throw new Error("bad size");
    const body = bytes.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
    const prefix = text(257, 5) === "ustar" ? text(345, 155) : "";
    const name = nextName ?? (prefix === "" ? text(0, 100) : `${prefix}/${text(0, 100)}`);
    nextName = undefined;
    switch (String.fromCharCode(header[156] ?? 0)) {
      case "0":
      case "\0":
      case "7":
        files.push({ path: safePath(name), bytes: body });
        if (files.length > MAX_FILES) throw new PluginInstallError(`the archive holds more than ${MAX_FILES} files`);
        break;
      case "5":
      case "g":
        break;
      case "x":
        nextName = paxPath(body);
        break;
      case "L":
        nextName = body.toString("utf8").split("\0", 1)[0];
        break;
      default:
        throw new PluginInstallError(`the archive holds ${JSON.stringify(name)}, which is no plain file`);
    }
  }
  return files;
}

/** The `path` of a pax header: records `<length> <key>=<value>\n`, the length in bytes. */
function paxPath(body: Buffer): string | undefined {
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(0x20, at);
    const length = Number(body.toString("utf8", at, blank));
    if (blank < 0 || !(length > 0)) return undefined;
    const record = body.toString("utf8", blank + 1, at + length - 1);
    if (record.startsWith("path=")) return record.slice("path=".length);
    at += length;
  }
  return undefined;
}
