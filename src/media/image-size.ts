/** Width and height in pixels as the first bytes of a PNG, GIF, BMP, WebP or JPEG say; undefined for others and damaged ones. */
export function imageSize(bytes: Uint8Array): { readonly width: number; readonly height: number } | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return sizeOf(buffer);
  } catch (err) {
    if (err instanceof RangeError) return undefined; // ends before its size
    throw err;
  }
}

function sizeOf(buffer: Buffer): { width: number; height: number } | undefined {
  const head = buffer.toString("latin1", 0, 16);
  if (head.startsWith("\x89PNG")) return { width: buffer.readUInt32BE(16), height: buffer.readUInt32BE(20) };
  if (head.startsWith("GIF8")) return { width: buffer.readUInt16LE(6), height: buffer.readUInt16LE(8) };
  if (head.startsWith("BM")) return { width: Math.abs(buffer.readInt32LE(18)), height: Math.abs(buffer.readInt32LE(22)) };
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return webpSize(buffer, head.slice(12, 16));
  if (head.startsWith("\xFF\xD8")) return jpegSize(buffer);
  return undefined;
}

function webpSize(buffer: Buffer, kind: string): { width: number; height: number } | undefined {
  switch (kind) {
    case "VP8X":
      return { width: 1 + buffer.readUIntLE(24, 3), height: 1 + buffer.readUIntLE(27, 3) };
    case "VP8 ":
      return { width: buffer.readUInt16LE(26) & 0x3fff, height: buffer.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = buffer.readUInt32LE(21);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) };
    }
    default:
      return undefined;
  }
}

/** The first start-of-frame segment. */
function jpegSize(buffer: Buffer): { width: number; height: number } | undefined {
  for (let at = 2; at + 9 < buffer.length; ) {
    if (buffer[at] !== 0xff) return undefined;
    const marker = buffer[at + 1] as number;
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { height: buffer.readUInt16BE(at + 5), width: buffer.readUInt16BE(at + 7) };
    }
    at += 2 + buffer.readUInt16BE(at + 2);
  }
  return undefined;
}
