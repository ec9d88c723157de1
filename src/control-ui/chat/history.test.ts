import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeHistory, toItems } from "./history.ts";
import type { Item, UserItem } from "./items.ts";

const user = (text: string, at: number, id = `local:${text}:${at}`): UserItem => ({ kind: "user", id, text, images: [], at, state: "sent" });
const textsOf = (items: readonly Item[]): string[] => items.map((item) => ("text" in item ? item.text : item.kind));

describe("a transcript as a thread", () => {
  it("puts a tool's result onto its call", () => {
    const items = toItems([
      { role: "user", content: "list", timestamp: 1 },
      { role: "assistant", content: [{ type: "text", text: "Looking." }, { type: "toolCall", id: "c1", name: "exec", arguments: { command: "ls" } }], timestamp: 2 },
      { role: "toolResult", toolCallId: "c1", toolName: "exec", content: [{ type: "text", text: "a.txt" }], isError: false, timestamp: 1502 },
      { role: "assistant", content: [{ type: "text", text: "One file." }], timestamp: 1600 },
    ]);
    expect(items.map((item) => item.kind)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(items[2]).toMatchObject({ name: "exec", output: "a.txt", state: "done", durationMs: 1500 });
  });

  it("shows the beginning of a stopped answer once, though it stands twice", () => {
    const partial = { role: "assistant", content: [{ type: "text", text: "One two" }], timestamp: 2 };
    const items = toItems([{ role: "user", content: "count", timestamp: 1 }, { ...partial, openclawAbort: { aborted: true } }, { ...partial, stopReason: "aborted" }]);
    expect(textsOf(items)).toEqual(["count", "One two"]);
    expect(items[1]).toMatchObject({ stopped: true });
  });

  it("shows the instruction of a new session and a compaction as dividers, never as the person's words", () => {
    const items = toItems([
      { role: "system", type: "compaction", content: [{ type: "text", text: "Older messages were summarised." }], timestamp: 1 },
      { role: "user", content: "A new session was started via /new or /reset. Greet the user.", timestamp: 2 },
    ]);
    expect(items.map((item) => item.kind === "divider" && item.about)).toEqual(["compaction", "new-session"]);
  });

  it.each([[null], [undefined], [42], ["text"], [{ role: "martian" }], [{ role: "assistant", content: 7 }], [{ role: "user" }]])("leaves out what it does not know: %j", (message) => {
    expect(toItems([message])).toEqual([]);
  });

  it("gives every entry an id of its own", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ role: fc.constantFrom("user", "assistant"), content: fc.string({ minLength: 1 }), timestamp: fc.constantFrom(1, 2) })), (messages) => {
        const ids = toItems(messages).map((item) => item.id);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });
});

describe("refreshing", () => {
  it("replaces what the history holds by now, keeping its place on screen", () => {
    const merged = mergeHistory([user("hello", 1000, "stored")], [user("hello", 990, "local")]);
    expect(merged.remaining).toEqual([]);
    expect(merged.items.map((item) => item.id)).toEqual(["local"]);
  });

  it("keeps pictures that only this page still has", () => {
    const own = { ...user("look", 1, "local"), images: [{ src: "data:image/png;base64,AA==" }] };
    expect(mergeHistory([{ ...user("look", 2, "stored"), images: [{ bytes: 3 }] }], [own]).items[0]).toMatchObject({ images: own.images });
  });

  it("never loses a message and never shows a stored one twice", () => {
    const messages = fc.array(fc.record({ text: fc.constantFrom("a", "b", "c"), at: fc.integer({ min: 1, max: 1000 }) }), { maxLength: 12 });
    fc.assert(
      fc.property(messages, messages, (stored, local) => {
        const left = stored.map((message, i) => user(message.text, message.at, `s${i}`));
        const right = local.map((message, i) => user(message.text, message.at, `l${i}`));
        const { items, remaining } = mergeHistory(left, right);
        expect(items).toHaveLength(left.length + remaining.length);
        for (const text of ["a", "b", "c"]) {
          const count = (list: readonly Item[]): number => textsOf(list).filter((one) => one === text).length;
          expect(count(items)).toBe(Math.max(count(left), count(right)));
        }
      }),
    );
  });
});
