import { Type } from "typebox";
import { wrapExternalContent } from "../../../security/index.ts";
import { optionalNumber, optionalString, requireString } from "../arguments.ts";
import { toolJson, type AgentTool, type ToolImage, type ToolResult, type ToolText } from "../contract.ts";
import { pickNode, type NodeActions } from "./contract.ts";
import { keepMedia } from "./media.ts";

export interface NodesToolOptions {
  readonly actions: NodeActions;
  readonly agentId: string;
  readonly sessionKey: string;
}

const ACTIONS = ["status", "describe", "pending", "approve", "reject", "notify", "camera_snap", "camera_list", "camera_clip", "screen_record", "location_get", "run", "invoke"];
const CLIP_MS = 3_000;
const RECORD_MS = 10_000;
const RUN_TIMEOUT_MS = 30_000;
/** Beside the time that the work itself takes. */
const GRACE_MS = 15_000;

const oneOf = (...values: readonly string[]) => Type.Optional(Type.Unsafe<string>({ type: "string", enum: [...values] }));
const text = Type.Optional(Type.String());
const number = Type.Optional(Type.Number());
const PARAMETERS = Type.Object({
  action: Type.Unsafe<string>({ type: "string", enum: ACTIONS }), node: text, requestId: text, title: text, body: text, sound: text, priority: oneOf("passive", "active", "timeSensitive"), delivery: oneOf("system", "overlay", "auto"),
  facing: oneOf("front", "back", "both"), maxWidth: number, quality: number, delayMs: number, deviceId: text, duration: text, durationMs: number, includeAudio: Type.Optional(Type.Boolean()), fps: number, screenIndex: number,
  maxAgeMs: number, locationTimeoutMs: number, desiredAccuracy: oneOf("coarse", "balanced", "precise"), command: Type.Optional(Type.Array(Type.String())), cwd: text, env: Type.Optional(Type.Array(Type.String())), commandTimeoutMs: number,
  invokeTimeoutMs: number, needsScreenRecording: Type.Optional(Type.Boolean()), invokeCommand: text, invokeParamsJson: text,
});

/** What other devices of the person can do. Source: spec tools-and-automation part 2 §12. */
export function createNodesTool(options: NodesToolOptions): AgentTool {
  return {
    name: "nodes",
    label: "Nodes",
    summary: "Use the person's other devices",
    description: "Use other devices that joined as nodes: status and describe tell what they can do; notify, camera_snap, camera_list, camera_clip, screen_record, location_get, run (a command on it), invoke (any of its commands). Without node the only one that can is meant.",
    ownerOnly: true,
    parameters: PARAMETERS,
    describe: (args) => [optionalString(args, "action"), optionalString(args, "node")].filter(Boolean).join(" "),
    async execute(args, { signal, toolCallId }) {
      const action = requireString(args, "action");
      const node = optionalString(args, "node");
      try {
        return await perform({ ...options, args, node, signal, callId: toolCallId }, action);
      } catch (err) {
        throw new Error(`agent=${options.agentId} node=${node ?? "auto"} gateway=default action=${action}: ${err instanceof Error ? err.message : String(err)}`, { cause: err });
      }
    },
  };
}

interface Call extends NodesToolOptions {
  readonly args: Record<string, unknown>;
  readonly node: string | undefined;
  readonly signal: AbortSignal;
  readonly callId: string;
}

async function perform(call: Call, action: string): Promise<ToolResult> {
  const { actions, args } = call;
  switch (action) {
    case "status":
      return toolJson({ nodes: actions.list() });
    case "describe":
      return toolJson(pickNode(actions, call.node, ""));
    case "pending":
      return toolJson({ pending: actions.pending() });
    case "approve":
      return toolJson(await actions.approve(requireString(args, "requestId")));
    case "reject":
      return toolJson(await actions.reject(requireString(args, "requestId")));
    case "notify":
      if (!optionalString(args, "title") && !optionalString(args, "body")) throw new Error("title or body required");
      await ask(call, "system.notify", pick(args, "title", "body", "sound", "priority", "delivery"));
      return toolJson({ ok: true });
    case "camera_list":
      return foreign(await ask(call, "camera.list", {}));
    case "camera_snap":
      return snap(call);
    case "camera_clip":
    case "screen_record":
      return record(call, action);
    case "location_get":
      return foreign(await ask(call, "location.get", { ...pick(args, "maxAgeMs", "desiredAccuracy"), timeoutMs: optionalNumber(args, "locationTimeoutMs") }, optionalNumber(args, "locationTimeoutMs")));
    case "run":
      return run(call);
    default:
      return foreign(await ask(call, requireString(args, "invokeCommand"), parseParams(optionalString(args, "invokeParamsJson"))));
  }
}

