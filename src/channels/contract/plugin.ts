import type { Logger } from "../../infra/log.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { ChatType, InboundMediaRef, InboundMessage, InboundSystemEvent, ReceiveOutcome } from "./inbound.ts";
import type { OutboundMessage, OutboundTarget, SendOptions, SendOutcome, StreamHandle } from "./outbound.ts";

/**
 * The one contract of every channel, built in or from a plugin. Source: spec channels §1, decisions §6.
 * Members that a channel lacks are absent; the core asks for the member, never for the channel's name.
 */
export interface ChannelPlugin<Account = unknown> {
  /** Key under `channels`, first part of addresses. */
  readonly id: string;
  readonly meta: ChannelMeta;
  readonly capabilities: ChannelCapabilities;
  readonly defaults?: { readonly queue?: { readonly debounceMs?: number | undefined } | undefined } | undefined;
  readonly reload?:
    | { readonly configPrefixes: readonly string[]; readonly noopPrefixes?: readonly string[] | undefined }
    | undefined;
  readonly config: ChannelConfigAdapter<Account>;
  readonly setup?: ChannelSetupAdapter | undefined;
  readonly pairing?: ChannelPairingAdapter | undefined;
  readonly security?: ChannelSecurityAdapter<Account> | undefined;
  readonly groups?: ChannelGroupsAdapter | undefined;
  readonly mentions?: { stripMentions(text: string, botUsername?: string): string } | undefined;
  readonly outbound?: ChannelOutboundAdapter | undefined;
  readonly streaming?: ChannelStreamingAdapter | undefined;
  readonly threading?: ChannelThreadingAdapter | undefined;
  readonly messaging?: ChannelMessagingAdapter | undefined;
  readonly resolver?: ChannelResolverAdapter | undefined;
  readonly actions?: ChannelActionsAdapter | undefined;
  readonly status?: ChannelStatusAdapter<Account> | undefined;
  readonly gateway?: ChannelGatewayAdapter<Account> | undefined;
  readonly agentPrompt?: { messageToolHints(cfg: OpenClawConfig): readonly string[] } | undefined;
  readonly commands?:
    | { readonly enforceOwnerForCommands?: boolean | undefined; readonly nativeAuto?: boolean | undefined }
    | undefined;
  /** Extra RPC names served by the channel. */
  readonly gatewayMethods?: readonly string[] | undefined;
  /** Tools that come with the channel (documents, calendars of the platform); asked for in every run, so cheap. `run`: whose credentials they act with. */
  agentTools?(cfg: OpenClawConfig, run?: ChannelToolRun): readonly ChannelAgentTool[];
  /** Hosts (and subdomains) of the platform that may resolve into 198.18.0.0/15, as behind a fake-IP proxy. */
  readonly platformHosts?: readonly string[] | undefined;
}

/** Where a run belongs, when it came from a chat. */
export interface ChannelToolRun {
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
}

