import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseQueueDrop, parseQueueMode, resolveQueueSettings, type QueueSettings } from "./settings.ts";
import { buildCollectPrompt, overflowNotice, SessionQueue, type Queued } from "./session-queue.ts";

const settings = (drop: QueueSettings["drop"], cap = 2): QueueSettings => ({ mode: "collect", debounceMs: 0, cap, drop });
const queued = (item: string, mergeKey = "k"): Queued<string> => ({ item, mergeKey, preview: `${item}\n  says   hi` });

function fill(drop: QueueSettings["drop"], items: readonly string[]) {
  const queue = new SessionQueue<string>();
  const notices = items.map((item) => queue.push(queued(item), settings(drop), 1)).filter((notice) => notice !== undefined);
  return { queue, notices };
}

describe("a queue that is full", () => {
  it("drops the oldest and names them", () => {
    const { queue, notices } = fill("old", ["a", "b", "c", "d"]);
    expect(notices).toEqual([{ dropped: ["a"], policy: "old" }, { dropped: ["b"], policy: "old" }]);
    expect(queue.take("collect")).toMatchObject({ items: ["c", "d"], summarised: [] });
  });

  it("refuses the newest and names it", () => {
    const { queue, notices } = fill("new", ["a", "b", "c"]);
    expect(notices).toEqual([{ dropped: ["c"], policy: "new" }]);
    expect(queue.depth).toBe(2);
  });

  it("sums up the oldest for the next batch, which answers them too", () => {
    const { queue, notices } = fill("summarize", ["a", "b", "c", "d"]);
    expect(notices).toEqual([]);
    expect(queue.take("followup")).toMatchObject({ items: ["c"], summarised: ["a", "b"], lines: ["a says hi", "b says hi"] });
    expect(queue.take("followup")).toMatchObject({ items: ["d"], summarised: [], lines: [] });
    expect(queue.take("followup")).toBeUndefined();
  });

  it("does not mix a summary with messages of another chat or authority", () => {
    const queue = new SessionQueue<string>();
    for (const [item, key] of [["a", "1"], ["b", "1"], ["c", "2"], ["d", "2"]] as const) queue.push(queued(item, key), settings("summarize"), 1);
    expect(queue.take("collect")).toMatchObject({ items: ["c", "d"], summarised: [] });
    expect(queue.take("collect")).toMatchObject({ items: ["b"], summarised: ["a"], mergeKey: "1" });
    expect(queue.take("collect")).toBeUndefined();
  });

  it("tells the sender only of what the model could not read", () => {
    const fits = { summarised: ["a", "b"], lines: ["a", "b"], cut: 0 };
    expect(overflowNotice(fits)).toBeUndefined();
    expect(overflowNotice({ ...fits, cut: 1 })).toContain("of 1 I could read only the first 160 characters");
    expect(overflowNotice({ ...fits, lines: ["b"] })).toContain("1 could not be read at all and 1 only as one line");
    const queue = new SessionQueue<string>();
    for (const item of ["long", "x"]) queue.push({ item, mergeKey: "k", preview: `${"a".repeat(158)}😀 and more` }, settings("summarize", 1), 1);
    expect(queue.take("followup")).toMatchObject({ lines: [`${"a".repeat(158)}…`], cut: 1 });
  });
});

describe("what is taken next", () => {
  it("merges only neighbours of equal authority and route, in order", () => {
    const queue = new SessionQueue<string>();
    for (const [item, key] of [["a", "1"], ["b", "1"], ["c", "2"], ["d", "1"]] as const) queue.push(queued(item, key), settings("old", 9), 5);
    expect([queue.waitMs(10, 5), queue.waitMs(10, 12), queue.waitMs(10, 20)]).toEqual([10, 3, 0]);
    expect(queue.take("collect")?.items).toEqual(["a", "b"]);
    expect(queue.take("collect")?.items).toEqual(["c"]);
    expect(queue.take("collect")?.items).toEqual(["d"]);
  });

  it("does not wait for a sender who never pauses", () => {
    const queue = new SessionQueue<string>();
    for (let now = 0; now <= 95; now += 5) queue.push(queued(String(now)), settings("old", 99), now);
    expect(queue.waitMs(10, 95)).toBe(5);
    expect(queue.waitMs(10, 100)).toBe(0);
  });

  it("is first what a turn took in and did not read", () => {
    const queue = new SessionQueue<string>();
    queue.push(queued("later"), settings("old"), 1);
    queue.putBack([queued("early"), queued("earlier still")]);
    expect(queue.take("interrupt")?.items).toEqual(["early", "earlier still", "later"]);
  });

  it("loses no message whatever comes", () => {
    const step = fc.oneof(fc.record({ key: fc.constantFrom("1", "2") }), fc.constantFrom("collect" as const, "followup" as const));
    fc.assert(fc.property(fc.array(step, { maxLength: 30 }), fc.constantFrom("old" as const, "new" as const, "summarize" as const), fc.integer({ min: 1, max: 4 }), (steps, drop, cap) => {
      const queue = new SessionQueue<number>();
      const out: number[] = [];
      let pushed = 0;
      for (const each of steps) {
        if (typeof each === "string") {
          const batch = queue.take(each);
          out.push(...(batch?.items ?? []), ...(batch?.summarised ?? []));
        } else out.push(...(queue.push({ item: pushed++, mergeKey: each.key, preview: "p" }, settings(drop, cap), 1)?.dropped ?? []));
        expect(queue.depth).toBeLessThanOrEqual(cap);
      }
      out.push(...queue.clear());
      expect(out.toSorted((a, b) => a - b)).toEqual(Array.from({ length: pushed }, (_, i) => i));
    }));
  });
});

describe("the prompt of a batch", () => {
  it("is the message itself when there is but one", () => {
    expect(buildCollectPrompt(["hello"], [], 0)).toBe("hello");
  });

  it("numbers several and names what was dropped", () => {
    expect(buildCollectPrompt(["one", "two"], ["zero says hi"], 1)).toBe(
      "[Queued messages while agent was busy]\n\n[Queue overflow] Dropped 1 message(s) due to cap.\nSummary:\n- zero says hi\n\n---\nQueued #1\none\n\n---\nQueued #2\ntwo",
    );
  });
});

describe("queue settings", () => {
  it("come from the session, then the channel, then the config", () => {
    const cfg = { messages: { queue: { mode: "followup" as const, byChannel: { telegram: "interrupt" as const }, cap: 5, debounceMs: 10 } } };
    expect(resolveQueueSettings({}, "telegram", undefined)).toEqual({ mode: "collect", debounceMs: 1000, cap: 20, drop: "summarize" });
    expect(resolveQueueSettings(cfg, "webchat", undefined)).toMatchObject({ mode: "followup", cap: 5, debounceMs: 10 });
    expect(resolveQueueSettings(cfg, "telegram", undefined).mode).toBe("interrupt");
    expect(resolveQueueSettings(cfg, "telegram", { sessionId: "s", updatedAt: 1, queueMode: "steer", queueCap: 0 } as never)).toMatchObject({ mode: "steer", cap: 1 });
  });

  it("know the other spellings", () => {
    expect(["queue", "Coalesce", "steer+backlog", "abort", "nonsense"].map(parseQueueMode)).toEqual(["steer", "collect", "steer-backlog", "interrupt", undefined]);
    expect(["OLD", "summarize", "x"].map(parseQueueDrop)).toEqual(["old", "summarize", undefined]);
  });
});
