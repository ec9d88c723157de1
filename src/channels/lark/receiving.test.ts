import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/feishu-api/account.ts";
import { ALICE, APP, APP2, BOB, botOpenId, GROUP, startFakeFeishu } from "../../../test/support/feishu-api/index.ts";
import { encodeFrame } from "./frames.ts";

const GROUPS = { groupPolicy: "open" };

describe("messages from Feishu", () => {
  it("are handed over with the sender's name and then acknowledged", async () => {
    await using account = await startTestAccount();
    const { messageId, ackId } = account.api.injectDirect("  hello\n  **there** ");
    expect(await account.receivedCount()).toMatchObject({
      channel: "feishu", accountId: "default", messageId, chat: { id: ALICE, type: "direct" }, sender: { id: ALICE, name: "Alice" }, text: "hello\n  **there**", from: `feishu:${ALICE}`, to: `user:${ALICE}`,
      replyContext: { data: { messageId, inThread: false, mention: [] } },
    });
    expect(await account.api.acked(ackId)).toMatchObject({ code: 200 });
    expect(account.status).toMatchObject({ connected: true, mode: "websocket", lastError: null, bot: { openId: botOpenId(APP), name: "Claw" } });
  });

  it("of groups tell who was named: the bot's own mention goes, others stay as names and are named in the answer", async () => {
    await using account = await startTestAccount({ config: { ...GROUPS, groups: { [GROUP]: { systemPrompt: "Be brief.", skills: ["feishu-doc"] } } } });
    const { api } = account;
    api.injectGroup("and @_user_2 too, @_all", { extra: { mentions: [api.mentionOf(botOpenId(APP), "Claw"), api.mentionOf(BOB, "Bob", 2)] } });
    api.injectGroup("no mention", { mention: false });
    await account.receivedCount(2);
    expect(account.received[0]).toMatchObject({
      chat: { id: GROUP, type: "group", title: "Team" }, text: "and @Bob too, @all", to: `chat:${GROUP}`, from: `feishu:${ALICE}`, mentions: { bot: true, anyone: true, implicit: false },
      groupSystemPrompt: "Be brief.", skillFilter: ["feishu-doc"], replyContext: { data: { mention: [{ openId: BOB, name: "Bob" }] } },
    });
    expect(account.received[1]).toMatchObject({ mentions: { bot: false, anyone: false }, replyContext: { data: { mention: [] } } });
  });

  it("of every kind are read", async () => {
    await using account = await startTestAccount();
    const send = (type: string, content: object | string): string => account.api.injectDirect("", { type, content }).messageId;
    const ids = [
      send("post", { title: "News", content: [[{ tag: "text", text: "see " }, { tag: "a", text: "this", href: "https://ex.com" }, { tag: "at", user_id: BOB, user_name: "Bob" }], [{ tag: "img", image_key: "img_1" }], [{ tag: "code_block", language: "JS", text: "x()" }]] }),
      send("post", { zh_cn: { title: "", content: [] } }),
      send("image", { image_key: "img_2" }),
      send("file", { file_key: "file_1", file_name: "报告.pdf" }),
      send("audio", { file_key: "file_2", duration: 1000 }),
      send("media", { file_key: "file_3", image_key: "img_3" }),
      send("sticker", { file_key: "file_4" }),
      send("share_chat", { chat_id: "oc_other" }),
      send("share_user", { user_id: "ou_carol" }),
      send("location", { name: "Office", latitude: "31.2", longitude: "121.5" }),
      send("interactive", { header: { title: { tag: "plain_text", content: "Alarm" } }, elements: [[{ tag: "text", text: "disk full" }]] }),
      send("hologram", "not json"),
      send("image", { image_key: "../../secret" }),
    ];
    await account.receivedCount(ids.length);
    expect(account.received.map((m) => [m.text, m.media?.[0]?.kind, m.media?.[0]?.ref])).toEqual([
      ["News\n\nsee [this](https://ex.com)@Bob\n\n\n```js\nx()\n```", "image", `${ids[0]}|image|img_1`], ["[Rich text message]", undefined, undefined], ["", "image", `${ids[2]}|image|img_2`], ["", "document", `${ids[3]}|file|file_1`], ["", "voice", `${ids[4]}|file|file_2`],
      ["", "video", `${ids[5]}|file|file_3`], ["<media:sticker>", undefined, undefined], ["[Shared group: oc_other]", undefined, undefined], ["[Shared contact: ou_carol]", undefined, undefined],
      ["📍 Office (31.200000, 121.500000)", undefined, undefined], ["Alarm\ndisk full", undefined, undefined], ["[hologram]", undefined, undefined], ["[image]", undefined, undefined],
    ]);
    expect(account.received[3]?.media?.[0]?.fileName).toBe("报告.pdf");
    expect(account.received[9]?.location).toMatchObject({ lat: 31.2, lon: 121.5, name: "Office" });
  });

  it("bring what they quote; a reply to the bot counts as a mention; forwarded ones are spelled out", async () => {
    await using account = await startTestAccount({ config: GROUPS });
    const { api } = account;
    const { messageId: picture } = api.injectDirect("", { type: "image", content: { image_key: "img_q" }, openId: BOB });
    await account.receivedCount(1);
    api.injectDirect("what is this?", { extra: { parent_id: picture, root_id: picture } });
    await account.send({ to: `chat:${GROUP}`, text: "I am the bot" });
    const own = api.sent()[0]?.id ?? "";
    api.injectGroup("go on", { mention: false, extra: { parent_id: own, root_id: own } });
    const forward = api.injectDirect("", { type: "merge_forward", content: "Merged and Forwarded Message", messageId: "om_fwd" });
    api.platform.messages.set("om_in1", { id: "om_in1", chatId: "oc_x", type: "text", content: JSON.stringify({ text: "first" }), sender: { id: BOB, sender_type: "user" }, upperId: "om_fwd" });
    api.injectAgain({ ...forward.event, event: { ...(forward.event["event"] as object), message: { ...(forward.event["event"] as { message: object }).message, message_id: "om_fwd2" } } });
    await account.receivedCount(4);
    expect(account.received[1]).toMatchObject({ reply: { id: picture, body: "<media:image>", sender: "Bob", isQuote: true }, media: [{ kind: "image", ref: `${picture}|image|img_q` }] });
    expect(account.received[2]).toMatchObject({ mentions: { bot: false, implicit: true }, reply: { id: own, body: expect.stringContaining("I am the bot") as string, sender: "you" } });
    expect(account.received[3]?.text).toBe("[Merged and forwarded messages]\nBob: first");
  });

  it("of topics have a session of their own when that is on", async () => {
    await using account = await startTestAccount({ config: { ...GROUPS, topicSessionMode: "enabled", groups: { oc_plain: { topicSessionMode: "disabled" } } } });
    account.api.platform.chats.set("oc_plain", { name: "Plain", mode: "group" });
    account.api.injectGroup("new topic", { messageId: "om_root", extra: { thread_id: "omt_1" } });
    account.api.injectGroup("in the topic", { extra: { thread_id: "omt_1", root_id: "om_root" } });
    account.api.injectGroup("elsewhere", { chatId: "oc_plain", extra: { root_id: "om_root" } });
    await account.receivedCount(3);
    expect(account.received.map((m) => [m.chat.threadId, m.chat.isForum])).toEqual([["om_root", true], ["om_root", true], [undefined, undefined]]);
    expect(account.received[0]?.replyContext?.data).toMatchObject({ inThread: true });
  });

  it("are acknowledged again when they come twice, and not at all while the core cannot take them; parts of an event are put together", async () => {
    let isFull = true;
    await using account = await startTestAccount({ receive: (m) => (m.text === "later" && isFull ? { kind: "unavailable", reason: "disk full" } : { kind: "accepted", id: "1" }) });
    const { api } = account;
    const first = api.injectDirect("once");
    const again = api.injectAgain(first.event);
    expect([(await api.acked(first.ackId)).code, (await api.acked(again)).code]).toEqual([200, 200]);
    const refused = api.injectDirect("later");
    await api.acked(api.injectDirect("in parts ✂️", { parts: 3 }).ackId);
    expect(api.acks.some((ack) => ack.id === refused.ackId)).toBe(false);
    isFull = false;
    await api.acked(api.injectAgain(refused.event));
    expect(account.received.map((m) => m.text)).toEqual(["once", "in parts ✂️", "later"]);
  });

  it("that cannot be read are refused; those of bots and unknown events are passed over", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const broken = api.sendEvent("{nothing");
    const unknown = api.injectEvent("approval.instance", {});
    const bot = api.injectDirect("beep", { sender: { sender_type: "app" } });
    const read = api.injectEvent("im.message.message_read_v1", {});
    expect(await Promise.all([broken, unknown, bot.ackId, read].map(async (id) => (await api.acked(id)).code))).toEqual([500, 200, 200, 200]);
    expect(account.received).toHaveLength(0);
  });

  it("with odd frames and words beside them are not lost", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const frame = (payload: string, headers: readonly (readonly [string, string])[] = []): Buffer => Buffer.from(encodeFrame({ seqId: 0n, logId: 0n, service: 1, method: 1, headers, payload: Buffer.from(payload) }));
    for (const bytes of ["", "hello", Buffer.from([0xff, 0xff, 0xff]), Buffer.alloc(70_000, 0x80), frame(""), frame("null"), frame("[]"), frame('{"header":null}'), frame("{}", [["sum", "2"], ["seq", "-1"]]), frame("{}", [["sum", "NaN"]]), frame('{"header":{"event_type":"im.message.receive_v1"},"event":null}')]) api.sendRaw(bytes);
    const odd = { create_time: null, root_id: 5, parent_id: null, mentions: [null, { key: 7 }, { key: "@_user_9", id: null, name: null }] };
    api.injectDirect("odd", { extra: odd, sender: { sender_type: null, sender_id: { open_id: ALICE, union_id: null, user_id: 8 } } });
    api.injectDirect("none", { extra: { content: null, message_type: "hologram", mentions: "x" } });
    await account.receivedCount(2);
    expect(account.received.map(({ text, sender }) => [text, sender.id])).toEqual([["odd", ALICE], ["[hologram]", ALICE]]);
    expect(api.connections()).toBe(1);
  });

  it("of strangers cause no question to the platform; the names of those who are heard are asked once", async () => {
    await using account = await startTestAccount({ config: { dmPolicy: "allowlist", allowFrom: [ALICE] } });
    account.api.injectDirect("hi", { openId: BOB });
    account.api.injectDirect("one");
    account.api.injectDirect("two");
    await account.receivedCount(3);
    expect(account.api.calls("contact/v3").map((call) => call.path.split("/").at(-1))).toEqual([ALICE]);
  });

  it("from people in the allow list by another of their ids are known", async () => {
    await using account = await startTestAccount({ config: { dmPolicy: "allowlist", allowFrom: ["on_alice", "feishu:uidbob"] } });
    account.api.injectDirect("hi");
    account.api.injectDirect("hi", { openId: BOB });
    await account.receivedCount(2);
    const rules = account.plugin.security?.resolveAccess(account.plugin.config.resolveAccount(account.cfg, "default"), account.cfg, { id: ALICE, type: "direct" });
    expect(rules?.allowFrom).toEqual([ALICE, BOB]);
  });
});

