import { crc32, inflateRawSync } from "node:zlib";
import { PluginInstallError } from "./source.ts";

export interface ZipFile {
  /** As the archive has it; not safe yet. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface ZipLimits {
  readonly maxFiles: number;
  /** Of all files together, unpacked. */
  readonly maxTotalBytes: number;
}

const LOCAL = 0x04034b50;
const ENTRY = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const FULL_16 = 0xffff;
const FULL_32 = 0xffffffff;
/** The content is encrypted, or the directory is. */
const SECRET_FLAGS = 0x0001 | 0x0040 | 0x2000;

/**
 * The files of a .zip. What its directory tells must be what lies there: name, size and checksum; nothing is unpacked beyond
 * what was told.
 * @throws PluginInstallError for what is refused; Error for an archive that is damaged
 */
export function unzip(bytes: Buffer, limits: ZipLimits): ZipFile[] {
  const end = findEnd(bytes);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count === FULL_16 || at === FULL_32) throw zip64();
  if (count > limits.maxFiles) throw new PluginInstallError(`the archive holds more than ${limits.maxFiles} files`);
  const files: ZipFile[] = [];
  const totals = { packed: 0, size: 0 };
  for (let i = 0; i < count; i++) {
    const entry = readEntry(bytes, at);
    at = entry.end;
    totals.packed += entry.packed;
    totals.size += entry.size;
    if (totals.size > limits.maxTotalBytes) throw new PluginInstallError(`the archive holds more than ${limits.maxTotalBytes} bytes`);
    // Otherwise two files share one content, which is how a small archive fills a disk.
    if (totals.packed > bytes.length) throw new Error("contents overlap");
    const content = contentOf(bytes, entry);
    if (!entry.isFolder) files.push({ name: entry.name, bytes: content });
  }
  if (at !== end) throw new Error("more in the directory than told");
  return files;
}

/** The last record, found from behind: a remark may follow, and may look like one. */
function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - FULL_16);
  for (let at = bytes.length - END_BYTES; at >= first; at--) {
    if (bytes.readUInt32LE(at) === END && at + END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length) return at;
  }
  throw new Error("no directory");
}

interface Entry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  /** Where its local header lies. */
  readonly local: number;
  /** Where the next entry of the directory begins. */
  readonly end: number;
}

function readEntry(bytes: Buffer, at: number): Entry {
  if (bytes.readUInt32LE(at) !== ENTRY) throw new Error("bad entry");
  const [host, flags, method] = [bytes.readUInt8(at + 5), bytes.readUInt16LE(at + 8), bytes.readUInt16LE(at + 10)];
  const [crc, packed, size] = [bytes.readUInt32LE(at + 16), bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)];
  const [nameLength, extraLength, commentLength] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt16LE(at + 32)];
  const local = bytes.readUInt32LE(at + 42);
  const name = bytes.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameLength);
  if ((flags & SECRET_FLAGS) !== 0) throw new PluginInstallError(`the archive holds ${JSON.stringify(name)} encrypted`);
  if ([packed, size, local].includes(FULL_32)) throw zip64();
  const isFolder = name.endsWith("/");
  // Only Unix says what kind of file it is.
  const kind = host === 3 ? bytes.readUInt16LE(at + 40) & 0o170000 : 0;
  if (kind !== 0 && kind !== (isFolder ? 0o040000 : 0o100000)) throw new PluginInstallError(`the archive holds ${JSON.stringify(name)}, which is no plain file`);
  return { name, isFolder, method, crc, packed, size, local, end: at + ENTRY_BYTES + nameLength + extraLength + commentLength };
}

function contentOf(bytes: Buffer, { name, method, crc, packed, size, local }: Entry): Uint8Array {
  if (bytes.readUInt32LE(local) !== LOCAL) throw new Error("bad header");
  const nameLength = bytes.readUInt16LE(local + 26);
  if (bytes.toString("utf8", local + LOCAL_BYTES, local + LOCAL_BYTES + nameLength) !== name) throw new Error("two names");
  const start = local + LOCAL_BYTES + nameLength + bytes.readUInt16LE(local + 28);
  if (start + packed > bytes.length) throw new Error("cut off");
  if (method !== 0 && method !== 8) throw new Error("unknown method");
  const body = bytes.subarray(start, start + packed);
  const content = method === 0 ? body : inflateRawSync(body, { maxOutputLength: Math.max(1, size) });
  if (content.length !== size || crc32(content) !== crc) throw new Error("not what was told");
  return content;
}

const zip64 = (): PluginInstallError => new PluginInstallError("the archive is a zip64, which is not read; make a .tgz or a plain .zip of it");
