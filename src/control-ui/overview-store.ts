import type { DevicePairRequest, ExecApprovalRequested, PairedDeviceSummary } from "../gateway/protocol/types.ts";
import type { GatewayCommand } from "./chat/commands.ts";
import { ConnectionLost } from "./gateway/client.ts";
import type { GatewayClient } from "./gateway/client.ts";
import { isRecord } from "./gateway/storage.ts";
import { errorText } from "./ui/format.ts";
import { Observable } from "./ui/observable.ts";

/** A row of `sessions.list`; what it lacks is simply not shown. */
export interface SessionRow {
  readonly key: string;
  readonly kind?: string;
  readonly label?: string;
  readonly displayName?: string;
  readonly derivedTitle?: string;
  readonly lastMessagePreview?: string;
  readonly channel?: string;
  readonly updatedAt?: number | null;
  readonly totalTokens?: number;
  readonly contextTokens?: number;
  readonly modelProvider?: string;
  readonly model?: string;
}

export interface ChannelAccount {
  readonly accountId?: string;
  readonly name?: string;
  readonly enabled?: boolean;
  readonly configured?: boolean;
  readonly linked?: boolean;
  readonly running?: boolean;
  readonly connected?: boolean;
  readonly reconnectAttempts?: number;
  readonly lastInboundAt?: number | null;
  readonly lastError?: string | null;
  readonly mode?: string;
}

export interface ChannelPairing {
  readonly channel: string;
  readonly accountId: string;
  readonly id: string;
  readonly code: string;
  readonly createdAt?: string | number;
  readonly lastSeenAt?: string | number;
  readonly meta?: Readonly<Record<string, unknown>>;
}

interface ChannelsStatus {
  readonly channelOrder?: readonly string[];
  readonly channelLabels?: Readonly<Record<string, string>>;
  readonly channelAccounts?: Readonly<Record<string, readonly ChannelAccount[]>>;
}

interface StatusAnswer {
  readonly sessions?: { readonly count?: number; readonly defaults?: { readonly model?: string | null } | null };
  readonly model?: { readonly ref?: string; readonly provider?: string; readonly model?: string; readonly reason?: string; readonly source?: string } | string | null;
  readonly configError?: { readonly path?: string; readonly message?: string } | null;
}

export interface ModelInUse {
  /** `provider/model`; empty when none is known. */
  readonly ref: string;
  readonly reason: string;
  /** The built-in guide that answers when there is no model. */
  readonly offline: boolean;
}

const REFRESH_MS = 15_000;
const OFFLINE_REF = "offline/guide";

/** What the overview and the frame show about the gateway; read again after each event that touches it. */
export class OverviewStore extends Observable {
  status: StatusAnswer = {};
  healthy: boolean | undefined;
  sessions: readonly SessionRow[] = [];
  sessionDefaults: { readonly modelProvider?: string; readonly model?: string | null } = {};
  channels: ChannelsStatus = {};
  pairings: readonly ChannelPairing[] = [];
  pendingDevices: readonly DevicePairRequest[] = [];
  pairedDevices: readonly PairedDeviceSummary[] = [];
  approvals: readonly ExecApprovalRequested[] = [];
  /** Read once per connection. */
  commands: readonly GatewayCommand[] = [];
  errors: Readonly<Record<string, string>> = {};
  updatedAt = 0;
  readonly #client: GatewayClient;
  #timer: number | undefined;
  #soon: number | undefined;

