import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestAccount, TEST_TIMINGS } from "../../../test/support/wecom-api/account.ts";
import { ALICE, BOT, GROUP, startFakeWecom } from "../../../test/support/wecom-api/index.ts";

const downloaded = async (account: Awaited<ReturnType<typeof startTestAccount>>, at: number, maxBytes = 1e6) => {
  const media = account.received[at]?.media?.[0];
  if (!media) throw new Error("no medium");
  return account.plugin.gateway?.downloadMedia?.(account.cfg, "default", media, { dir: join(account.stateDir, "media"), maxBytes, signal: new AbortController().signal });
};

describe("messages over the long connection", () => {
  it("of people and groups are handed over; a command begins behind the bot's name", async () => {
    await using account = await startTestAccount({ config: { groups: { [GROUP]: { systemPrompt: "Be brief." } } } });
    const { reqId, body } = account.api.injectDirect("  hello **there** ");
    account.api.injectGroup("/status");
    await account.receivedCount(2);
    expect(account.received[0]).toMatchObject({
      channel: "wecom", accountId: "default", messageId: body["msgid"], chat: { id: ALICE, type: "direct" }, sender: { id: ALICE }, text: "hello **there**", from: `wecom:${ALICE}`, to: `user:${ALICE}`,
      replyContext: { data: { via: "bot-socket", reqId, chatId: ALICE } },
    });
    expect(account.received[1]).toMatchObject({ chat: { id: GROUP, type: "group" }, text: "/status", agentText: "@Claw /status", to: `group:${GROUP}`, from: `wecom:group:${GROUP}`, mentions: { bot: true }, groupSystemPrompt: "Be brief." });
    expect(account.status).toMatchObject({ connected: true, mode: "websocket", lastError: null });
  });

  it("of every kind are read, nobody's are not", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const file = api.file(Buffer.from("%PDF-1.7 report"));
    const picture = api.file(Buffer.from("\x89PNG\r\n\x1a\nxx", "latin1"));
    const send = (extra: Record<string, unknown>): unknown => api.injectDirect("", { extra: { text: undefined, ...extra } });
    send({ msgtype: "voice", voice: { content: "今天天气" } });
    send({ msgtype: "image", image: picture });
    send({ msgtype: "file", file });
    send({ msgtype: "video", video: api.file(Buffer.from("0000ftypmp42", "latin1")) });
    send({ msgtype: "mixed", mixed: { msg_item: [{ msgtype: "text", text: { content: "look" } }, { msgtype: "image", image: picture }, { msgtype: "text", text: { content: "here" } }] } });
    send({ msgtype: "hologram" });
    send({ from: { userid: "sys" }, msgtype: "text", text: { content: "system" } });
    send({ from: undefined, msgtype: "text", text: { content: "nobody" } });
    send({ chattype: "group", msgtype: "text", text: { content: "no group" } });
    send({ msgtype: "text", text: { content: "why?" }, quote: { msgtype: "text", text: { content: "because" } } });
    api.injectGroup("", { extra: { text: { content: "@Claw " }, quote: { msgtype: "text", text: { content: "the quoted words" } } } });
    await account.receivedCount(8);
    expect(account.received.map((m) => [m.text, m.media?.map(({ kind }) => kind), m.reply?.body])).toEqual([
      ["今天天气", undefined, undefined], ["", ["image"], undefined], ["", ["document"], undefined], ["", ["video"], undefined], ["look\nhere", ["image"], undefined], ["[hologram]", undefined, undefined], ["why?", undefined, "because"], ["the quoted words", undefined, undefined],
    ]);
    const report = await downloaded(account, 2);
    expect(report).toMatchObject({ mimeType: "application/pdf", fileName: "report.pdf", sizeBytes: 15 });
    expect(await readFile(report?.path ?? "", "utf8")).toBe("%PDF-1.7 report");
    expect(await downloaded(account, 1)).toMatchObject({ mimeType: "image/png" });
    await expect(downloaded(account, 2, 3)).rejects.toThrow("⚠️ File too large");
  });

  it("greets who enters, and takes choices on cards as words or as the command they carry", async () => {
    await using account = await startTestAccount({ config: { welcomeText: "你好！" } });
    const { api } = account;
    const event = (eventtype: string, more: object = {}): string => api.sendFrame("aibot_event_callback", { msgid: `e-${eventtype}-${JSON.stringify(more).length}`, msgtype: "event", chattype: "single", from: { userid: ALICE }, event: { eventtype, ...more } });
    event("enter_chat");
    await api.waitUntil(() => api.bots.greetings[0], "greeting");
    event("template_card_event", { template_card_event: { event_key: "yes", task_id: "t" } });
    event("template_card_event", { template_card_event: { event_key: "/approve 1 allow-once", task_id: "t" } });
    event("feedback_event");
    await account.receivedCount(2);
    expect(api.bots.greetings).toEqual(["你好！"]);
    expect(account.received.map(({ text }) => text)).toEqual(["[卡片交互] 按钮: yes", "/approve 1 allow-once"]);
  });

  it("with a choice on a card of the bot show it there; opinions about an answer become notes for the agent", async () => {
    await using account = await startTestAccount({ receive: (message) => (message.sender.id === "mallory" ? { kind: "dropped", reason: "blocked" } : { kind: "accepted", id: "1" }) });
    const { api } = account;
    const event = (eventtype: string, more: object, userid = ALICE): string => api.sendFrame("aibot_event_callback", { msgtype: "event", chattype: "single", from: { userid }, event: { eventtype, ...more } });
    await account.send({ text: "Deploy?", buttons: [[{ text: "Yes", callbackData: "/deploy" }, { text: "No", callbackData: "no" }]] });
    const vote = { card_type: "vote_interaction", task_id: "v1", checkbox: { question_key: "q", option_list: [{ id: "a", text: "A" }, { id: "b", text: "B" }] }, submit_button: { text: "Vote", key: "go" } };
    const list = { card_type: "multiple_interaction", task_id: "l1", select_list: [{ question_key: "s", option_list: [{ id: "x", text: "X" }] }], submit_button: { text: "Send", key: "go" } };
    for (const card of [vote, list, { card_type: "text_notice", main_title: { title: "t" } }]) await account.send({ text: JSON.stringify({ template_card: card }) });
    const taskId = (api.bots.sent[1] as { template_card?: { task_id?: string } } | undefined)?.template_card?.task_id;
    const select = (question_key: string, ...option_id: string[]) => ({ selected_items: { selected_item: [{ question_key, option_ids: { option_id } }] } });
    event("template_card_event", { template_card_event: { event_key: "no", task_id: taskId } }, "mallory");
    event("template_card_event", { template_card_event: { event_key: "/deploy", task_id: taskId } });
    event("template_card_event", { template_card_event: { event_key: "go", task_id: "v1", ...select("q", "b") } });
    event("template_card_event", { template_card_event: { event_key: "go", task_id: "l1", ...select("s", "x") } });
    event("template_card_event", { template_card_event: { event_key: "go", task_id: "of-another-process" } });
    await account.receivedCount(4);
    await api.waitUntil(() => api.bots.cardUpdates.length === 3, "changed cards");
    expect(api.bots.cardUpdates).toEqual([
      expect.objectContaining({ card_type: "button_interaction", task_id: taskId, button_list: [{ text: "✓ Yes", style: 1, key: "/deploy" }] }),
      { ...vote, submit_button: { text: "已提交", key: "go" }, checkbox: { question_key: "q", disable: true, option_list: [{ id: "a", text: "A", is_checked: false }, { id: "b", text: "B", is_checked: true }] } },
      { ...list, submit_button: { text: "已提交", key: "go" }, select_list: [{ question_key: "s", disable: true, selected_id: "x", option_list: [{ id: "x", text: "X" }] }] },
    ]);
    const { reqId } = api.injectDirect("hi");
    const { to, replyContext } = await account.receivedCount(5);
    await account.send({ to, replyContext, kind: "final", text: "hello" });
    const id = [...api.bots.streams.values()].find((stream) => stream.reqId === reqId)?.feedbackId;
    expect(id).toBeTruthy();
    event("feedback_event", { feedback_event: { id, type: 2, content: "too short" } });
    event("feedback_event", { feedback_event: { id, type: 9 } });
    event("feedback_event", { feedback_event: { id, type: 1 } });
    await api.waitUntil(() => account.events.length === 2, "notes");
    expect(account.events.map(({ text, actorId, chat }) => [text, actorId, chat.id])).toEqual([["WeCom: alice finds an answer not helpful: too short", ALICE, ALICE], ["WeCom: alice finds an answer helpful", ALICE, ALICE]]);
  });

  it("broken ones harm nobody, and control characters do not break them", async () => {
    await using account = await startTestAccount();
    account.api.sendFrame("aibot_msg_callback", { nonsense: true });
    account.api.sendFrame("something_new", {});
    for (const frame of ["", "null", "[]", "{", '{"cmd":5}', '{"cmd":"aibot_msg_callback"}', '{"cmd":"aibot_msg_callback","headers":null,"body":{}}', '{"cmd":"aibot_event_callback","headers":{"req_id":"r"},"body":{"event":null}}', '{"cmd":"aibot_event_callback","body":7}', '{"errcode":"x"}', "x".repeat(100_000), Buffer.from([0, 255])]) account.api.sendRaw(frame);
    account.api.injectDirect("a\u0001b");
    expect((await account.receivedCount()).text).toContain("b");
    account.api.injectDirect("odd", { extra: { create_time: null, aibotid: null, response_url: 5, quote: "x", image: null, file: { url: null }, chattype: null } });
    account.api.injectDirect("", { extra: { msgtype: "mixed", text: null, mixed: { msg_item: [null, { text: { content: "a" } }, { image: {} }, 7] } } });
    await account.receivedCount(3);
    expect(account.received.slice(1).map(({ text, reply, timestampMs }) => [text, reply, timestampMs > 1e12])).toEqual([["odd", undefined, true], ["a", undefined, true]]);
    expect(account.api.connections()).toBe(1);
  });

  it("get agents of their own where that is wanted, administrators excepted", async () => {
    await using account = await startTestAccount({ config: { dynamicAgents: { enabled: true, adminUsers: ["Boss"] } } });
    account.api.injectDirect("hi");
    account.api.injectGroup("hi");
    account.api.injectDirect("hi", { userId: "boss" });
    await account.receivedCount(3);
    expect(account.received.map(({ sessionKey }) => sessionKey)).toEqual([`agent:wecom-default-dm-${ALICE}:wecom:default:dm:${ALICE}`, `agent:wecom-default-group-wrgroupa0001:wecom:default:group:wrgroupa0001`, undefined]);
  });

  it("are refused without a binding where the configuration says so", async () => {
    await using account = await startTestAccount({ config: { routing: { failClosedOnDefaultRoute: true } } });
    account.api.injectDirect("hi");
    await account.api.waitUntil(() => typeof account.status.lastError === "string" && account.status.lastError.includes("bindings"), "hint in status");
    expect(account.received).toEqual([]);
    await using bound = await startTestAccount({ config: { routing: { failClosedOnDefaultRoute: true } }, bindings: [{ agentId: "main", match: { channel: "wecom" } }] });
    bound.api.injectDirect("hi");
    await bound.receivedCount();
  });
});