async function ask(call: Call, command: string, params: unknown, workMs = 0, key = command): Promise<unknown> {
  if (command.startsWith("system.execApprovals.")) throw new Error("approvals are not changed by the agent");
  const node = pickNode(call.actions, call.node, command);
  const timeoutMs = optionalNumber(call.args, "invokeTimeoutMs") ?? workMs + GRACE_MS;
  const { payload } = await call.actions.invoke({ nodeId: node.nodeId, command, params, timeoutMs, idempotencyKey: `${call.callId}:${key}`, signal: call.signal });
  return payload;
}

async function snap(call: Call): Promise<ToolResult> {
  const wanted = optionalString(call.args, "facing") ?? "both";
  const blocks: (ToolText | ToolImage)[] = [];
  for (const facing of wanted === "both" ? ["front", "back"] : [wanted]) {
    const payload = await ask(call, "camera.snap", { facing, format: "jpg", ...pick(call.args, "maxWidth", "quality", "delayMs", "deviceId") }, optionalNumber(call.args, "delayMs"), `camera.snap:${facing}`);
    blocks.push(...(await keepMedia(call.actions, `camera-${facing}`, payload)).blocks);
  }
  return { content: blocks };
}

async function record(call: Call, action: "camera_clip" | "screen_record"): Promise<ToolResult> {
  const { args } = call;
  if (optionalString(args, "facing") === "both") throw new Error("facing must be front or back");
  const durationMs = optionalNumber(args, "durationMs") ?? readDuration(optionalString(args, "duration")) ?? (action === "camera_clip" ? CLIP_MS : RECORD_MS);
  const payload = action === "camera_clip"
    ? await ask(call, "camera.clip", { facing: optionalString(args, "facing") ?? "front", durationMs, includeAudio: args["includeAudio"] !== false, format: "mp4", ...pick(args, "deviceId") }, durationMs)
    : await ask(call, "screen.record", { durationMs, screenIndex: optionalNumber(args, "screenIndex") ?? 0, fps: optionalNumber(args, "fps") ?? 10, includeAudio: args["includeAudio"] !== false, format: "mp4" }, durationMs);
  return { content: (await keepMedia(call.actions, action, payload)).blocks };
}

async function run(call: Call): Promise<ToolResult> {
  const { args } = call;
  const command = Array.isArray(args["command"]) ? args["command"].map(String) : [];
  if (command.length === 0) throw new Error('command required (argv, e.g. ["echo", "hi"])');
  const env = Object.fromEntries((Array.isArray(args["env"]) ? args["env"] : []).map((entry: unknown) => String(entry).split(/=(.*)/s, 2)).filter(([name]) => name !== ""));
  const timeoutMs = optionalNumber(args, "commandTimeoutMs") ?? RUN_TIMEOUT_MS;
  const payload = await ask(call, "system.run", { command, ...pick(args, "cwd", "needsScreenRecording"), ...(Object.keys(env).length > 0 ? { env } : {}), timeoutMs, agentId: call.agentId, sessionKey: call.sessionKey, runId: call.callId }, timeoutMs);
  return foreign(payload);
}

/** `10s`, `500ms`, `1m`; a bare number is milliseconds. */
function readDuration(text: string | undefined): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m)?$/.exec(text ?? "");
  return match ? Math.round(Number(match[1]) * (match[2] === "m" ? 60_000 : match[2] === "s" ? 1000 : 1)) : undefined;
}

function parseParams(json: string | undefined): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw new Error("invokeParamsJson is no JSON");
  }
}

const pick = (args: Record<string, unknown>, ...keys: readonly string[]): Record<string, unknown> => Object.fromEntries(keys.filter((key) => args[key] !== undefined).map((key) => [key, args[key]]));

/** What a device tells may hold anybody's words. */
function foreign(payload: unknown): ToolResult {
  return { content: [{ type: "text", text: wrapExternalContent({ source: "Node", text: JSON.stringify(payload ?? null, null, 2) }) }], details: payload };
}
