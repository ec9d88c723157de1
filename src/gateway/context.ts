import type { AgentRuntime } from "../agents/index.ts";
import type { Conversation, CommandRegistry } from "../auto-reply/index.ts";
import type { ChannelManager } from "../channels/manager/index.ts";
import type { ConfigSource, OpenClawConfig, StatePaths } from "../config/index.ts";
import type { Outbox, PendingHistory, SystemEvents } from "../delivery/index.ts";
import type { CronService } from "../cron/index.ts";
import type { HeartbeatService } from "../heartbeat/index.ts";
import type { Clock } from "../infra/clock.ts";
import type { GuardedFetch } from "../infra/guarded-fetch.ts";
import type { Logger } from "../infra/log.ts";
import type { ChannelPairingStore, DeviceStore } from "../pairing/index.ts";
import type { SessionService } from "../sessions/index.ts";
import type { HealthService } from "./health.ts";
import type { IdempotencyCache } from "./idempotency.ts";
import type { RestartService } from "./restart.ts";
import type { PresenceStore, WsServer } from "./ws/index.ts";

/** Everything the gateway's methods and surfaces work with; one per gateway. */
export interface GatewayContext {
  readonly paths: StatePaths;
  readonly config: () => OpenClawConfig;
  readonly source: ConfigSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  readonly startedAt: number;
  readonly port: () => number;
  readonly logFile: () => string;
  readonly sessions: SessionService;
  readonly agents: AgentRuntime;
  readonly conversation: Conversation;
  readonly commands: CommandRegistry;
  readonly channels: ChannelManager;
  readonly pairing: ChannelPairingStore;
  readonly devices: DeviceStore;
  readonly presence: PresenceStore;
  readonly outbox: Outbox;
  readonly history: PendingHistory;
  readonly systemEvents: SystemEvents;
  readonly heartbeats: HeartbeatService;
  readonly cron: CronService;
  readonly health: HealthService;
  readonly idempotency: IdempotencyCache;
  readonly restart: RestartService;
  readonly fetch: GuardedFetch;
  readonly ws: () => WsServer;
  enqueueSystemEvent(text: string, options?: { contextKey?: string | undefined }): void;
  broadcastPresence(): void;
}
