import { z } from "zod";
import { NodeInvokeError, type ConnectedNode } from "../../nodes/index.ts";
import type { DeviceStore, PairedDevice } from "../../pairing/index.ts";
import type { Clock } from "../../infra/clock.ts";
import type { GatewayNodes } from "../nodes.ts";
import { defineMethod, GatewayError, invalidRequest, unavailable, type GatewayMethod, type MethodCall } from "../protocol/index.ts";
import { empty } from "./schemas.ts";

interface NodeMethodsContext {
  readonly nodes: GatewayNodes;
  readonly devices: DeviceStore;
  readonly clock: Clock;
}

const text = z.string().min(1);
/** A node's files and pictures come as base64; the socket bounds them. */
const payloadText = z.unknown().optional();
/** What a node may be told about a command; whether it was approved the node asks for itself. */
const RUN_PARAMS = ["command", "rawCommand", "cwd", "env", "timeoutMs", "needsScreenRecording", "agentId", "sessionKey", "runId"];

type NodeRow = Omit<ConnectedNode, "connId" | "connectedAtMs"> & { readonly connectedAtMs?: number; readonly paired: boolean; readonly connected: boolean };

/** Connected and paired nodes; the connected ones first, then by name. */
export function nodeRows({ nodes, devices }: Pick<NodeMethodsContext, "nodes" | "devices">): NodeRow[] {
  const { registry } = nodes;
  const paired = new Map(devices.list().paired.filter((device) => device.roles?.includes("node") ?? device.role === "node").map((device) => [device.deviceId, device]));
  const rows = [
    ...registry.list().map(({ connId: _connId, ...node }): NodeRow => ({ ...node, commands: registry.commandsOf(node), paired: paired.has(node.nodeId), connected: true })),
    ...[...paired.values()].filter((device) => !registry.get(device.deviceId)).map((device) => offline(device)),
  ];
  return rows.toSorted((a, b) => Number(b.connected) - Number(a.connected) || (a.displayName ?? a.nodeId).localeCompare(b.displayName ?? b.nodeId));
}

const offline = (device: PairedDevice): NodeRow => ({
  nodeId: device.deviceId, displayName: device.displayName, platform: device.platform, deviceFamily: device.deviceFamily, remoteIp: device.remoteIp, caps: [], commands: device.approvedCommands ?? [], paired: true, connected: false,
});

/** The wire's words for what a node could not do. */
async function refusals<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (err) {
    if (!(err instanceof NodeInvokeError)) throw err;
    if (err.kind === "not-allowed") throw invalidRequest(err.message, err.details);
    throw unavailable(err.message, { details: err.details });
  }
}

const list = defineMethod({
  name: "node.list", scope: "operator.read", params: empty,
  handle: (_params, ctx: NodeMethodsContext) => ({ ts: ctx.clock.now(), nodes: nodeRows(ctx) }),
});

const describe = defineMethod({
  name: "node.describe", scope: "operator.read", params: z.strictObject({ nodeId: text }),
  handle({ nodeId }, ctx: NodeMethodsContext) {
    const row = nodeRows(ctx).find((node) => node.nodeId === nodeId);
    if (!row) throw invalidRequest("unknown nodeId");
    return { ts: ctx.clock.now(), ...row };
  },
});

const invoke = defineMethod({
  name: "node.invoke", scope: "operator.write",
  params: z.strictObject({ nodeId: text, command: text, params: z.unknown().optional(), timeoutMs: z.int().min(1).max(3_600_000).optional(), idempotencyKey: text }),
  async handle({ nodeId, command, params, timeoutMs, idempotencyKey }, { nodes }: NodeMethodsContext, call) {
    if (command.startsWith("system.execApprovals.")) throw invalidRequest("system.execApprovals.* is reached by exec.approvals.node.get and exec.approvals.node.set only");
    const sent = command === "system.run" ? runParams(params) : params;
    const result = await refusals(nodes.registry.invoke({ nodeId, command, params: sent, timeoutMs, idempotencyKey, signal: call.signal }));
    return { ok: true, nodeId, command, payload: result.payload ?? null, payloadJSON: result.payloadJSON };
  },
});

const approvalsGet = defineMethod({
  name: "exec.approvals.node.get", scope: "operator.admin", params: z.strictObject({ nodeId: text }),
  handle: ({ nodeId }, { nodes }: NodeMethodsContext, call) => approvals(nodes, nodeId, "get", {}, call),
});

const approvalsSet = defineMethod({
  name: "exec.approvals.node.set", scope: "operator.admin", params: z.strictObject({ nodeId: text, file: z.looseObject({}), baseHash: z.string().optional() }),
  handle: ({ nodeId, ...params }, { nodes }: NodeMethodsContext, call) => approvals(nodes, nodeId, "set", params, call),
});

/** The node's own approvals file, as the node answers. */
async function approvals(nodes: GatewayNodes, nodeId: string, action: "get" | "set", params: object, call: MethodCall): Promise<unknown> {
  const { payload } = await refusals(nodes.registry.invoke({ nodeId, command: `system.execApprovals.${action}`, params, signal: call.signal, byAdmin: true }));
  return payload ?? {};
}

function runParams(params: unknown): Record<string, unknown> {
  const given = typeof params === "object" && params !== null ? (params as Record<string, unknown>) : {};
  return Object.fromEntries(RUN_PARAMS.filter((key) => given[key] !== undefined).map((key) => [key, given[key]]));
}

/** The device behind a node's connection. @throws GatewayError */
function nodeOf(call: MethodCall): string {
  if (call.caller.deviceId === undefined) throw new GatewayError("INVALID_REQUEST", "device identity required");
  return call.caller.deviceId;
}

const result = defineMethod({
  name: "node.invoke.result", scope: "node",
  params: z.strictObject({
    id: text, nodeId: text, ok: z.boolean(), payload: payloadText, payloadJSON: payloadText, error: z.looseObject({ code: z.string().nullish(), message: z.string().nullish() }).nullish(),
  }),
  handle({ id, nodeId, ok, payload, payloadJSON, error }, { nodes }: NodeMethodsContext, call) {
    if (nodeId !== nodeOf(call)) throw invalidRequest("nodeId mismatch");
    const reply = {
      id, ok, payload: payload ?? (typeof payloadJSON === "string" || payloadJSON === null ? undefined : payloadJSON), ...(typeof payloadJSON === "string" ? { payloadJSON } : {}),
      ...(error ? { error: { code: error.code ?? undefined, message: error.message ?? undefined } } : {}),
    };
    return nodes.registry.settle(call.caller.connId, reply) ? { ok: true } : { ok: true, ignored: true };
  },
});

const event = defineMethod({
  name: "node.event", scope: "node",
  params: z.strictObject({ event: text, payload: z.unknown().optional(), payloadJSON: z.string().nullish() }),
  handle({ event: name, payload, payloadJSON }, { nodes }: NodeMethodsContext, call) {
    nodes.handle({ connId: call.caller.connId, nodeId: nodeOf(call) }, { event: name, payload: fields(payload ?? payloadJSON) });
    return { ok: true };
  },
});

/** An object, or the JSON of one; anything else is as if nothing were said. */
function fields(value: unknown): Record<string, unknown> {
  let read = value;
  if (typeof value === "string") {
    try {
      read = JSON.parse(value);
    } catch {
      return {};
    }
  }
  return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as Record<string, unknown>) : {};
}

export const nodeMethods: readonly GatewayMethod<NodeMethodsContext>[] = [list, describe, invoke, approvalsGet, approvalsSet, result, event];
