import { Type } from "typebox";
import { wrapExternalContent } from "../../../security/index.ts";
import { optionalNumber, optionalString, requireString } from "../arguments.ts";
import { toolJson, type AgentTool, type ToolResult } from "../contract.ts";
import type { FileAccess } from "../file-access.ts";
import { pickNode, type NodeActions } from "./contract.ts";
import { keepMedia } from "./media.ts";

const ACTIONS = ["present", "hide", "navigate", "eval", "snapshot", "a2ui_push", "a2ui_reset"];
const TIMEOUT_MS = 30_000;
const MAX_JSONL_BYTES = 2 * 1024 * 1024;

const PARAMETERS = Type.Object({
  action: Type.Unsafe<string>({ type: "string", enum: ACTIONS }), node: Type.Optional(Type.String()), target: Type.Optional(Type.String()), url: Type.Optional(Type.String()), x: Type.Optional(Type.Number()), y: Type.Optional(Type.Number()),
  width: Type.Optional(Type.Number()), height: Type.Optional(Type.Number()), javaScript: Type.Optional(Type.String()), outputFormat: Type.Optional(Type.Unsafe<string>({ type: "string", enum: ["png", "jpg", "jpeg"] })),
  maxWidth: Type.Optional(Type.Number()), quality: Type.Optional(Type.Number()), delayMs: Type.Optional(Type.Number()), jsonl: Type.Optional(Type.String()), jsonlPath: Type.Optional(Type.String()),
});

/** The canvas of a node: a page that the agent shows and changes. Source: spec tools-and-automation part 2 §12. */
export function createCanvasTool({ actions, access }: { readonly actions: NodeActions; readonly access: FileAccess }): AgentTool {
  return {
    name: "canvas",
    label: "Canvas",
    summary: "Show pages on a node's canvas",
    description: "Show a page on the canvas of a node: present (url, place), hide, navigate, eval (javaScript), snapshot (a picture of it), a2ui_push (jsonl or jsonlPath), a2ui_reset.",
    ownerOnly: true,
    parameters: PARAMETERS,
    describe: (args) => [optionalString(args, "action"), optionalString(args, "url") ?? optionalString(args, "target")].filter(Boolean).join(" "),
    async execute(args, { signal, toolCallId }) {
      const action = requireString(args, "action");
      const invoke = async (command: string, params?: unknown): Promise<unknown> => {
        const node = pickNode(actions, optionalString(args, "node"), command);
        return (await actions.invoke({ nodeId: node.nodeId, command, params, timeoutMs: TIMEOUT_MS, idempotencyKey: toolCallId, signal })).payload;
      };
      switch (action) {
        case "present":
          await invoke("canvas.present", present(args));
          return toolJson({ ok: true });
        case "hide":
          await invoke("canvas.hide");
          return toolJson({ ok: true });
        case "navigate":
          await invoke("canvas.navigate", { url: optionalString(args, "url") ?? requireString(args, "target", "url") });
          return toolJson({ ok: true });
        case "eval": {
          const payload = await invoke("canvas.eval", { javaScript: requireString(args, "javaScript") });
          const { result } = (typeof payload === "object" && payload !== null ? payload : {}) as { result?: unknown };
          return { content: [{ type: "text", text: wrapExternalContent({ source: "Canvas", text: typeof result === "string" ? result : JSON.stringify(result ?? null) }) }], details: { result } };
        }
        case "snapshot":
          return snapshot(actions, await invoke("canvas.snapshot", { format: optionalString(args, "outputFormat") === "png" ? "png" : "jpeg", maxWidth: optionalNumber(args, "maxWidth"), quality: optionalNumber(args, "quality") }));
        case "a2ui_push":
          await invoke("canvas.a2ui.pushJSONL", { jsonl: await readJsonl(access, args) });
          return toolJson({ ok: true });
        default:
          await invoke("canvas.a2ui.reset");
          return toolJson({ ok: true });
      }
    },
  };
}

function present(args: Record<string, unknown>): Record<string, unknown> {
  const place = Object.fromEntries(["x", "y", "width", "height"].map((key) => [key, optionalNumber(args, key)] as const).filter(([, value]) => value !== undefined));
  const url = optionalString(args, "url") ?? optionalString(args, "target");
  return { ...(url === undefined ? {} : { url }), ...(Object.keys(place).length > 0 ? { placement: place } : {}) };
}

async function snapshot(actions: NodeActions, payload: unknown): Promise<ToolResult> {
  return { content: (await keepMedia(actions, "canvas", payload)).blocks };
}

/** @throws Error naming the line that is no JSON */
async function readJsonl(access: FileAccess, args: Record<string, unknown>): Promise<string> {
  const path = optionalString(args, "jsonlPath");
  const given = optionalString(args, "jsonl");
  if (path === undefined && given === undefined) throw new Error("jsonl or jsonlPath required");
  let text = given ?? "";
  if (path !== undefined) {
    const file = await access.forRead(path);
    if ((await file.stat()).size > MAX_JSONL_BYTES) throw new Error(`${path} is larger than ${MAX_JSONL_BYTES} bytes`);
    text = (await file.read()).toString("utf8");
  }
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      JSON.parse(line);
    } catch {
      throw new Error(`line ${index + 1} of the JSONL is no JSON`);
    }
  }
  return text;
}
