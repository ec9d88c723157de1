import { summarizeHeartbeats } from "../heartbeat/index.ts";
import type { ChannelManager } from "../channels/manager/index.ts";
import type { ConfigSource, OpenClawConfig } from "../config/index.ts";
import type { Clock } from "../infra/clock.ts";
import { listAgentIds, resolveAgent, resolveDefaultAgentId, type AgentRoots } from "../routing/index.ts";
import type { SessionService } from "../sessions/index.ts";

/** The answer of `health`. Source: spec gateway-methods §4.1. */
export interface HealthSummary {
  readonly ok: true;
  readonly ts: number;
  readonly durationMs: number;
  readonly channels: Readonly<Record<string, unknown>>;
  readonly channelOrder: readonly string[];
  readonly channelLabels: Readonly<Record<string, string>>;
  readonly heartbeatSeconds: number;
  readonly defaultAgentId: string;
  readonly agents: readonly unknown[];
  readonly sessions: { readonly path: string; readonly count: number; readonly recent: readonly { key: string; updatedAt: number; age: number }[] };
  /** Ours: the file on disk is broken and the last good one runs. */
  readonly configError?: { readonly path: string; readonly message: string } | undefined;
}

export interface HealthService {
  get(options?: { probe?: boolean | undefined }): Promise<HealthSummary>;
  /** The last summary, if any was made; never waits. */
  latest(): HealthSummary | undefined;
  version(): number;
  /** Recomputes and tells the listener, at most once a second. */
  refresh(): void;
  /** From now on `refresh` does nothing: what it reads is about to be closed. */
  close(): void;
}

const CACHE_MS = 60_000;
const MIN_REFRESH_MS = 1000;
const RECENT = 5;

export function createHealthService(deps: {
  readonly config: () => OpenClawConfig;
  readonly source: ConfigSource;
  readonly roots: AgentRoots;
  readonly clock: Clock;
  readonly sessions: SessionService;
  readonly channels: () => ChannelManager;
  readonly onChange: (summary: HealthSummary) => void;
}): HealthService {
  let latest: HealthSummary | undefined;
  let version = 1;
  let timer: NodeJS.Timeout | undefined;
  let lastRefresh = 0;
  let closed = false;

  async function build(probe: boolean): Promise<HealthSummary> {
    const started = performance.now();
    const cfg = deps.config();
    const status = await deps.channels().status({ probe });
    const all = await deps.sessions.all();
    const now = deps.clock.now();
    const recent = all.toSorted((a, b) => b.entry.updatedAt - a.entry.updatedAt).slice(0, RECENT).map(({ key, entry }) => ({ key, updatedAt: entry.updatedAt, age: now - entry.updatedAt }));
    const defaultAgentId = resolveDefaultAgentId(cfg);
    const error = deps.source.lastError();
    const heartbeats = summarizeHeartbeats(cfg);
    latest = {
      ok: true, ts: now, durationMs: Math.round(performance.now() - started), channels: status.channels, channelOrder: status.channelOrder,
      channelLabels: status.channelLabels, heartbeatSeconds: Math.round((heartbeats.find((beat) => beat.enabled)?.everyMs ?? 0) / 1000), defaultAgentId,
      agents: listAgentIds(cfg).map((agentId) => ({
        agentId, name: resolveAgent(cfg, agentId, deps.roots).name, isDefault: agentId === defaultAgentId,
        heartbeat: heartbeats.find((beat) => beat.agentId === agentId), sessions: all.filter((row) => row.agentId === agentId).length,
      })),
      sessions: { path: deps.sessions.storeFor(defaultAgentId).path, count: all.length, recent },
      ...(error ? { configError: { path: error.path, message: error.message } } : {}),
    };
    version++;
    return latest;
  }

  function refresh(): void {
    if (timer || closed) return;
    timer = setTimeout(() => {
      timer = undefined;
      lastRefresh = deps.clock.now();
      build(false).then(deps.onChange, () => undefined); // a failing store is logged where it fails
    }, Math.max(0, lastRefresh + MIN_REFRESH_MS - deps.clock.now()));
    timer.unref();
  }

  return {
    async get({ probe = false } = {}) {
      if (!probe && latest && deps.clock.now() - latest.ts < CACHE_MS) {
        refresh();
        return latest;
      }
      const summary = await build(probe);
      deps.onChange(summary);
      return summary;
    },
    latest: () => latest,
    version: () => version,
    refresh,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
