import type { OpenClawConfig } from "../../config/index.ts";
import type { SessionEntry } from "../../sessions/index.ts";

export type QueueMode = "steer" | "followup" | "collect" | "steer-backlog" | "interrupt";
export type QueueDrop = "summarize" | "old" | "new";

export interface QueueSettings {
  readonly mode: QueueMode;
  readonly debounceMs: number;
  readonly cap: number;
  readonly drop: QueueDrop;
}

const MODES: Readonly<Record<string, QueueMode>> = {
  steer: "steer", queue: "steer", queued: "steer", steering: "steer", followup: "followup", collect: "collect", coalesce: "collect",
  "steer-backlog": "steer-backlog", "steer+backlog": "steer-backlog", steer_backlog: "steer-backlog",
  interrupt: "interrupt", interrupts: "interrupt", abort: "interrupt",
};

export function parseQueueMode(raw: string | undefined): QueueMode | undefined {
  return raw === undefined ? undefined : MODES[raw.trim().toLowerCase()];
}

export function parseQueueDrop(raw: string | undefined): QueueDrop | undefined {
  const value = raw?.trim().toLowerCase();
  return value === "old" || value === "new" || value === "summarize" ? value : undefined;
}

/** Session, then channel, then config, then collect. Source: spec agent-pipeline §4.1–4.2. */
export function resolveQueueSettings(cfg: OpenClawConfig, channel: string, entry: SessionEntry | undefined, channelDebounceMs?: number): QueueSettings {
  const queue = cfg.messages?.queue;
  const byChannel: Readonly<Record<string, unknown>> = { ...queue?.byChannel };
  const channelMode = byChannel[channel];
  return {
    mode: parseQueueMode(entry?.queueMode) ?? parseQueueMode(typeof channelMode === "string" ? channelMode : undefined) ?? parseQueueMode(queue?.mode) ?? "collect",
    debounceMs: entry?.queueDebounceMs ?? queue?.debounceMsByChannel?.[channel] ?? channelDebounceMs ?? queue?.debounceMs ?? 1000,
    cap: Math.max(1, entry?.queueCap ?? queue?.cap ?? 20),
    drop: parseQueueDrop(entry?.queueDrop) ?? parseQueueDrop(queue?.drop) ?? "summarize",
  };
}
