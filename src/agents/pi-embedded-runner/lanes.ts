import type { Logger } from "../../infra/log.ts";
import type { Lane } from "./run/params.ts";

export class CommandLaneClearedError extends Error {
  override readonly name = "CommandLaneClearedError";
  constructor(lane: string) {
    super(`The waiting work of lane ${lane} was cleared`);
  }
}

interface Waiting {
  readonly sessionKey: string;
  readonly start: () => void;
  readonly reject: (err: Error) => void;
}

interface LaneState {
  active: number;
  readonly waiting: Waiting[];
}

export interface Lanes {
  /** Runs `task` in its session's lane (one at a time), then in the global lane (bounded). FIFO. */
  run<T>(sessionKey: string, lane: Lane, task: () => Promise<T>): Promise<T>;
  /** Rejects what waits for a session, in its own lane or in the global one; what runs goes on. Returns the count. */
  clearSession(sessionKey: string): number;
  /** Rejects everything that waits. */
  clear(): void;
  depth(sessionKey: string): number;
  active(): number;
}

const SLOW_WAIT_MS = 2000;

/** `width` is read at every start, so that a reload applies at once. Source: spec agent-pipeline §4.3. */
export function createLanes(options: { readonly width: (lane: Lane) => number; readonly log: Logger }): Lanes {
  const lanes = new Map<string, LaneState>();
  let activeRuns = 0;

  const state = (name: string): LaneState => {
    let lane = lanes.get(name);
    if (!lane) lanes.set(name, (lane = { active: 0, waiting: [] }));
    return lane;
  };

  function acquire(sessionKey: string, name: string, width: number): Promise<void> {
    const lane = state(name);
    if (lane.active < width && lane.waiting.length === 0) {
      lane.active++;
      return Promise.resolve();
    }
    const since = Date.now();
    return new Promise((resolve, reject) => {
      const start = (): void => {
        lane.active++;
        const waitedMs = Date.now() - since;
        if (waitedMs >= SLOW_WAIT_MS) options.log.info("run waited for its lane", { lane: name, waitedMs });
        resolve();
      };
      lane.waiting.push({ sessionKey, start, reject });
    });
  }

  function release(name: string, width: number): void {
    const lane = state(name);
    lane.active--;
    while (lane.active < width && lane.waiting.length > 0) lane.waiting.shift()?.start();
    if (lane.active === 0 && lane.waiting.length === 0) lanes.delete(name);
  }

  function reject(matches: (waiting: Waiting) => boolean): number {
    let count = 0;
    for (const [name, lane] of lanes) {
      const hit = lane.waiting.filter(matches);
      if (hit.length === 0) continue;
      lane.waiting.splice(0, lane.waiting.length, ...lane.waiting.filter((waiting) => !hit.includes(waiting)));
      for (const waiting of hit) waiting.reject(new CommandLaneClearedError(name));
      count += hit.length;
    }
    return count;
  }

  return {
    async run(sessionKey, lane, task) {
      const session = `session:${sessionKey}`;
      await acquire(sessionKey, session, 1);
      try {
        await acquire(sessionKey, lane, Math.max(1, options.width(lane)));
        activeRuns++;
        try {
          return await task();
        } finally {
          activeRuns--;
          release(lane, Math.max(1, options.width(lane)));
        }
      } finally {
        release(session, 1);
      }
    },
    clearSession: (sessionKey) => reject((waiting) => waiting.sessionKey === sessionKey),
    clear: () => void reject(() => true),
    depth: (sessionKey) => {
      const lane = lanes.get(`session:${sessionKey}`);
      return lane ? lane.active + lane.waiting.length : 0;
    },
    active: () => activeRuns,
  };
}
