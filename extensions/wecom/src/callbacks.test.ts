import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startChannelHttp } from "../../../test/support/channel-http.ts";
import { startTestAccount, type TestAccountOptions } from "../../../test/support/wecom-api/account.ts";
import { createCallbackSender, KEYS } from "../../../test/support/wecom-api/callback.ts";
import { ALICE, GROUP, startFakeWecom } from "../../../test/support/wecom-api/index.ts";
import { silentLogger } from "openclaw/plugin-sdk";
import { callbackSignature, encryptCallback } from "./callback-crypto.ts";

const APP = { corpId: "corp1", corpSecret: "corpsecret1", agentId: 1000002, ...KEYS };
const BOT_PATH = "/plugins/wecom/bot/default";
const APP_PATH = "/plugins/wecom/agent/default";

/** An account that is called back, the platform that calls, and the gateway's port between them. */
async function world(section: object, options: TestAccountOptions = {}) {
  const stack = new AsyncDisposableStack();
  const server = await startChannelHttp();
  stack.defer(() => server.close());
  const api = stack.use(await startFakeWecom());
  const account = stack.use(await startTestAccount({ api, http: server.http, section: { ...section }, ...options }));
  return { api, account, server, bot: createCallbackSender(server.url), app: createCallbackSender(server.url, { receiveId: "corp1" }), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
type World = Awaited<ReturnType<typeof world>>;

/** The first answer to a message, as the stream that the platform then asks for. */
async function begin({ bot, api }: World, message: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await bot.postJson(BOT_PATH, { ...api.message("hi", {}, { chattype: "single" }), ...message });
  expect(status).toBe(200);
  return (body as { stream: { id: string } }).stream.id;
}

describe("the bot as a callback", () => {
  it("answers in a stream that grows while the platform asks", async () => {
    await using w = await world({ ...KEYS, streamPlaceholderContent: "想一想" });
    const message = w.api.message("hi", {}, { chattype: "single" });
    const first = await w.bot.postJson(BOT_PATH, message);
    expect(first).toMatchObject({ status: 200, body: { msgtype: "stream", stream: { finish: false, content: "想一想" } } });
    expect((await w.bot.postJson(BOT_PATH, message)).body).toEqual(first.body);
    const { to, replyContext } = await w.account.receivedCount();
    const id = (first.body as { stream: { id: string } }).stream.id;
    const stream = w.account.plugin.streaming?.open?.(w.account.cfg, { accountId: "default", to, replyContext });
    stream?.update("half");
    expect((await w.bot.postJson(BOT_PATH, { msgtype: "stream", stream: { id } })).body).toMatchObject({ stream: { finish: false, content: "half" } });
    await stream?.finish("the whole");
    const polled = w.bot.pollStream(BOT_PATH, id);
    expect((await w.account.send({ to, replyContext, kind: "final", text: "the whole" })).outcome?.kind).toBe("sent");
    expect((await polled).contents.at(-1)).toBe("the whole");
    expect(w.account.received).toHaveLength(1);
    expect((await w.bot.postJson(BOT_PATH, { msgtype: "stream", stream: { id: "unknown" } })).body).toMatchObject({ stream: { finish: true, content: "" } });
  });

  it("brings pictures in the stream, the rest of a long answer to the response address, files by the app", async () => {
    await using w = await world({ ...KEYS, agent: APP });
    const id = await begin(w);
    const { to, replyContext } = await w.account.receivedCount();
    const dir = await mkdtemp(join(tmpdir(), "wecom-files-"));
    const fileOf = async (name: string, mimeType: string) => {
      await writeFile(join(dir, name), name);
      return { path: join(dir, name), fileName: name, mimeType };
    };
    const polled = w.bot.pollStream(BOT_PATH, id);
    const { outcome } = await w.account.send({ to, replyContext, kind: "final", text: `${"长".repeat(6000)}\n${"y".repeat(4000)}`, media: [await fileOf("a.png", "image/png"), await fileOf("b.pdf", "application/pdf")] });
    expect(outcome?.kind).toBe("sent");
    expect((await polled).images).toMatchObject([{ msgtype: "image", image: { base64: Buffer.from("a.png").toString("base64"), md5: w.api.md5(Buffer.from("a.png")) } }]);
    expect(w.api.responses.map(({ text }) => text)).toEqual([`${"y".repeat(4000)}\n\n📎 b.pdf：已通过应用私信发送。`]);
    expect(w.api.app.sent).toMatchObject([{ touser: ALICE, msgtype: "file" }]);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  });

  it("that is asked no more answers by the response address once, then by the app, else tells that it cannot", async () => {
    await using w = await world({ ...KEYS, agent: APP });
    await begin(w);
    const { to, replyContext } = await w.account.receivedCount();
    const answer = { to, replyContext, kind: "final" } as const;
    expect((await w.account.send({ ...answer, text: "one" })).outcome?.kind).toBe("sent");
    expect((await w.account.send({ ...answer, text: "two" })).outcome?.kind).toBe("sent");
    expect([w.api.responses.map(({ text }) => text), w.api.app.sent.map(({ text }) => text?.content)]).toEqual([["one"], ["two"]]);
    await using alone = await world({ ...KEYS });
    await begin(alone, { response_url: undefined });
    const other = await alone.account.receivedCount();
    expect((await alone.account.send({ to: other.to, replyContext: other.replyContext, text: "x" })).outcome?.kind).toBe("window-expired");
    expect((await alone.account.send({ to: "user:bob", text: "x" })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("only answers") as string });
  });

  it("tells choices in words where no card can go", async () => {
    await using w = await world({ ...KEYS });
    const id = await begin(w);
    const { to, replyContext } = await w.account.receivedCount();
    const polled = w.bot.pollStream(BOT_PATH, id);
    const card = { card_type: "button_interaction", task_id: "t1", main_title: { title: "Deploy?" }, button_list: [{ text: "Yes", key: "y" }, { text: "No", key: "n" }] };
    expect((await w.account.send({ to, replyContext, kind: "final", text: JSON.stringify({ template_card: card }), buttons: [[{ text: "Yes", callbackData: "/yes" }]] })).outcome?.kind).toBe("sent");
    expect((await polled).contents.at(-1)).toBe("Deploy?\n- Yes\n- No");
  });

  it("takes an event that names no id once, however often the same request comes", async () => {
    await using w = await world({ ...KEYS });
    const encrypt = encryptCallback(JSON.stringify({ msgtype: "event", chattype: "single", from: { userid: ALICE }, event: { eventtype: "template_card_event", template_card_event: { event_key: "ok" } } }), KEYS.encodingAESKey, "");
    const post = (nonce: string): Promise<Response> => {
      const timestamp = String(Math.floor(Date.now() / 1000));
      return fetch(`${w.server.url}${BOT_PATH}?${new URLSearchParams({ timestamp, nonce, msg_signature: callbackSignature(KEYS.token, timestamp, nonce, encrypt) }).toString()}`, { method: "POST", body: JSON.stringify({ encrypt }) });
    };
    const frozen = post("n1");
    const again = await frozen.then((answer) => fetch(answer.url, { method: "POST", body: JSON.stringify({ encrypt }) }));
    expect(again.status).toBe(200);
    await post("n2");
    expect(w.account.received).toHaveLength(2);
  });

  it("greets, takes choices on cards, queues, and ends the stream of a message that nobody answers", async () => {
    await using w = await world({ ...KEYS, welcomeText: "你好" }, { receive: (message) => (message.chat.type === "group" ? { kind: "dropped", reason: "group-not-listed" } : { kind: "accepted", id: "1" }) });
    const event = (eventtype: string, more: object = {}): object => ({ msgid: `e${eventtype}`, msgtype: "event", chattype: "single", from: { userid: ALICE }, event: { eventtype, ...more } });
    expect((await w.bot.postJson(BOT_PATH, event("enter_chat"))).body).toEqual({ msgtype: "text", text: { content: "你好" } });
    expect((await w.bot.postJson(BOT_PATH, event("template_card_event", { template_card_event: { event_key: "ok" } }))).body).toEqual({});
    expect((await w.account.receivedCount()).text).toBe("[卡片交互] 按钮: ok");
    await begin(w);
    expect((await w.bot.postJson(BOT_PATH, w.api.message("second", {}, { chattype: "single" }))).body).toMatchObject({ stream: { content: "已收到，已排队处理中..." } });
    expect((await w.bot.postJson(BOT_PATH, w.api.message("@Claw hi", {}, { chattype: "group", chatid: GROUP }))).body).toMatchObject({ stream: { finish: true } });
    expect((await w.bot.postJson(BOT_PATH, { msgtype: "text", from: { userid: "sys" }, msgid: "m" })).body).toEqual({});
  });

  it("ends the streams of messages that are answered together with a later one, and leaves the others open", async () => {
    await using w = await world({ ...KEYS });
    const ask = async (text: string): Promise<{ id: string; content: string }> => ((await w.bot.postJson(BOT_PATH, w.api.message(text, {}, { chattype: "single" }))).body as { stream: { id: string; content: string } }).stream;
    const shown = async ({ id }: { id: string }): Promise<unknown> => ((await w.bot.postJson(BOT_PATH, { msgtype: "stream", stream: { id } })).body as { stream: unknown }).stream;
    const answer = async (at: number, text: string) => {
      const { to, replyContext } = await w.account.receivedCount(at);
      return w.account.send({ to, replyContext, kind: "final", text });
    };
    const [first, second, third, command] = [await ask("one"), await ask("two"), await ask("three"), await ask("/status")];
    expect([second.content, third.content]).toEqual(["已收到，已排队处理中...", "已收到，已合并排队处理中..."]);
    // At once, beside the answer that goes on.
    await Promise.all([answer(4, "fine"), w.bot.pollStream(BOT_PATH, command.id)]);
    expect(await shown(second)).toMatchObject({ finish: false });
    await Promise.all([answer(1, "to one"), w.bot.pollStream(BOT_PATH, first.id)]);
    const { to, replyContext } = await w.account.receivedCount(3);
    const stream = w.account.plugin.streaming?.open?.(w.account.cfg, { accountId: "default", to, replyContext });
    expect(await shown(second)).toMatchObject({ finish: true, content: "已和后面的消息合并处理，请看后面的回复。" });
    await stream?.finish("");
    await Promise.all([answer(3, "to two and three"), w.bot.pollStream(BOT_PATH, third.id)]);
    // Without a growing answer as well.
    const [fourth, fifth] = [await ask("four"), await ask("five")];
    const sixth = await ask("six");
    await Promise.all([answer(5, "to four"), w.bot.pollStream(BOT_PATH, fourth.id)]);
    await Promise.all([answer(7, "to five and six"), w.bot.pollStream(BOT_PATH, sixth.id)]);
    expect(await shown(fifth)).toMatchObject({ finish: true, content: "已和后面的消息合并处理，请看后面的回复。" });
  });

  it("goes on after a restart in the streams that the platform still asks for; of the others it knows nothing", async () => {
    await using w = await world({ ...KEYS });
    const [id, other] = [await begin(w), await begin(w)];
    const [{ to, replyContext }, second] = [await w.account.receivedCount(1), await w.account.receivedCount(2)];
    const ref: unknown = structuredClone(w.account.plugin.streaming?.open?.(w.account.cfg, { accountId: "default", to, replyContext })?.ref);
    await w.account.stop();
    await using later = await startTestAccount({ api: w.api, http: w.server.http, section: { ...KEYS } });
    await later.plugin.streaming?.closeOrphan?.(later.cfg, "default", ref);
    await later.plugin.streaming?.closeOrphan?.(later.cfg, "default", { nonsense: true });
    expect((await w.bot.postJson(BOT_PATH, { msgtype: "stream", stream: { id } })).body).toMatchObject({ stream: { finish: false, content: "1" } });
    const [polled, sent] = await Promise.all([w.bot.pollStream(BOT_PATH, id), later.send({ to, replyContext, kind: "final", text: "after all" })]);
    expect([polled.contents.at(-1), sent.outcome?.kind, w.api.responses]).toEqual(["after all", "sent", []]);
    expect((await w.bot.postJson(BOT_PATH, { msgtype: "stream", stream: { id: other } })).body).toMatchObject({ stream: { finish: true, content: "" } });
    expect((await later.send({ to: second.to, replyContext: second.replyContext, kind: "final", text: "apart" })).outcome?.kind).toBe("sent");
    expect(w.api.responses.map(({ text }) => text)).toEqual(["apart"]);
  });

  it("leaves what cannot be written down to be sent again", async () => {
    let isFull = true;
    await using w = await world({ ...KEYS }, { receive: () => (isFull ? { kind: "unavailable", reason: "disk" } : { kind: "accepted", id: "1" }) });
    const message = w.api.message("hi", {}, { chattype: "single" });
    expect((await w.bot.postJson(BOT_PATH, message)).status).toBe(503);
    isFull = false;
    expect((await w.bot.postJson(BOT_PATH, message)).status).toBe(200);
    await w.account.receivedCount();
  });
});

describe("the app as a callback", () => {
  it("takes every kind of message and answers by its interface", async () => {
    await using w = await world({ agent: { ...APP, welcomeText: "欢迎" } });
    const post = (fields: Record<string, string>): Promise<{ status: number; text: string }> => w.app.postXml(APP_PATH, { ToUserName: "corp1", FromUserName: ALICE, CreateTime: "1700000000", AgentID: "1000002", MsgId: `${Math.random()}`, ...fields });
    expect(await post({ MsgType: "text", Content: "hello <b> & more" })).toEqual({ status: 200, text: "success" });
    w.api.app.media.set("voice1", { type: "voice", fileName: "v.amr", bytes: Buffer.from("#!AMR\nx"), mimeType: "audio/amr" });
    await post({ MsgType: "image", PicUrl: "http://p", MediaId: "m1" });
    await post({ MsgType: "voice", MediaId: "voice1", Format: "amr" });
    await post({ MsgType: "voice", MediaId: "voice1", Recognition: "你好" });
    await post({ MsgType: "location", Location_X: "31.2", Location_Y: "121.4", Label: "上海" });
    await post({ MsgType: "link", Title: "T", Description: "D", Url: "https://x" });
    await post({ MsgType: "event", Event: "enter_agent", MsgId: "" });
    await post({ MsgType: "text", Content: "x", FromUserName: "sys" });
    await post({ Content: "of no kind" });
    await post({ MsgType: "video" });
    await w.account.receivedCount(7);
    expect(w.account.received.map((m) => [m.text, m.media?.[0]?.kind])).toEqual([["hello <b> & more", undefined], ["", "image"], ["", "voice"], ["你好", undefined], ["[位置] 上海", undefined], ["[链接] T D https://x", undefined], ["[视频]", undefined]]);
    expect(w.account.received[0]).toMatchObject({ to: `wecom-agent:user:${ALICE}`, chat: { id: ALICE, type: "direct" }, timestampMs: 1_700_000_000_000 });
    expect(w.account.received[4]?.location).toMatchObject({ lat: 31.2, lon: 121.4 });
    const voice = w.account.received[2]?.media?.[0];
    expect(voice && (await w.account.plugin.gateway?.downloadMedia?.(w.account.cfg, "default", voice, { dir: w.account.stateDir, maxBytes: 1000, signal: new AbortController().signal }))).toMatchObject({ mimeType: "audio/amr", fileName: "v.amr" });
    const { to, replyContext } = await w.account.receivedCount();
    await w.account.send({ to, replyContext, text: "answer" });
    await w.api.waitUntil(() => w.api.app.sent.length === 2, "greeting and answer");
    expect(new Set(w.api.app.sent.map(({ text }) => text?.content))).toEqual(new Set(["answer", "欢迎"]));
  });
});

describe("the door of callbacks", () => {
  it("proves itself to the platform, and opens to nobody else", async () => {
    await using w = await world({ ...KEYS, agent: APP });
    for (const path of [BOT_PATH, "/wecom/bot"]) expect(await w.bot.verify(path, "echo-123")).toEqual({ status: 200, text: "echo-123" });
    expect(await w.app.verify(APP_PATH, "echo-456")).toEqual({ status: 200, text: "echo-456" });
    const statusOf = async (path: string, init: RequestInit = {}): Promise<number> => (await fetch(w.server.url + path, init)).status;
    expect(await statusOf(`${BOT_PATH}?msg_signature=x&timestamp=1&nonce=2&echostr=abc`)).toBe(401);
    expect((await w.bot.postJson(BOT_PATH, { a: 1 }, { msg_signature: "0".repeat(40) })).body).toEqual({ error: "wecom_account_not_found" });
    for (const body of ["", "{", "[]", "{}", '{"encrypt":5}', "<xml>", "<xml><A>1</A></xml>", '<!DOCTYPE x><xml><Encrypt>a</Encrypt></xml>']) expect([body, await statusOf(`${BOT_PATH}?msg_signature=x&timestamp=1&nonce=2`, { method: "POST", body })]).toEqual([body, 400]);
    expect(await statusOf(BOT_PATH, { method: "DELETE" })).toBe(405);
    // Recorded days ago and played again, signature and all.
    const [old, encrypt] = ["1700000000", encryptCallback("{}", KEYS.encodingAESKey, "")];
    expect(await statusOf(`${BOT_PATH}?${new URLSearchParams({ timestamp: old, nonce: "n", msg_signature: callbackSignature(KEYS.token, old, "n", encrypt) }).toString()}`, { method: "POST", body: JSON.stringify({ encrypt }) })).toBe(401);
    // Signed by the same token, encrypted for another receiver.
    expect((await createCallbackSender(w.server.url, { receiveId: "other" }).postXml(APP_PATH, { MsgType: "text" })).status).toBe(400);
    expect((await w.bot.postJson(BOT_PATH, { no: "message" })).status).toBe(400);
    expect(w.account.received).toEqual([]);
  });

  it("tells the operator about wrong signatures, once a minute", async () => {
    const warnings: string[] = [];
    await using w = await world({ ...KEYS }, { log: { ...silentLogger, warn: (message) => void warnings.push(message) } });
    for (const signature of ["a", "b"]) expect((await w.bot.postJson(BOT_PATH, { a: 1 }, { msg_signature: signature })).status).toBe(401);
    expect(warnings).toEqual(["callback refused: its signature fits no token, or it is old"]);
  });

  it("tells accounts apart by path; shared paths need the account's name, or a signature that only one has", async () => {
    const section = { accounts: { one: { ...KEYS, token: "t1" }, two: { ...KEYS, token: "t2" } } };
    await using w = await world(section, { accountId: "one" });
    const sender = (token: string) => createCallbackSender(w.server.url, { keys: { ...KEYS, token } });
    expect((await sender("t1").postJson("/plugins/wecom/bot/one", w.api.message("hi", {}, { chattype: "single" }))).status).toBe(200);
    expect((await sender("t2").postJson("/plugins/wecom/bot/one", { a: 1 })).body).toEqual({ error: "wecom_account_not_found" });
    expect((await sender("t1").postJson("/wecom", { a: 1 })).body).toEqual({ error: "wecom_matrix_path_required" });
    await using both = await world({ ...KEYS, agent: { ...APP } });
    expect((await both.bot.postJson("/wecom", { a: 1 })).body).toEqual({ error: "wecom_account_conflict" });
  });
});
