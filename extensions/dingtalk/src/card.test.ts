import { describe, expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/dingtalk-api/account.ts";
import { ALICE, GROUP } from "../../../test/support/dingtalk-api/index.ts";

const CARD = { messageType: "card", cardStreamingMode: "answer", cardStreamInterval: 200 };
type Account = Awaited<ReturnType<typeof startTestAccount>>;
const open = (account: Account, target: object = {}) => account.plugin.streaming?.open?.(account.cfg, { accountId: "default", to: `user:${ALICE}`, ...target });
const cards = (account: Account) => [...account.api.platform.cards.values()];

describe("a card", () => {
  it("grows with the answer and ends finished", async () => {
    await using account = await startTestAccount({ start: false, config: { ...CARD, cardStatusLine: true } });
    const card = open(account);
    card?.update("Hel");
    await account.api.waitUntil(() => cards(account)[0]?.content.startsWith("Hel"), "card");
    card?.update("Hello");
    await account.api.waitUntil(() => cards(account)[0]?.content.startsWith("Hello"), "update");
    expect(await card?.finish("Hello **world**")).toEqual({ kind: "replaced", messageIds: [...account.api.platform.cards.keys()] });
    expect(cards(account)).toMatchObject([{ content: expect.stringMatching(/^Hello \*\*world\*\*\n\n> ✅ \d/) as string, flowStatus: "3", isFinalized: true, isError: false }]);
  });

  it("with streaming off is sent whole; in a group the asker is named", async () => {
    await using account = await startTestAccount({ config: { messageType: "card", cardAtSender: true } });
    account.api.injectGroup("hi");
    const { to, replyContext } = await account.receivedCount();
    const card = open(account, { to, replyContext });
    card?.update("half");
    expect(await card?.finish("whole")).toMatchObject({ kind: "replaced" });
    expect(cards(account)).toMatchObject([{ content: "whole", flowStatus: "3", updates: 1 }]);
    expect(account.api.calls("createAndDeliver")[0]?.body).toMatchObject({ openSpaceId: `dtv1.card//IM_GROUP.${GROUP}`, callbackType: "STREAM", cardData: { cardParamMap: { flowStatus: "2" } } });
    expect(account.api.texts()).toEqual([`@${ALICE}`]);
  });

  it("that is not delivered, though the call succeeds, makes answers Markdown for a while", async () => {
    let nowMs = 1_800_000_000_000;
    await using account = await startTestAccount({ start: false, config: { messageType: "card", aicardDegradeMs: 5000 }, plugin: { now: () => nowMs } });
    expect(await open(account, { to: "user:nobody" })?.finish("x")).toEqual({ kind: "discarded" });
    expect(open(account)).toBeUndefined();
    nowMs += 5001;
    expect(open(account)).toBeDefined();
    expect(open(account, { to: "user:$:LWCP_v1:x" })).toBeUndefined();
  });

  it("outlives an expired token, and 429 and 5xx at its end", async () => {
    await using account = await startTestAccount({ start: false, config: CARD });
    const card = open(account);
    card?.update("one");
    await account.api.waitUntil(() => cards(account)[0]?.content === "one", "card");
    account.api.expireTokens();
    account.api.failNext(1, { path: "card/streaming", status: 429, headers: { "retry-after": "0" } });
    account.api.failNext(1, { path: "card/streaming", status: 503 });
    expect(await card?.finish("two")).toMatchObject({ kind: "replaced" });
    expect(cards(account)).toMatchObject([{ content: "two", flowStatus: "3" }]);
  });

  it("whose end is refused, or whose run fails, is closed as failed", async () => {
    await using account = await startTestAccount({ start: false, config: { ...CARD, aicardDegradeMs: 0 } });
    const broken = open(account);
    broken?.update("one");
    await account.api.waitUntil(() => cards(account).length === 1 && account.api.calls("createAndDeliver").length === 1, "card");
    account.api.failNext(1, { path: "card/streaming", status: 400, body: { code: "invalidParameter.content" } });
    expect(await broken?.finish("two")).toEqual({ kind: "discarded" });
    const stopped = open(account);
    stopped?.update("half");
    await account.api.waitUntil(() => cards(account).length === 2, "second card");
    await stopped?.fail();
    expect(cards(account)).toMatchObject([{ flowStatus: "5", isError: true }, { flowStatus: "5", isError: true, content: expect.stringContaining("half") as string }]);
  });

  it("with buttons says for people what they press, where the card stands", async () => {
    await using account = await startTestAccount({ config: CARD });
    const { api } = account;
    const cardIn = async (to: string): Promise<string> => {
      const before = new Set(api.platform.cards.keys());
      await open(account, { to })?.finish("pick one");
      return [...api.platform.cards.keys()].find((id) => !before.has(id)) ?? "";
    };
    const [inGroup, direct] = [await cardIn(`group:${GROUP}`), await cardIn(`user:${ALICE}`)];
    const presses = [api.press(inGroup, { text: "the blue one" }, { userId: "bob" }), api.press(direct, {}, { actionId: "stop" }), api.press("of-an-earlier-process", { colour: "red" })];
    for (const id of presses) expect(await api.acked(id)).toMatchObject({ code: 200 });
    expect(account.received.map(({ text, chat, sender, to, mentions }) => [text, chat.type, chat.id, sender.id, to, mentions?.bot])).toEqual([
      ["the blue one", "group", GROUP, "bob", `group:${GROUP}`, true], ["/stop", "direct", ALICE, ALICE, `user:${ALICE}`, undefined], ['[卡片交互] 按钮: b1 {"colour":"red"}', "direct", ALICE, ALICE, `user:${ALICE}`, undefined],
    ]);
    expect(new Set(account.received.map(({ messageId }) => messageId)).size).toBe(3);
    const broken = api.sendFrame("CALLBACK", "/v1.0/card/instances/callback", { outTrackId: direct, userId: ALICE, content: "no JSON" });
    expect(await api.acked(broken)).toMatchObject({ code: 500 });
  });

  it("that a killed process left open is closed after the restart", async () => {
    await using account = await startTestAccount({ start: false, config: CARD });
    const card = open(account);
    const ref: unknown = structuredClone(card?.ref);
    card?.update("half");
    await account.api.waitUntil(() => cards(account).length === 1, "card");
    await using later = await startTestAccount({ api: account.api, start: false, config: CARD });
    await later.plugin.streaming?.closeOrphan?.(later.cfg, "default", ref);
    await later.plugin.streaming?.closeOrphan?.(later.cfg, "default", { nonsense: true });
    expect(cards(account)).toMatchObject([{ flowStatus: "5", isFinalized: true, isError: true }]);
  });
});
