import { decodePublicKey, deviceIdOf, signedText, verifyDeviceSignature } from "../../pairing/index.ts";
import type { ConnectParams, DeviceProof } from "../protocol/index.ts";

const MAX_SKEW_MS = 120_000;

export type ProofResult =
  /** base64url of the raw key: the one spelling that is stored. */
  | { readonly ok: true; readonly publicKey: string }
  | { readonly ok: false; readonly reason: string; readonly message: string };

/** Checks that the client holds the device's key and signed this very challenge (spec: gateway-protocol §2.4). */
export function checkDeviceProof(device: DeviceProof, params: ConnectParams, role: string, nonce: string, nowMs: number): ProofResult {
  const refuse = (reason: string, message: string): ProofResult => ({ ok: false, reason, message });
  const raw = decodePublicKey(device.publicKey);
  if (!raw) return refuse("device-public-key", "device public key invalid");
  if (deviceIdOf(raw) !== device.id) return refuse("device-id-mismatch", "device identity mismatch");
  if (Math.abs(nowMs - device.signedAt) > MAX_SKEW_MS) return refuse("device-signature-stale", "device signature expired");
  if (device.nonce.trim() === "") return refuse("device-nonce-missing", "device nonce required");
  if (device.nonce !== nonce) return refuse("device-nonce-mismatch", "device nonce mismatch");
  const text = signedText({
    deviceId: device.id,
    clientId: params.client.id,
    clientMode: params.client.mode,
    role,
    scopes: params.scopes ?? [],
    signedAtMs: device.signedAt,
    token: params.auth?.token ?? params.auth?.deviceToken ?? "",
    nonce: device.nonce,
  });
  if (!verifyDeviceSignature(raw, text, device.signature)) return refuse("device-signature", "device signature invalid");
  return { ok: true, publicKey: raw.toString("base64url") };
}
