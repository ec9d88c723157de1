import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startFakeTelegram } from "../../../test/support/telegram-api/index.ts";
import { ChannelError } from "../contract/index.ts";
import { startTestAccount } from "../../../test/support/telegram-api/account.ts";

const bytes = Buffer.from("file bytes");

describe("messages from Telegram", () => {
  it("hands a direct message to the core and then confirms it", async () => {
    await using account = await startTestAccount();
    const { updateId, messageId } = account.api.text("hello **there**");
    const message = await account.receivedCount();
    expect(message).toMatchObject({
      channel: "telegram",
      accountId: "default",
      messageId: String(messageId),
      chat: { id: "42", type: "direct" },
      sender: { id: "42", name: "Alice", username: "alice" },
      text: "hello **there**",
      from: "telegram:42",
      to: "telegram:42",
    });
    await account.api.waitUntil(() => account.api.confirmedOffset() === updateId + 1, "confirmed offset");
    const file: unknown = JSON.parse(await readFile(join(account.stateDir, "telegram", "update-offset-default.json"), "utf8"));
    expect(file).toEqual({ version: 2, lastUpdateId: updateId, botId: "123456" });
  });

  it("reads groups, topics, mentions, replies and commands", async () => {
    await using account = await startTestAccount({
      config: { groups: { "*": { systemPrompt: "Be kind.", topics: { "7": { systemPrompt: "Topic.", skills: ["weather"] } } } } },
      commands: [{ name: "status", description: "Show status" }],
    });
    const { api } = account;
    const forum = api.group(-100200, "Forum", { is_forum: true });
    const group = api.group(-100300, "Team");
    api.text("@test_bot hi", { chat: forum, threadId: 7 });
    api.text("no topic", { chat: forum });
    api.text("to @other", { chat: group, extra: { reply_to_message: { message_id: 5, date: 1, chat: { id: -100300 }, from: { id: 123456, is_bot: true, first_name: "test_bot" }, text: "earlier" } } });
    api.text("/status@test_bot now", { chat: group });
    const first = await account.receivedCount();
    await account.receivedCount(4);
    expect(first).toMatchObject({ chat: { id: "-100200", type: "group", title: "Forum", threadId: "7", isForum: true }, from: "telegram:group:-100200:topic:7", to: "telegram:-100200", mentions: { bot: true, anyone: true, implicit: false }, groupSystemPrompt: "Be kind.\n\nTopic.", skillFilter: ["weather"] });
    expect(account.received[1]).toMatchObject({ chat: { threadId: "1" }, mentions: { bot: false, anyone: false } });
    expect(account.received[2]).toMatchObject({ mentions: { bot: false, anyone: true, implicit: true }, reply: { id: "5", body: "earlier", sender: "test_bot" } });
    expect(account.received[3]).toMatchObject({ text: "/status now", commandSource: "native", mentions: { bot: true } });
    expect(account.received[2]?.chat.threadId).toBeUndefined();
  });

  it("reads media, stickers, places, contacts and polls", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    api.photo({ bytes, caption: "look" });
    api.voice({ bytes });
    api.document({ bytes, name: "a.pdf", mimeType: "application/pdf" });
    api.message({ sticker: { file_id: "s1", file_unique_id: "u", emoji: "😀", set_name: "Cats", type: "regular", width: 1, height: 1, is_animated: false, is_video: false } });
    api.message({ sticker: { file_id: "s2", file_unique_id: "u", emoji: "😀", type: "regular", width: 1, height: 1, is_animated: true, is_video: false } });
    api.message({ location: { latitude: 52.5, longitude: 13.4, horizontal_accuracy: 12 } });
    api.message({ venue: { location: { latitude: 52.5, longitude: 13.4 }, title: "Café", address: "Street 1" }, location: { latitude: 52.5, longitude: 13.4 } });
    api.message({ contact: { phone_number: "+49123", first_name: "Bob" } });
    api.message({ poll: { id: "1", question: "Tea?", options: [{ text: "yes" }, { text: "no" }] } });
    api.message({ text: "see docs", entities: [{ type: "text_link", offset: 4, length: 4, url: "https://ex.com" }] });
    await account.receivedCount(10);
    expect(account.received.map((m) => [m.text, m.media?.[0]?.kind])).toEqual([
      ["look", "image"],
      ["", "voice"],
      ["", "document"],
      ['[Sticker 😀 from "Cats"]', "sticker"],
      ["[Sticker 😀]", undefined],
      ["📍 52.500000, 13.400000 ±12m", undefined],
      ["📍 Café — Street 1 (52.500000, 13.400000)", undefined],
      ["[Contact: Bob +49123]", undefined],
      ["[Poll: Tea? — yes / no]", undefined],
      ["see [docs](https://ex.com)", undefined],
    ]);
    expect(account.received[5]?.location).toMatchObject({ lat: 52.5, lon: 13.4, accuracyM: 12, isLive: false });
  });

  it("joins an album into one message and a long pasted text into one", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    api.album([{ bytes }, { bytes, caption: "three of them" }, { bytes }]);
    api.text("after");
    await account.receivedCount(2);
    expect(account.received[0]).toMatchObject({ text: "three of them", mergedMessageIds: ["2", "3"] });
    expect(account.received[0]?.media).toHaveLength(3);
    expect(account.received[1]?.text).toBe("after");
    api.text("a".repeat(4096));
    api.text("b".repeat(4096));
    api.text("tail");
    const long = await account.receivedCount(3);
    expect(long.text).toBe(`${"a".repeat(4096)}${"b".repeat(4096)}tail`);
    await api.waitUntil(() => api.pendingUpdates() === 0, "confirmed updates");
  });

  it("takes several messages that are forwarded at once as one", async () => {
    await using account = await startTestAccount();
    await account.api.waitForCall("getUpdates");
    const forwarded = { forward_origin: { type: "hidden_user", date: 10, sender_user_name: "Carol" } };
    account.api.text("first", { extra: forwarded });
    account.api.text("second", { extra: forwarded });
    account.api.text("my own words");
    await account.receivedCount(2);
    expect(account.received.map((m) => [m.text, m.forward?.from, m.mergedMessageIds])).toEqual([["first\nsecond", "Carol", ["2"]], ["my own words", undefined, undefined]]);
  });

  it("tells of forwards and quotes", async () => {
    await using account = await startTestAccount();
    account.api.text("news", { extra: { forward_origin: { type: "channel", date: 10, chat: { id: -1, type: "channel", title: "News" }, message_id: 1, author_signature: "Ed" } } });
    account.api.text("why?", { extra: { reply_to_message: { message_id: 3, date: 1, chat: { id: 42 }, from: { id: 42, first_name: "Alice" }, text: "long story" }, quote: { text: "story", position: 5 } } });
    await account.receivedCount(2);
    expect(account.received[0]?.forward).toMatchObject({ from: "News (Ed)", type: "channel", title: "News", signature: "Ed", dateMs: 10_000 });
    expect(account.received[1]?.reply).toEqual({ id: "3", body: "story", sender: "Alice", isQuote: true });
  });

  it("turns a button press into a message and acknowledges it, but not a stranger's", async () => {
    await using account = await startTestAccount({ receive: (m) => (m.sender.id === "42" ? { kind: "accepted", id: "1" } : { kind: "dropped", reason: "dm-not-allowed" }) });
    account.api.callback("/think low", { messageId: 9, id: "stranger", from: { id: 66 } });
    account.api.callback("mdl_sel_openai/gpt", { messageId: 9, id: "cb1" });
    const message = await account.receivedCount();
    expect(message).toMatchObject({ messageId: "cb1", text: "/model openai/gpt", mentions: { bot: true }, commandSource: "native", noDebounce: true });
    await account.api.waitForCall("answerCallbackQuery");
    expect(account.api.callsOf("answerCallbackQuery").map((call) => call.params.callback_query_id)).toEqual(["cb1"]);
  });

  it("reports reactions to its own messages and edits as events", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    api.text("hi");
    await account.receivedCount();
    const { ids } = await account.send({ text: "answer" });
    api.reaction("🔥", { messageId: 1 });
    api.reaction("👍", { messageId: Number(ids[0]) });
    api.edit("hi, corrected", { messageId: 1 });
    await api.waitUntil(() => account.events.length === 2, "two events");
    expect(account.events.map((event) => [event.actorId, event.text])).toEqual([
      ["42", `Telegram reaction added: 👍 by Alice on msg ${ids[0]}`],
      ["42", "Telegram message edited by Alice on msg 1: hi, corrected"],
    ]);
  });

  it("takes channel posts only of listed channels, and follows a group that moves", async () => {
    await using account = await startTestAccount({ config: { groups: { "-100500": {}, "-77": { requireMention: false } } } });
    const { api } = account;
    api.text("ignored", { chat: api.channel(-100600, "Other") });
    api.text("post", { chat: api.channel(-100500, "Listed") });
    api.message({ migrate_to_chat_id: -10077 }, { chat: api.group(-77, "Old") });
    const post = await account.receivedCount();
    expect(post).toMatchObject({ text: "post", chat: { id: "-100500", type: "group" }, sender: { id: "-100500", name: "Listed" } });
    await api.waitUntil(() => account.patches.length === 1, "config patch");
    expect(account.patches).toEqual([{ channels: { telegram: { groups: { "-77": null, "-10077": { requireMention: false } } } } }]);
    const rules = account.plugin.security?.resolveAccess(account.plugin.config.resolveAccount(account.cfg, "default"), account.cfg, { id: "-10077", type: "group" });
    expect(rules).toMatchObject({ groupListed: true, requireMention: false });
  });
});

