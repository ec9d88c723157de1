import { Type } from "typebox";
import type { McpServerConfig } from "../../config/index.ts";
import { truncateText } from "../../infra/text/index.ts";
import { wrapExternalContent } from "../../security/index.ts";
import { matchesAnyEntry } from "../tool-policy.ts";
import type { AgentTool, ToolImage, ToolResult, ToolText } from "../tools/contract.ts";
import type { McpCallResult, McpToolInfo } from "./connection.ts";

const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1000;
const MAX_SUMMARY_CHARS = 80;
const MAX_SCHEMA_CHARS = 8000;

export type McpCall = (tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<McpCallResult>;

/** The server's tools as the agent's own: `<server>__<tool>`, behind the same policy. Source: spec decisions §1.4. */
export function toAgentTools(server: string, config: McpServerConfig, tools: readonly McpToolInfo[], call: McpCall): AgentTool[] {
  const taken = new Set<string>();
  return tools.filter((tool) => isWanted(config, tool.name)).flatMap((tool) => {
    const name = mcpToolName(server, tool.name);
    if (taken.has(name)) return [];
    taken.add(name);
    return [{
      name,
      label: `${server}: ${tool.name}`,
      summary: truncateText(oneLine(tool.description) || `${tool.name} of ${server}`, MAX_SUMMARY_CHARS),
      description: truncateText(tool.description.trim() || `${tool.name} of the MCP server ${server}`, MAX_DESCRIPTION_CHARS),
      parameters: Type.Unsafe(cleanSchema(tool.inputSchema)),
      source: { kind: "mcp", server } as const,
      async execute(args, { signal }) {
        try {
          return toToolResult(server, await call(tool.name, args, signal));
        } catch (err) {
          throw !signal.aborted && isServerError(err) ? new Error(wrap(server, err.message), { cause: err }) : err;
        }
      },
    } satisfies AgentTool];
  });
}

function isWanted(config: McpServerConfig, name: string): boolean {
  const { allow, deny } = config.tools ?? {};
  if (deny && matchesAnyEntry(deny, { name })) return false;
  return !allow || allow.length === 0 || matchesAnyEntry(allow, { name });
}

export function mcpToolName(server: string, tool: string): string {
  return `${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME_CHARS);
}

/** An error of the protocol: its words are the server's. */
const isServerError = (err: unknown): err is Error => err instanceof Error && "code" in err && typeof err.code === "number";

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** An object schema without what providers refuse; one that is too large becomes any object. */
function cleanSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { $schema: _schema, $id: _id, ...rest } = schema;
  const clean = { ...rest, type: "object", properties: typeof rest["properties"] === "object" && rest["properties"] !== null ? rest["properties"] : {} };
  return JSON.stringify(clean).length <= MAX_SCHEMA_CHARS ? clean : { type: "object", properties: {}, additionalProperties: true };
}

function toToolResult(server: string, { content, structured, isError }: McpCallResult): ToolResult {
  const blocks = content.flatMap((block): (ToolText | ToolImage)[] => toBlock(server, block));
  if (blocks.length === 0) blocks.push({ type: "text", text: structured === undefined ? "(no output)" : wrap(server, JSON.stringify(structured, null, 2)) });
  return { content: blocks, details: { server, ...(structured === undefined ? {} : { structured }) }, ...(isError ? { isError } : {}) };
}

function toBlock(server: string, block: unknown): (ToolText | ToolImage)[] {
  if (typeof block !== "object" || block === null) return [];
  const { type, text, data, mimeType, resource, uri, name } = block as Record<string, unknown>;
  switch (type) {
    case "text":
      return typeof text === "string" ? [{ type: "text", text: wrap(server, text) }] : [];
    case "image":
      return typeof data === "string" && typeof mimeType === "string" ? [{ type: "image", data, mimeType }] : [];
    case "audio":
      return [{ type: "text", text: `[audio of ${String(mimeType)}]` }];
    case "resource": {
      const inner = resource as Record<string, unknown> | undefined;
      return [{ type: "text", text: typeof inner?.["text"] === "string" ? wrap(server, inner["text"]) : `[resource ${String(inner?.["uri"])}]` }];
    }
    case "resource_link":
      return [{ type: "text", text: wrap(server, `${String(name ?? "resource")}: ${String(uri)}`) }];
    default:
      return [];
  }
}

/** What a server says may come from anywhere. */
const wrap = (server: string, text: string): string => wrapExternalContent({ source: `MCP server ${server}`, text });
