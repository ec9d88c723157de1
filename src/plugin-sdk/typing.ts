/** "Is typing" while an answer is written. Source: spec plugin-sdk §14. */

export interface TypingCallbacks {
  onReplyStart: () => Promise<void>;
  onIdle?: (() => void) | undefined;
  /** Also when the turn ends without an answer. */
  onCleanup?: (() => void) | undefined;
}

export interface TypingOptions {
  readonly start: () => Promise<void>;
  readonly stop?: (() => Promise<void>) | undefined;
  readonly onStartError: (err: unknown) => void;
  readonly onStopError?: ((err: unknown) => void) | undefined;
  /** Default 3000. */
  readonly keepaliveIntervalMs?: number | undefined;
  /** It stops by itself after this time; default two minutes, 0 for never. */
  readonly maxDurationMs?: number | undefined;
  /** Failures in a row after which it is given up; default 2. */
  readonly maxConsecutiveFailures?: number | undefined;
}

/** Repeats the signal until idle or cleanup; nothing starts after either. */
export function createTypingCallbacks(options: TypingOptions): TypingCallbacks {
  const { keepaliveIntervalMs = 3000, maxDurationMs = 120_000, maxConsecutiveFailures = 2 } = options;
  let closed = false;
  let stopSent = false;
  let failures = 0;
  let repeat: NodeJS.Timeout | undefined;
  let limit: NodeJS.Timeout | undefined;

  const signal = async (): Promise<void> => {
    if (closed || failures >= maxConsecutiveFailures) return;
    try {
      await options.start();
      failures = 0;
    } catch (err) {
      failures++;
      options.onStartError(err);
      if (failures >= maxConsecutiveFailures) clearInterval(repeat);
    }
  };
  const close = (): void => {
    closed = true;
    clearInterval(repeat);
    clearTimeout(limit);
    if (!options.stop || stopSent) return;
    stopSent = true;
    void options.stop().catch((err: unknown) => (options.onStopError ?? options.onStartError)(err));
  };
  return {
    async onReplyStart() {
      if (closed) return;
      stopSent = false;
      failures = 0;
      clearInterval(repeat);
      clearTimeout(limit);
      if (keepaliveIntervalMs > 0) repeat = setInterval(() => void signal(), keepaliveIntervalMs).unref();
      if (maxDurationMs > 0) limit = setTimeout(close, maxDurationMs).unref();
      await signal();
    },
    onIdle: close,
    onCleanup: close,
  };
}
