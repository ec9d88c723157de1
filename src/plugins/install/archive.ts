import { mkdir, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { crc32, gunzipSync, inflateRawSync } from "node:zlib";
import { readRegularFile } from "../../infra/regular-file.ts";
import { PluginInstallError } from "./source.ts";

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
  refuseFoldersOfFiles(files);
  for (const file of files) {
    const path = join(target, file.path);
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await writeFile(path, file.bytes, { mode: 0o644 });
  }
}

function refuseFoldersOfFiles(files: readonly ArchiveFile[]): void {
  const names = new Set(files.map(({ path }) => path));
  for (const { path } of files) {
    for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
      if (names.has(parent)) throw new PluginInstallError(`the archive holds ${JSON.stringify(path)}, but ${JSON.stringify(parent)} is a file`);
    }
  }
}

function unpack(bytes: Buffer): ArchiveFile[] {
  try {
    if (bytes.readUInt32BE(0) === 0x504b0304) return unzip(bytes);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return untar(isGzip ? gunzipSync(bytes, { maxOutputLength: MAX_TOTAL_BYTES }) : bytes);
  } catch (err) {
    if (err instanceof PluginInstallError) throw err;
    throw new PluginInstallError("the archive is damaged, or of another kind than .tgz, .tar and .zip", { cause: err });
  }
}

/** The path inside of the target, or a refusal. */
function safePath(raw: string): string {
  const path = normalize(raw.replaceAll("\\", "/"));
  if (raw.includes("\0") || isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`) || /^[A-Za-z]:/.test(path)) {
    throw new PluginInstallError(`the archive holds a path that leads out of it: ${JSON.stringify(raw)}`);
  }
  if (path === "." || path.endsWith(sep)) throw new PluginInstallError(`the archive holds ${JSON.stringify(raw)}, which is no plain file`);
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

interface ZipMember {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  /** Bytes in the archive, and unpacked. */
  readonly packed: number;
  readonly size: number;
  /** Unix file type and rights; 0 when another system wrote it. */
  readonly mode: number;
  /** Where its local header begins. */
  readonly at: number;
}

/** The directory at the archive's end decides; what stands before the files only says where they begin. Source: APPNOTE.TXT §4.3. */
function unzip(bytes: Buffer): ArchiveFile[] {
  const files: ArchiveFile[] = [];
  let total = 0;
  for (const member of zipDirectory(bytes)) {
    const kind = member.mode & 0o170000;
    if (member.name.endsWith("/") && (kind === 0 || kind === 0o040000)) continue;
    const named = `the archive holds ${JSON.stringify(member.name)}, which is`;
    if (kind !== 0 && kind !== 0o100000) throw new PluginInstallError(`${named} no plain file`);
    if ((member.flags & 1) !== 0) throw new PluginInstallError(`${named} encrypted`);
    if (member.method !== 0 && member.method !== 8) throw new PluginInstallError(`${named} packed in a way that is not supported (method ${member.method})`);
    total += member.size;
    if (total > MAX_TOTAL_BYTES) throw new PluginInstallError(`the archive holds more than ${MAX_TOTAL_BYTES} bytes`);
    files.push({ path: safePath(member.name), bytes: unzipMember(bytes, member) });
  }
  return files;
}

function zipDirectory(bytes: Buffer): ZipMember[] {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0) throw new Error("no directory");
  const count = bytes.readUInt16LE(end + 10);
  if (count > MAX_FILES) throw new PluginInstallError(`the archive holds more than ${MAX_FILES} files`);
  const members: ZipMember[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let i = 0; i < count; i++) {
    if (bytes.readUInt32LE(at) !== 0x02014b50) throw new Error("bad entry");
    const nameLength = bytes.readUInt16LE(at + 28);
    members.push({
      name: bytes.toString("utf8", at + 46, at + 46 + nameLength), flags: bytes.readUInt16LE(at + 8), method: bytes.readUInt16LE(at + 10), crc: bytes.readUInt32LE(at + 16),
      packed: bytes.readUInt32LE(at + 20), size: bytes.readUInt32LE(at + 24), mode: bytes.readUInt32LE(at + 38) >>> 16, at: bytes.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return members;
}

function unzipMember(archive: Buffer, { at, packed, size, method, crc }: ZipMember): Uint8Array {
  const start = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
  const body = archive.subarray(start, start + packed);
  const bytes = method === 0 ? body : inflateRawSync(body, { maxOutputLength: Math.max(1, size) });
  if (bytes.length !== size || crc32(bytes) !== crc) throw new Error("bad checksum");
  return bytes;
}
