import type { IncomingMessage, ServerResponse } from "node:http";
import type { OpenClawConfig } from "../config/index.ts";
import type { ToolPolicy } from "../plugins/runtime/helpers/index.ts";
import type { DispatchPayload, PluginRuntime } from "../plugins/runtime/index.ts";
import type { DirectoryEntry } from "./directory.ts";
import type { ProviderAuthResult, RuntimeEnvLike } from "./environment.ts";
import type { ChannelGroupContext } from "./groups.ts";
import type { ChannelOnboardingAdapter, TerminalPrompter } from "./onboarding.ts";
import type { ChannelConfigSchema } from "./schemas.ts";
import type { AccountSnapshot, StatusIssue } from "./status.ts";

/** Types for authors of plugins: plain, so that their declarations need no other package. Source: spec plugin-sdk §6–§12. */

export type { DiagnosticEvent, DiagnosticEventInput, HostRoute, ThreadBinding } from "./host.ts";
export type { DispatchKind, ReplyDispatcher, TypingDispatcherOptions, DispatchResult, PluginRuntime } from "../plugins/runtime/index.ts";

type Fields = Readonly<Record<string, unknown>>;
type Maybe<T> = Promise<T> | T;

/** One piece of an answer. */
export type ReplyPayload = DispatchPayload;

export interface PluginApiLogger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  debug?: ((message: string) => void) | undefined;
}

export interface PluginToolResult {
  readonly content: readonly ({ readonly type: "text"; readonly text: string } | { readonly type: "image"; readonly data: string; readonly mimeType: string })[];
  readonly details?: unknown;
}

export interface PluginTool {
  readonly name: string;
  readonly label?: string | undefined;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: object;
  readonly ownerOnly?: boolean | undefined;
  execute(toolCallId: string, params: Record<string, unknown>, signal?: AbortSignal, onUpdate?: (partial: PluginToolResult) => void): Promise<PluginToolResult>;
}

export interface PluginToolContext {
  readonly config?: OpenClawConfig | undefined;
  readonly workspaceDir?: string | undefined;
  readonly agentDir?: string | undefined;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly messageChannel?: string | undefined;
  readonly agentAccountId?: string | undefined;
  readonly sandboxed?: boolean | undefined;
}

export type PluginToolFactory = (ctx: PluginToolContext) => PluginTool | PluginTool[] | null | undefined;

export interface PluginCommandContext {
  readonly senderId?: string | undefined;
  readonly channel: string;
  readonly channelId?: string | undefined;
  readonly isAuthorizedSender: boolean;
  readonly args?: string | undefined;
  readonly commandBody: string;
  readonly config: OpenClawConfig;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly accountId?: string | undefined;
  readonly messageThreadId?: number | undefined;
}

export interface PluginCommand {
  readonly name: string;
  readonly description: string;
  readonly acceptsArgs?: boolean | undefined;
  /** Default true. */
  readonly requireAuth?: boolean | undefined;
  readonly handler: (ctx: PluginCommandContext) => Maybe<ReplyPayload>;
}

export interface PluginServiceContext {
  readonly config: OpenClawConfig;
  readonly workspaceDir?: string | undefined;
  readonly stateDir: string;
  readonly logger: PluginApiLogger;
}

export interface PluginService {
  readonly id: string;
  start(ctx: PluginServiceContext): Maybe<void>;
  stop?: ((ctx: PluginServiceContext) => Maybe<void>) | undefined;
}

export type GatewayRespond = (ok: boolean, payload?: unknown, error?: { readonly code: string; readonly message: string; readonly [extra: string]: unknown }, meta?: Fields) => void;

export interface GatewayMethodCall {
  readonly req: { readonly id: string; readonly method: string; readonly params?: unknown };
  readonly params: Record<string, unknown>;
  readonly client: unknown;
  readonly isWebchatConnect: (params: unknown) => boolean;
  readonly respond: GatewayRespond;
  readonly context: unknown;
}

export interface ProviderAuthContext {
  readonly config: OpenClawConfig;
  readonly agentDir?: string | undefined;
  readonly workspaceDir?: string | undefined;
  readonly prompter: TerminalPrompter;
  readonly runtime: RuntimeEnvLike;
  readonly isRemote: boolean;
  openUrl(url: string): Promise<void>;
  readonly oauth: { createVpsAwareHandlers(options: VpsAwareOptions): OAuthHandlers };
}

export interface VpsAwareOptions {
  readonly isRemote: boolean;
  readonly prompter: Pick<TerminalPrompter, "text">;
  readonly runtime: Pick<RuntimeEnvLike, "log">;
  readonly spin: { update(message: string): void; stop(message?: string): void };
  readonly openUrl: (url: string) => Promise<unknown>;
  readonly localBrowserMessage: string;
  readonly manualPromptMessage?: string | undefined;
}

