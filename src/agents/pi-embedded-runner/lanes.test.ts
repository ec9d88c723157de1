import { describe, expect, it } from "vitest";
import { silentLogger } from "../../infra/log.ts";
import { CommandLaneClearedError, createLanes } from "./lanes.ts";
import type { Lane } from "./run/params.ts";
import { createRunRegistry } from "./runs.ts";

const MAIN: Lane = "main";

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: promise, open: resolve };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("lanes", () => {
  it("run one turn of a session at a time, in order, and other sessions beside it", async () => {
    const lanes = createLanes({ width: () => 4, log: silentLogger });
    const first = gate();
    const order: string[] = [];
    const runs = [
      lanes.run("s", MAIN, async () => {
        await first.wait;
        order.push("s1");
      }),
      lanes.run("s", MAIN, async () => void order.push("s2")),
      lanes.run("t", MAIN, async () => void order.push("t1")),
    ];
    await settled();
    expect(order).toEqual(["t1"]);
    expect([lanes.depth("s"), lanes.active()]).toEqual([2, 1]);
    first.open();
    await Promise.all(runs);
    expect(order).toEqual(["t1", "s1", "s2"]);
    expect([lanes.depth("s"), lanes.active()]).toEqual([0, 0]);
  });

  it("bound how many sessions run at once", async () => {
    const lanes = createLanes({ width: () => 2, log: silentLogger });
    const all = gate();
    let most = 0;
    const runs = ["a", "b", "c", "d"].map((key) => lanes.run(key, MAIN, async () => {
      most = Math.max(most, lanes.active());
      await all.wait;
    }));
    await settled();
    expect(lanes.active()).toBe(2);
    all.open();
    await Promise.all(runs);
    expect(most).toBe(2);
  });

  it("go on after a task that failed, and drop only what waits when they are cleared", async () => {
    const lanes = createLanes({ width: () => 1, log: silentLogger });
    await expect(lanes.run("s", MAIN, () => Promise.reject(new Error("x")))).rejects.toThrow("x");
    const first = gate();
    const running = lanes.run("s", MAIN, async () => {
      await first.wait;
      return "ran";
    });
    const waiting = lanes.run("s", MAIN, async () => "never");
    const refused = expect(waiting).rejects.toBeInstanceOf(CommandLaneClearedError);
    await settled();
    expect(lanes.clearSession("s")).toBe(1);
    await refused;
    first.open();
    expect(await running).toBe("ran");
    expect(await lanes.run("s", MAIN, async () => "again")).toBe("again");
  });
});

describe("what waits for a lane", () => {
  it("is dropped with its session also when the session is free and all runs of the gateway are taken", async () => {
    const lanes = createLanes({ width: () => 1, log: silentLogger });
    const first = gate();
    const running = lanes.run("a", MAIN, () => first.wait);
    const refused = expect(lanes.run("b", MAIN, async () => undefined)).rejects.toBeInstanceOf(CommandLaneClearedError);
    const other = lanes.run("c", MAIN, async () => "c ran");
    await settled();
    expect([lanes.clearSession("b"), lanes.depth("b")]).toEqual([1, 1]);
    await refused;
    first.open();
    await running;
    expect([await other, lanes.depth("b")]).toEqual(["c ran", 0]);
  });

  it("never starts once everything is cleared, as at the end of the gateway", async () => {
    const lanes = createLanes({ width: () => 1, log: silentLogger });
    const first = gate();
    const running = lanes.run("a", MAIN, () => first.wait);
    const started: string[] = [];
    const refused = ["a", "b"].map((key) => expect(lanes.run(key, MAIN, async () => void started.push(key))).rejects.toBeInstanceOf(CommandLaneClearedError));
    await settled();
    lanes.clear();
    await Promise.all(refused);
    first.open();
    await running;
    expect([started, lanes.active()]).toEqual([[], 0]);
  });
});

describe("runs that are going on", () => {
  it("are found, stopped with the first reason, and their end is told to those who wait", async () => {
    const runs = createRunRegistry(() => 5);
    const run = runs.begin("r1", "s");
    runs.begin("r2", "t");
    const waiting = runs.wait("r1", 10_000);
    expect(runs.abort({ sessionKey: "s" }, "stop")).toEqual(["r1"]);
    expect(runs.abort({}, "shutdown")).toEqual(["r1", "r2"]);
    expect([run.abortedBy, run.controller.signal.aborted]).toEqual(["stop", true]);
    runs.end("r1", { status: "error", error: "stopped" });
    expect(await waiting).toMatchObject({ runId: "r1", status: "error", error: "stopped", startedAt: 5, endedAt: 5 });
    expect(await runs.wait("r1", 10)).toMatchObject({ status: "error" });
    expect(await runs.wait("unknown", 1)).toBeUndefined();
  });

  it("are stopped as soon as they begin when that was asked before, unless they have ended", () => {
    const runs = createRunRegistry(() => 0);
    expect(runs.abortComing("r1", "stop")).toBe(true);
    const run = runs.begin("r1", "s");
    expect([run.controller.signal.aborted, run.abortedBy]).toEqual([true, "stop"]);
    runs.end("r1", { status: "timeout" });
    expect(runs.abortComing("r1", "stop")).toBe(false);
    expect(runs.begin("r1", "s").controller.signal.aborted).toBe(false);
    expect(runs.begin("r2", "s").controller.signal.aborted).toBe(false);
    expect([runs.abortComing("r2", "rpc"), runs.get("r2")?.abortedBy]).toEqual([true, "rpc"]);
  });

  it("leave their session idle when the last one ends", async () => {
    const runs = createRunRegistry(() => 1);
    runs.begin("r1", "s");
    expect(await runs.waitIdle("s", 1)).toBe(false);
    const idle = runs.waitIdle("s", 10_000);
    runs.end("r1", { status: "ok" });
    expect(await idle).toBe(true);
    expect(runs.all()).toEqual([]);
  });

  it("are remembered for ten minutes and at most 2000 at a time", async () => {
    let now = 0;
    const runs = createRunRegistry(() => now);
    for (let i = 0; i < 2100; i++) runs.end(`r${i}`, { status: "ok" });
    expect(await runs.wait("r0", 1)).toBeUndefined();
    expect(await runs.wait("r2099", 1)).toBeDefined();
    now = 11 * 60_000;
    runs.end("later", { status: "ok" });
    expect(await runs.wait("r2099", 1)).toBeUndefined();
  });
});
