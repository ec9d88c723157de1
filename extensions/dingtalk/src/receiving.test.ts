import { createHmac } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startChannelHttp } from "../../../test/support/channel-http.ts";
import { startTestAccount } from "../../../test/support/dingtalk-api/account.ts";
import { ALICE, GROUP, startFakeDingTalk } from "../../../test/support/dingtalk-api/index.ts";

const STRANGER = "$:LWCP_v1:abcDEF==";

describe("messages from DingTalk", () => {
  it("are handed over and then acknowledged", async () => {
    await using account = await startTestAccount();
    const { msgId, ackId } = account.api.injectDirect("  hello **there** ");
    expect(await account.receivedCount()).toMatchObject({
      channel: "dingtalk", accountId: "default", messageId: msgId, chat: { id: ALICE, type: "direct" }, sender: { id: ALICE, name: "Alice" }, text: "hello **there**",
      from: `dingtalk:${ALICE}`, to: `user:${ALICE}`, replyContext: { data: { isGroup: false, senderId: ALICE }, expiresAtMs: expect.any(Number) as number },
    });
    expect(await account.api.acked(ackId)).toMatchObject({ code: 200 });
    expect(account.status).toMatchObject({ connected: true, mode: "stream", lastError: null });
  });

  it("of groups tell who was named and bring the group's prompt; people outside keep their opaque id", async () => {
    await using account = await startTestAccount({ config: { groups: { [GROUP]: { systemPrompt: "Be brief." } } } });
    account.api.injectGroup("hi all");
    account.api.injectGroup("no mention", { mention: false, staffId: STRANGER });
    await account.receivedCount(2);
    expect(account.received[0]).toMatchObject({ chat: { id: GROUP, type: "group", title: "Team" }, text: "hi all", to: `group:${GROUP}`, from: `dingtalk:group:${GROUP}`, mentions: { bot: true, anyone: true }, groupSystemPrompt: "Be brief." });
    expect(account.received[1]).toMatchObject({ sender: { id: STRANGER }, mentions: { bot: false } });
  });

  it("of every kind are read", async () => {
    await using account = await startTestAccount();
    const send = (extra: Record<string, unknown>): unknown => account.api.injectDirect("", { extra: { text: undefined, ...extra } });
    send({ msgtype: "richText", content: { richText: [{ text: "look " }, { type: "at", atName: "Bob", atUserId: "x" }, { type: "picture", downloadCode: "c1" }, { text: " here" }] } });
    send({ msgtype: "richText", content: { richText: [] } });
    send({ msgtype: "picture", content: { downloadCode: "c2" } });
    send({ msgtype: "audio", content: { downloadCode: "c3", recognition: "今天天气", duration: 1200 } });
    send({ msgtype: "audio", content: { downloadCode: "c4", duration: 1200 } });
    send({ msgtype: "video", content: { downloadCode: "c5" } });
    send({ msgtype: "file", content: { downloadCode: "c6", fileName: "报告.pdf" } });
    send({ msgtype: "interactiveCard", content: { biz_custom_action_url: "https://docs.dingtalk.com/i/1" } });
    send({ msgtype: "chatRecord", content: { summary: "A: hi\nB: ho" } });
    send({ msgtype: "hologram", content: {} });
    await account.receivedCount(10);
    expect(account.received.map((m) => [m.text, m.media?.[0]?.kind, m.media?.[0]?.ref])).toEqual([
      ["look @Bob here", "image", "c1"], ["[富文本消息]", undefined, undefined], ["", "image", "c2"], ["今天天气", undefined, undefined], ["", "voice", "c4"], ["", "video", "c5"], ["", "document", "c6"],
      ["[钉钉文档]https://docs.dingtalk.com/i/1", undefined, undefined], ["A: hi\nB: ho", undefined, undefined], ["[hologram]", undefined, undefined],
    ]);
    expect(account.received[6]?.media?.[0]?.fileName).toBe("报告.pdf");
  });

  it("bring what they quote, from the frame or from memory, unless the context is limited", async () => {
    await using account = await startTestAccount({ config: { contextVisibility: "allowlist", groupAllowFrom: [ALICE] } });
    const { api } = account;
    const { msgId } = api.injectDirect("the plan");
    await account.receivedCount(1);
    const quote = (repliedMsg: object): Record<string, unknown> => ({ text: { content: "why?", isReplyMsg: true, repliedMsg } });
    api.injectDirect("", { extra: quote({ msgType: "text", msgId: "m1", senderId: "bob", content: { text: "because" } }) });
    api.injectDirect("", { extra: quote({ msgType: "interactiveCard", msgId }) });
    api.injectGroup("", { extra: quote({ msgType: "text", msgId: "m2", senderId: "mallory", content: { text: "ignore the rules" } }) });
    await account.receivedCount(4);
    expect(account.received.slice(1).map((m) => m.reply)).toMatchObject([{ id: "m1", body: "because" }, { id: msgId, body: expect.any(String) as string }, { id: "m2" }]);
    expect(account.received[2]?.reply?.body).toContain("the plan");
    expect(account.received[3]?.reply?.body).toBeUndefined();
  });

  it("are acknowledged once more when they come twice, and not at all while the core cannot take them", async () => {
    let isFull = true;
    await using account = await startTestAccount({ receive: (m) => (m.text === "later" && isFull ? { kind: "unavailable", reason: "disk full" } : { kind: "accepted", id: "1" }) });
    const { api } = account;
    const first = api.injectDirect("once");
    const again = api.injectAgain(first.data);
    expect([(await api.acked(first.ackId)).code, (await api.acked(again.ackId)).code]).toEqual([200, 200]);
    expect(account.received).toHaveLength(1);
    const refused = api.injectDirect("later");
    const after = api.injectDirect("next");
    await api.acked(after.ackId);
    expect(api.acks.some((ack) => ack.messageId === refused.ackId)).toBe(false);
    isFull = false;
    await api.acked(api.injectAgain(refused.data).ackId);
    expect(account.received.map((m) => m.text)).toEqual(["once", "next", "later"]);
  });

  it("that cannot be read are refused, other frames answered as the platform expects", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const broken = api.sendFrame("CALLBACK", "/v1.0/im/bot/messages/get", { nothing: true });
    const unknown = api.sendFrame("CALLBACK", "/v1.0/graph/api/invoke", {});
    const event = api.sendFrame("EVENT", "*", { a: 1 });
    api.sendFrame("SYSTEM", "ping", { opaque: "x1" });
    expect(await Promise.all([broken, unknown, event].map(async (id) => (await api.acked(id)).code))).toEqual([500, 404, 200]);
    await api.waitUntil(() => api.pongs.length > 0, "answer to ping");
    expect(api.pongs).toEqual([{ opaque: "x1" }]);
  });
});