/** What OAuth libraries ask for: where to show the address, and where the code comes from. */
export interface OAuthHandlers {
  onAuth(event: { readonly url: string }): Promise<void>;
  onPrompt(prompt: { readonly message: string; readonly placeholder?: string | undefined }): Promise<string>;
}

export interface ProviderPlugin {
  readonly id: string;
  readonly label: string;
  readonly docsPath?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly envVars?: readonly string[] | undefined;
  readonly models?: unknown;
  readonly auth: readonly { readonly id: string; readonly label: string; readonly hint?: string | undefined; readonly kind: "oauth" | "api_key" | "token" | "device_code" | "custom"; run(ctx: ProviderAuthContext): Promise<ProviderAuthResult> }[];
  readonly formatApiKey?: ((credential: Fields) => string) | undefined;
  readonly refreshOAuth?: ((credential: Fields) => Promise<Fields>) | undefined;
}

export interface PluginHttpRoute {
  readonly path: string;
  /** Default `plugin`: the handler itself checks who calls. */
  readonly auth?: "plugin" | "gateway" | undefined;
  readonly match?: "exact" | "prefix" | undefined;
  readonly replaceExisting?: boolean | undefined;
  readonly handler: (req: IncomingMessage, res: ServerResponse) => Maybe<unknown>;
}

/** What `register` is given. */
export interface OpenClawPluginApi {
  readonly id: string;
  readonly name: string;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly source: string;
  readonly config: OpenClawConfig;
  readonly pluginConfig?: Record<string, unknown> | undefined;
  readonly runtime: PluginRuntime;
  readonly logger: PluginApiLogger;
  registerTool(tool: PluginTool | PluginToolFactory, options?: { readonly name?: string | undefined; readonly names?: readonly string[] | undefined; readonly optional?: boolean | undefined }): void;
  registerHook(events: string | readonly string[], handler: (event: unknown) => Maybe<void>, options?: { readonly name?: string | undefined; readonly description?: string | undefined; readonly entry?: unknown; readonly register?: boolean | undefined }): void;
  registerHttpHandler(handler: (req: IncomingMessage, res: ServerResponse) => Maybe<boolean>): void;
  registerHttpRoute(route: PluginHttpRoute): void;
  registerChannel(registration: { readonly plugin: unknown; readonly dock?: unknown } | ReferenceChannelPlugin): void;
  registerProvider(provider: ProviderPlugin): void;
  registerGatewayMethod(method: string, handler: (call: GatewayMethodCall) => Maybe<void>): void;
  registerCli(registrar: (ctx: { readonly program: unknown; readonly config: OpenClawConfig; readonly workspaceDir?: string | undefined; readonly logger: PluginApiLogger }) => Maybe<void>, options?: { readonly commands?: readonly string[] | undefined }): void;
  registerService(service: PluginService): void;
  registerCommand(command: PluginCommand): void;
  resolvePath(input: string): string;
  on(hook: string, handler: (event: never, ctx: never) => unknown, options?: { readonly priority?: number | undefined }): void;
}

/** A plugin's default export, when it is no function. */
export interface OpenClawPluginDefinition {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  readonly configSchema?: unknown;
  register?: ((api: OpenClawPluginApi) => void) | undefined;
  activate?: ((api: OpenClawPluginApi) => void) | undefined;
}

/** The world of one running account, in the older shape. */
export interface ReferenceGatewayContext<Account> {
  readonly cfg: OpenClawConfig;
  readonly accountId: string;
  readonly account: Account;
  readonly runtime: RuntimeEnvLike;
  readonly abortSignal: AbortSignal;
  readonly log?: PluginApiLogger | undefined;
  getStatus(): AccountSnapshot;
  setStatus(snapshot: AccountSnapshot): void;
}

export interface ReferenceOutboundContext {
  readonly cfg: OpenClawConfig;
  readonly to: string;
  readonly text: string;
  readonly mediaUrl?: string | undefined;
  readonly mediaLocalRoots?: readonly string[] | undefined;
  readonly gifPlayback?: boolean | undefined;
  readonly replyToId?: string | null | undefined;
  readonly threadId?: string | number | null | undefined;
  readonly accountId?: string | null | undefined;
  readonly identity?: Fields | undefined;
  readonly deps?: unknown;
  readonly silent?: boolean | undefined;
}

export interface ReferenceSendResult {
  readonly channel: string;
  readonly messageId: string;
  readonly [extra: string]: unknown;
}