describe("other events", () => {
  it("are reactions to the bot's messages, joining a group, buttons and menus", async () => {
    await using account = await startTestAccount({ config: { ...GROUPS, reactionNotifications: "own" } });
    const { api } = account;
    await account.send({ to: `chat:${GROUP}`, text: "mine" });
    const own = api.sent()[0]?.id ?? "";
    const other = api.injectDirect("not the bot's").messageId;
    const reaction = (messageId: string, operator = "user"): string => api.injectEvent("im.message.reaction.created_v1", { message_id: messageId, operator_type: operator, user_id: { open_id: ALICE }, reaction_type: { emoji_type: "THUMBSUP" } });
    reaction(own);
    reaction(other);
    reaction(own, "app");
    api.injectEvent("im.chat.member.bot.added_v1", { chat_id: GROUP, name: "Team", operator_id: { open_id: ALICE } });
    api.injectEvent("card.action.trigger", { operator: { open_id: ALICE }, action: { tag: "button", value: { callback: "/status" } }, context: { open_message_id: own, open_chat_id: GROUP } });
    await api.acked(api.injectEvent("application.bot.menu_v6", { event_key: "/help", operator: { operator_id: { open_id: ALICE } } }));
    expect(account.events.map((event) => [event.text, event.chat.id, event.actorId])).toEqual([[`Feishu reaction added: 👍 by Alice on msg ${own}`, GROUP, ALICE], ["Feishu: the bot was added to the group Team", GROUP, ALICE]]);
    expect(account.received.slice(1)).toMatchObject([{ text: "/status", chat: { id: GROUP, type: "group" }, mentions: { bot: true } }, { text: "/help", chat: { id: ALICE, type: "direct" } }]);
  });

  it("make an agent of their own for people who write directly, once, with main kept as the default", async () => {
    await using account = await startTestAccount({ config: { dynamicAgentCreation: { enabled: true, maxAgents: 1 } } });
    await account.api.acked(account.api.injectDirect("hi").ackId);
    await account.api.acked(account.api.injectDirect("again").ackId);
    await account.api.acked(account.api.injectDirect("too many", { openId: BOB }).ackId);
    expect(account.patches).toEqual([{
      agents: { list: [{ id: "main", default: true }, { id: "feishu-ou_alice", workspace: join(account.stateDir, "workspace-feishu-ou_alice"), agentDir: join(account.stateDir, "agents/feishu-ou_alice/agent") }] },
      bindings: [{ agentId: "feishu-ou_alice", match: { channel: "feishu", accountId: "default", peer: { kind: "direct", id: ALICE } } }],
    }]);
    expect(account.received).toHaveLength(3);
  });
});

