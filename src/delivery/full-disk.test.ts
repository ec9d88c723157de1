import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { InboundMessage } from "../channels/contract/index.ts";
import { silentLogger } from "../infra/log.ts";
import { createInbox, createOutbox, openJournal, type InboxItem, type Journal } from "./index.ts";

const clock = { now: () => Date.now() };

/** `refuse(true)` makes SQLite refuse every write, as a full disk does. */
function open(): { journal: Journal; refuse(on: boolean): void } {
  const dir = mkdtempSync(join(tmpdir(), "full-disk-"));
  const journal = openJournal(dir);
  onTestFinished(() => {
    journal.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { journal, refuse: (on) => void journal.statement(`PRAGMA query_only = ${on ? 1 : 0}`).all() };
}

const message = (messageId: string): InboundMessage => ({ channel: "mock", accountId: "default", messageId, chat: { id: "7", type: "direct" }, sender: { id: "7" }, text: "hi", timestampMs: 1, from: "7", to: "7" });
const item = (id: string): InboxItem => ({ message: message(id), authority: { source: "mock", senderId: "7", isOwner: false, commandAuthorized: false }, wasMentioned: false });

it("an answer is sent while the disk is full, and its end is written down when there is room again", async () => {
  const { journal, refuse } = open();
  let full = true;
  const outbox = createOutbox({
    journal, clock, log: silentLogger,
    send(_channel, out, { onPart }) {
      refuse(full);
      onPart?.({ index: 0, messageId: `${out.text}-1` });
      return Promise.resolve({ kind: "sent", messageIds: [`${out.text}-1`] });
    },
  });
  onTestFinished(() => outbox.stop());
  const deliver = (id: string): Promise<unknown> => outbox.deliver({ id, channel: "mock", message: { accountId: "default", to: "7", text: id } });

  expect(await deliver("a")).toMatchObject({ kind: "sent" });
  expect(await deliver("b")).toMatchObject({ kind: "sent" });
  expect(outbox.lookup("a")).toBe("open");
  full = false;
  refuse(false);
  expect(await deliver("c")).toMatchObject({ kind: "sent" });
  expect(outbox.lookup("a")).toMatchObject({ kind: "sent" });
  expect(outbox.countOpen()).toBe(0);
});

it("a message that is done stays done though the disk refused to note it, and new ones are refused meanwhile", () => {
  const { journal, refuse } = open();
  const inbox = createInbox(journal, clock);
  const first = inbox.accept("1", [item("1")]);
  refuse(true);
  inbox.finish(first.kind === "accepted" ? [first.rows[0].id] : []);
  expect(() => inbox.accept("2", [item("2")])).toThrow(/readonly/);
  refuse(false);
  expect(inbox.accept("2", [item("2")]).kind).toBe("accepted");
  expect(inbox.unfinished().map((row) => row.message.messageId)).toEqual(["2"]);
});