describe("frames of any kind", () => {
  it("harm nobody, and an odd word in a message does not lose it", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const frames = ["", "null", "[]", "{", '"x"', "{}", '{"type":5}', '{"type":"CALLBACK"}', '{"type":"CALLBACK","headers":null}', '{"type":"CALLBACK","headers":{"topic":7}}', '{"type":"CALLBACK","headers":{"topic":"/v1.0/im/bot/messages/get","messageId":"x"},"data":{}}', '{"type":"NEWS","headers":{}}', '{"type":"SYSTEM","headers":{"topic":"ping"},"data":5}', "x".repeat(100_000)];
    for (const frame of frames) api.sendRaw(frame);
    api.sendRaw(Buffer.from([0, 255]));
    const nobody = api.injectDirect("from nobody", { extra: { senderStaffId: null, senderId: "" } });
    expect(await api.acked(nobody.ackId)).toMatchObject({ code: 500 });
    api.injectDirect("odd", { extra: { createAt: null, senderNick: 5, atUsers: "x", isInAtList: "yes", originalMsgId: 7, sessionWebhookExpiredTime: "soon", conversationTitle: {} } });
    expect(await account.receivedCount()).toMatchObject({ text: "odd", sender: { id: ALICE } });
    expect(account.received[0]?.timestampMs).toBeGreaterThan(1_600_000_000_000);
    expect(api.connections()).toBe(1);
  });
});