  constructor(client: GatewayClient) {
    super();
    this.#client = client;
    let connected = false;
    client.observe(() => {
      const now = client.hello !== undefined;
      if (now && !connected) {
        void this.refresh();
        void this.#load("commands", "commands.list", {}, (answer: { commands?: GatewayCommand[] }) => (this.commands = answer.commands ?? []));
      }
      connected = now;
    });
    client.onGap(() => this.#refreshSoon());
    client.onEvent(({ event, payload }) => {
      if (event === "exec.approval.requested") this.#addApproval(payload as ExecApprovalRequested);
      else if (event === "exec.approval.resolved" && isRecord(payload)) this.dropApproval(String(payload["id"]));
      else if (/^(?:device\.pair\.|health$|channels?\.)/.test(event)) this.#refreshSoon();
      else if (event === "chat" && isRecord(payload) && payload["state"] !== "delta") this.#refreshSoon();
    });
  }

  /** Polls while the overview is on screen; the result stops it. */
  watch(): () => void {
    void this.refresh();
    this.#timer = setInterval(() => {
      if (document.visibilityState === "visible") void this.refresh();
    }, REFRESH_MS);
    return () => clearInterval(this.#timer);
  }

  get model(): ModelInUse {
    const { model, sessions } = this.status;
    const named = isRecord(model) ? model : undefined;
    const part = (value: unknown): string => (typeof value === "string" ? value : "");
    const given = part(named?.["ref"]);
    if (given !== "") return { ref: given, reason: part(named?.["reason"]), offline: given === OFFLINE_REF || named?.["source"] === "offline" };
    const provider = part(named?.["provider"]) || part(this.sessionDefaults.modelProvider);
    const id = part(named?.["model"]) || (typeof model === "string" ? model : "") || part(this.sessionDefaults.model) || part(sessions?.defaults?.model);
    const ref = id.includes("/") && (provider === "" || id.startsWith(`${provider}/`)) ? id : [provider, id].filter(Boolean).join("/");
    return { ref, reason: part(named?.["reason"]), offline: ref === OFFLINE_REF || ref === "guide" || provider === "offline" };
  }

  async refresh(): Promise<void> {
    clearTimeout(this.#soon);
    if (!this.#client.hello) return;
    await Promise.all([
      this.#load("health", "health", {}, (answer: { ok?: boolean }) => (this.healthy = answer.ok !== false)),
      this.#load("status", "status", {}, (answer: StatusAnswer) => (this.status = answer)),
      this.#load("sessions", "sessions.list", { limit: 200, includeDerivedTitles: true, includeLastMessage: true }, (answer: { sessions?: SessionRow[]; defaults?: OverviewStore["sessionDefaults"] }) => {
        this.sessions = answer.sessions ?? [];
        this.sessionDefaults = answer.defaults ?? {};
      }),
      this.#load("channels", "channels.status", {}, (answer: ChannelsStatus) => (this.channels = answer)),
      this.#load("pairings", "channels.pairing.list", {}, (answer: { requests?: ChannelPairing[] }) => (this.pairings = answer.requests ?? [])),
      this.#load("devices", "device.pair.list", {}, (answer: { pending?: DevicePairRequest[]; paired?: PairedDeviceSummary[] }) => {
        this.pendingDevices = answer.pending ?? [];
        this.pairedDevices = answer.paired ?? [];
      }),
    ]);
    this.updatedAt = Date.now();
    this.notify();
  }

  dropApproval(id: string): void {
    this.approvals = this.approvals.filter((approval) => approval.id !== id);
    this.notify();
  }

  #addApproval(approval: ExecApprovalRequested): void {
    this.approvals = [...this.approvals.filter((other) => other.id !== approval.id), approval];
    setTimeout(() => this.dropApproval(approval.id), Math.max(0, approval.expiresAtMs - Date.now()));
    this.notify();
  }

  /** Methods the gateway does not serve are skipped: their part stays empty. */
  async #load<T>(part: string, method: string, params: object, apply: (answer: T) => void): Promise<void> {
    if (!this.#client.has(method)) return;
    try {
      apply(await this.#client.request<T>(method, params));
      const { [part]: _gone, ...rest } = this.errors;
      this.errors = rest;
    } catch (err) {
      if (!(err instanceof ConnectionLost)) this.errors = { ...this.errors, [part]: errorText(err) };
    }
    this.notify();
  }

  #refreshSoon(): void {
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => void this.refresh(), 400);
  }
}
