import type { Logger } from "../../infra/log.ts";
import type { Lane } from "./run/params.ts";

export class CommandLaneClearedError extends Error {
  override readonly name = "CommandLaneClearedError";
  constructor(lane: string) {
    super(`The waiting work of lane ${lane} was cleared`);
  }
}

interface Waiting {
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
  /** Rejects what waits in a session's lane; what runs goes on. Returns the count. */
  clearSession(sessionKey: string): number;
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

  function acquire(name: string, width: number): Promise<void> {
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
      lane.waiting.push({ start, reject });
    });
  }

  function release(name: string, width: number): void {
    const lane = state(name);
    lane.active--;
    while (lane.active < width && lane.waiting.length > 0) lane.waiting.shift()?.start();
    if (lane.active === 0 && lane.waiting.length === 0) lanes.delete(name);
  }

  return {
    async run(sessionKey, lane, task) {
      const session = `session:${sessionKey}`;
      await acquire(session, 1);
      try {
        await acquire(lane, Math.max(1, options.width(lane)));
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
    clearSession(sessionKey) {
      const lane = lanes.get(`session:${sessionKey}`);
      const waiting = lane?.waiting.splice(0) ?? [];
      for (const { reject } of waiting) reject(new CommandLaneClearedError(sessionKey));
      return waiting.length;
    },
    depth: (sessionKey) => {
      const lane = lanes.get(`session:${sessionKey}`);
      return lane ? lane.active + lane.waiting.length : 0;
    },
    active: () => activeRuns,
  };
}