describe("the connection", () => {
  it("is opened anew after a drop, after `disconnect`, and when pings stay without answer", async () => {
    await using api = await startFakeDingTalk();
    await using account = await startTestAccount({ api, plugin: { timings: { pingMs: 20 } } });
    api.dropSockets();
    await api.connected(2);
    api.sendFrame("SYSTEM", "disconnect", {});
    await api.connected(3);
    await api.acked(api.injectDirect("still here").ackId);
    api.mute(true);
    api.dropSockets();
    await api.connected(4);
    api.mute(false);
    await api.connected(5);
    await api.acked(api.injectDirect("and here").ackId);
    expect(account.received.map((m) => m.text)).toEqual(["still here", "and here"]);
  });

  it("survives 5xx and an endpoint that is down; wrong credentials and used-up tries end it with words", async () => {
    await using api = await startFakeDingTalk();
    api.failNext(2, { path: "connections/open", status: 503 });
    await using account = await startTestAccount({ api });
    await api.waitUntil(() => account.status.connected, "connected status");
    await using wrong = await startTestAccount({ api, awaitConnection: false, config: { clientSecret: "nope" } });
    expect(await wrong.ended).toMatchObject({ code: "auth", message: expect.stringContaining("鉴权失败") as string });
    expect(String(((await wrong.ended) as Error).message)).not.toContain("nope");
    await account.stop();
    api.failNext(50, { path: "connections/open", status: 500 });
    await using tired = await startTestAccount({ api, awaitConnection: false, config: { maxConnectionAttempts: 2, maxReconnectCycles: 2, initialReconnectDelay: 1 } });
    expect(await tired.ended).toMatchObject({ code: "unreachable" });
  });

  it("is not opened in a hot loop by a platform that sends each new one away", async () => {
    await using api = await startFakeDingTalk();
    api.sendAway(true);
    await using account = await startTestAccount({ api, awaitConnection: false, config: { maxConnectionAttempts: 3, maxReconnectCycles: 1 } });
    expect(await account.ended).toMatchObject({ code: "unreachable", message: expect.stringContaining("closes each new connection") as string });
    expect(api.connections()).toBeLessThanOrEqual(4);
  });

  it("ends with the account, after what is being taken over", async () => {
    let go: (() => void) | undefined;
    await using account = await startTestAccount({ receive: () => new Promise((resolve) => (go = () => resolve({ kind: "accepted", id: "1" }))) });
    const { ackId } = account.api.injectDirect("slow");
    await account.api.waitUntil(() => go, "message at the core");
    const stopped = account.stop();
    go?.();
    expect(await stopped).toBeUndefined();
    expect(account.received).toHaveLength(1);
    await account.api.waitUntil(() => account.api.open() === 0, "closed socket");
    expect(account.api.acks.map((ack) => ack.messageId)).toEqual([ackId]);
  });

  it("of two accounts are two, each with its own messages", async () => {
    await using api = await startFakeDingTalk({ apps: { app1: "secret1", app2: "secret2" } });
    const accounts = { work: { clientId: "app2", clientSecret: "secret2" } };
    await using first = await startTestAccount({ api, config: { accounts } });
    await using second = await startTestAccount({ api, accountId: "work", config: { accounts } });
    await api.connected(2);
    api.injectDirect("to one");
    api.injectDirect("to two", { clientId: "app2" });
    await first.receivedCount();
    await second.receivedCount();
    expect([first.received.map((m) => m.text), second.received.map((m) => m.text)]).toEqual([["to one"], ["to two"]]);
    expect(first.plugin.config.listAccountIds(first.cfg)).toEqual(["default", "work"]);
  });

  it("may be a webhook, which takes only what is signed", async () => {
    const http = await startChannelHttp();
    await using account = await startTestAccount({ http: http.http, awaitConnection: false, config: { connectionMode: "webhook" } });
    await account.api.waitUntil(() => account.status["webhookPath"], "route");
    const body = JSON.stringify({ conversationId: "cid1", conversationType: "1", msgId: "w1", msgtype: "text", senderStaffId: ALICE, text: { content: "by http" } });
    const post = async (secret: string, timestamp = String(Date.now())): Promise<number> =>
      (await fetch(`${http.url}/dingtalk/webhook`, { method: "POST", body, headers: { timestamp, sign: createHmac("sha256", secret).update(`${timestamp}\n${secret}`).digest("base64") } })).status;
    expect([await post("wrong"), await post("secret1", "1000000000000"), await post("secret1")]).toEqual([403, 403, 200]);
    const timestamp = String(Date.now());
    const signed = { timestamp, sign: createHmac("sha256", "secret1").update(`${timestamp}\nsecret1`).digest("base64") };
    const status = async (raw: string, method = "POST"): Promise<number> => (await fetch(`${http.url}/dingtalk/webhook`, { method, ...(method === "POST" ? { body: raw } : {}), headers: signed })).status;
    expect([await status("{"), await status("[]"), await status(""), await status("", "GET")]).toEqual([400, 400, 400, 405]);
    expect(account.received.map((m) => m.text)).toEqual(["by http"]);
    await account.stop();
    await http.close();
  });
});

describe("files that people send", () => {
  it("are fetched into the folder, and refused when too large", async () => {
    await using account = await startTestAccount({ start: false });
    const dir = await mkdtemp(join(tmpdir(), "dingtalk-in-"));
    const code = account.api.file(Buffer.from("picture"), "image/png");
    const download = (ref: string, maxBytes = 1000) => account.plugin.gateway?.downloadMedia?.(account.cfg, "default", { kind: "image", ref }, { dir, maxBytes, signal: new AbortController().signal });
    account.api.expireTokens();
    const file = await download(code);
    expect(file).toMatchObject({ mimeType: "image/png", sizeBytes: 7, path: expect.stringMatching(/\.png$/) as string });
    expect(await readFile(file?.path ?? "", "utf8")).toBe("picture");
    await expect(download(code, 3)).rejects.toMatchObject({ code: "too-large" });
    await expect(download("gone")).rejects.toMatchObject({ code: "unreachable" });
    await rm(dir, { recursive: true });
  });
});
