import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";

/** Source: spec channels §2.2. */
export interface HealthPolicy {
  readonly intervalMs: number;
  readonly graceMs: number;
  /** After a restart an account is left alone for so many rounds. */
  readonly cooldownCycles: number;
  readonly maxRestartsPerHour: number;
}

export const HEALTH_POLICY: HealthPolicy = { intervalMs: 300_000, graceMs: 60_000, cooldownCycles: 2, maxRestartsPerHour: 3 };

const HOUR_MS = 3_600_000;

export interface MonitoredAccount {
  readonly key: string;
  /** It runs or waits for its own next try. */
  readonly isActive: boolean;
  readonly isRunning: boolean;
  readonly isConnected: boolean;
  restart(): Promise<void>;
}

/** Restarts accounts that hang: unconnected for a whole round, or not running although nothing will start them. */
export function createHealthMonitor(deps: { readonly policy: HealthPolicy; readonly now: () => number; readonly log: Logger; accounts(): readonly MonitoredAccount[] }) {
  const { policy, now, log } = deps;
  const downSince = new Map<string, number>();
  const restarts = new Map<string, number[]>();
  let timer: NodeJS.Timeout | undefined;

  async function check(): Promise<void> {
    for (const account of deps.accounts()) {
      const down = account.isRunning ? !account.isConnected : !account.isActive;
      if (!down) {
        downSince.delete(account.key);
        continue;
      }
      const since = downSince.get(account.key) ?? now();
      downSince.set(account.key, since);
      const recent = (restarts.get(account.key) ?? []).filter((at) => now() - at < HOUR_MS);
      const last = recent.at(-1);
      const cooling = last !== undefined && now() - last < policy.cooldownCycles * policy.intervalMs;
      const longEnough = !account.isActive || now() - since >= policy.intervalMs;
      if (cooling || !longEnough || recent.length >= policy.maxRestartsPerHour) continue;
      restarts.set(account.key, [...recent, now()]);
      downSince.delete(account.key);
      log.warn("channel account hangs, restarting it", { account: account.key });
      try {
        await account.restart();
      } catch (err) {
        log.error("restart failed", { account: account.key, error: errorText(err) });
      }
    }
  }

  function schedule(delayMs: number): void {
    timer = setTimeout(() => {
      check()
        .catch((err: unknown) => log.error("health check failed", { err }))
        .finally(() => {
          if (timer) schedule(policy.intervalMs);
        });
    }, delayMs);
    timer.unref();
  }

  return {
    check,
    start: (): void => {
      if (!timer) schedule(policy.graceMs);
    },
    stop: (): void => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
