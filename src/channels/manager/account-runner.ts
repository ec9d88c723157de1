import { backoffDelayMs, type BackoffPolicy, sleep } from "../../infra/backoff.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import { type ChannelAccountSnapshot, ChannelError } from "../contract/index.ts";

/** Source: spec channels §2.2. */
export interface RestartPolicy {
  readonly backoff: BackoffPolicy;
  /** Restarts with growing pauses; after that one every `slowMs`. */
  readonly maxTries: number;
  readonly slowMs: number;
  /** A run of this length counts as healthy: the next failure starts from the shortest pause. */
  readonly stableMs: number;
  /** How long `stop` waits for the channel to let go. */
  readonly stopTimeoutMs: number;
}

export const RESTART_POLICY: RestartPolicy = {
  backoff: { initialMs: 5_000, maxMs: 300_000, factor: 2, jitter: 0.1 },
  maxTries: 10,
  slowMs: 900_000,
  stableMs: 300_000,
  stopTimeoutMs: 10_000,
};

export type AccountStatus = Omit<ChannelAccountSnapshot, "accountId">;

/** Keeps one account running until it is stopped. Nothing that the channel does can throw out of it. */
export interface AccountRunner {
  readonly status: Readonly<AccountStatus>;
  readonly isActive: boolean;
  /** The account runs or will be tried again; false once stopped. */
  start(): void;
  /** Aborts, waits for the channel to let go (bounded), and does not start it again. */
  stop(): Promise<void>;
  patch(patch: Partial<ChannelAccountSnapshot>): void;
}

export function createAccountRunner(deps: {
  /** One run; resolves or rejects when it ends. */
  run(signal: AbortSignal, setStatus: (patch: Partial<ChannelAccountSnapshot>) => void): Promise<void>;
  readonly log: Logger;
  readonly now: () => number;
  readonly policy: RestartPolicy;
  onChange(): void;
}): AccountRunner {
  const { log, now, policy } = deps;
  const status: AccountStatus = { running: false, lastStartAt: null, lastStopAt: null, lastError: null, lastInboundAt: null, lastOutboundAt: null };
  let current: { abort: AbortController; task: Promise<void> } | undefined;

  function patch(fields: Partial<ChannelAccountSnapshot>): void {
    const { accountId: _own, ...rest } = fields;
    Object.assign(status, rest);
    deps.onChange();
  }

  async function supervise(abort: AbortController): Promise<void> {
    let failures = 0;
    while (!abort.signal.aborted) {
      const startedAt = now();
      patch({ running: true, lastStartAt: startedAt, lastError: null, nextRetryAt: null });
      // A run that was given up may still report: it must not overwrite its successor.
      const run = { live: true };
      const error = await runOnce(abort.signal, (fields) => {
        if (run.live && !abort.signal.aborted) patch(fields);
      });
      run.live = false;
      const stopped = abort.signal.aborted;
      patch({ running: false, connected: false, lastStopAt: now(), ...(stopped ? {} : { lastError: error }) });
      if (stopped) return;
      failures = now() - startedAt >= policy.stableMs ? 1 : failures + 1;
      const slow = failures > policy.maxTries;
      const delayMs = slow ? policy.slowMs : backoffDelayMs(policy.backoff, failures);
      const note = slow ? `${error} (${policy.maxTries} restarts failed; trying every ${Math.round(policy.slowMs / 60_000)} minutes)` : error;
      patch({ lastError: note, reconnectAttempts: failures, nextRetryAt: now() + delayMs });
      log.warn("channel account ended, starting again", { error, attempt: failures, delayMs });
      await sleep(delayMs, abort.signal);
    }
  }

  /** Why it ended, for status. */
  async function runOnce(signal: AbortSignal, setStatus: (fields: Partial<ChannelAccountSnapshot>) => void): Promise<string> {
    try {
      await deps.run(signal, setStatus);
      return "the channel ended by itself";
    } catch (err) {
      return err instanceof ChannelError ? `${err.message}. ${err.fix}` : errorText(err);
    }
  }

  return {
    status,
    get isActive() {
      return current !== undefined;
    },
    start() {
      if (current) return;
      const abort = new AbortController();
      const task = supervise(abort).catch((err: unknown) => log.error("channel supervision ended", { err }));
      current = { abort, task };
    },
    async stop() {
      const stopping = current;
      if (!stopping) return;
      stopping.abort.abort();
      const timeout = new AbortController();
      const late = await Promise.race([stopping.task.then(() => false), sleep(policy.stopTimeoutMs, timeout.signal).then(() => true)]);
      timeout.abort();
      if (late) log.warn("channel account did not let go in time", { timeoutMs: policy.stopTimeoutMs });
      if (current === stopping) current = undefined;
      patch({ running: false, connected: false, lastStopAt: now(), nextRetryAt: null });
    },
    patch,
  };
}
