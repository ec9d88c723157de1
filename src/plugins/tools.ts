import type { AgentTool, ToolResult } from "../agents/index.ts";
import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { isRecord } from "./manifest.ts";
import type { PluginRegistry, PluginTool, PluginToolContext, ToolRegistration } from "./registry.ts";
import { inPlugin } from "./scope.ts";

interface ToolMakerDeps {
  readonly log: Logger;
  onFault(pluginId: string, text: string): void;
}

/** Tools that come from outside the core for one run. `coreNames`: names that are taken. Source: spec plugin-sdk §8. */
export function pluginTools(registry: Pick<PluginRegistry, "tools">, ctx: PluginToolContext, coreNames: ReadonlySet<string>, deps: ToolMakerDeps): AgentTool[] {
  const { log } = deps;
  const taken = new Set(coreNames);
  const tools: AgentTool[] = [];
  for (const registration of registry.tools) {
    const { pluginId } = registration;
    if (coreNames.has(pluginId.toLowerCase())) {
      log.error(`plugin id conflicts with core tool name (${pluginId})`, { pluginId });
      continue;
    }
    for (const tool of make(registration, ctx, deps)) {
      const name = tool.name.trim();
      if (taken.has(name.toLowerCase())) {
        log.error(`plugin tool name conflict (${pluginId}): ${name}`, { pluginId });
        continue;
      }
      taken.add(name.toLowerCase());
      tools.push(toAgentTool(tool, name, { kind: "plugin", pluginId }, registration.optional));
    }
  }
  return tools;
}

function make(registration: ToolRegistration, ctx: PluginToolContext, { log, onFault }: ToolMakerDeps): PluginTool[] {
  const { pluginId } = registration;
  try {
    const made = inPlugin(pluginId, () => registration.make(ctx));
    return (Array.isArray(made) ? (made as unknown[]) : [made]).filter(isTool);
  } catch (err) {
    log.error(`plugin tool failed (${pluginId}): ${errorText(err)}`, { pluginId });
    onFault(pluginId, `tool not made: ${errorText(err)}`);
    return [];
  }
}

const isTool = (value: unknown): value is PluginTool => isRecord(value) && typeof value["name"] === "string" && value["name"].trim() !== "" && typeof value["execute"] === "function";

/** One tool in the shape of the SDK (a plugin's or a channel's) as the agent's. */
export function toAgentTool(tool: PluginTool, name: string, source: NonNullable<AgentTool["source"]>, optional: boolean): AgentTool {
  const description = tool.description ?? tool.label ?? name;
  const owner = source.kind === "plugin" ? source.pluginId : undefined;
  return {
    name, label: tool.label ?? name, description, summary: (description.split("\n", 1)[0] ?? name).slice(0, 120), source, optional, ownerOnly: tool.ownerOnly === true,
    parameters: jsonSchema(tool.parameters),
    async execute(args, { toolCallId, signal, onUpdate }) {
      const call = (): unknown => tool.execute(toolCallId, args, signal, (partial) => onUpdate(toToolResult(partial)));
      return toToolResult(await (owner === undefined ? call() : inPlugin(owner, call)));
    },
  };
}

/** Schemas of another TypeBox lose their coercion unless they are plain JSON (spec decisions §4.4). */
function jsonSchema(parameters: unknown): AgentTool["parameters"] {
  const plain: unknown = parameters === undefined ? undefined : JSON.parse(JSON.stringify(parameters));
  return (isRecord(plain) && plain["type"] !== undefined ? plain : { type: "object", properties: {}, ...(isRecord(plain) ? plain : {}) }) as AgentTool["parameters"];
}

/** Whatever a plugin gives back, as a result that Pi can store. */
export function toToolResult(value: unknown): ToolResult {
  if (!isRecord(value)) return { content: [{ type: "text", text: value === undefined ? "Done." : typeof value === "string" ? value : JSON.stringify(value) }] };
  const { content, details, isError } = value;
  const blocks = (Array.isArray(content) ? (content as unknown[]) : typeof content === "string" ? [{ type: "text", text: content }] : []).flatMap((block): ToolResult["content"][number][] => {
    if (!isRecord(block)) return [];
    if (block["type"] === "image" && typeof block["data"] === "string" && typeof block["mimeType"] === "string") return [{ type: "image", data: block["data"], mimeType: block["mimeType"] }];
    return block["text"] === undefined ? [] : [{ type: "text", text: String(block["text"]) }];
  });
  const shown = blocks.length > 0 ? blocks : [{ type: "text" as const, text: JSON.stringify(details ?? value) }];
  return { content: shown, details, ...(isError === true ? { isError } : {}) };
}
