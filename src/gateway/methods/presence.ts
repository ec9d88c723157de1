import { z } from "zod";
import { defineMethod, invalidRequest } from "../protocol/index.ts";
import type { GatewayMethod } from "../protocol/index.ts";
import type { PresenceStore, PresenceUpdate } from "../ws/index.ts";

export interface PresenceMethodsContext {
  readonly presence: PresenceStore;
  /** Queues a line for the main session's next run; `contextKey` replaces an older line of the same source. */
  readonly enqueueSystemEvent: (text: string, options: { readonly contextKey?: string | undefined }) => void;
  /** Sends `presence` with its stateVersion to who may see it. */
  readonly broadcastPresence: () => void;
}

const systemPresence = defineMethod({
  name: "system-presence",
  scope: "operator.read",
  params: z.strictObject({}),
  handle: (_params, { presence }: PresenceMethodsContext) => presence.list(),
});

const label = z.string().optional();

const systemEvent = defineMethod({
  name: "system-event",
  scope: "operator.admin",
  params: z.looseObject({
    text: z.string().optional(),
    deviceId: label,
    instanceId: label,
    host: label,
    ip: label,
    mode: label,
    version: label,
    platform: label,
    deviceFamily: label,
    modelIdentifier: label,
    lastInputSeconds: z.number().optional(),
    reason: label,
    roles: z.array(z.string()).optional(),
    scopes: z.array(z.string()).optional(),
    tags: z.array(z.string()).optional(),
  }),
  handle(params, ctx: PresenceMethodsContext) {
    const text = params.text?.trim() ?? "";
    if (text === "") throw invalidRequest("text required");
    if (text.startsWith("Node:")) updateNode(text, params, ctx);
    else ctx.enqueueSystemEvent(text, {});
    ctx.broadcastPresence();
    return { ok: true };
  },
});

type NodeFields = Omit<PresenceUpdate, "text"> & { readonly [key: string]: unknown };

/** Refreshes the node's presence; only a real change of it is worth a line to the model (spec: gateway-methods §4.1). */
function updateNode(text: string, params: NodeFields, ctx: PresenceMethodsContext): void {
  const parsed = parseNodeText(text);
  const update: PresenceUpdate = {
    host: params.host ?? parsed.host,
    ip: params.ip ?? parsed.ip,
    version: params.version ?? parsed.version,
    mode: params.mode ?? parsed.mode,
    reason: params.reason ?? parsed.reason,
    lastInputSeconds: params.lastInputSeconds ?? parsed.lastInputSeconds,
    platform: params.platform,
    deviceFamily: params.deviceFamily,
    modelIdentifier: params.modelIdentifier,
    deviceId: params.deviceId,
    instanceId: params.instanceId,
    roles: params.roles,
    scopes: params.scopes,
    tags: params.tags,
    text,
  };
  const key = params.deviceId ?? params.instanceId ?? update.host ?? update.ip ?? text.slice(0, 64);
  const before = ctx.presence.upsert(key, update);
  const reason = update.reason?.toLowerCase() ?? "";
  const isRoutine = reason.startsWith("periodic") || reason.startsWith("heartbeat");
  const fields = ["host", "ip", "version", "mode"] as const;
  const changed = fields.some((f) => update[f] !== undefined && update[f] !== before?.[f]) || (!isRoutine && reason !== (before?.reason?.toLowerCase() ?? ""));
  if (changed) ctx.enqueueSystemEvent(text, { contextKey: `node:${key.toLowerCase()}` });
}

/** `Node: host (ip) · app v · last input Ns ago · mode m · reason r`. Parts that are not there stay undefined. */
export function parseNodeText(text: string): PresenceUpdate {
  const [head = "", ...rest] = text.slice("Node:".length).split("·").map((part) => part.trim().slice(0, 256));
  const paren = head.lastIndexOf(" (");
  const hasIp = paren > 0 && head.endsWith(")");
  const after = (prefix: string): string | undefined => rest.find((part) => part.startsWith(prefix))?.slice(prefix.length).trim() || undefined;
  const seconds = Number(after("last input ")?.replace(/s ago$/, ""));
  return {
    host: (hasIp ? head.slice(0, paren) : head).trim() || undefined,
    ip: hasIp ? head.slice(paren + 2, -1) : undefined,
    version: after("app "),
    lastInputSeconds: Number.isFinite(seconds) ? seconds : undefined,
    mode: after("mode "),
    reason: after("reason "),
  };
}

export const presenceMethods: readonly GatewayMethod<PresenceMethodsContext>[] = [systemPresence, systemEvent];
