import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../infra/clock.ts";
import { createEmitter } from "../infra/emitter.ts";
import type { Logger } from "../infra/log.ts";
import { coversScope, coversScopes, createToken, secretEquals } from "../security/index.ts";
import { parsePairedFile, parsePendingFile } from "./device-records.ts";
import type { DeviceToken, PairedDevice, PairedFile, PendingDevice, PendingFile } from "./device-records.ts";
import { createJsonFile, createPathLock } from "./json-file.ts";
import type { PathLock } from "./json-file.ts";

export const PENDING_TTL_MS = 5 * 60_000;
/** Beyond this the oldest request is forgotten. */
const MAX_PENDING = 64;

export type PairingReason = "not-paired" | "role-upgrade" | "scope-upgrade" | "command-upgrade";

export interface DeviceClaim {
  readonly deviceId: string;
  readonly publicKey: string;
  readonly role: string;
  readonly scopes: readonly string[];
  /** What a node offers; undefined leaves the approved list alone. */
  readonly commands?: readonly string[] | undefined;
  readonly displayName?: string | undefined;
  readonly platform?: string | undefined;
  readonly deviceFamily?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientMode?: string | undefined;
  readonly remoteIp?: string | undefined;
}

export type DeviceStoreEvent =
  | { readonly kind: "requested"; readonly request: PendingDevice }
  | { readonly kind: "resolved"; readonly requestId: string; readonly deviceId: string; readonly decision: "approved" | "rejected"; readonly ts: number }
  /** Sockets of this device (and role, when given) must close now; `by` is the connection that asked. */
  | { readonly kind: "revoked"; readonly deviceId: string; readonly role?: string | undefined; readonly by?: string | undefined };

/** Who asks for a change: what they grant is bounded by what they hold. */
export interface Granter {
  readonly scopes: readonly string[];
  readonly connId?: string | undefined;
}

export type Granted<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "unknown" }
  | { readonly kind: "forbidden"; readonly missingScope: string };

export interface DeviceStore {
  get(deviceId: string): PairedDevice | undefined;
  /** Requests newest first, without expired ones. */
  list(): { readonly pending: readonly PendingDevice[]; readonly paired: readonly PairedDevice[] };
  /** Why this claim needs approval; undefined when it is covered by what was approved. */
  reasonToPair(claim: DeviceClaim): PairingReason | undefined;
  /** Stores or refreshes the one request of a device; a repeat keeps the id and is not announced again. */
  request(claim: DeviceClaim): Promise<{ request: PendingDevice; created: boolean }>;
  /** The server itself approves exactly this claim; what else waits for the device keeps waiting. */
  approveSilently(claim: DeviceClaim): Promise<PairedDevice>;
  /** Nothing beyond the granter's own scopes is granted. */
  approve(requestId: string, by: Granter): Promise<Granted<PairedDevice>>;
  reject(requestId: string): Promise<{ requestId: string; deviceId: string } | undefined>;
  remove(deviceId: string, by?: Granter): Promise<boolean>;
  /** The scopes of the token, when it is this device's live token for `role`. */
  verifyToken(claim: { deviceId: string; role: string; token: string }): readonly string[] | undefined;
  /** Refreshes labels and last use; keeps a live token that covers `scopes`, else replaces it by one of exactly these. */
  ensureToken(claim: DeviceClaim): Promise<DeviceToken | undefined>;
  rotateToken(target: { deviceId: string; role: string; scopes?: readonly string[] | undefined }, by: Granter): Promise<Granted<DeviceToken>>;
  revokeToken(target: { deviceId: string; role: string }, by: Granter): Promise<number | undefined>;
  on(listener: (event: DeviceStoreEvent) => void): () => void;
}

export interface DeviceStoreDeps {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lock?: PathLock | undefined;
}

