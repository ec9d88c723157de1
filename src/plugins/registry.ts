import type { IncomingMessage, ServerResponse } from "node:http";
import type { HookRunner } from "./hooks.ts";
import type { PluginDiagnostic, PluginOrigin, PluginRecord } from "./types.ts";

/** A tool in the shape of the plugin SDK. Source: spec plugin-sdk §8. */
export interface PluginTool {
  readonly name: string;
  readonly label?: string | undefined;
  readonly description?: string | undefined;
  /** JSON Schema or TypeBox; passed through JSON before use. */
  readonly parameters?: unknown;
  readonly ownerOnly?: boolean | undefined;
  execute(toolCallId: string, params: Record<string, unknown>, signal?: AbortSignal, onUpdate?: (partial: unknown) => void): unknown;
}

/** What a tool factory is told about the run. */
export interface PluginToolContext {
  readonly config: unknown;
  readonly workspaceDir: string;
  readonly agentDir: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly messageChannel: string | undefined;
  readonly agentAccountId: string | undefined;
  readonly sandboxed: boolean;
}

export interface ToolRegistration {
  readonly pluginId: string;
  readonly optional: boolean;
  readonly names: readonly string[];
  make(ctx: PluginToolContext): unknown;
}

export interface CommandRegistration {
  readonly pluginId: string;
  readonly name: string;
  readonly description: string;
  readonly acceptsArgs: boolean;
  readonly requireAuth: boolean;
  handler(ctx: PluginCommandContext): unknown;
}

/** Source: spec plugin-sdk §9. */
export interface PluginCommandContext {
  readonly senderId?: string | undefined;
  readonly channel: string;
  readonly channelId?: string | undefined;
  readonly isAuthorizedSender: boolean;
  readonly args?: string | undefined;
  readonly commandBody: string;
  readonly config: unknown;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly accountId?: string | undefined;
  readonly messageThreadId?: number | undefined;
}

export interface ServiceRegistration {
  readonly pluginId: string;
  readonly id: string;
  start(ctx: unknown): unknown;
  stop?: ((ctx: unknown) => unknown) | undefined;
}

export interface CliRegistration {
  readonly pluginId: string;
  readonly commands: readonly string[];
  register(ctx: unknown): unknown;
}

/** A channel as it was given, in either shape. */
export interface ChannelOffer {
  readonly pluginId: string;
  readonly origin: PluginOrigin;
  readonly plugin: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly dock?: unknown;
}

export interface ProviderRegistration {
  readonly pluginId: string;
  readonly provider: Readonly<Record<string, unknown>> & { readonly id: string };
}

/** What a running gateway offers; a short-lived command has none of it. */
export interface PluginHost {
  /** @throws Error when the path is taken and `replace` is not set */
  addRoute(route: {
    readonly pluginId: string; readonly path: string; readonly auth: "plugin" | "gateway"; readonly match: "exact" | "prefix"; readonly replace: boolean;
    handler(req: IncomingMessage, res: ServerResponse): unknown;
  }): () => void;
  addHttpHandler(pluginId: string, handler: (req: IncomingMessage, res: ServerResponse) => unknown): void;
  /** @throws Error when the name is taken */
  addMethod(pluginId: string, name: string, handler: (request: unknown) => unknown): void;
}

/** Everything that plugins have registered. */
export interface PluginRegistry {
  readonly records: PluginRecord[];
  readonly diagnostics: PluginDiagnostic[];
  readonly hooks: HookRunner;
  readonly tools: ToolRegistration[];
  readonly commands: Map<string, CommandRegistration>;
  readonly services: ServiceRegistration[];
  readonly cli: CliRegistration[];
  readonly channels: ChannelOffer[];
  readonly providers: ProviderRegistration[];
}

export function createPluginRegistry(hooks: HookRunner): PluginRegistry {
  return { records: [], diagnostics: [], hooks, tools: [], commands: new Map(), services: [], cli: [], channels: [], providers: [] };
}
