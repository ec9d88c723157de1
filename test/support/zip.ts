import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** 8: deflated, 0: as it is. */
  readonly method?: number;
  /** Bit 0: encrypted. */
  readonly flags?: number;
  /** Unix mode with the file type; a plain file unless given. */
  readonly mode?: number;
  readonly crc?: number;
  /** What the directory says of the size. */
  readonly size?: number;
}

/** An archive as other programs write it, or, with what an entry claims, as none should. */
export function makeZip(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, method = 8, flags = 0, mode = 0o100644, crc, size } of entries) {
    const bytes = Buffer.from(content as Uint8Array);
    const body = method === 8 ? deflateRawSync(bytes) : bytes;
    const path = Buffer.from(name);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(crc ?? crc32(bytes), 10);
    shared.writeUInt32LE(body.length, 14);
    shared.writeUInt32LE(size ?? bytes.length, 18);
    shared.writeUInt16LE(path.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(at, 10);
    locals.push(Buffer.from("PK\u0003\u0004"), shared, path, body);
    directory.push(Buffer.from("PK\u0001\u0002"), Buffer.from([20, 3]), shared, rest, path);
    at += 30 + path.length + body.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.reduce((sum, part) => sum + part.length, 0), 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, ...directory, Buffer.from("PK\u0005\u0006"), end]);
}
