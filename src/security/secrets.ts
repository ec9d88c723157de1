import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();

/** Compares two secrets in constant time, whatever their lengths. An empty secret equals nothing. */
export function secretEquals(given: string | undefined, expected: string | undefined): boolean {
  const equal = timingSafeEqual(digest(given ?? ""), digest(expected ?? ""));
  return equal && given !== undefined && expected !== undefined && expected.length > 0;
}

/** 43 characters of base64url: 32 random bytes. */
export const createToken = (): string => randomBytes(32).toString("base64url");

/** A name for a secret that tells when it changes and nothing else (keep it in memory only). */
export const secretFingerprint = (secret: string | undefined): string =>
  secret === undefined ? "" : digest(`fingerprint\0${secret}`).toString("base64url");
