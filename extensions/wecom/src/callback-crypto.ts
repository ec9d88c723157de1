import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** The platform pads to 32 bytes, twice the block of AES. */
const PAD_BLOCK = 32;
const RANDOM_BYTES = 16;

const keyOf = (encodingAESKey: string): Buffer => Buffer.from(`${encodingAESKey.replace(/=$/, "")}=`, "base64");

/** AES-256-CBC whose iv is the head of the key, PKCS#7 with blocks of 32. @throws Error for another key */
export function decryptBytes(data: Uint8Array, key: Uint8Array): Buffer<ArrayBuffer> {
  if (key.byteLength !== 32) throw new RangeError(`the key has ${key.byteLength} bytes instead of 32`);
  if (data.byteLength === 0 || data.byteLength % 16 !== 0) throw new RangeError("the encrypted data has no whole blocks");
  const decipher = createDecipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
  const plain = Buffer.concat([decipher.update(data), decipher.final()]);
  const pad = plain.at(-1) ?? 0;
  const isPadded = pad >= 1 && pad <= PAD_BLOCK && pad <= plain.length && plain.subarray(-pad).every((byte) => byte === pad);
  if (!isPadded) throw new Error("the padding is wrong: another key was used");
  return plain.subarray(0, -pad);
}

export function encryptBytes(data: Uint8Array, key: Uint8Array): Buffer {
  const pad = PAD_BLOCK - (data.byteLength % PAD_BLOCK);
  const cipher = createCipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
  return Buffer.concat([cipher.update(Buffer.concat([data, Buffer.alloc(pad, pad)])), cipher.final()]);
}

/** The message in `encrypt` of a callback. `receiveId` "": not compared. Source: spec channels-cn §2.3. @throws Error */
export function decryptCallback(encrypted: string, encodingAESKey: string, receiveId: string): string {
  const plain = decryptBytes(Buffer.from(encrypted, "base64"), keyOf(encodingAESKey));
  if (plain.length < RANDOM_BYTES + 4) throw new RangeError("the encrypted message is too short");
  const length = plain.readUInt32BE(RANDOM_BYTES);
  const end = RANDOM_BYTES + 4 + length;
  if (end > plain.length) throw new RangeError("the length of the encrypted message is wrong");
  const receiver = plain.subarray(end).toString("utf8");
  if (receiveId !== "" && receiver !== receiveId) throw new Error("the message is for another receiver");
  return plain.subarray(RANDOM_BYTES + 4, end).toString("utf8");
}

export function encryptCallback(message: string, encodingAESKey: string, receiveId: string, random: Uint8Array = randomBytes(RANDOM_BYTES)): string {
  const body = Buffer.from(message, "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return encryptBytes(Buffer.concat([random, length, body, Buffer.from(receiveId, "utf8")]), keyOf(encodingAESKey)).toString("base64");
}

/** sha1 in hex over the sorted parts. */
export const callbackSignature = (token: string, timestamp: string, nonce: string, encrypted: string): string => createHash("sha1").update([token, timestamp, nonce, encrypted].toSorted().join("")).digest("hex");

/** Takes the same time wherever the texts differ. */
export function isSameText(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