describe("the connection", () => {
  it("is opened anew after a drop and when nothing answers its pings", async () => {
    await using api = await startFakeFeishu();
    await using account = await startTestAccount({ api, plugin: { timings: { backoff: { initialMs: 2, maxMs: 5, factor: 2, jitter: 0 }, pingMs: 20, pongMs: 30 } } });
    await api.waitUntil(() => api.pings() > 0, "first ping");
    api.dropSockets();
    await api.connected(2);
    api.mute(true);
    await api.connected(3);
    api.mute(false);
    await api.waitUntil(() => api.open() === 1 && api.connections() >= 3, "one open connection");
    await api.acked(api.injectDirect("still here").ackId);
    expect(account.received.map((m) => m.text)).toEqual(["still here"]);
  });

  it("survives 5xx, 429 and a busy platform; wrong credentials end it with words that hold no secret", async () => {
    await using api = await startFakeFeishu();
    api.failNext(1, { path: "bot/v3/info", status: 503 });
    api.failNext(1, { path: "bot/v3/info", status: 429, body: { code: 99991400, msg: "request trigger frequency limit" }, headers: { "x-ogw-ratelimit-reset": "0" } });
    api.failNext(1, { path: "ws/endpoint", status: 200, body: { code: 1000040350, msg: "too many connections" } });
    await using account = await startTestAccount({ api });
    await api.waitUntil(() => account.status.connected, "connected status");
    await using wrong = await startTestAccount({ api, awaitConnection: false, config: { appSecret: "nope-nope" } });
    expect(await wrong.ended).toMatchObject({ code: "auth", message: expect.stringContaining("app secret invalid") as string });
    expect(String(((await wrong.ended) as Error).message)).not.toContain("nope-nope");
  });

  it("ends with the account, after what is being taken over", async () => {
    let go: (() => void) | undefined;
    await using account = await startTestAccount({ receive: () => new Promise((resolve) => (go = () => resolve({ kind: "accepted", id: "1" }))) });
    const { ackId } = account.api.injectDirect("slow");
    await account.api.waitUntil(() => go, "message at the core");
    const stopped = account.stop();
    go?.();
    expect(await stopped).toBeUndefined();
    await account.api.waitUntil(() => account.api.open() === 0, "closed socket");
    expect(account.api.acks.map((ack) => ack.id)).toEqual([ackId]);
    expect(account.status.connected).toBe(false);
  });

  it("of two accounts are two, each with its own messages; a send that names no account finds the one there is", async () => {
    await using api = await startFakeFeishu();
    const accounts = { work: { appId: APP2, appSecret: "secret2" } };
    await using first = await startTestAccount({ api, config: { accounts } });
    await using second = await startTestAccount({ api, accountId: "work", config: { accounts } });
    await api.connected(2);
    api.injectDirect("to one");
    api.injectDirect("to two", { appId: APP2 });
    await first.receivedCount();
    await second.receivedCount();
    expect([first.received.map((m) => m.text), second.received.map((m) => m.text)]).toEqual([["to one"], ["to two"]]);
    expect(first.plugin.config.listAccountIds(first.cfg)).toEqual(["default", "work"]);
    const only = { channels: { feishu: { accounts } } };
    expect(first.plugin.config.listAccountIds(only)).toEqual(["work"]);
    expect(first.plugin.config.resolveAccount(only, "default")).toMatchObject({ accountId: "work", appId: APP2 });
  });
});

