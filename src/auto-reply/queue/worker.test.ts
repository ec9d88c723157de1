import fc from "fast-check";
import { expect, it } from "vitest";
import type { ActiveRun } from "../../agents/index.ts";
import type { InboxRow } from "../../delivery/index.ts";
import type { Prepared } from "../prepared.ts";
import { mergeKeyOf } from "../prepared.ts";
import type { QueueDrop, QueueMode } from "./settings.ts";
import { createSessionWorkers } from "./worker.ts";

const KEY = "agent:main:main";
const settled = async (): Promise<void> => {
  for (let i = 0; i < 8; i++) await new Promise((resolve) => setImmediate(resolve));
};

function message(id: number, chat: string): Prepared {
  const inbound = { channel: "x", accountId: "default", messageId: String(id), chat: { id: chat, type: "direct" as const }, sender: { id: chat }, text: `text ${id}`, timestampMs: 0, from: chat, to: chat };
  const authority = { source: "x", senderId: chat, isOwner: true, commandAuthorized: true };
  const row: InboxRow = { id: String(id), seq: id, runId: undefined, sessionKey: undefined, atMs: 0, attempts: 0, wasMentioned: false, authority, message: inbound };
  return {
    rows: [row], ctx: { BodyForAgent: inbound.text }, authority, body: inbound.text, agentId: "main", plugin: undefined, route: { channel: "x", accountId: "default", to: chat }, message: inbound,
    notices: [], thinking: undefined, timeoutMs: undefined, groupPolicy: undefined, activation: "mention", hints: undefined,
  };
}

/** Sessions whose runs end when the test says so. */
function world(queue: { mode: QueueMode; cap: number; drop: QueueDrop }) {
  const settings = { ...queue };
  const active = new Map<string, ActiveRun & { end: (how: "read" | "abort") => void; steers: { text: string; onTaken: () => void }[] }>();
  const answered: string[] = [];
  const reported: string[] = [];
  const finished: string[] = [];
  const problems: string[] = [];
  const pending: Promise<void>[] = [];
  const bySession = (sessionKey: string) => [...active.values()].filter((run) => run.sessionKey === sessionKey);
  const workers = createSessionWorkers({
    config: () => ({ messages: { queue: { ...settings, debounceMs: 0 } } }), clock: { now: () => 0 }, events: { agent: () => undefined, chat: () => undefined, now: () => 0 },
    sessions: { agentIdOf: () => "main", storeFor: () => ({ get: () => undefined }) },
    agents: {
      runs: {
        bySession, get: (runId) => active.get(runId),
        abort(match) {
          const hit = bySession(match.sessionKey ?? "");
          for (const run of hit) run.end("abort");
          return hit.map(({ runId }) => runId);
        },
      },
    },
    inbox: { bindRun: () => undefined, finish: (ids) => void finished.push(...ids) },
    reportUnread: async (items) => void reported.push(...items.flatMap((item) => item.rows.map(({ id }) => id))),
    background: (_rows, work) => void pending.push(work()), isDraining: () => false,
    async runBatch(sessionKey, batch, runId, session) {
      if (bySession(sessionKey).length > 0) problems.push("two runs at once");
      if (batch.items.some((item) => mergeKeyOf(item) !== batch.mergeKey)) problems.push("chats mixed");
      const { promise, resolve } = Promise.withResolvers<"read" | "abort">();
      const steers: { text: string; onTaken: () => void }[] = [];
      active.set(runId, {
        runId, sessionKey, startedAt: 0, controller: new AbortController(), partialText: "", steers, end: resolve,
        steer: (text, onTaken) => steers.push({ text, onTaken }) > 0,
      });
      const how = await promise;
      if (how === "read") for (const { onTaken } of steers) onTaken();
      active.delete(runId);
      const rows = [...[...batch.summarised, ...batch.items].flatMap((item) => item.rows), ...session.takeSteered()];
      answered.push(...rows.map(({ id }) => id));
      return () => undefined;
    },
  });
  return { workers, settings, answered, reported, problems, running: () => bySession(KEY), done: () => Promise.all(pending) };
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ chat: fc.constantFrom("alice", "alice", "alice", "eve") }) },
  { weight: 2, arbitrary: fc.constantFrom("read" as const, "abort" as const) },
  { weight: 1, arbitrary: fc.record({ mode: fc.constantFrom<QueueMode>("collect", "followup", "steer", "steer-backlog", "interrupt") }) },
);

it("answers or reports each message once, whatever the mode, however runs end, and never two runs at once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), fc.constantFrom<QueueDrop>("summarize", "old", "new"), fc.integer({ min: 1, max: 4 }), async (steps, drop, cap) => {
      const w = world({ mode: "collect", cap, drop });
      let sent = 0;
      for (const each of steps) {
        if (typeof each === "string") w.running()[0]?.end(each);
        else if ("mode" in each) w.settings.mode = each.mode;
        else w.workers.submit(KEY, message(sent++, each.chat));
        await settled();
      }
      for (let rounds = 0; w.running().length > 0 && rounds < 100; rounds++) {
        w.running()[0]?.end("abort");
        await settled();
      }
      await w.done();
      expect(w.problems).toEqual([]);
      expect(w.workers.isBusy(KEY)).toBe(false);
      expect([...w.answered, ...w.reported].map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: sent }, (_, id) => id));
    }),
    { numRuns: 150 },
  );
});

it("hands back everything that waits when it is cleared, and goes on afterwards", async () => {
  const w = world({ mode: "steer", cap: 9, drop: "old" });
  w.workers.submit(KEY, message(0, "alice"));
  await settled();
  for (const id of [1, 2]) w.workers.submit(KEY, message(id, id === 1 ? "alice" : "eve"));
  expect(w.workers.clear(KEY).flatMap((item) => item.rows.map(({ id }) => id))).toEqual(["1", "2"]);
  w.running()[0]?.end("abort");
  await settled();
  w.workers.submit(KEY, message(3, "eve"));
  await settled();
  w.running()[0]?.end("read");
  await w.done();
  expect(w.answered).toEqual(["0", "3"]);
});

it("a message that the running answer took in says that it was read", async () => {
  const w = world({ mode: "steer", cap: 9, drop: "old" });
  const said: string[] = [];
  const nothing = (): void => undefined;
  w.workers.submit(KEY, message(0, "alice"));
  await settled();
  w.workers.submit(KEY, { ...message(1, "alice"), status: { alive: nothing, thinking: nothing, tool: nothing, clear: nothing, end: (outcome) => void said.push(outcome) } });
  w.running()[0]?.end("read");
  await w.done();
  expect([w.answered, said]).toEqual([["0", "1"], ["done"]]);
});
