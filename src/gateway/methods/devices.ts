import { z } from "zod";
import type { Logger } from "../../infra/log.ts";
import type { DeviceStore, Granted, Granter, PairedDevice, PendingDevice } from "../../pairing/index.ts";
import { defineMethod, invalidRequest } from "../protocol/index.ts";
import type { Caller, DevicePairRequest, DevicePairResolved, GatewayMethod, PairedDeviceSummary } from "../protocol/index.ts";

export interface DeviceMethodsContext {
  readonly devices: DeviceStore;
  readonly log: Logger;
}

const text = z.string().min(1);
const scope = "operator.pairing";
const granter = (caller: Caller): Granter => ({ scopes: caller.scopes, connId: caller.connId });

/** The granted value. @throws GatewayError in the wire's words: what the caller may not grant is a missing scope */
function unwrap<T>(granted: Granted<T>, unknown: string): T {
  switch (granted.kind) {
    case "ok":
      return granted.value;
    case "unknown":
      throw invalidRequest(unknown);
    case "forbidden":
      throw invalidRequest(`missing scope: ${granted.missingScope}`);
  }
}

/** Without what only the server may know. */
export function toPairRequest(pending: PendingDevice): DevicePairRequest {
  const { deviceFamily: _family, commands: _commands, ...request } = pending;
  return request;
}

export function toDeviceSummary(device: PairedDevice): PairedDeviceSummary {
  const { deviceId, publicKey, displayName, platform, clientId, clientMode, role, roles, scopes, remoteIp, createdAtMs, approvedAtMs } = device;
  const tokens = Object.values(device.tokens).map(({ token: _secret, ...rest }) => rest);
  return { deviceId, publicKey, displayName, platform, clientId, clientMode, role, roles, scopes, remoteIp, createdAtMs, approvedAtMs, tokens };
}

const list = defineMethod({
  name: "device.pair.list",
  scope,
  params: z.strictObject({}),
  handle(_params, { devices }: DeviceMethodsContext) {
    const { pending, paired } = devices.list();
    return { pending: pending.map(toPairRequest), paired: paired.map(toDeviceSummary) };
  },
});

const approve = defineMethod({
  name: "device.pair.approve",
  scope,
  params: z.strictObject({ requestId: text }),
  async handle({ requestId }, { devices, log }: DeviceMethodsContext, { caller }) {
    const device = unwrap(await devices.approve(requestId, granter(caller)), "unknown requestId");
    log.info("device approved", { deviceId: device.deviceId, roles: device.roles });
    return { requestId, device: toDeviceSummary(device) };
  },
});

const reject = defineMethod({
  name: "device.pair.reject",
  scope,
  params: z.strictObject({ requestId: text }),
  async handle({ requestId }, { devices }: DeviceMethodsContext) {
    const rejected = await devices.reject(requestId);
    if (!rejected) throw invalidRequest("unknown requestId");
    return rejected;
  },
});

const remove = defineMethod({
  name: "device.pair.remove",
  scope,
  params: z.strictObject({ deviceId: text }),
  async handle({ deviceId }, { devices, log }: DeviceMethodsContext, { caller }) {
    if (!(await devices.remove(deviceId, granter(caller)))) throw invalidRequest("unknown deviceId");
    log.info("device removed", { deviceId });
    return { deviceId };
  },
});

const rotate = defineMethod({
  name: "device.token.rotate",
  scope,
  params: z.strictObject({ deviceId: text, role: text, scopes: z.array(text).optional() }),
  async handle(params, { devices, log }: DeviceMethodsContext, { caller }) {
    const { deviceId, role } = params;
    const issued = unwrap(await devices.rotateToken(params, granter(caller)), "unknown deviceId/role");
    log.info("device token rotated", { deviceId, role });
    return { deviceId, role, token: issued.token, scopes: issued.scopes, rotatedAtMs: issued.rotatedAtMs };
  },
});

const revoke = defineMethod({
  name: "device.token.revoke",
  scope,
  params: z.strictObject({ deviceId: text, role: text }),
  async handle({ deviceId, role }, { devices, log }: DeviceMethodsContext, { caller }) {
    const revokedAtMs = await devices.revokeToken({ deviceId, role }, granter(caller));
    if (revokedAtMs === undefined) throw invalidRequest("unknown deviceId/role");
    log.info("device token revoked", { deviceId, role });
    return { deviceId, role, revokedAtMs };
  },
});

/** Announces requests and decisions to operators who may pair. The result stops it. */
export function announceDevices(
  devices: DeviceStore,
  broadcast: (event: string, payload: unknown, options: { readonly dropIfSlow: boolean }) => void,
): () => void {
  return devices.on((event) => {
    if (event.kind === "requested") broadcast("device.pair.requested", toPairRequest(event.request), { dropIfSlow: true });
    if (event.kind !== "resolved") return;
    const { requestId, deviceId, decision, ts } = event;
    broadcast("device.pair.resolved", { requestId, deviceId, decision, ts } satisfies DevicePairResolved, { dropIfSlow: true });
  });
}

/** Spec: gateway-methods §4.8. */
export const deviceMethods: readonly GatewayMethod<DeviceMethodsContext>[] = [list, approve, reject, remove, rotate, revoke];
