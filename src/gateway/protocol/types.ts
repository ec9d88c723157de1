/**
 * The wire's shapes, version 3 (spec: gateway-protocol §1, §2, §6). Types only: the Control UI imports this file.
 * Times are ms since the Unix epoch.
 */

export type ErrorCode = "NOT_LINKED" | "NOT_PAIRED" | "AGENT_TIMEOUT" | "INVALID_REQUEST" | "UNAVAILABLE";

export interface ErrorShape {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: unknown;
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
}

export interface StateVersion {
  readonly presence: number;
  readonly health: number;
}

export interface RequestFrame {
  readonly type: "req";
  readonly id: string;
  readonly method: string;
  readonly params?: unknown;
}

export interface ResponseFrame {
  readonly type: "res";
  readonly id: string;
  readonly ok: boolean;
  readonly payload?: unknown;
  readonly error?: ErrorShape | undefined;
}

export interface EventFrame {
  readonly type: "event";
  readonly event: string;
  readonly payload?: unknown;
  readonly seq?: number | undefined;
  readonly stateVersion?: StateVersion | undefined;
}

export type Frame = RequestFrame | ResponseFrame | EventFrame;

export type ConnectRole = "operator" | "node";

export type ClientId =
  | "webchat-ui"
  | "openclaw-control-ui"
  | "webchat"
  | "cli"
  | "gateway-client"
  | "openclaw-macos"
  | "openclaw-ios"
  | "openclaw-android"
  | "node-host"
  | "test"
  | "fingerprint"
  | "openclaw-probe";

export type ClientMode = "webchat" | "cli" | "ui" | "backend" | "node" | "probe" | "test";

export interface ClientInfo {
  readonly id: ClientId;
  readonly displayName?: string | undefined;
  readonly version: string;
  readonly platform: string;
  readonly deviceFamily?: string | undefined;
  readonly modelIdentifier?: string | undefined;
  readonly mode: ClientMode;
  readonly instanceId?: string | undefined;
}

/** What a client proves about its key; the signature is over the v2 string of spec §2.4. */
export interface DeviceProof {
  readonly id: string;
  /** base64url of the raw 32 bytes, or PEM. */
  readonly publicKey: string;
  readonly signature: string;
  readonly signedAt: number;
  readonly nonce: string;
}

export interface ConnectParams {
  readonly minProtocol: number;
  readonly maxProtocol: number;
  readonly client: ClientInfo;
  readonly caps?: readonly string[] | undefined;
  readonly commands?: readonly string[] | undefined;
  readonly permissions?: Readonly<Record<string, boolean>> | undefined;
  readonly pathEnv?: string | undefined;
  readonly role?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly device?: DeviceProof | undefined;
  readonly auth?:
    | {
        readonly token?: string | undefined;
        readonly deviceToken?: string | undefined;
        readonly password?: string | undefined;
      }
    | undefined;
  readonly locale?: string | undefined;
  readonly userAgent?: string | undefined;
}

export interface PresenceEntry {
  readonly host?: string | undefined;
  readonly ip?: string | undefined;
  readonly version?: string | undefined;
  readonly platform?: string | undefined;
  readonly deviceFamily?: string | undefined;
  readonly modelIdentifier?: string | undefined;
  readonly mode?: string | undefined;
  readonly lastInputSeconds?: number | undefined;
  readonly reason?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly text?: string | undefined;
  readonly ts: number;
  readonly deviceId?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly instanceId?: string | undefined;
}

export interface SessionDefaults {
  readonly defaultAgentId: string;
  readonly mainKey: string;
  readonly mainSessionKey: string;
  readonly scope: "per-sender" | "global";
}

export interface UpdateAvailable {
  readonly currentVersion: string;
  readonly latestVersion: string;
  readonly channel: string;
}

export type WireAuthMode = "none" | "token" | "password" | "trusted-proxy";

export interface HelloSnapshot {
  readonly presence: readonly PresenceEntry[];
  /** The HealthSummary, or `{}` for a client that may not read it. */
  readonly health: object;
  readonly stateVersion: StateVersion;
  readonly uptimeMs: number;
  readonly configPath: string;
  readonly stateDir: string;
  readonly sessionDefaults: SessionDefaults;
  readonly authMode: WireAuthMode;
  readonly updateAvailable?: UpdateAvailable | undefined;
}

export interface IssuedDeviceToken {
  readonly deviceToken: string;
  readonly role: string;
  /** Sorted. */
  readonly scopes: readonly string[];
  readonly issuedAtMs: number;
}

export interface HelloOk {
  readonly type: "hello-ok";
  readonly protocol: 3;
  readonly server: { readonly version: string; readonly connId: string };
  readonly features: { readonly methods: readonly string[]; readonly events: readonly string[] };
  readonly snapshot: HelloSnapshot;
  readonly canvasHostUrl?: string | undefined;
  readonly auth?: IssuedDeviceToken | undefined;
  readonly policy: {
    readonly maxPayload: number;
    readonly maxBufferedBytes: number;
    readonly tickIntervalMs: number;
  };
}

/** What is told of every device, known or asking. */
interface DeviceSummary {
  readonly deviceId: string;
  readonly publicKey: string;
  readonly displayName?: string | undefined;
  readonly platform?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientMode?: string | undefined;
  readonly role: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly remoteIp?: string | undefined;
}

/** Payload of `device.pair.requested`, and an entry of `pending` in `device.pair.list`. */
export interface DevicePairRequest extends DeviceSummary {
  readonly requestId: string;
  readonly silent: boolean;
  readonly isRepair: boolean;
  readonly ts: number;
}

export interface DevicePairResolved {
  readonly requestId: string;
  readonly deviceId: string;
  readonly decision: "approved" | "rejected";
  readonly ts: number;
}

/** A paired device as clients see it: tokens without their secret. */
export interface PairedDeviceSummary extends DeviceSummary {
  readonly createdAtMs: number;
  readonly approvedAtMs: number;
  readonly tokens: readonly {
    readonly role: string;
    readonly scopes: readonly string[];
    readonly createdAtMs: number;
    readonly rotatedAtMs?: number | undefined;
    readonly revokedAtMs?: number | undefined;
    readonly lastUsedAtMs?: number | undefined;
  }[];
}

export interface ChatMessage {
  readonly role: "assistant";
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly timestamp: number;
}

/** Payload of `chat` (spec §5.2). `delta` carries the whole text so far. */
export interface ChatEvent {
  readonly runId: string;
  readonly sessionKey: string;
  readonly seq: number;
  readonly state: "delta" | "final" | "error" | "aborted";
  readonly message?: ChatMessage | undefined;
  readonly errorMessage?: string | undefined;
  readonly stopReason?: string | undefined;
  readonly usage?: unknown;
  readonly originRunIds?: readonly string[] | undefined;
}

/** Payload of `agent` (spec §5.3). */
export interface AgentEvent {
  readonly runId: string;
  readonly seq?: number | undefined;
  readonly stream: "lifecycle" | "assistant" | "thinking" | "tool" | "compaction" | "error";
  readonly ts: number;
  readonly sessionKey?: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  readonly originRunIds?: readonly string[] | undefined;
}

export interface ExecApprovalRequested {
  readonly id: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface ExecApprovalResolved {
  readonly id: string;
  readonly decision: "allow-once" | "allow-always" | "deny";
  readonly resolvedBy?: string | undefined;
  readonly ts: number;
  readonly request: Readonly<Record<string, unknown>>;
}

export interface ShutdownEvent {
  readonly reason: string;
  readonly restartExpectedMs: number | null;
}
