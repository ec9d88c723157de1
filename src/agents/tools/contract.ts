import type { TSchema } from "typebox";

export interface ToolText { readonly type: "text"; readonly text: string }
export interface ToolImage { readonly type: "image"; readonly data: string; readonly mimeType: string }

export interface ToolResult {
  readonly content: readonly (ToolText | ToolImage)[];
  readonly details?: unknown;
  /** The model sees an error result; nothing is thrown. */
  readonly isError?: boolean | undefined;
}

export interface ToolCallContext {
  readonly toolCallId: string;
  readonly signal: AbortSignal;
  onUpdate(partial: ToolResult): void;
}

/** Every tool of the agent, core or plugin, before it becomes Pi's. Arguments are coerced by `prepare`, then validated. */
export interface AgentTool {
  readonly name: string;
  readonly label: string;
  /** One line for the prompt's tool list. */
  readonly summary: string;
  readonly description: string;
  readonly parameters: TSchema;
  readonly ownerOnly?: boolean | undefined;
  /** Offered only when an allow list names it, its plugin or `group:plugins`. */
  readonly optional?: boolean | undefined;
  readonly source?: { readonly kind: "core" } | { readonly kind: "plugin"; readonly pluginId: string } | { readonly kind: "mcp"; readonly server: string } | undefined;
  /** Renames aliases, parses stringified values; unknown keys may stay, they are dropped. */
  prepare?(args: Record<string, unknown>): Record<string, unknown>;
  /** Arguments match `parameters`. A thrown error becomes an error result with its message. */
  execute(args: Record<string, unknown>, ctx: ToolCallContext): Promise<ToolResult>;
  /** Short argument summary for tool cards and verbose lines. */
  describe?(args: Record<string, unknown>): string;
}

export function toolText(text: string, details?: unknown): ToolResult {
  return { content: [{ type: "text", text }], details };
}

export function toolJson(value: unknown): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value, null, 2) }], details: value };
}

export function toolError(text: string, details?: unknown): ToolResult {
  return { content: [{ type: "text", text }], details, isError: true };
}