describe("the connection", () => {
  it("comes back after a drop and when pings are not answered", async () => {
    await using account = await startTestAccount({ plugin: { timings: TEST_TIMINGS } });
    account.api.dropSockets();
    await account.api.connected(2);
    account.api.mute(true);
    await account.api.connected(3);
    account.api.mute(false);
    await account.api.waitUntil(() => account.status.connected === true, "connected");
    account.api.injectDirect("still here");
    await account.receivedCount();
  });

  it("stays away when another one takes over", async () => {
    await using api = await startFakeWecom();
    await using first = await startTestAccount({ api });
    await using _second = await startTestAccount({ api });
    await api.waitUntil(() => first.status.connected === false, "disconnected");
    expect(first.status.lastError).toContain("only one can be open");
    expect(api.connections()).toBe(2);
  });

  it("is given up after five refusals, and after the tries that are allowed", async () => {
    await using refused = await startTestAccount({ config: { secret: "wrong" }, awaitConnection: false, plugin: { timings: TEST_TIMINGS } });
    expect(await refused.ended).toMatchObject({ message: expect.stringContaining("WS_AUTH_FAILURE_EXHAUSTED") as string });
    await using gone = await startTestAccount({ plugin: { env: { OPENCLAW_WECOM_WS_URL: "ws://127.0.0.1:9" }, timings: TEST_TIMINGS }, config: { maxReconnectAttempts: 2 }, awaitConnection: false });
    expect(await gone.ended).toMatchObject({ message: expect.stringContaining("WS_RECONNECT_EXHAUSTED") as string });
  });

  it("two bots answer for themselves", async () => {
    await using api = await startFakeWecom({ bots: { [BOT]: "secret1", bot2: "secret2" } });
    await using one = await startTestAccount({ api });
    await using two = await startTestAccount({ api, accountId: "work", section: { botId: BOT, secret: "secret1", accounts: { work: { botId: "bot2", secret: "secret2" } } } });
    api.injectDirect("for two", { botId: "bot2" });
    await two.receivedCount();
    expect([one.received.length, two.received[0]?.accountId]).toEqual([0, "work"]);
  });
});