/** A tool for the agent in the shape of the plugin SDK. Source: spec plugin-sdk §8. */
export interface ChannelAgentTool {
  readonly name: string;
  readonly label?: string | undefined;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly ownerOnly?: boolean | undefined;
  /** @throws Error with a text for the model */
  execute(toolCallId: string, params: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<ChannelToolResult>;
}

export interface ChannelToolResult {
  readonly content: readonly ({ readonly type: "text"; readonly text: string } | { readonly type: "image"; readonly data: string; readonly mimeType: string })[];
  readonly details?: unknown;
}

export interface ChannelMeta {
  readonly id: string;
  readonly label: string;
  readonly selectionLabel: string;
  readonly docsPath: string;
  readonly blurb: string;
  readonly order?: number | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly detailLabel?: string | undefined;
  readonly systemImage?: string | undefined;
}

export interface ChannelCapabilities {
  readonly chatTypes: readonly (ChatType | "thread")[];
  readonly polls?: boolean | undefined;
  readonly reactions?: boolean | undefined;
  readonly edit?: boolean | undefined;
  readonly reply?: boolean | undefined;
  readonly threads?: boolean | undefined;
  readonly media?: boolean | undefined;
  readonly nativeCommands?: boolean | undefined;
  readonly blockStreaming?: boolean | undefined;
}

export interface ChannelConfigAdapter<Account> {
  listAccountIds(cfg: OpenClawConfig): string[];
  /** @throws never; a broken account is one that `isConfigured` refuses */
  resolveAccount(cfg: OpenClawConfig, accountId: string): Account;
  defaultAccountId(cfg: OpenClawConfig): string;
  isEnabled(account: Account, cfg: OpenClawConfig): boolean;
  /** undefined when it can start, else what is missing, for status. */
  unconfiguredReason(account: Account, cfg: OpenClawConfig): string | undefined;
  describeAccount?(account: Account, cfg: OpenClawConfig): ChannelAccountSnapshot;
  resolveAllowFrom?(account: Account): readonly string[];
  resolveDefaultTo?(account: Account): string | undefined;
}

/** Answers of `channels add`; every field optional. Source: spec channels §1 (ChannelSetupInput). */
export interface ChannelSetupInput {
  readonly name?: string | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly useEnv?: boolean | undefined;
  readonly [key: string]: unknown;
}

export interface ChannelSetupAdapter {
  /** undefined when good, else what to change. */
  validateInput(input: ChannelSetupInput): string | undefined;
  /** A merge patch for the config file. */
  applyAccountConfig(cfg: OpenClawConfig, accountId: string, input: ChannelSetupInput): Record<string, unknown>;
}

export interface ChannelPairingAdapter {
  /** e.g. `telegramUserId`. */
  readonly idLabel: string;
  /** The sender's id as the line a stranger is shown, e.g. `Your Telegram user id: 42`. */
  idLine(senderId: string): string;
  normalizeAllowEntry(entry: string): string;
}

export type DmPolicy = "pairing" | "allowlist" | "open" | "disabled";
export type GroupPolicy = "open" | "allowlist" | "disabled";

/** What the ingress gate needs to decide about one chat; all lists already normalised. */
export interface ChannelAccessRules {
  readonly dmPolicy: DmPolicy;
  readonly allowFrom: readonly string[];
  readonly groupPolicy: GroupPolicy;
  /** Who may speak in this group; undefined falls back to `allowFrom`. */
  readonly groupAllowFrom: readonly string[] | undefined;
  /** false: this group or topic is switched off or not listed. */
  readonly groupListed: boolean;
  readonly groupEnabled: boolean;
  readonly requireMention: boolean;
  /** How much unaddressed talk of this group is kept; undefined: the channel's or the general limit. */
  readonly historyLimit?: number | undefined;
  /** Exact config line that would admit this group, for status. */
  readonly groupConfigHint?: string | undefined;
}

export interface ChannelSecurityAdapter<Account> {
  resolveAccess(account: Account, cfg: OpenClawConfig, chat: { id: string; type: ChatType; threadId?: string | undefined }): ChannelAccessRules;
  /** Lower-cased, prefix stripped; the form in which ids are compared. */
  normalizeEntry(entry: string): string;
  /** Sentences about what is risky or without effect; told in the log when the account starts, and in the status. */
  collectWarnings?(account: Account, cfg: OpenClawConfig): readonly string[];
}

export interface GroupContext {
  readonly cfg: OpenClawConfig;
  readonly accountId: string;
  readonly groupId: string;
  readonly threadId?: string | undefined;
  readonly senderId?: string | undefined;
  readonly senderName?: string | undefined;
  readonly senderUsername?: string | undefined;
  readonly senderE164?: string | undefined;
}

export interface GroupToolPolicy {
  readonly allow?: readonly string[] | undefined;
  readonly alsoAllow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export interface ChannelGroupsAdapter {
  resolveToolPolicy?(ctx: GroupContext): GroupToolPolicy | undefined;
}

export interface ChannelOutboundAdapter {
  readonly textLimit: { readonly max: number; readonly unit: "utf16" | "utf8-bytes" };
  /** Formats, splits, sends. Never rejects for a platform's answer: that is an outcome. */
  send(cfg: OpenClawConfig, message: OutboundMessage, options: SendOptions): Promise<SendOutcome>;
  resolveTarget?(cfg: OpenClawConfig, to: string, accountId: string): { ok: true; to: string; threadId?: string | undefined } | { ok: false; error: string };
  sendPoll?(cfg: OpenClawConfig, target: OutboundTarget, poll: OutboundPoll, options: SendOptions): Promise<SendOutcome>;
  /** Files that an answer names in the channel's own tags, and what is left of the text; the core checks whether they may be sent. */
  takeMediaTags?(text: string): { readonly text: string; readonly media: readonly { readonly source: string; readonly asVoice: boolean }[] };
  /** People may be shown the model's thoughts here, when they ask for them. */
  readonly showsReasoning?: boolean | undefined;
  /** One "is typing" signal; the core repeats it. Failures are the channel's to log. */
  sendTyping?(cfg: OpenClawConfig, target: OutboundTarget): Promise<void>;
  /** emoji "" removes. */
  react?(cfg: OpenClawConfig, target: OutboundTarget, messageId: string, emoji: string): Promise<void>;
}

export interface OutboundPoll {
  readonly question: string;
  readonly options: readonly string[];
  readonly maxSelections?: number | undefined;
  readonly durationSeconds?: number | undefined;
  readonly isAnonymous?: boolean | undefined;
}

export interface ChannelStreamingAdapter {
  readonly blockStreamingCoalesceDefaults?: { readonly minChars: number; readonly idleMs: number } | undefined;
  /** undefined when this account or chat does not preview. */
  open?(cfg: OpenClawConfig, target: OutboundTarget): StreamHandle | undefined;
  /** Closes a preview that a killed process left behind. */
  closeOrphan?(cfg: OpenClawConfig, accountId: string, ref: unknown): Promise<void>;
}

export interface ChannelThreadingAdapter {
  resolveReplyToMode(cfg: OpenClawConfig, accountId: string): "off" | "first" | "all";
  readonly allowExplicitReplyTagsWhenOff?: boolean | undefined;
}

export interface ChannelMessagingAdapter {
  /** Canonical form of an address, or undefined when it is none of this channel. */
  normalizeTarget(raw: string): string | undefined;
  readonly hint: string;
}

/** Source: spec channels §1 (resolver). */
export interface ChannelResolverAdapter {
  /** Whose an id is, and which id a name has, asked of the platform: a row per input, in order. Never rejects for an input that is unknown. */
  resolveTargets(cfg: OpenClawConfig, accountId: string, query: { readonly inputs: readonly string[]; readonly kind: "user" | "group"; readonly signal: AbortSignal }): Promise<readonly ResolvedTarget[]>;
}

export interface ResolvedTarget {
  readonly input: string;
  readonly resolved: boolean;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** Why it was not found. */
  readonly note?: string | undefined;
}

export interface ChannelActionContext {
  readonly cfg: OpenClawConfig;
  readonly accountId: string;
  readonly action: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The chat the run belongs to, when it has one on this channel. */
  readonly current?: { readonly to: string; readonly threadId?: string | undefined; readonly messageId?: string | undefined } | undefined;
  readonly signal: AbortSignal;
}

export interface ChannelActionsAdapter {
  listActions(cfg: OpenClawConfig): readonly string[];
  handleAction(ctx: ChannelActionContext): Promise<unknown>;
}

/** Row of `channels.status`; a channel fills what applies. Source: spec channels §1 (account snapshot). */
export interface ChannelAccountSnapshot {
  accountId: string;
  name?: string | undefined;
  enabled?: boolean | undefined;
  configured?: boolean | undefined;
  running?: boolean | undefined;
  connected?: boolean | undefined;
  reconnectAttempts?: number | undefined;
  lastConnectedAt?: number | null | undefined;
  lastStartAt?: number | null | undefined;
  lastStopAt?: number | null | undefined;
  lastInboundAt?: number | null | undefined;
  lastOutboundAt?: number | null | undefined;
  lastEventAt?: number | null | undefined;
  lastError?: string | null | undefined;
  mode?: string | undefined;
  dmPolicy?: string | undefined;
  allowFrom?: readonly string[] | undefined;
  tokenSource?: string | undefined;
  probe?: unknown;
  lastProbeAt?: number | null | undefined;
  [extra: string]: unknown;
}

export interface ChannelStatusAdapter<Account> {
  probeAccount?(account: Account, cfg: OpenClawConfig, timeoutMs: number): Promise<unknown>;
  collectStatusIssues?(snapshots: readonly ChannelAccountSnapshot[]): readonly ChannelStatusIssue[];
}

export interface ChannelStatusIssue {
  readonly channel: string;
  readonly accountId: string;
  readonly kind: "intent" | "permissions" | "config" | "auth" | "runtime";
  readonly message: string;
  readonly fix?: string | undefined;
}

export interface ChannelHttpRequest {
  readonly method: string;
  /** Canonical path, without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly remoteAddress: string | undefined;
}

export interface ChannelHttpResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
}

export interface ChannelHttp {
  /**
   * Serves `path`; the channel itself checks who calls (`auth: "plugin"`). Body of at most 1 MiB within 30 s, as it came.
   * The result withdraws the route; so does the end of the account. An existing route of this path is replaced.
   */
  route(path: string, options: { readonly auth: "plugin" }, handler: (req: ChannelHttpRequest, rawBody: Buffer) => Promise<ChannelHttpResponse> | ChannelHttpResponse): () => void;
}

/** The world of one running account. */
export interface ChannelAccountContext<Account = unknown> {
  readonly cfg: () => OpenClawConfig;
  readonly accountId: string;
  readonly account: Account;
  /** Bound to { channel, accountId }. */
  readonly log: Logger;
  /** Aborted on gateway stop, on manual stop and when the account's config changes. */
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly stateDir: string;
  /** Takes responsibility for one message; acknowledge the platform unless `unavailable`. */
  receive(message: InboundMessage): Promise<ReceiveOutcome>;
  receiveEvent(event: InboundSystemEvent): Promise<ReceiveOutcome>;
  setStatus(patch: Partial<ChannelAccountSnapshot>): void;
  /** Paths under the gateway's own port, for platforms that call back. */
  readonly http: ChannelHttp;
  /** Commands to offer in the platform's menu. */
  nativeCommands(): readonly { readonly name: string; readonly description: string }[];
  /**
   * Merges a patch into the config file (null deletes a key); for what the platform itself changed, such as a group's id.
   * The channel asks only when its `configWrites` is not false.
   */
  patchConfig?(patch: Readonly<Record<string, unknown>>, reason: string): Promise<void>;
}

export interface ChannelGatewayAdapter<Account> {
  /** Resolves when the account has ended (signal aborted); rejects to be restarted with backoff. */
  startAccount(ctx: ChannelAccountContext<Account>): Promise<void>;
  /** Fetches one announced medium into `dir`. @throws ChannelError */
  downloadMedia?(cfg: OpenClawConfig, accountId: string, media: InboundMediaRef, options: { dir: string; maxBytes: number; signal: AbortSignal }): Promise<DownloadedMedia>;
  /** `forget` is a config patch (null deletes) that removes the credentials; the caller writes it. `loggedOut` false: some stay elsewhere. */
  logoutAccount?(cfg: OpenClawConfig, accountId: string): Promise<{ cleared: boolean; loggedOut?: boolean | undefined; forget?: Readonly<Record<string, unknown>> | undefined }>;
}

export interface DownloadedMedia {
  readonly path: string;
  readonly mimeType: string;
  readonly fileName?: string | undefined;
  readonly sizeBytes: number;
}
