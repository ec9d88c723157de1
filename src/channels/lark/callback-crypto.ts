import { createDecipheriv, createHash, timingSafeEqual } from "node:crypto";

/** The text in `encrypt` of a callback: AES-256-CBC, key sha256(encryptKey), the first 16 bytes are the iv. @throws Error for another key */
export function decryptBody(encrypted: string, encryptKey: string): string {
  const data = Buffer.from(encrypted, "base64");
  if (data.length < 32) throw new RangeError("the encrypted body is too short");
  const decipher = createDecipheriv("aes-256-cbc", createHash("sha256").update(encryptKey).digest(), data.subarray(0, 16));
  return Buffer.concat([decipher.update(data.subarray(16)), decipher.final()]).toString("utf8");
}

/** sha256 of timestamp, nonce, key and the body as it came, in hex. Source: spec channels-cn §4.3. */
export function callbackSignature(timestamp: string, nonce: string, encryptKey: string, rawBody: Uint8Array): string {
  return createHash("sha256").update(timestamp + nonce + encryptKey).update(rawBody).digest("hex");
}

/** Takes the same time wherever the texts differ. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return expected !== "" && timingSafeEqual(digest(given), digest(expected));
}
