import type { NodeRegistry } from "../../../nodes/index.ts";

/** A node as the tools show it. */
export interface NodeSummary {
  readonly nodeId: string;
  readonly displayName?: string | undefined;
  readonly connected: boolean;
  readonly commands: readonly string[];
  readonly [field: string]: unknown;
}

/** Nodes as the agent may use them; given by the room that knows devices. */
export interface NodeActions {
  list(): readonly NodeSummary[];
  invoke: NodeRegistry["invoke"];
  /** Devices that want to become nodes. */
  pending(): readonly unknown[];
  /** Reject with a message for the model. */
  approve(requestId: string): Promise<unknown>;
  reject(requestId: string): Promise<unknown>;
  /** Keeps what a node made. Returns its path. */
  save(bytes: Uint8Array, mimeType: string, name: string): Promise<string>;
}

/** The node that `wanted` names by id, name or the beginning of its id; without it the only one there is. @throws Error */
export function pickNode(actions: NodeActions, wanted: string | undefined, command: string): NodeSummary {
  const connected = actions.list().filter((node) => node.connected);
  if (wanted === undefined) {
    const able = connected.filter((node) => node.commands.includes(command));
    const [only] = able.length === 1 ? able : connected;
    if (only && (able.length === 1 || connected.length === 1)) return only;
    throw new Error(connected.length === 0 ? "node required: no node is connected" : `node required: ${connected.map((node) => node.displayName ?? node.nodeId).join(", ")}`);
  }
  const name = wanted.trim().toLowerCase();
  const hits = actions.list().filter((node) => node.nodeId === wanted || node.displayName?.toLowerCase() === name || (name.length >= 6 && node.nodeId.toLowerCase().startsWith(name)));
  const [hit] = hits;
  if (!hit) throw new Error(`unknown node: ${wanted}. Known: ${actions.list().map((node) => node.displayName ?? node.nodeId).join(", ") || "none"}`);
  if (hits.length > 1) throw new Error(`${wanted} names several nodes: ${hits.map((node) => node.nodeId).join(", ")}`);
  return hit;
}
