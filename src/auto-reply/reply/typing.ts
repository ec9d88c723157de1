/** Repeats a typing signal until stopped, at most two minutes without new activity. */
export interface TypingLoop {
  start(): void;
  /** New activity: the two minutes begin again. */
  touch(): void;
  stop(): void;
}

const MAX_QUIET_MS = 120_000;

export function createTypingLoop(send: () => Promise<void>, intervalMs: number, onError: (err: unknown) => void): TypingLoop {
  let timer: NodeJS.Timeout | undefined;
  let lastActivity = 0;
  let stopped = false;
  const signal = (): void => {
    if (Date.now() - lastActivity > MAX_QUIET_MS) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    send().catch(onError);
  };
  return {
    start() {
      if (stopped) return;
      lastActivity = Date.now();
      if (timer) return;
      signal();
      timer = setInterval(signal, intervalMs);
      timer.unref();
    },
    touch() {
      lastActivity = Date.now();
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      timer = undefined;
    },
  };
}