/** Paired devices and requests, on `<state>/devices/{paired,pending}.json` (spec: gateway-protocol §2.7, security record A2). */
export function createDeviceStore(deps: DeviceStoreDeps): DeviceStore {
  const lock = deps.lock ?? createPathLock();
  const file = <T>(name: string, empty: T, parse: (value: unknown) => T) =>
    createJsonFile<T>({ path: join(deps.stateDir, "devices", name), empty, parse, lock, log: deps.log });
  const paired = file<PairedFile>("paired.json", {}, parsePairedFile);
  const pending = file<PendingFile>("pending.json", {}, parsePendingFile);
  const events = createEmitter<DeviceStoreEvent>((err) => deps.log.error("device listener failed", { err }));

  const get = (deviceId: string): PairedDevice | undefined => own(paired.read(), deviceId);
  const isLive = (request: PendingDevice): boolean => request.ts > deps.clock.now() - PENDING_TTL_MS;

  /** Takes a live request out of the file, so that of two decisions only one is made. */
  const takeRequest = async (requestId: string): Promise<PendingDevice | undefined> => {
    let taken: PendingDevice | undefined;
    await pending.update((current) => {
      const request = own(current, requestId);
      if (!request) return current;
      if (isLive(request)) taken = request;
      return without(current, requestId);
    });
    return taken;
  };

  /** Changes one device under the lock; `change` returning undefined leaves it alone. */
  const changeDevice = async (deviceId: string, change: (device: PairedDevice) => PairedDevice | undefined): Promise<PairedDevice | undefined> => {
    let result: PairedDevice | undefined;
    await paired.update((current) => {
      const device = own(current, deviceId);
      result = device && change(device);
      return result ? { ...current, [deviceId]: result } : current;
    });
    return result;
  };

  return {
    get,
    on: (listener) => events.on(listener),
    list: () => ({
      pending: Object.values(pending.read()).filter(isLive).sort((a, b) => b.ts - a.ts),
      paired: Object.values(paired.read()).sort((a, b) => b.approvedAtMs - a.approvedAtMs),
    }),

    reasonToPair(claim) {
      const device = get(claim.deviceId);
      if (!device || device.publicKey !== claim.publicKey) return "not-paired";
      if (!device.roles.includes(claim.role)) return "role-upgrade";
      if (!coversScopes(claim.role, device.approvedScopes, claim.scopes)) return "scope-upgrade";
      const approved = device.approvedCommands;
      if (claim.role === "node" && approved && claim.commands?.some((c) => !approved.includes(c))) return "command-upgrade";
      return undefined;
    },

    async request(claim) {
      const now = deps.clock.now();
      let request: PendingDevice | undefined;
      let created = false;
      await pending.update((current) => {
        const live = Object.values(current).filter(isLive).sort((a, b) => b.ts - a.ts);
        const known = live.find((r) => r.deviceId === claim.deviceId && r.publicKey === claim.publicKey);
        created = known === undefined;
        request = {
          ...labelsOf(claim),
          requestId: known?.requestId ?? randomUUID(),
          deviceId: claim.deviceId,
          publicKey: claim.publicKey,
          role: claim.role,
          roles: union(known?.roles ?? [], [claim.role]),
          scopes: union(known?.scopes ?? [], meaningfulScopes(claim.role, claim.scopes)),
          commands: claim.commands ?? known?.commands,
          silent: false,
          isRepair: get(claim.deviceId) !== undefined,
          ts: now,
        };
        const others = live.filter((r) => r.deviceId !== claim.deviceId).slice(0, MAX_PENDING - 1);
        return Object.fromEntries([request, ...others].map((r) => [r.requestId, r]));
      });
      if (!request) throw new Error("pairing request was not stored");
      if (created) events.emit({ kind: "requested", request });
      return { request, created };
    },

    async approveSilently(claim) {
      const ts = deps.clock.now();
      const requestId = randomUUID();
      const scopes = meaningfulScopes(claim.role, claim.scopes);
      const request: PendingDevice = { ...claim, scopes, requestId, roles: [claim.role], silent: true, isRepair: false, ts };
      let device: PairedDevice | undefined;
      await paired.update((current) => {
        device = approvedDevice(own(current, claim.deviceId), request, ts);
        return { ...current, [device.deviceId]: device };
      });
      if (!device) throw new Error("paired device was not stored");
      events.emit({ kind: "resolved", requestId, deviceId: claim.deviceId, decision: "approved", ts });
      return device;
    },

    async approve(requestId, by) {
      const seen = own(pending.read(), requestId);
      if (!seen || !isLive(seen)) return { kind: "unknown" };
      const missing = beyond(seen.scopes, by);
      if (missing !== undefined) return { kind: "forbidden", missingScope: missing };
      const request = await takeRequest(requestId);
      if (!request) return { kind: "unknown" };
      // The request may have grown between the look and the taking.
      const grown = beyond(request.scopes, by);
      if (grown !== undefined) {
        await pending.update((current) => ({ ...current, [requestId]: request }));
        return { kind: "forbidden", missingScope: grown };
      }
      const ts = deps.clock.now();
      let device: PairedDevice | undefined;
      await paired.update((current) => {
        device = approvedDevice(own(current, request.deviceId), request, ts);
        return { ...current, [device.deviceId]: device };
      });
      if (!device) return { kind: "unknown" };
      events.emit({ kind: "resolved", requestId, deviceId: request.deviceId, decision: "approved", ts });
      return { kind: "ok", value: device };
    },

    async reject(requestId) {
      const request = await takeRequest(requestId);
      if (!request) return undefined;
      const { deviceId } = request;
      events.emit({ kind: "resolved", requestId, deviceId, decision: "rejected", ts: deps.clock.now() });
      return { requestId, deviceId };
    },

    async remove(deviceId, by) {
      let removed = false;
      await paired.update((current) => {
        removed = own(current, deviceId) !== undefined;
        return removed ? without(current, deviceId) : current;
      });
      if (removed) events.emit({ kind: "revoked", deviceId, by: by?.connId });
      return removed;
    },

    verifyToken({ deviceId, role, token }) {
      const known = own(get(deviceId)?.tokens ?? {}, role);
      if (!known || known.revokedAtMs !== undefined || !secretEquals(token, known.token)) return undefined;
      return known.scopes;
    },

    async ensureToken(claim) {
      const now = deps.clock.now();
      const device = await changeDevice(claim.deviceId, (known) => {
        if (!known.roles.includes(claim.role) || !coversScopes(claim.role, known.approvedScopes, claim.scopes)) return undefined;
        const token = own(known.tokens, claim.role);
        const keeps = token && token.revokedAtMs === undefined && coversScopes(claim.role, token.scopes, claim.scopes);
        const next: DeviceToken = keeps
          ? { ...token, lastUsedAtMs: now }
          : {
              token: createToken(),
              role: claim.role,
              scopes: sorted(meaningfulScopes(claim.role, claim.scopes)),
              createdAtMs: token?.createdAtMs ?? now,
              rotatedAtMs: token ? now : undefined,
              lastUsedAtMs: now,
            };
        return {
          ...known,
          ...labelsOf(claim),
          // Command policy reads a node's platform, so it stays as it was approved.
          platform: claim.role === "node" ? (known.platform ?? claim.platform) : (claim.platform ?? known.platform),
          deviceFamily: claim.role === "node" ? (known.deviceFamily ?? claim.deviceFamily) : (claim.deviceFamily ?? known.deviceFamily),
          approvedCommands: claim.role === "node" ? (known.approvedCommands ?? claim.commands) : known.approvedCommands,
          tokens: { ...known.tokens, [claim.role]: next },
        };
      });
      return device && own(device.tokens, claim.role);
    },

    async rotateToken({ deviceId, role, scopes }, by) {
      let result = { kind: "unknown" } as Granted<DeviceToken>;
      await changeDevice(deviceId, (device) => {
        const token = own(device.tokens, role);
        if (!device.roles.includes(role)) return undefined;
        const wanted = sorted(scopes ?? token?.scopes ?? meaningfulScopes(role, device.approvedScopes));
        if (!coversScopes(role, device.approvedScopes, wanted)) return undefined;
        const missing = beyond(wanted, by);
        if (missing !== undefined) {
          result = { kind: "forbidden", missingScope: missing };
          return undefined;
        }
        const now = deps.clock.now();
        const next: DeviceToken = { token: createToken(), role, scopes: wanted, createdAtMs: token?.createdAtMs ?? now, rotatedAtMs: now };
        result = { kind: "ok", value: next };
        return { ...device, tokens: { ...device.tokens, [role]: next } };
      });
      if (result.kind === "ok") events.emit({ kind: "revoked", deviceId, role, by: by.connId });
      return result;
    },

    async revokeToken({ deviceId, role }, by) {
      const now = deps.clock.now();
      const device = await changeDevice(deviceId, (known) => {
        const token = own(known.tokens, role);
        return token && { ...known, tokens: { ...known.tokens, [role]: { ...token, revokedAtMs: now } } };
      });
      if (!device) return undefined;
      events.emit({ kind: "revoked", deviceId, role, by: by.connId });
      return now;
    },
  };
}