describe("files that people send", () => {
  let dir = "";
  beforeAll(async () => void (dir = await mkdtemp(join(tmpdir(), "feishu-in-"))));
  afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

  it("are fetched, also after the token expired and through 5xx; refused when too large; never by a path of their own", async () => {
    await using account = await startTestAccount({ start: false });
    const { api } = account;
    api.resource("om_1", "img_1", Buffer.from("picture"), "image/png");
    const download = (ref: string, maxBytes = 1000, fileName?: string) => account.plugin.gateway?.downloadMedia?.(account.cfg, "default", { kind: "image", ref, fileName }, { dir, maxBytes, signal: new AbortController().signal });
    await download("om_1|image|img_1");
    api.expireTokens();
    api.failNext(1, { path: "/resources/", status: 502 });
    const file = await download("om_1|image|img_1", 1000, "../../a b.png");
    expect(file).toMatchObject({ mimeType: "image/png", sizeBytes: 7, path: expect.stringMatching(/\/a_b---[\w-]+\.png$/) as string });
    expect(await readFile(file?.path ?? "", "utf8")).toBe("picture");
    api.resource("om_1", "file_1", Buffer.from('{"code":7}'), "application/json");
    expect(await download("om_1|file|file_1", 1000, "data.json")).toMatchObject({ mimeType: "application/json", sizeBytes: 10 });
    await expect(download("om_1|image|img_1", 3)).rejects.toMatchObject({ code: "too-large" });
    await expect(download("om_1|image|gone")).rejects.toMatchObject({ code: "unreachable" });
    await expect(download("om_1|image|../x")).rejects.toMatchObject({ code: "rejected" });
  });
});
