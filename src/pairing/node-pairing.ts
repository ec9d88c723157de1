import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../infra/clock.ts";
import { createEmitter } from "../infra/emitter.ts";
import type { Logger } from "../infra/log.ts";
import { createJsonFile, createPathLock } from "./json-file.ts";

/** What a node of an older kind says about itself. */
export interface NodeClaim {
  readonly nodeId: string;
  readonly displayName?: string | undefined;
  readonly platform?: string | undefined;
  readonly version?: string | undefined;
  readonly coreVersion?: string | undefined;
  readonly uiVersion?: string | undefined;
  readonly deviceFamily?: string | undefined;
  readonly modelIdentifier?: string | undefined;
  readonly caps?: readonly string[] | undefined;
  readonly commands?: readonly string[] | undefined;
  readonly remoteIp?: string | undefined;
  readonly silent?: boolean | undefined;
}

export interface NodePairingRequest extends NodeClaim {
  readonly requestId: string;
  /** The node was paired before and asks anew. */
  readonly isRepair: boolean;
  readonly ts: number;
}

export interface PairedNode extends Omit<NodeClaim, "silent"> {
  readonly token: string;
  readonly createdAtMs: number;
  readonly approvedAtMs: number;
}

export type NodePairingEvent =
  | { readonly kind: "requested"; readonly request: NodePairingRequest }
  | { readonly kind: "resolved"; readonly requestId: string; readonly nodeId: string; readonly decision: "approved" | "rejected"; readonly ts: number };

/** The pairing of nodes as it was before devices had keys, on `<state>/nodes/`. Source: spec gateway-methods §4.8, tools part 2 §11. */
export interface NodePairingStore {
  /** Newest first; tokens stay here. */
  list(): { readonly pending: readonly NodePairingRequest[]; readonly paired: readonly Omit<PairedNode, "token">[] };
  request(claim: NodeClaim): Promise<{ readonly request: NodePairingRequest; readonly created: boolean }>;
  /** undefined: no such request. A new token each time. */
  approve(requestId: string): Promise<PairedNode | undefined>;
  reject(requestId: string): Promise<{ readonly requestId: string; readonly nodeId: string } | undefined>;
  verify(nodeId: string, token: string): Omit<PairedNode, "token"> | undefined;
  rename(nodeId: string, displayName: string): Promise<boolean>;
  on(listener: (event: NodePairingEvent) => void): () => void;
}

const PENDING_MS = 5 * 60_000;
const MAX_PENDING = 50;

export function createNodePairingStore(deps: { readonly stateDir: string; readonly clock: Clock; readonly log: Logger }): NodePairingStore {
  const { clock, log } = deps;
  const lock = createPathLock();
  const file = <T>(name: string): ReturnType<typeof createJsonFile<Readonly<Record<string, T>>>> =>
    createJsonFile<Readonly<Record<string, T>>>({ path: join(deps.stateDir, "nodes", name), empty: {}, parse: (value) => parseRecord<T>(value, name), lock, log });
  const pending = file<NodePairingRequest>("pending.json");
  const paired = file<PairedNode>("paired.json");
  const events = createEmitter<NodePairingEvent>((err) => log.error("node pairing listener failed", { err }));
  const live = (requests: Readonly<Record<string, NodePairingRequest>>): NodePairingRequest[] => Object.values(requests).filter(({ ts }) => ts > clock.now() - PENDING_MS).toSorted((a, b) => b.ts - a.ts);

  /** Takes a live request out, so that of two decisions only one is made. */
  async function take(requestId: string): Promise<NodePairingRequest | undefined> {
    let taken: NodePairingRequest | undefined;
    await pending.update((current) => {
      taken = live(current).find((request) => request.requestId === requestId);
      return taken ? Object.fromEntries(Object.entries(current).filter(([id]) => id !== requestId)) : current;
    });
    return taken;
  }
  const resolved = ({ requestId, nodeId }: NodePairingRequest, decision: "approved" | "rejected"): void => events.emit({ kind: "resolved", requestId, nodeId, decision, ts: clock.now() });

  return {
    list: () => ({ pending: live(pending.read()), paired: Object.values(paired.read()).map(withoutToken).toSorted((a, b) => b.approvedAtMs - a.approvedAtMs) }),
    async request(claim) {
      let request: NodePairingRequest | undefined;
      let created = false;
      await pending.update((current) => {
        const open = live(current);
        const known = open.find(({ nodeId }) => nodeId === claim.nodeId);
        created = known === undefined;
        request = { ...claim, requestId: known?.requestId ?? randomUUID(), isRepair: Object.hasOwn(paired.read(), claim.nodeId), ts: clock.now() };
        const others = open.filter(({ nodeId }) => nodeId !== claim.nodeId).slice(0, MAX_PENDING - 1);
        return Object.fromEntries([request, ...others].map((one) => [one.requestId, one]));
      });
      if (!request) throw new Error("the request was not kept");
      if (created) events.emit({ kind: "requested", request });
      return { request, created };
    },
    async approve(requestId) {
      const request = await take(requestId);
      if (!request) return undefined;
      const { requestId: _id, isRepair: _repair, ts: _ts, silent: _silent, ...claim } = request;
      const now = clock.now();
      let node: PairedNode | undefined;
      await paired.update((current) => {
        node = { ...claim, token: randomBytes(32).toString("base64url"), createdAtMs: current[claim.nodeId]?.createdAtMs ?? now, approvedAtMs: now };
        return { ...current, [claim.nodeId]: node };
      });
      resolved(request, "approved");
      return node;
    },
    async reject(requestId) {
      const request = await take(requestId);
      if (!request) return undefined;
      resolved(request, "rejected");
      return { requestId, nodeId: request.nodeId };
    },
    verify(nodeId, token) {
      const all = paired.read();
      const node = Object.hasOwn(all, nodeId) ? all[nodeId] : undefined;
      return node && isEqual(node.token, token) ? withoutToken(node) : undefined;
    },
    async rename(nodeId, displayName) {
      let found = false;
      await paired.update((current) => {
        const node = Object.hasOwn(current, nodeId) ? current[nodeId] : undefined;
        found = node !== undefined;
        return node ? { ...current, [nodeId]: { ...node, displayName } } : current;
      });
      return found;
    },
    on: (listener) => events.on(listener),
  };
}

function withoutToken({ token: _token, ...node }: PairedNode): Omit<PairedNode, "token"> {
  return node;
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Entries that are no objects are left out. @throws Error when the file is no object */
function parseRecord<T>(value: unknown, name: string): Readonly<Record<string, T>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`nodes/${name} must hold an object`);
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => typeof entry === "object" && entry !== null)) as Record<string, T>;
}
