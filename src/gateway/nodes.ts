import { randomUUID } from "node:crypto";
import type { AgentEvent, NodeActions } from "../agents/index.ts";
import type { ChatEvent, Conversation } from "../auto-reply/index.ts";
import type { SystemEvents } from "../delivery/index.ts";
import type { Logger } from "../infra/log.ts";
import { saveMedia } from "../media/index.ts";
import type { NodeRegistry } from "../nodes/index.ts";
import type { DeviceStore, PendingDevice } from "../pairing/index.ts";
import type { SessionService } from "../sessions/index.ts";
import { nodeRows } from "./methods/nodes.ts";
import type { Connection, WsServer } from "./ws/index.ts";

export interface GatewayNodesOptions {
  readonly registry: NodeRegistry;
  readonly ws: () => WsServer;
  readonly conversation: Conversation;
  readonly sessions: SessionService;
  readonly systemEvents: SystemEvents;
  readonly log: Logger;
}

/** What a node tells of its own accord. */
export interface NodeEvent {
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface GatewayNodes {
  readonly registry: NodeRegistry;
  connected(conn: Connection): void;
  disconnected(conn: Connection): void;
  handle(conn: { readonly connId: string; readonly nodeId: string }, event: NodeEvent): void;
  /** To the nodes that follow the session. */
  publish(event: "agent" | "chat", payload: AgentEvent | ChatEvent): void;
}

const MAX_TRANSCRIPT_CHARS = 20_000;
const MAX_SUBSCRIPTIONS = 100;
const MAX_OUTPUT_CHARS = 2_000;

const textOf = (payload: Readonly<Record<string, unknown>>, key: string): string | undefined => {
  const value = payload[key];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
};

/** Nodes as they come, go, speak and listen. Source: spec gateway-methods §4.8, gateway-protocol §6. */
export function createGatewayNodes(options: GatewayNodesOptions): GatewayNodes {
  const { registry, sessions } = options;
  const following = new Map<string, Set<string>>();

  /** A node is a device that the owner let in, not the owner: whoever stands beside it can speak to it. */
  function ask(nodeId: string, message: string, sessionKey: string, thinking?: "low"): void {
    options.conversation.runAgent({ runId: randomUUID(), sessionKey, message, isOwner: false, senderId: `node:${nodeId}`, thinking }).catch((err: unknown) => options.log.error("a node's request failed", { nodeId, sessionKey, err }));
  }

  function noteExec(nodeId: string, phase: string, payload: NodeEvent["payload"]): void {
    const id = textOf(payload, "runId") ?? "?";
    const command = textOf(payload, "command");
    const output = textOf(payload, "output")?.slice(-MAX_OUTPUT_CHARS);
    const how = phase === "finished" ? `, ${payload["timedOut"] === true ? "timeout" : `code ${String(payload["exitCode"] ?? "?")}`}` : phase === "denied" ? `, ${textOf(payload, "reason") ?? "refused"}` : "";
    const text = `Exec ${phase} (node=${nodeId} id=${id}${how})${command ? `: ${command}` : ""}${output ? `\n${output}` : ""}`;
    options.systemEvents.push(sessions.canonicalKey(textOf(payload, "sessionKey")), text, { contextKey: `node-exec:${nodeId}:${id}:${phase}`, trusted: false });
  }

  return {
    registry,
    connected(conn) {
      if (conn.role !== "node" || conn.deviceId === undefined) return;
      const { client, params } = conn;
      registry.connected({
        nodeId: conn.deviceId, connId: conn.connId, displayName: client.displayName, platform: client.platform, version: client.version, deviceFamily: client.deviceFamily, modelIdentifier: client.modelIdentifier,
        remoteIp: conn.clientIp, caps: conn.caps, commands: conn.commands, permissions: params.permissions, pathEnv: params.pathEnv, connectedAtMs: conn.connectedAtMs,
      });
    },
    disconnected(conn) {
      following.delete(conn.connId);
      registry.disconnected(conn.connId);
    },
    handle({ connId, nodeId }, { event, payload }) {
      switch (event) {
        case "voice.transcript": {
          const text = textOf(payload, "text");
          if (text !== undefined && text.length <= MAX_TRANSCRIPT_CHARS) ask(nodeId, text, sessions.canonicalKey(textOf(payload, "sessionKey")), "low");
          return;
        }
        case "agent.request": {
          const message = textOf(payload, "message");
          if (message !== undefined && message.length <= MAX_TRANSCRIPT_CHARS) ask(nodeId, message, sessions.canonicalKey(textOf(payload, "sessionKey") ?? `node-${nodeId}`));
          return;
        }
        case "chat.subscribe":
        case "chat.unsubscribe": {
          const raw = textOf(payload, "sessionKey");
          if (raw === undefined) return;
          const keys = following.get(connId) ?? new Set();
          if (event === "chat.unsubscribe") keys.delete(sessions.canonicalKey(raw));
          else if (keys.size < MAX_SUBSCRIPTIONS) keys.add(sessions.canonicalKey(raw));
          following.set(connId, keys);
          return;
        }
        case "exec.started":
        case "exec.finished":
        case "exec.denied":
          noteExec(nodeId, event.slice("exec.".length), payload);
          return;
        default: // newer nodes may tell more; nothing depends on it
      }
    },
    publish(event, payload) {
      if (payload.sessionKey === undefined) return;
      for (const [connId, keys] of following) if (keys.has(payload.sessionKey)) options.ws().sendTo(connId, event, payload, { dropIfSlow: true });
    },
  };
}

/** Nodes as the agent's tools reach them. */
export function createNodeActions(deps: { readonly nodes: () => GatewayNodes; readonly devices: DeviceStore; readonly stateDir: string }): NodeActions {
  const waiting = (): readonly PendingDevice[] => deps.devices.list().pending.filter((device) => device.role === "node");
  /** Only what asks to be a node and nothing else. @throws Error */
  const known = (requestId: string): string => {
    if (!waiting().some((device) => device.requestId === requestId)) throw new Error(`no node waits under requestId ${requestId}`);
    return requestId;
  };
  return {
    list: () => nodeRows({ nodes: deps.nodes(), devices: deps.devices }),
    invoke: (request) => deps.nodes().registry.invoke(request),
    pending: () => waiting().map(({ requestId, deviceId, displayName, platform, remoteIp, commands, ts }) => ({ requestId, nodeId: deviceId, displayName, platform, remoteIp, commands, ts })),
    async approve(requestId) {
      const granted = await deps.devices.approve(known(requestId), { scopes: ["operator.pairing"], connId: "agent" });
      if (granted.kind !== "ok") throw new Error(granted.kind === "forbidden" ? `this device asks for more than a node may have: ${granted.missingScope}` : `no node waits under requestId ${requestId}`);
      return { ok: true, nodeId: granted.value.deviceId };
    },
    async reject(requestId) {
      await deps.devices.reject(known(requestId));
      return { ok: true };
    },
    save: (bytes, mimeType, name) => saveMedia(deps.stateDir, "outbound", bytes, mimeType, name),
  };
}
