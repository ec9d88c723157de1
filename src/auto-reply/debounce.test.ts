import { expect, it } from "vitest";
import type { InboundMessage } from "../channels/contract/index.ts";
import type { InboxRow } from "../delivery/index.ts";
import { createDebouncer } from "./debounce.ts";
import { mergeRows, weakest } from "./inbox-rows.ts";

let seq = 0;
const row = (text: string, more: Partial<InboundMessage> = {}, isOwner = true): InboxRow => ({
  id: String(++seq), seq, runId: undefined, sessionKey: undefined, atMs: 0, attempts: 0, wasMentioned: false,
  authority: { source: "x", senderId: "1", isOwner, commandAuthorized: true },
  message: { channel: "x", accountId: "default", messageId: `m${seq}`, chat: { id: "c", type: "direct" }, sender: { id: "1" }, text, timestampMs: 0, from: "x:1", to: "x:1", ...more },
});

function world(delayMs: number) {
  const flushed: string[][] = [];
  const waiters: (() => void)[] = [];
  const debouncer = createDebouncer({
    delayMs: () => delayMs,
    flush(rows) {
      flushed.push(rows.map(({ message }) => message.text || "<media>"));
      for (const waiter of waiters.splice(0)) waiter();
    },
  });
  return { debouncer, flushed, next: () => new Promise<void>((resolve) => waiters.push(resolve)) };
}

it("joins what one sender writes in one breath, and nobody else's", async () => {
  const { debouncer, flushed, next } = world(20);
  for (const each of [row("a"), row("other", { sender: { id: "2" } }), row("b"), row("elsewhere", { chat: { id: "d", type: "group" } })]) debouncer.take(each);
  expect(flushed).toEqual([]);
  while (flushed.length < 3) await next();
  expect(flushed.map((texts) => texts.join("+")).toSorted()).toEqual(["a+b", "elsewhere", "other"]);
});

it("lets media, commands, words to stop and empty texts pass at once, after what was said before them", () => {
  const { debouncer, flushed } = world(60_000);
  for (const each of [row("a"), row("/status"), row("b"), row("", { media: [{ kind: "image", ref: "r" }] }), row("c"), row("stop"), row("d"), row("edited", { noDebounce: true })]) debouncer.take(each);
  expect(flushed).toEqual([["a"], ["/status"], ["b"], ["<media>"], ["c"], ["stop"], ["d"], ["edited"]]);
  debouncer.take(row("held"));
  debouncer.clear();
  expect(flushed).toHaveLength(8);
});

it("is off unless it is configured", () => {
  const { debouncer, flushed } = world(0);
  debouncer.take(row("a"));
  expect(flushed).toEqual([["a"]]);
});

it("makes one message of several: all texts, ids and files, the last reply, the least rights", () => {
  const rows = [row("one", { reply: { id: "5" }, media: [{ kind: "image", ref: "i" }] }), row("", {}, false), row("two")];
  const merged = mergeRows(rows);
  expect(merged).toMatchObject({ text: "one\ntwo", reply: { id: "5" }, media: [{ ref: "i" }], messageId: rows[2]?.message.messageId, mergedMessageIds: [rows[0]?.message.messageId, rows[1]?.message.messageId] });
  expect(weakest(rows)).toMatchObject({ isOwner: false, commandAuthorized: true });
});
