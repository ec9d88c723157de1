export { createChannelPairingStore, DEFAULT_ACCOUNT_ID, MAX_PENDING_PER_ACCOUNT, PAIRING_CODE_TTL_MS } from "./channel-store.ts";
export type { ApprovedSender, ChannelPairingStore, ChannelPairingStoreDeps, PairingKey, PairingOutcome } from "./channel-store.ts";
export type { ChannelPairingRequest } from "./channel-records.ts";
export { createDeviceAuthStore } from "./device-auth.ts";
export type { DeviceAuthStore, StoredDeviceToken } from "./device-auth.ts";
export type { DeviceToken, PairedDevice, PendingDevice } from "./device-records.ts";
export { createDeviceStore, meaningfulScopes, PENDING_TTL_MS } from "./devices.ts";
export type {
  DeviceClaim,
  DeviceStore,
  DeviceStoreDeps,
  DeviceStoreEvent,
  Granted,
  Granter,
  PairingReason,
} from "./devices.ts";
export { decodePublicKey, deviceIdOf, identityFromSeed, loadDeviceIdentity, signedText, verifyDeviceSignature } from "./identity.ts";
export type { DeviceIdentity, SignedFields } from "./identity.ts";
export { createPathLock } from "./json-file.ts";
export type { PathLock } from "./json-file.ts";
export { createNodePairingStore, type NodePairingRequest, type NodePairingStore } from "./node-pairing.ts";
export { addOwner, hasOwner } from "./owner.ts";
