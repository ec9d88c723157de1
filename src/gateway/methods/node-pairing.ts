import { z } from "zod";
import type { NodePairingRequest, NodePairingStore } from "../../pairing/index.ts";
import { defineMethod, invalidRequest, type GatewayMethod } from "../protocol/index.ts";
import { empty, nes } from "./schemas.ts";

interface NodePairingContext {
  readonly nodePairing: NodePairingStore;
}

const texts = z.array(z.string()).optional();
const label = z.string().optional();

const request = defineMethod({
  name: "node.pair.request", scope: "operator.pairing",
  params: z.strictObject({
    nodeId: nes, displayName: label, platform: label, version: label, coreVersion: label, uiVersion: label, deviceFamily: label, modelIdentifier: label, caps: texts, commands: texts, remoteIp: label,
    silent: z.boolean().optional(),
  }),
  handle: async (claim, { nodePairing }: NodePairingContext) => ({ status: "pending", ...(await nodePairing.request(claim)) }),
});

const list = defineMethod({ name: "node.pair.list", scope: "operator.pairing", params: empty, handle: (_params, { nodePairing }: NodePairingContext) => nodePairing.list() });

const approve = defineMethod({
  name: "node.pair.approve", scope: "operator.pairing", params: z.strictObject({ requestId: nes }),
  async handle({ requestId }, { nodePairing }: NodePairingContext) {
    const node = await nodePairing.approve(requestId);
    if (!node) throw invalidRequest("unknown requestId");
    return { requestId, node };
  },
});

const reject = defineMethod({
  name: "node.pair.reject", scope: "operator.pairing", params: z.strictObject({ requestId: nes }),
  async handle({ requestId }, { nodePairing }: NodePairingContext) {
    const rejected = await nodePairing.reject(requestId);
    if (!rejected) throw invalidRequest("unknown requestId");
    return rejected;
  },
});

const verify = defineMethod({
  name: "node.pair.verify", scope: "operator.pairing", params: z.strictObject({ nodeId: nes, token: nes }),
  handle({ nodeId, token }, { nodePairing }: NodePairingContext) {
    const node = nodePairing.verify(nodeId, token);
    return node ? { ok: true, node } : { ok: false };
  },
});

const rename = defineMethod({
  name: "node.rename", scope: "operator.pairing", params: z.strictObject({ nodeId: nes, displayName: nes }),
  async handle({ nodeId, displayName }, { nodePairing }: NodePairingContext) {
    const name = displayName.trim();
    if (name === "") throw invalidRequest("displayName required");
    if (!(await nodePairing.rename(nodeId, name))) throw invalidRequest("unknown nodeId");
    return { nodeId, displayName: name };
  },
});

/** Tells operators what nodes ask and what became of it. The result ends it. */
export function announceNodePairing(store: NodePairingStore, broadcast: (event: string, payload: NodePairingRequest | object, options: { readonly dropIfSlow: boolean }) => void): () => void {
  return store.on((event) => {
    if (event.kind === "requested") return broadcast("node.pair.requested", event.request, { dropIfSlow: true });
    const { requestId, nodeId, decision, ts } = event;
    broadcast("node.pair.resolved", { requestId, nodeId, decision, ts }, { dropIfSlow: true });
  });
}

export const nodePairingMethods: readonly GatewayMethod<NodePairingContext>[] = [request, list, approve, reject, verify, rename];
