import { describe, expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/feishu-api/account.ts";
import { ALICE } from "../../../test/support/feishu-api/index.ts";

const CARD = { renderMode: "card" };
type Account = Awaited<ReturnType<typeof startTestAccount>>;
const open = (account: Account, target: object = {}) => account.plugin.streaming?.open?.(account.cfg, { accountId: "default", to: `user:${ALICE}`, ...target });
const growing = (account: Account, text: string) => account.api.waitUntil(() => account.api.cards().some((card) => card.text === text), `card with ${text}`);

describe("a card", () => {
  it("grows with the answer, as a reply to its message, and ends finished", async () => {
    await using account = await startTestAccount({ config: CARD });
    const { api } = account;
    const { messageId } = api.injectDirect("hi", { extra: { mentions: [api.mentionOf("ou_bob", "Bob")] } });
    const { to, replyContext } = await account.receivedCount();
    const card = open(account, { to, replyContext, replyToId: messageId });
    for (const text of ["Hel", "Hello wor", "Hello world\nMEDI"]) {
      card?.update(text);
      await growing(account, text.replace("\nMEDI", ""));
    }
    expect(await card?.finish("Hello **world**")).toEqual({ kind: "replaced", messageIds: [api.sent()[0]?.id] });
    expect(api.cards()).toMatchObject([{ text: "<at id=ou_bob></at> Hello **world**", isStreaming: false, summary: "Hello **world**" }]);
    expect(api.sent()).toMatchObject([{ type: "interactive", parentId: messageId }]);
    const numbers = api.calls("/elements/content/content").map((call) => (call.body as { sequence: number }).sequence);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(numbers[0]).toBe(1);
  });

  it("appears in auto mode with the first code or table, and never for plain words, raw mode or streaming:false", async () => {
    await using account = await startTestAccount({ start: false });
    const card = open(account);
    card?.update("Look:");
    card?.update("Look:\n```js\nx");
    await growing(account, "Look:\n```js\nx");
    expect(await card?.finish("Look:\n```js\nx()\n```")).toMatchObject({ kind: "replaced" });
    const plain = open(account);
    plain?.update("just words");
    expect(await plain?.finish("just words")).toEqual({ kind: "discarded" });
    expect(account.api.cards()).toHaveLength(1);
    await using raw = await startTestAccount({ start: false, config: { renderMode: "raw" } });
    await using off = await startTestAccount({ start: false, config: { ...CARD, streaming: false } });
    expect([open(raw), open(off)]).toEqual([undefined, undefined]);
  });

  it("outlives an expired token, 429 and 5xx at its end, streaming that the platform ended, and a number that is too low", async () => {
    await using account = await startTestAccount({ start: false, config: CARD });
    const { api } = account;
    const card = open(account);
    card?.update("one");
    await growing(account, "one");
    api.expireTokens();
    api.failNext(1, { path: "/content", status: 429, body: { code: 99991400 }, headers: { "x-ogw-ratelimit-reset": "0" } });
    card?.update("two");
    await growing(account, "two");
    for (const state of api.cards()) Object.assign(state, { isStreaming: false, sequence: 500 });
    api.failNext(1, { path: "/content", status: 503 });
    expect(await card?.finish("three")).toMatchObject({ kind: "replaced" });
    expect(api.cards()).toMatchObject([{ text: "three", isStreaming: false }]);
    expect(api.texts()).toEqual(["three"]);
  });

  it("that is refused, too long or no longer wanted leaves nothing behind, and the answer goes out as messages", async () => {
    await using account = await startTestAccount({ start: false, config: CARD });
    const { api } = account;
    api.failNext(1, { path: "cardkit/v1/cards", status: 400, body: { code: 300301, msg: "invalid card json" } });
    const refused = open(account);
    refused?.update("x");
    await api.waitUntil(() => api.calls("cardkit/v1/cards").length === 1, "refused card");
    expect(await refused?.finish("x")).toEqual({ kind: "discarded" });
    const long = open(account);
    long?.update("start");
    await growing(account, "start");
    expect(await long?.finish("word ".repeat(20_000))).toEqual({ kind: "discarded" });
    const stopped = open(account);
    stopped?.update("half");
    await growing(account, "half");
    await stopped?.fail();
    expect(api.texts()).toEqual([]);
  });

  it("that cannot be taken back is ended with a note", async () => {
    await using account = await startTestAccount({ start: false, config: CARD });
    const { api } = account;
    const card = open(account);
    card?.update("half");
    await growing(account, "half");
    await api.waitUntil(() => api.sent().length === 1, "message");
    for (const message of api.sent()) Object.assign(message, { sender: { id: "cli_other", sender_type: "app" } });
    await card?.fail();
    expect(api.cards()).toMatchObject([{ text: "half", isStreaming: false, notes: ["⚠️ 已中断 · Interrupted"] }]);
  });

  it("that a killed process left open is closed after the restart", async () => {
    await using account = await startTestAccount({ start: false, config: CARD });
    const { api } = account;
    const card = open(account);
    const ref: unknown = structuredClone(card?.ref);
    card?.update("half");
    await growing(account, "half");
    await api.waitUntil(() => api.sent().length === 1, "message");
    await using later = await startTestAccount({ api, stateDir: account.stateDir, start: false, config: CARD });
    await later.plugin.streaming?.closeOrphan?.(later.cfg, "default", { nonsense: true });
    await later.plugin.streaming?.closeOrphan?.(later.cfg, "default", ref);
    expect(api.cards()).toMatchObject([{ text: "half", isStreaming: false, notes: ["⚠️ 已中断 · Interrupted"] }]);
  });
});