describe("polling", () => {
  it("does not confirm what the core cannot take, and delivers it once it can", async () => {
    let ready = false;
    await using account = await startTestAccount({ receive: () => (ready ? { kind: "accepted", id: "1" } : { kind: "unavailable", reason: "disk full" }) });
    const { updateId } = account.api.text("important");
    await account.api.waitUntil(() => account.api.callsOf("getUpdates").length > 3, "repeated polls");
    expect(account.api.confirmedOffset()).toBeLessThanOrEqual(updateId);
    expect(account.status).toMatchObject({ connected: false });
    ready = true;
    expect((await account.receivedCount()).text).toBe("important");
    await account.api.waitUntil(() => account.api.pendingUpdates() === 0, "confirmation");
    expect(account.received).toHaveLength(1);
  });

  it("starts at the stored offset, so that a restart neither loses nor repeats", async () => {
    await using api = await startFakeTelegram();
    const first = await startTestAccount({ api });
    const { updateId } = api.text("one");
    await first.receivedCount();
    await api.waitUntil(() => api.confirmedOffset() === updateId + 1, "offset");
    await first.stop();
    api.text("two, while away");
    const polls = api.callsOf("getUpdates").length;
    await using second = await startTestAccount({ api, stateDir: first.stateDir });
    expect((await second.receivedCount()).text).toBe("two, while away");
    expect(api.callsOf("getUpdates")[polls]?.params.offset).toBe(updateId + 1);
  });

  it.each([
    ["a server error", { status: 502, body: "<html>bad gateway</html>" }],
    ["a conflict with another poller", { status: 409, body: { ok: false, error_code: 409, description: "Conflict: terminated by other getUpdates request" } }],
    ["a flood wait", { status: 429, body: { ok: false, error_code: 429, description: "Too Many Requests", parameters: { retry_after: 0.05 } } }],
    ["a cut connection", { status: 0, drop: true }],
  ])("goes on after %s", async (_name, failure) => {
    await using account = await startTestAccount();
    await account.api.waitForCall("getUpdates");
    account.api.failNext("getUpdates", 2, failure);
    account.api.dropSockets();
    account.api.text("still there?");
    expect((await account.receivedCount()).text).toBe("still there?");
    await account.api.waitUntil(() => account.status.connected === true, "connected");
    expect(account.status.lastError).toBeNull();
  });

  it("comes back soon after the network was gone", async () => {
    await using account = await startTestAccount();
    await account.api.waitForCall("getUpdates");
    await account.api.goOffline();
    await account.api.waitUntil(() => account.status.connected === false, "disconnected");
    expect(account.status.lastError).toContain("not reachable");
    await account.api.goOnline();
    account.api.text("back");
    expect((await account.receivedCount()).text).toBe("back");
  });

  it("gives a silently dead poll up and goes on over a new socket", async () => {
    await using account = await startTestAccount({ plugin: { timings: { pollSeconds: 30, abortMs: 150, recoverAbortMs: 50 } } });
    await account.api.waitForCall("getUpdates");
    account.api.stall();
    await account.api.waitUntil(() => account.status.connected === false, "noticed");
    account.api.unstall();
    account.api.text("after the stall");
    expect((await account.receivedCount()).text).toBe("after the stall");
  });

  it("ends with a clear error for a wrong token, and never shows the token", async () => {
    await using api = await startFakeTelegram();
    await using account = await startTestAccount({ api, config: { botToken: "999999:wrong-token-wrong-token-wrong-token" } });
    const error = await account.ended;
    expect(error).toBeInstanceOf(ChannelError);
    expect(error).toMatchObject({ code: "auth", message: "Telegram refused the bot token" });
    expect(JSON.stringify(error)).not.toContain("wrong-token");
  });

  it("skips an update that makes no sense", async () => {
    await using account = await startTestAccount();
    account.api.inject("message", { message_id: 1 });
    account.api.text("fine");
    expect((await account.receivedCount()).text).toBe("fine");
  });

  it("publishes at most 100 valid commands", async () => {
    const commands = [...Array.from({ length: 110 }, (_, i) => ({ name: `cmd${i}`, description: "d" })), { name: "Bad Name", description: "x" }];
    await using account = await startTestAccount({ commands, config: { customCommands: [{ command: "/My-Own", description: "mine" }] } });
    const call = await account.api.waitForCall("setMyCommands");
    expect(call.params.commands).toHaveLength(100);
    await account.api.waitForCall("getUpdates");
    const order = account.api.calls.map((c) => c.method);
    expect(order.slice(0, 4)).toEqual(["getMe", "deleteWebhook", "deleteMyCommands", "setMyCommands"]);
  });

  it("stops at once, in the middle of a poll", async () => {
    await using account = await startTestAccount({ plugin: { timings: { pollSeconds: 30 } } });
    await account.api.waitForCall("getUpdates");
    expect(await account.stop()).toBeUndefined();
    expect(account.status.connected).toBe(false);
  });
});

