import { afterEach, expect, it, vi } from "vitest";
import { createHealthService } from "./health.ts";

afterEach(() => void vi.useRealTimers());

it("reads nothing any more once it is closed: a restart in the process leaves no look at a closed store behind", async () => {
  vi.useFakeTimers();
  const all = vi.fn(async () => []);
  const health = createHealthService({
    config: () => ({}), source: { lastError: () => undefined } as never, roots: {} as never, clock: { now: () => Date.now() },
    sessions: { all, storeFor: () => ({ path: "sessions.json" }) } as never,
    channels: () => ({ status: async () => ({ channels: {}, channelOrder: [], channelLabels: {} }) }) as never,
    onChange: () => undefined,
  });
  health.refresh();
  health.close();
  health.refresh();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(all).not.toHaveBeenCalled();
});
