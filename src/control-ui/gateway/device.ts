import { IDENTITY_KEY, isRecord, readJson, writeJson } from "./storage.ts";

/** The key pair by which the gateway knows this browser (spec gateway-protocol §2.4). */
export interface DeviceIdentity {
  readonly deviceId: string;
  /** base64url of the raw 32 bytes. */
  readonly publicKey: string;
  /** @returns base64url signature over the UTF-8 text */
  sign(text: string): Promise<string>;
}

/** PKCS#8 header of an Ed25519 seed. */
const PKCS8_PREFIX = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20);
const KEY_BYTES = 32;

export function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}

async function deviceIdOf(publicKey: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", publicKey));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

interface Algorithm {
  generate(): Promise<{ seed: Uint8Array<ArrayBuffer>; publicKey: Uint8Array<ArrayBuffer> }>;
  signer(seed: Uint8Array<ArrayBuffer>): Promise<(message: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>>;
}

const native: Algorithm = {
  async generate() {
    const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
    if (!("privateKey" in pair)) throw new Error("Ed25519 gave no key pair");
    const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
    const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
    return { seed: pkcs8.slice(-KEY_BYTES), publicKey };
  },
  async signer(seed) {
    const pkcs8 = new Uint8Array(PKCS8_PREFIX.length + KEY_BYTES);
    pkcs8.set(PKCS8_PREFIX);
    pkcs8.set(seed, PKCS8_PREFIX.length);
    const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
    return async (message) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, message));
  },
};

/** For browsers whose WebCrypto has no Ed25519; loaded only there. */
const portable: Algorithm = {
  async generate() {
    const { getPublicKeyAsync } = await import("@noble/ed25519");
    const seed = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    return { seed, publicKey: new Uint8Array(await getPublicKeyAsync(seed)) };
  },
  async signer(seed) {
    const { signAsync } = await import("@noble/ed25519");
    return (message) => signAsync(message, seed);
  },
};

async function withFallback<T>(task: (algorithm: Algorithm) => Promise<T>): Promise<T> {
  try {
    return await task(native);
  } catch {
    return task(portable); // NotSupportedError, or a browser that names the curve differently.
  }
}

/**
 * The stored identity, or a new one. Undefined on pages without WebCrypto (plain HTTP away from localhost): the gateway
 * then says what to do.
 */
export async function loadIdentity(): Promise<DeviceIdentity | undefined> {
  if (!globalThis.crypto?.subtle) return undefined;
  const stored = readJson(IDENTITY_KEY);
  if (isRecord(stored) && typeof stored["publicKey"] === "string" && typeof stored["privateKey"] === "string") {
    try {
      const publicKey = fromBase64Url(stored["publicKey"]);
      const seed = fromBase64Url(stored["privateKey"]);
      if (publicKey.length === KEY_BYTES && seed.length === KEY_BYTES) return await identityOf(seed, publicKey);
    } catch {
      // A damaged identity is replaced; the gateway then asks to pair again.
    }
  }
  const { seed, publicKey } = await withFallback((algorithm) => algorithm.generate());
  const identity = await identityOf(seed, publicKey);
  writeJson(IDENTITY_KEY, {
    version: 1,
    deviceId: identity.deviceId,
    publicKey: identity.publicKey,
    privateKey: toBase64Url(seed),
    createdAtMs: Date.now(),
  });
  return identity;
}

async function identityOf(seed: Uint8Array<ArrayBuffer>, publicKey: Uint8Array<ArrayBuffer>): Promise<DeviceIdentity> {
  const sign = await withFallback((algorithm) => algorithm.signer(seed));
  return {
    deviceId: await deviceIdOf(publicKey),
    publicKey: toBase64Url(publicKey),
    sign: async (text) => toBase64Url(await sign(new TextEncoder().encode(text))),
  };
}
