import type { IncomingMessage, ServerResponse } from "node:http";
import type { OpenClawConfig } from "../config/index.ts";
import type { LoadedMedia, LoadMediaOptions } from "../plugins/runtime/index.ts";

/** What the SDK needs of a running gateway. One object for each gateway; the functions of the SDK are bound to it. */
export interface SdkHost {
  /** Puts a route in; one of the same path gives way. The result takes it out, unless another has taken its place. */
  registerRoute(route: HostRoute): () => void;
  hasRoute(path: string): boolean;
  /** Hands every line of the log to `transport`, secrets masked. */
  registerLogTransport(transport: (record: Readonly<Record<string, unknown>>) => void): () => void;
  readonly diagnostics: {
    emit(event: DiagnosticEvent): void;
    on(listener: (event: DiagnosticEvent) => void): () => void;
  };
  readonly devices: HostDevices;
  /** The same functions that `api.runtime` has. */
  readonly runtime: HostRuntime;
  /** Chats that are bound to a session. Absent while no channel has them. */
  readonly threadBindings?: HostThreadBindings | undefined;
  now(): number;
}

export interface HostRoute {
  readonly path: string;
  readonly handler: (req: IncomingMessage, res: ServerResponse) => unknown;
  readonly pluginId?: string | undefined;
  readonly source?: string | undefined;
  readonly accountId?: string | undefined;
}

/** `type` such as `model.usage`; the rest depends on it. */
export interface DiagnosticEventInput {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface DiagnosticEvent extends DiagnosticEventInput {
  /** Counts up from 1 in one gateway. */
  readonly seq: number;
  readonly ts: number;
}

export interface HostDevices {
  list(): Promise<{ readonly pending: readonly unknown[]; readonly paired: readonly unknown[] }>;
  /** null: no such request. */
  approve(requestId: string): Promise<{ readonly requestId: string; readonly device: unknown } | null>;
  reject(requestId: string): Promise<{ readonly requestId: string; readonly deviceId: string } | null>;
}

export interface RecordInboundSessionInput {
  readonly storePath: string;
  readonly sessionKey: string;
  readonly ctx: object;
  readonly groupResolution?: unknown;
  readonly createIfMissing?: boolean | undefined;
  readonly updateLastRoute?: object | undefined;
  readonly onRecordError: (err: unknown) => void;
}

export interface HostRuntime {
  readonly media: { loadWebMedia(source: string, limits?: number | LoadMediaOptions): Promise<LoadedMedia> };
  readonly channel: {
    readonly session: { recordInboundSession(input: RecordInboundSessionInput): Promise<void> };
    readonly pairing: { readAllowFromStore(query: { channel: string; accountId?: string | undefined }): Promise<string[]> };
  };
}

export interface ThreadBinding {
  readonly accountId: string;
  readonly channelId: string;
  readonly threadId: string;
  readonly targetKind: "subagent" | "acp";
  readonly targetSessionKey: string;
  readonly [extra: string]: unknown;
}

export interface ThreadBindingQuery {
  readonly targetSessionKey: string;
  readonly accountId?: string | undefined;
  readonly targetKind?: "subagent" | "acp" | undefined;
}

export interface HostThreadBindings {
  list(query: ThreadBindingQuery): ThreadBinding[];
  unbind(query: ThreadBindingQuery & { readonly reason?: string | undefined; readonly sendFarewell?: boolean | undefined; readonly farewellText?: string | undefined }): ThreadBinding[];
  autoBind(request: { readonly cfg?: OpenClawConfig | undefined; readonly childSessionKey: string; readonly agentId: string; readonly [extra: string]: unknown }): Promise<ThreadBinding | null>;
}