export interface ReferenceOutbound {
  readonly deliveryMode: "direct" | "gateway" | "hybrid";
  readonly chunker?: ((text: string, limit: number) => string[]) | null | undefined;
  readonly chunkerMode?: "text" | "markdown" | undefined;
  readonly textChunkLimit?: number | undefined;
  readonly pollMaxOptions?: number | undefined;
  resolveTarget?(query: { cfg?: OpenClawConfig | undefined; to?: string | undefined; allowFrom?: string[] | undefined; accountId?: string | null | undefined; mode?: "explicit" | "implicit" | "heartbeat" | undefined }): { ok: true; to: string } | { ok: false; error: Error };
  sendPayload?(ctx: ReferenceOutboundContext & { readonly payload: ReplyPayload }): Promise<ReferenceSendResult>;
  sendText?(ctx: ReferenceOutboundContext): Promise<ReferenceSendResult>;
  sendMedia?(ctx: ReferenceOutboundContext): Promise<ReferenceSendResult>;
  sendPoll?(ctx: { readonly cfg: OpenClawConfig; readonly to: string; readonly poll: Fields; readonly accountId?: string | null | undefined }): Promise<ReferenceSendResult>;
}

/** A channel in the shape of the reference. Only id, meta, capabilities, listAccountIds and resolveAccount are required. */
export interface ReferenceChannelPlugin<Account = unknown> {
  readonly id: string;
  readonly meta: Readonly<Record<string, unknown>> & { readonly id: string; readonly label: string; readonly selectionLabel: string; readonly docsPath: string; readonly blurb: string };
  readonly capabilities: { readonly chatTypes: readonly ("direct" | "group" | "channel" | "thread")[]; readonly [feature: string]: unknown };
  readonly defaults?: { readonly queue?: { readonly debounceMs?: number | undefined } | undefined } | undefined;
  readonly reload?: { readonly configPrefixes: readonly string[]; readonly noopPrefixes?: readonly string[] | undefined } | undefined;
  readonly configSchema?: ChannelConfigSchema | undefined;
  readonly onboarding?: ChannelOnboardingAdapter | undefined;
  readonly config: {
    listAccountIds(cfg: OpenClawConfig): string[];
    resolveAccount(cfg: OpenClawConfig, accountId?: string | null): Account;
    defaultAccountId?(cfg: OpenClawConfig): string;
    setAccountEnabled?(input: { cfg: OpenClawConfig; accountId: string; enabled: boolean }): OpenClawConfig;
    deleteAccount?(input: { cfg: OpenClawConfig; accountId: string }): OpenClawConfig;
    isEnabled?(account: Account, cfg: OpenClawConfig): boolean;
    disabledReason?(account: Account, cfg: OpenClawConfig): string;
    isConfigured?(account: Account, cfg: OpenClawConfig): Maybe<boolean>;
    unconfiguredReason?(account: Account, cfg: OpenClawConfig): string;
    describeAccount?(account: Account, cfg: OpenClawConfig): AccountSnapshot;
    resolveAllowFrom?(query: { cfg: OpenClawConfig; accountId?: string | null }): (string | number)[] | undefined;
    formatAllowFrom?(query: { cfg: OpenClawConfig; accountId?: string | null; allowFrom: (string | number)[] }): string[];
    resolveDefaultTo?(query: { cfg: OpenClawConfig; accountId?: string | null }): string | undefined;
  };
  readonly gateway?: {
    /** Stays pending while the account runs. */
    startAccount?(ctx: ReferenceGatewayContext<Account>): Promise<unknown>;
    stopAccount?(ctx: ReferenceGatewayContext<Account>): Promise<void>;
    loginWithQrStart?(query: { accountId?: string; force?: boolean; timeoutMs?: number; verbose?: boolean }): Promise<{ qrDataUrl?: string; message: string }>;
    loginWithQrWait?(query: { accountId?: string; timeoutMs?: number }): Promise<{ connected: boolean; message: string }>;
    logoutAccount?(ctx: { cfg: OpenClawConfig; accountId: string; account: Account; runtime: RuntimeEnvLike }): Promise<{ cleared: boolean; loggedOut?: boolean }>;
  } | undefined;
  readonly outbound?: ReferenceOutbound | undefined;
  readonly status?: {
    readonly defaultRuntime?: AccountSnapshot | undefined;
    buildChannelSummary?(query: { account: Account; cfg: OpenClawConfig; defaultAccountId: string; snapshot: AccountSnapshot }): Maybe<Fields>;
    probeAccount?(query: { account: Account; timeoutMs: number; cfg: OpenClawConfig }): Promise<unknown>;
    auditAccount?(query: { account: Account; timeoutMs: number; cfg: OpenClawConfig; probe?: unknown }): Promise<unknown>;
    buildAccountSnapshot?(query: { account: Account; cfg: OpenClawConfig; runtime?: AccountSnapshot; probe?: unknown; audit?: unknown }): Maybe<AccountSnapshot>;
    logSelfId?(query: { account: Account; cfg: OpenClawConfig; runtime: RuntimeEnvLike }): void;
    resolveAccountState?(query: { account: Account; cfg: OpenClawConfig; configured: boolean; enabled: boolean }): string;
    collectStatusIssues?(accounts: AccountSnapshot[]): StatusIssue[];
  } | undefined;
  readonly security?: {
    resolveDmPolicy?(query: { cfg: OpenClawConfig; accountId?: string | null; account: Account }): { policy: string; allowFrom?: (string | number)[] | null; policyPath?: string; allowFromPath: string; approveHint: string; normalizeEntry?: (raw: string) => string } | null;
    collectWarnings?(query: { cfg: OpenClawConfig; accountId?: string | null; account: Account }): Maybe<string[]>;
  } | undefined;
  readonly pairing?: { readonly idLabel: string; normalizeAllowEntry?(entry: string): string; notifyApproval?(query: { cfg: OpenClawConfig; id: string; runtime?: RuntimeEnvLike }): Promise<void> } | undefined;
  readonly groups?: {
    resolveRequireMention?(ctx: ChannelGroupContext): boolean | undefined;
    resolveGroupIntroHint?(ctx: ChannelGroupContext): string | undefined;
    resolveToolPolicy?(ctx: ChannelGroupContext): ToolPolicy | undefined;
  } | undefined;
  readonly messaging?: { normalizeTarget?(raw: string): string | undefined; readonly targetResolver?: { looksLikeId?(raw: string, normalized?: string): boolean; readonly hint?: string | undefined } | undefined; formatTargetDisplay?(query: { target: string; display?: string; kind?: string }): string } | undefined;
  readonly threading?: { resolveReplyToMode?(query: { cfg: OpenClawConfig; accountId?: string | null; chatType?: string | null }): "off" | "first" | "all"; readonly allowExplicitReplyTagsWhenOff?: boolean | undefined; buildToolContext?(query: Fields): unknown } | undefined;
  readonly actions?: {
    listActions?(query: { cfg: OpenClawConfig }): string[];
    supportsAction?(query: { action: string }): boolean;
    supportsButtons?(query: { cfg: OpenClawConfig }): boolean;
    supportsCards?(query: { cfg: OpenClawConfig }): boolean;
    extractToolSend?(query: { args: Record<string, unknown> }): { to: string; accountId?: string | null } | null;
    handleAction?(ctx: { channel: string; action: string; cfg: OpenClawConfig; params: Record<string, unknown>; accountId?: string | null; requesterSenderId?: string | null; toolContext?: unknown; dryRun?: boolean }): Promise<PluginToolResult>;
  } | undefined;
  readonly directory?: Readonly<Record<string, ((query: { cfg: OpenClawConfig; accountId?: string | null; query?: string | null; limit?: number | null; groupId?: string }) => Promise<DirectoryEntry[]>) | undefined>> | undefined;
  readonly resolver?: { resolveTargets(query: { cfg: OpenClawConfig; accountId?: string | null; inputs: string[]; kind: "user" | "group"; runtime: RuntimeEnvLike }): Promise<{ input: string; resolved: boolean; id?: string; name?: string; note?: string }[]> } | undefined;
  readonly setup?: { resolveAccountId?(query: { cfg: OpenClawConfig; accountId?: string }): string; applyAccountName?(query: { cfg: OpenClawConfig; accountId: string; name?: string }): OpenClawConfig; applyAccountConfig(query: { cfg: OpenClawConfig; accountId: string; input: Fields }): OpenClawConfig; validateInput?(query: { cfg: OpenClawConfig; accountId: string; input: Fields }): string | null } | undefined;
  readonly mentions?: { stripPatterns?(query: Fields): string[]; stripMentions?(query: { text: string; ctx: Fields; cfg?: OpenClawConfig }): string } | undefined;
  readonly streaming?: { readonly blockStreamingCoalesceDefaults?: { readonly minChars: number; readonly idleMs: number } | undefined } | undefined;
  readonly agentPrompt?: { messageToolHints?(query: { cfg: OpenClawConfig; accountId?: string | null }): string[] } | undefined;
  readonly elevated?: { allowFromFallback?(query: { cfg: OpenClawConfig; accountId?: string | null }): (string | number)[] | undefined } | undefined;
  readonly commands?: { readonly enforceOwnerForCommands?: boolean | undefined; readonly skipWhenConfigEmpty?: boolean | undefined } | undefined;
  readonly heartbeat?: { checkReady?(query: Fields): Promise<{ ok: boolean; reason: string }>; resolveRecipients?(query: Fields): { recipients: string[]; source: string } } | undefined;
  readonly auth?: { login?(query: { cfg: OpenClawConfig; accountId?: string | null; runtime: RuntimeEnvLike; verbose?: boolean; channelInput?: string | null }): Promise<void> } | undefined;
  readonly gatewayMethods?: readonly string[] | undefined;
  readonly agentTools?: PluginTool[] | ((query: { cfg?: OpenClawConfig }) => PluginTool[]) | undefined;
}