/** The record after approval: roles and scopes merged; a live token keeps its secret, so that the waiting client can use it. */
function approvedDevice(known: PairedDevice | undefined, request: PendingDevice, now: number): PairedDevice {
  const same = known?.publicKey === request.publicKey ? known : undefined;
  const approvedScopes = union(same?.approvedScopes ?? [], request.scopes);
  const tokens: Record<string, DeviceToken> = { ...same?.tokens };
  for (const role of request.roles) {
    const old = own(tokens, role);
    const live = old?.revokedAtMs === undefined ? old : undefined;
    tokens[role] = {
      token: live?.token ?? createToken(),
      role,
      scopes: sorted(union(live?.scopes ?? [], meaningfulScopes(role, request.scopes))),
      createdAtMs: live?.createdAtMs ?? now,
    };
  }
  return {
    ...same,
    ...labelsOf(request),
    deviceId: request.deviceId,
    publicKey: request.publicKey,
    role: request.role,
    roles: union(same?.roles ?? [], request.roles),
    scopes: approvedScopes,
    approvedScopes,
    approvedCommands: request.commands ?? same?.approvedCommands,
    tokens,
    createdAtMs: same?.createdAtMs ?? now,
    approvedAtMs: now,
  };
}

/** Only names a record can lawfully have, so that "constructor" is not found on the prototype. */
function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}

/** The first operator scope the granter does not hold itself. */
const beyond = (scopes: readonly string[], by: Granter): string | undefined =>
  scopes.find((scope) => scope.startsWith("operator.") && !coversScope(by.scopes, scope));

const union = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])];
const sorted = (scopes: readonly string[]): string[] => [...new Set(scopes)].sort();

/** Operator scopes mean nothing to a node and must not come back to life when its role is widened. */
export const meaningfulScopes = (role: string, scopes: readonly string[]): readonly string[] =>
  scopes.filter((scope) => scope.startsWith("operator.") === (role === "operator"));

function labelsOf(from: DeviceClaim | PendingDevice) {
  const { displayName, platform, deviceFamily, clientId, clientMode, remoteIp } = from;
  const labels = { displayName, platform, deviceFamily, clientId, clientMode, remoteIp };
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined));
}
