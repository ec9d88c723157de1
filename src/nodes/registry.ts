import { randomUUID } from "node:crypto";
import type { OpenClawConfig } from "../config/index.ts";
import { allowedNodeCommands } from "./command-policy.ts";

/** A device that does things for the gateway: a phone, another machine. */
export interface ConnectedNode {
  /** The id of its device. */
  readonly nodeId: string;
  readonly connId: string;
  readonly displayName?: string | undefined;
  readonly platform?: string | undefined;
  readonly version?: string | undefined;
  readonly deviceFamily?: string | undefined;
  readonly modelIdentifier?: string | undefined;
  readonly remoteIp?: string | undefined;
  readonly caps: readonly string[];
  /** Declared by the node and approved with it. */
  readonly commands: readonly string[];
  readonly permissions?: Readonly<Record<string, boolean>> | undefined;
  readonly pathEnv?: string | undefined;
  readonly connectedAtMs: number;
}

export interface NodeInvokeRequest {
  readonly nodeId: string;
  readonly command: string;
  readonly params?: unknown;
  /** Default 30 000. */
  readonly timeoutMs?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** An administrator's own request: the node must know the command, the configuration is not asked. */
  readonly byAdmin?: boolean | undefined;
}

export interface NodeInvokeResult {
  readonly payload: unknown;
  /** As the node sent it, when it sent text. */
  readonly payloadJSON: string | null;
}

/** What a node answers to one request. */
export interface NodeReply {
  readonly id: string;
  readonly ok: boolean;
  readonly payload?: unknown;
  readonly payloadJSON?: string | undefined;
  readonly error?: { readonly code?: string | undefined; readonly message?: string | undefined } | undefined;
}

export class NodeInvokeError extends Error {
  readonly kind: "not-connected" | "not-allowed" | "failed";
  readonly details: Readonly<Record<string, unknown>>;
  constructor(kind: NodeInvokeError["kind"], message: string, details: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = "NodeInvokeError";
    this.kind = kind;
    this.details = details;
  }
}

export interface NodeRegistry {
  connected(node: ConnectedNode): void;
  /** Ends what waits for this connection; a newer one of the same node stays. */
  disconnected(connId: string): void;
  list(): readonly ConnectedNode[];
  get(nodeId: string): ConnectedNode | undefined;
  /** What the node declared and the configuration allows. */
  commandsOf(node: Pick<ConnectedNode, "commands" | "platform" | "deviceFamily">): string[];
  /** @throws NodeInvokeError */
  invoke(request: NodeInvokeRequest): Promise<NodeInvokeResult>;
  /** A node's reply. False when nobody waits for it any more. */
  settle(connId: string, reply: NodeReply): boolean;
}

export interface NodeRegistryOptions {
  readonly config: () => OpenClawConfig;
  /** False when the connection is gone. */
  readonly sendTo: (connId: string, event: "node.invoke.request", payload: object) => boolean;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_WAITING_PER_NODE = 64;

interface Waiting {
  readonly connId: string;
  done(reply: NodeReply): void;
  fail(err: NodeInvokeError): void;
}

/** The nodes that are connected, and what they are asked. Source: spec gateway-methods §4.8. */
export function createNodeRegistry(options: NodeRegistryOptions): NodeRegistry {
  const nodes = new Map<string, ConnectedNode>();
  const waiting = new Map<string, Waiting>();

  function refusal(node: ConnectedNode, command: string, byAdmin: boolean): NodeInvokeError | undefined {
    const because = (reason: string): NodeInvokeError => new NodeInvokeError("not-allowed", `node command not allowed: ${command} (${reason})`, { reason, command });
    if (!byAdmin && !allowedNodeCommands(options.config(), node).has(command)) return because("command not allowlisted");
    if (node.commands.length === 0) return because("node did not declare commands");
    return node.commands.includes(command) ? undefined : because("command not declared by node");
  }

  return {
    connected: (node) => void nodes.set(node.nodeId, node),
    disconnected(connId) {
      for (const [nodeId, node] of nodes) if (node.connId === connId) nodes.delete(nodeId);
      for (const each of [...waiting.values()]) if (each.connId === connId) each.fail(new NodeInvokeError("not-connected", "node disconnected", { code: "NOT_CONNECTED" }));
    },
    list: () => [...nodes.values()],
    get: (nodeId) => nodes.get(nodeId),
    commandsOf(node) {
      const allowed = allowedNodeCommands(options.config(), node);
      return node.commands.filter((command) => allowed.has(command));
    },
    async invoke({ nodeId, command, params, timeoutMs = DEFAULT_TIMEOUT_MS, idempotencyKey, signal, byAdmin = false }) {
      const node = nodes.get(nodeId);
      if (!node) throw new NodeInvokeError("not-connected", "node not connected", { code: "NOT_CONNECTED" });
      const refused = refusal(node, command, byAdmin);
      if (refused) throw refused;
      if ([...waiting.values()].filter((each) => each.connId === node.connId).length >= MAX_WAITING_PER_NODE) throw new NodeInvokeError("failed", "the node has too many unanswered requests", { nodeError: { code: "BUSY" } });
      const id = randomUUID();
      return new Promise<NodeInvokeResult>((resolve, reject) => {
        const timer = setTimeout(() => entry.fail(new NodeInvokeError("failed", `node invoke timed out after ${timeoutMs} ms`, { nodeError: { code: "TIMEOUT", message: "timeout" } })), timeoutMs);
        const stop = (): void => entry.fail(new NodeInvokeError("failed", "the request was stopped", { nodeError: { code: "ABORTED" } }));
        const end = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", stop);
          waiting.delete(id);
        };
        const entry: Waiting = {
          connId: node.connId,
          done(reply) {
            end();
            if (reply.ok) resolve({ payload: reply.payload ?? parsed(reply.payloadJSON), payloadJSON: reply.payloadJSON ?? null });
            else reject(new NodeInvokeError("failed", reply.error?.message ?? "the node failed without a message", { nodeError: { code: reply.error?.code, message: reply.error?.message } }));
          },
          fail(err) {
            end();
            reject(err);
          },
        };
        waiting.set(id, entry);
        signal?.addEventListener("abort", stop, { once: true });
        if (signal?.aborted) return stop();
        const sent = options.sendTo(node.connId, "node.invoke.request", { id, nodeId, command, paramsJSON: params === undefined ? null : JSON.stringify(params), timeoutMs, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
        if (!sent) entry.fail(new NodeInvokeError("not-connected", "node not connected", { code: "NOT_CONNECTED" }));
      });
    },
    settle(connId, reply) {
      const entry = waiting.get(reply.id);
      if (entry?.connId !== connId) return false;
      entry.done(reply);
      return true;
    },
  };
}

/** A node may answer with any text. */
function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
