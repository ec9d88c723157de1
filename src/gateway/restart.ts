import { join } from "node:path";
import { writeFileAtomic } from "../infra/atomic-file.ts";
import type { Clock } from "../infra/clock.ts";
import type { Logger } from "../infra/log.ts";

export interface RestartRequest {
  readonly reason: string;
  readonly delayMs?: number | undefined;
  readonly sessionKey?: string | undefined;
  readonly note?: string | undefined;
  readonly kind: "config-patch" | "config-apply" | "update" | "restart";
  readonly deliveryContext?: unknown;
}

export interface RestartPlan {
  readonly ok: true;
  readonly pid: number;
  readonly signal: "SIGUSR1";
  readonly delayMs: number;
  readonly reason: string;
  readonly mode: "emit";
  readonly coalesced: boolean;
  readonly cooldownMsApplied: number;
}

export interface RestartService {
  /** Plans one restart; a second request joins it. */
  schedule(request: RestartRequest): Promise<{ restart: RestartPlan; sentinel: { path: string; payload: unknown } }>;
  cancel(): void;
}

const DEFAULT_DELAY_MS = 2000;
const MAX_DELAY_MS = 60_000;
const COOLDOWN_MS = 30_000;
const MAX_IDLE_WAIT_MS = 30_000;

/** Restarts wait for idle runs, at most 30 s, and keep 30 s between each other. Source: spec cli-and-ui §1.8–1.9. */
export function createRestartService(deps: {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly startedAt: number;
  readonly isIdle: () => boolean;
  readonly perform: (reason: string) => void;
}): RestartService {
  let planned: { plan: RestartPlan; timer: NodeJS.Timeout } | undefined;

  function fire(reason: string, deadline: number): void {
    if (!deps.isIdle() && deps.clock.now() < deadline) {
      if (planned) planned.timer = setTimeout(() => fire(reason, deadline), 500);
      return;
    }
    planned = undefined;
    deps.perform(reason);
  }

  return {
    async schedule(request) {
      const sentinelPath = join(deps.stateDir, "restart-sentinel.json");
      const payload = {
        kind: request.kind, status: "ok", ts: deps.clock.now(), ...(request.sessionKey ? { sessionKey: request.sessionKey } : {}),
        ...(request.deliveryContext ? { deliveryContext: request.deliveryContext } : {}), message: request.note ?? null, doctorHint: null, stats: {},
      };
      await writeFileAtomic(sentinelPath, `${JSON.stringify({ version: 1, payload }, null, 2)}\n`);
      const sentinel = { path: sentinelPath, payload };
      if (planned) return { restart: { ...planned.plan, coalesced: true }, sentinel };
      const wanted = Math.min(MAX_DELAY_MS, Math.max(0, request.delayMs ?? DEFAULT_DELAY_MS));
      const cooldownMsApplied = Math.max(0, deps.startedAt + COOLDOWN_MS - deps.clock.now() - wanted);
      const delayMs = wanted + cooldownMsApplied;
      const plan: RestartPlan = { ok: true, pid: process.pid, signal: "SIGUSR1", delayMs, reason: request.reason, mode: "emit", coalesced: false, cooldownMsApplied };
      planned = { plan, timer: setTimeout(() => fire(request.reason, deps.clock.now() + MAX_IDLE_WAIT_MS), delayMs) };
      deps.log.info("restart planned", { reason: request.reason, delayMs });
      return { restart: plan, sentinel };
    },
    cancel() {
      clearTimeout(planned?.timer);
      planned = undefined;
    },
  };
}
