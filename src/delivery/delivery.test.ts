import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { InboundMessage, OutboundMessage, SendOptions, SendOutcome } from "../channels/contract/index.ts";
import { silentLogger } from "../infra/log.ts";
import {
  createInbox, createOutbox, createPendingHistory, createPendingSessionLog, createPreviewLog, createSystemEvents, dedupeKey, openJournal,
  type InboxItem, type Journal, type Outbox, type OutboxRequest,
} from "./index.ts";

/** Tests run side by side, so everything is put away at the end. */
const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

function tempState(): string {
  const dir = mkdtempSync(join(tmpdir(), "delivery-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function openTemp(dir = tempState()): Journal {
  const journal = openJournal(dir);
  cleanups.push(() => {
    try {
      journal.close();
    } catch {
      // closed by the test itself
    }
  });
  return journal;
}

const clock = { nowMs: 1_000_000, now: () => clock.nowMs };
type Send = (message: OutboundMessage, options: SendOptions) => Promise<SendOutcome> | undefined;

function startOutbox(journal: Journal, send: Send, now: () => number = () => Date.now()): Outbox {
  const outbox = createOutbox({ journal, clock: { now }, log: silentLogger, send: (_channel, message, options) => send(message, options) });
  cleanups.push(() => outbox.stop());
  return outbox;
}
const request = (id: string, more: Partial<OutboxRequest> & { to?: string } = {}): OutboxRequest => ({ id, channel: "mock", message: { accountId: "default", to: more.to ?? "42", text: id }, ...more });
const sentAs = (...messageIds: string[]): SendOutcome => ({ kind: "sent", messageIds });

/** A channel that gives the listed outcomes one after the other, then "sent". */
function scripted(...outcomes: SendOutcome[]): Send & { calls: { text: string; skipParts: number; atMs: number }[] } {
  const calls: { text: string; skipParts: number; atMs: number }[] = [];
  return Object.assign(
    (message: OutboundMessage, options: SendOptions) => {
      calls.push({ text: message.text, skipParts: options.skipParts, atMs: performance.now() });
      return Promise.resolve(outcomes.shift() ?? sentAs(`m${calls.length}`));
    },
    { calls },
  );
}

describe.concurrent("the fate of a message", () => {
  it("is sent once", async ({ expect }) => {
    const send = scripted();
    const outbox = startOutbox(openTemp(), send);
    expect(await outbox.deliver(request("a"))).toEqual({ kind: "sent", messageIds: ["m1"], chatId: undefined });
    expect(outbox.lookup("a")).toEqual({ kind: "sent", messageIds: ["m1"] });
    expect(outbox.countOpen()).toBe(0);
  });

  it.each<[string, SendOutcome, string]>([
    ["rejected", { kind: "rejected", reason: "chat not found" }, "chat not found"],
    ["outside the reply window", { kind: "window-expired", reason: "48 h are over" }, "48 h are over"],
  ])("fails for good when it is %s", async (_name, outcome, reason) => {
    const send = scripted(outcome);
    const outbox = startOutbox(openTemp(), send);
    expect(await outbox.deliver(request("a"))).toEqual({ kind: "failed", reason });
    expect(send.calls).toHaveLength(1);
    expect(outbox.failures(5)).toMatchObject([{ id: "a", channel: "mock", to: "42", reason }]);
  });

  it("waits as long as the platform asks", async ({ expect }) => {
    const send = scripted({ kind: "rate-limited", retryAfterMs: 60 });
    expect(await startOutbox(openTemp(), send).deliver(request("a"))).toMatchObject({ kind: "sent" });
    expect((send.calls[1]?.atMs ?? 0) - (send.calls[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(58);
  });

  it("tries an unreachable platform again", async ({ expect }) => {
    const send = scripted({ kind: "unreachable", reason: "refused" });
    expect(await startOutbox(openTemp(), send).deliver(request("a"))).toMatchObject({ kind: "sent" });
    expect(send.calls).toHaveLength(2);
  });

  it("waits for a channel that is not running yet", async ({ expect }) => {
    let running = false;
    const outbox = startOutbox(openTemp(), () => {
      if (!running) {
        running = true;
        return undefined;
      }
      return Promise.resolve(sentAs("1"));
    });
    expect(await outbox.deliver(request("a"))).toMatchObject({ kind: "sent" });
  });

  it("repeats an uncertain one once, then gives up", async ({ expect }) => {
    const send = scripted({ kind: "uncertain", reason: "timeout" }, { kind: "uncertain", reason: "timeout" });
    const result = await startOutbox(openTemp(), send).deliver(request("a"));
    expect(result).toMatchObject({ kind: "failed", reason: expect.stringContaining("outcome unknown") });
    expect(send.calls).toHaveLength(2);
  });

  it("counts a channel that throws as uncertain", async ({ expect }) => {
    let calls = 0;
    const outbox = startOutbox(openTemp(), () => (++calls === 1 ? Promise.reject(new Error("boom")) : Promise.resolve(sentAs("1"))));
    expect(await outbox.deliver(request("a"))).toMatchObject({ kind: "sent" });
    expect(calls).toBe(2);
  });

  it("expires instead of coming out of the blue later", async ({ expect }) => {
    const send = scripted({ kind: "rate-limited", retryAfterMs: 30 });
    expect(await startOutbox(openTemp(), send).deliver(request("a", { ttlMs: 10 }))).toMatchObject({ kind: "failed", reason: expect.stringContaining("expired") });
    expect(send.calls).toHaveLength(1);
  });

  it("does not repeat the parts that are there", async ({ expect }) => {
    const skips: number[] = [];
    const outbox = startOutbox(openTemp(), (_message, options) => {
      skips.push(options.skipParts);
      if (skips.length === 1) {
        options.onPart({ index: 0, messageId: "p0" });
        options.onPart({ index: 1, messageId: "p1" });
        return Promise.resolve({ kind: "rate-limited", retryAfterMs: 1 });
      }
      options.onPart({ index: 2, messageId: "p2" });
      return Promise.resolve(sentAs("p2"));
    });
    expect(await outbox.deliver(request("a"))).toMatchObject({ kind: "sent", messageIds: ["p0", "p1", "p2"] });
    expect(skips).toEqual([0, 2]);
  });

  it("believes a channel that only tells how many parts are there", async ({ expect }) => {
    const send = scripted({ kind: "rate-limited", retryAfterMs: 1, sentParts: 3 });
    await startOutbox(openTemp(), send).deliver(request("a"));
    expect(send.calls.map((call) => call.skipParts)).toEqual([0, 3]);
  });

  it("takes the first attempt that is offered, and sends as usual when that declines", async ({ expect }) => {
    const send = scripted();
    const outbox = startOutbox(openTemp(), send);
    expect(await outbox.deliver(request("a"), () => Promise.resolve(sentAs("preview")))).toMatchObject({ messageIds: ["preview"] });
    expect(send.calls).toHaveLength(0);
    expect(await outbox.deliver(request("b"), () => Promise.resolve(undefined))).toMatchObject({ messageIds: ["m1"] });
  });
});

describe("order and repetition", () => {
  it("keeps the order within a chat and does not hold up other chats", async () => {
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    const outbox = startOutbox(openTemp(), async (message) => {
      if (message.text === "a1") await gate.promise;
      order.push(message.text);
      return sentAs(message.text);
    });
    const first = [outbox.deliver(request("a1")), outbox.deliver(request("a2"))];
    await outbox.deliver(request("b1", { to: "other" }));
    expect(order).toEqual(["b1"]);
    gate.resolve();
    await Promise.all(first);
    expect(order).toEqual(["b1", "a1", "a2"]);
  });

  it("sends the same id once, also when two ask at the same time", async () => {
    const send = scripted();
    const outbox = startOutbox(openTemp(), send);
    await Promise.all([outbox.deliver(request("a")), outbox.deliver(request("a"))]);
    await outbox.deliver(request("a"));
    expect(send.calls).toHaveLength(1);
  });

  it("takes up after a restart what was never tried, and repeats once what may have been sent", async () => {
    const dir = tempState();
    const never = new Promise<SendOutcome>(() => undefined);
    const before = openTemp(dir);
    const first = createOutbox({ journal: before, clock: { now: () => Date.now() }, log: silentLogger, send: (_c, message, options) => {
      if (message.text === "sending") options.onPart({ index: 0, messageId: "p0" });
      return never;
    } });
    void first.deliver(request("sending"));
    void first.deliver(request("waiting"));
    await Promise.resolve();
    await Promise.resolve();
    before.close();

    const send = scripted();
    const after = startOutbox(openTemp(dir), send);
    expect(after.countOpen()).toBe(2);
    after.resume();
    expect(await Promise.all([after.deliver(request("sending")), after.deliver(request("waiting"))])).toMatchObject([
      { kind: "sent", messageIds: ["p0", "m1"] }, { kind: "sent", messageIds: ["m2"] },
    ]);
    expect(send.calls.map(({ text, skipParts }) => [text, skipParts])).toEqual([["sending", 1], ["waiting", 0]]);
  });

  it("knows the parts of an earlier process also when the run asks before the outbox is resumed", async () => {
    const dir = tempState();
    const before = openTemp(dir);
    const first = createOutbox({ journal: before, clock: { now: () => Date.now() }, log: silentLogger, send: (_c, _message, options) => {
      options.onPart({ index: 0, messageId: "p0" });
      return new Promise<SendOutcome>(() => undefined);
    } });
    void first.deliver(request("a"));
    await Promise.resolve();
    await Promise.resolve();
    before.close();
    const send = scripted();
    expect(await startOutbox(openTemp(dir), send).deliver(request("a"))).toMatchObject({ messageIds: ["p0", "m1"] });
    expect(send.calls).toMatchObject([{ skipParts: 1 }]);
  });

  it("does not repeat an uncertain message that has grown old", async () => {
    const dir = tempState();
    const before = openTemp(dir);
    const first = createOutbox({ journal: before, clock: { now: () => 0 }, log: silentLogger, send: () => new Promise<SendOutcome>(() => undefined) });
    void first.deliver(request("a"));
    await Promise.resolve();
    await Promise.resolve();
    before.close();
    const send = scripted();
    const outbox = startOutbox(openTemp(dir), send, () => 11 * 60_000);
    expect(await outbox.deliver(request("a"))).toMatchObject({ kind: "failed", reason: expect.stringContaining("outcome unknown") });
    expect(send.calls).toHaveLength(0);
  });

  it("keeps what is open when it stops", async () => {
    const send = scripted({ kind: "rate-limited", retryAfterMs: 60_000 });
    const outbox = startOutbox(openTemp(), send);
    const fate = outbox.deliver(request("a"));
    await Promise.resolve();
    await Promise.resolve();
    await outbox.stop();
    expect(await fate).toMatchObject({ kind: "failed", reason: expect.stringContaining("after the restart") });
    expect(outbox.lookup("a")).toBe("open");
  });
});

describe("inbox", () => {
  const message = (messageId: string): InboundMessage => ({
    channel: "mock", accountId: "default", messageId, chat: { id: "7", type: "direct" }, sender: { id: "7" }, text: "hi", timestampMs: 1, from: "mock:7", to: "7",
  });
  const item = (messageId: string): InboxItem => ({ message: message(messageId), wasMentioned: false, authority: { source: "mock", senderId: "7", isOwner: true, commandAuthorized: true } });

  it("accepts a message once, also after a restart, and hands back what is unfinished in order", () => {
    const dir = tempState();
    const journal = openTemp(dir);
    const inbox = createInbox(journal, clock);
    const accepted = ["1", "2", "3"].map((id) => inbox.accept(dedupeKey(message(id)), [item(id)]));
    const ids = accepted.map((outcome) => (outcome.kind === "accepted" ? outcome.rows[0].id : ""));
    const start = { prompt: "hi", isOwner: false, notices: ["new day"], hints: { thinking: "high" }, toldUpTo: { events: 3, talk: 0 } };
    inbox.bindRun([ids[1] as string], "run-2", "agent:main:main", start);
    inbox.finish([ids[0] as string]);
    journal.close();

    const again = createInbox(openTemp(dir), clock);
    expect(again.accept(dedupeKey(message("1")), [item("1")])).toEqual({ kind: "duplicate" });
    expect(again.seen(dedupeKey(message("2")))).toBe(true);
    expect(again.unfinished().map((row) => [row.message.messageId, row.runId, row.attempts])).toEqual([["2", "run-2", 1], ["3", undefined, 0]]);
    expect(again.unfinished().map((row) => row.start)).toEqual([start, undefined]);
    again.bindRun([ids[1] as string], "run-2", "agent:main:main");
    expect(again.unfinished()[0]).toMatchObject({ attempts: 2, start });
    expect(again.countUnfinished()).toBe(2);
  });

  it("tells chats, threads and accounts apart", () => {
    const base = message("1");
    const keys = [base, { ...base, accountId: "b" }, { ...base, chat: { ...base.chat, id: "8" } }, { ...base, chat: { ...base.chat, threadId: "9" } }, { ...base, channel: "x" }].map(dedupeKey);
    expect(new Set(keys).size).toBe(5);
  });

  it("does not remember a message that could not be stored", () => {
    const journal = openTemp();
    const inbox = createInbox(journal, clock);
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    expect(() => inbox.accept("k", [{ ...item("1"), ...circular }])).toThrow(TypeError);
    expect(inbox.accept("k", [item("1")]).kind).toBe("accepted");
  });
});

describe("what waits beside the messages", () => {
  const line = (body: string): { sender: string; body: string; atMs: number } => ({ sender: "Ann", body, atMs: 1 });

  it("keeps the last lines of a group until they were read", () => {
    const dir = tempState();
    const journal = openTemp(dir);
    const history = createPendingHistory(journal);
    for (let i = 0; i < 10; i++) history.add("g", line(`${i}`), 3);
    history.add("off", line("x"), 0);
    expect(history.read("off").lines).toEqual([]);
    journal.close();
    const again = createPendingHistory(openTemp(dir));
    const { lines, upTo } = again.read("g");
    expect(lines.map((entry) => entry.body)).toEqual(["7", "8", "9"]);
    again.add("g", line("later"), 3);
    again.clear("g", upTo);
    expect(again.read("g").lines.map((entry) => entry.body)).toEqual(["later"]);
    again.clear("g", again.read("g").upTo);
    again.add("g", line("new"), 3);
    again.clear("g", upTo);
    expect(again.read("g").lines.map((entry) => entry.body)).toEqual(["new"]);
  });

  it("keeps lines of at most 1000 groups, those last active", () => {
    const journal = openTemp();
    const history = createPendingHistory(journal);
    journal.transaction(() => {
      for (let i = 0; i < 1100; i++) history.add(`g${i}`, { ...line("x"), atMs: i }, 5);
    });
    expect(history.read("g0").lines).toEqual([]);
    expect(history.read("g1099").lines).toHaveLength(1);
  });

  it("keeps at most 20 system lines of a session, without repetition or noise", () => {
    const events = createSystemEvents(openTemp(), clock);
    for (let i = 0; i < 25; i++) events.push("s", `event ${i}`);
    events.push("s", "event 24");
    events.push("s", "  ");
    events.push("s", "exec finished: heartbeat wake");
    events.push("node", "Node: box (10.0.0.5) · app 2.1 · last input 12s ago · mode ui");
    events.push("node", "Node: box (10.0.0.5) · app 2.1 · last input 13s ago · mode ui");
    expect(events.peek("node").events.map(({ text }) => text)).toEqual(["Node: box (10.0.0.5) · app 2.1 · mode ui"]);
    events.push("other", "elsewhere", { trusted: false });
    const { events: lines } = events.peek("s");
    expect(lines).toHaveLength(20);
    expect(lines.at(0)?.text).toBe("event 5");
    expect(lines.at(-1)?.text).toBe("event 24");
    expect(events.peek("other").events).toEqual([{ text: "elsewhere", atMs: clock.nowMs, trusted: false }]);
  });

  it("replaces a line of the same context and never loses one that came after the prompt was built", () => {
    const events = createSystemEvents(openTemp(), clock);
    events.push("s", "first");
    events.push("s", "node a is offline", { contextKey: "node:a" });
    const { upTo } = events.peek("s");
    events.push("s", "node a is online", { contextKey: "node:a" });
    expect(events.peek("s").events.map((event) => event.text)).toEqual(["first", "node a is online"]);
    events.commit("s", upTo);
    expect(events.peek("s").events.map((event) => event.text)).toEqual(["node a is online"]);
  });

  it("finds previews that were left open, and session entries that were not written", () => {
    const dir = tempState();
    const journal = openTemp(dir);
    const previews = createPreviewLog(journal, clock);
    previews.opened("p1", "mock", "default", { card: 1 });
    previews.opened("p2", "mock", "default", undefined);
    previews.closed("p2");
    const pending = createPendingSessionLog(journal);
    pending.save("/s.json", "k", '{"a":1}');
    pending.save("/s.json", "gone", null);
    journal.close();
    const again = openTemp(dir);
    expect(createPreviewLog(again, clock).orphans()).toEqual([{ id: "p1", channel: "mock", accountId: "default", ref: { card: 1 } }]);
    const log = createPendingSessionLog(again);
    expect(log.load("/s.json")).toEqual([{ key: "gone", entryJson: null }, { key: "k", entryJson: '{"a":1}' }]);
    log.clear("/s.json", ["k", "gone"]);
    expect(log.load("/s.json")).toEqual([]);
  });
});

describe("journal file", () => {
  it("is readable by its owner only", () => {
    const dir = tempState();
    openTemp(dir);
    expect(statSync(join(dir, "delivery", "journal.sqlite")).mode & 0o077).toBe(0);
  });

  it("names the file and the way out when it is damaged", () => {
    const dir = tempState();
    openTemp(dir).close();
    writeFileSync(join(dir, "delivery", "journal.sqlite"), "this is no database, just some text that is long enough".repeat(50));
    expect(() => openJournal(dir)).toThrow(/journal\.sqlite cannot be opened\. Move it aside/);
  });

  it("undoes a transaction that fails half-way", () => {
    const journal = openTemp();
    const inbox = createInbox(journal, clock);
    expect(() => journal.transaction(() => {
      inbox.seen("k");
      throw new Error("stop");
    })).toThrow("stop");
    expect(inbox.seen("k")).toBe(false);
  });
});