describe("webhook mode", () => {
  const webhook = { webhookSecret: "s3cret-s3cret", webhookPort: 0, webhookPath: "/hook" };

  it("takes updates with the right secret only", async () => {
    await using api = await startFakeTelegram();
    // The address is known only once the server listens: Telegram's side is corrected below.
    await using account = await startTestAccount({ api, config: { ...webhook, webhookUrl: "http://127.0.0.1:1/hook" } });
    const port = await api.waitUntil(() => typeof account.status.port === "number" && account.status.port, "port");
    const url = `http://127.0.0.1:${port}/hook`;
    api.bot.webhook = { url, secret: webhook.webhookSecret };
    expect(api.callsOf("setWebhook")[0]?.params).toMatchObject({ secret_token: webhook.webhookSecret });
    api.text("by webhook");
    api.album([{ bytes }, { bytes }]);
    await account.receivedCount(2);
    expect(account.received.map((m) => [m.text, m.media?.length])).toEqual([["by webhook", undefined], ["", 2]]);

    const post = async (path: string, headers: Record<string, string>, body: string, method = "POST"): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...(method === "POST" ? { body } : {}) })).status;
    const right = { "x-telegram-bot-api-secret-token": webhook.webhookSecret };
    expect(await post("/hook", {}, "{}")).toBe(401);
    expect(await post("/hook", { "x-telegram-bot-api-secret-token": "s3cret" }, "{}")).toBe(401);
    expect(await post("/other", right, "{}")).toBe(404);
    expect(await post("/hook", right, "{}", "GET")).toBe(404);
    expect(await post("/hook", right, "not json")).toBe(400);
    expect(await post("/hook", right, JSON.stringify("x".repeat(1024 * 1024)))).toBe(413);
    expect(await post("/healthz", {}, "", "GET")).toBe(200);
    await account.stop();
    expect(api.callsOf("deleteWebhook").at(-1)?.params).toMatchObject({ drop_pending_updates: false });
  });

  it("answers 503 while the core cannot take a message", async () => {
    let ready = false;
    await using api = await startFakeTelegram();
    await using account = await startTestAccount({ api, config: { ...webhook, webhookUrl: "http://127.0.0.1:1/hook" }, receive: () => (ready ? { kind: "accepted", id: "1" } : { kind: "unavailable", reason: "draining" }) });
    const port = await api.waitUntil(() => typeof account.status.port === "number" && account.status.port, "port");
    api.bot.webhook = { url: `http://127.0.0.1:${port}/hook`, secret: webhook.webhookSecret };
    const body = JSON.stringify({ update_id: 5, message: { message_id: 3, date: 1, chat: { id: 42, type: "private", first_name: "A" }, from: { id: 42, is_bot: false, first_name: "A" }, text: "x" } });
    const send = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", headers: { "x-telegram-bot-api-secret-token": webhook.webhookSecret }, body })).status;
    expect(await send()).toBe(503);
    ready = true;
    expect(await send()).toBe(200);
    expect(account.received).toHaveLength(1);
  });

  it("refuses to start without a secret", async () => {
    await using account = await startTestAccount({ start: false, config: { webhookUrl: "https://ex.com/hook" } });
    const resolved = account.plugin.config.resolveAccount(account.cfg, "default");
    expect(account.plugin.config.unconfiguredReason(resolved, account.cfg)).toContain("webhookSecret");
  });
});
