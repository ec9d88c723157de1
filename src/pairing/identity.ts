import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { join } from "node:path";
import { readJsonFile, writeFileAtomic } from "../infra/atomic-file.ts";

/** SubjectPublicKeyInfo of an Ed25519 key, up to its 32 raw bytes (RFC 8410). */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const RAW_KEY_BYTES = 32;
const MAX_KEY_CHARS = 512;

export interface SignedFields {
  readonly deviceId: string;
  readonly clientId: string;
  readonly clientMode: string;
  readonly role: string;
  /** As sent, in order. */
  readonly scopes: readonly string[];
  readonly signedAtMs: number;
  /** auth.token, else auth.deviceToken, else "". */
  readonly token: string;
  readonly nonce: string;
}

/** The string a device signs (spec: gateway-protocol §2.4). */
export const signedText = (f: SignedFields): string =>
  ["v2", f.deviceId, f.clientId, f.clientMode, f.role, f.scopes.join(","), f.signedAtMs, f.token, f.nonce].join("|");

/** The raw 32 bytes of base64url or PEM; undefined when it is no Ed25519 public key. */
export function decodePublicKey(text: string): Buffer | undefined {
  if (text.length > MAX_KEY_CHARS) return undefined;
  if (!text.includes("-----BEGIN")) {
    if (!/^[A-Za-z0-9_+/-]+={0,2}$/.test(text.trim())) return undefined;
    const raw = Buffer.from(text.trim(), "base64url");
    return raw.length === RAW_KEY_BYTES ? raw : undefined;
  }
  try {
    const key = createPublicKey(text);
    return key.asymmetricKeyType === "ed25519" ? rawOf(key) : undefined;
  } catch {
    return undefined; // not a key: the caller names the reason
  }
}

const rawOf = (key: KeyObject): Buffer => key.export({ type: "spki", format: "der" }).subarray(SPKI_PREFIX.length);

/** Lower-case hex SHA-256 of the raw public key. */
export const deviceIdOf = (rawPublicKey: Buffer): string => createHash("sha256").update(rawPublicKey).digest("hex");

/** Whether `signature` (base64url) is the key's over `text`. Never throws. */
export function verifyDeviceSignature(rawPublicKey: Buffer, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64url");
  if (bytes.length !== 64) return false;
  try {
    const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, rawPublicKey]), format: "der", type: "spki" });
    return verify(null, Buffer.from(text, "utf8"), key, bytes);
  } catch {
    return false; // a point that is not on the curve verifies nothing
  }
}

export interface DeviceIdentity {
  readonly deviceId: string;
  /** base64url of the raw key. */
  readonly publicKey: string;
  sign(text: string): string;
}

/**
 * This machine's identity as a client, from `<state>/identity/device.json`; created when absent. An id that does not
 * follow from the key is written anew. @throws Error naming the file when it holds no usable key
 */
export async function loadDeviceIdentity(stateDir: string, nowMs: number): Promise<DeviceIdentity> {
  const path = join(stateDir, "identity", "device.json");
  const stored = await readJsonFile(path);
  if (stored === undefined) {
    const { privateKey } = generateKeyPairSync("ed25519");
    await writeFileAtomic(path, `${JSON.stringify(toFile(privateKey, nowMs), null, 2)}\n`);
    return toIdentity(privateKey);
  }
  const fields = typeof stored === "object" && stored !== null ? stored : {};
  const pem = "privateKeyPem" in fields && typeof fields.privateKeyPem === "string" ? fields.privateKeyPem : "";
  const privateKey = parsePrivateKey(pem, path);
  const identity = toIdentity(privateKey);
  if (!("deviceId" in fields) || fields.deviceId !== identity.deviceId) {
    const createdAtMs = "createdAtMs" in fields && typeof fields.createdAtMs === "number" ? fields.createdAtMs : nowMs;
    await writeFileAtomic(path, `${JSON.stringify(toFile(privateKey, createdAtMs), null, 2)}\n`);
  }
  return identity;
}

/** An identity from the 32 bytes of an Ed25519 seed. */
export function identityFromSeed(seed: Uint8Array): DeviceIdentity {
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  return toIdentity(createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }));
}

function parsePrivateKey(pem: string, path: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // told below, without the key's text
  }
  throw new Error(`${path} holds no Ed25519 private key; move the file away to get a new device identity, then pair again`);
}

function toIdentity(privateKey: KeyObject): DeviceIdentity {
  const raw = rawOf(createPublicKey(privateKey));
  return {
    deviceId: deviceIdOf(raw),
    publicKey: raw.toString("base64url"),
    sign: (text) => sign(null, Buffer.from(text, "utf8"), privateKey).toString("base64url"),
  };
}

function toFile(privateKey: KeyObject, createdAtMs: number) {
  const publicKey = createPublicKey(privateKey);
  return {
    version: 1,
    deviceId: deviceIdOf(rawOf(publicKey)),
    publicKeyPem: publicKey.export({ type: "spki", format: "pem" }),
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }),
    createdAtMs,
  };
}
