import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/feishu-api/account.ts";
import { ALICE, BOB, GROUP } from "../../../test/support/feishu-api/index.ts";

let dir = "";
beforeAll(async () => void (dir = await mkdtemp(join(tmpdir(), "feishu-out-"))));
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

async function file(fileName: string, mimeType: string, bytes: Buffer | string = "bytes") {
  const path = join(dir, fileName);
  await writeFile(path, bytes);
  return { path, mimeType, fileName };
}

const body = (call: { body: unknown } | undefined): Record<string, unknown> => call?.body as Record<string, unknown>;
const TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |";

describe("an answer", () => {
  it("answers its message with a post; in a group it names the people of the question; in a topic it stays there", async () => {
    await using account = await startTestAccount({ config: { groupPolicy: "open" } });
    const { api } = account;
    api.injectGroup("with @_user_2", { messageId: "om_q1", extra: { thread_id: "omt_1", mentions: [api.mentionOf("ou_bot_cli_a1b2c3d4e5f60718", "Claw"), api.mentionOf(BOB, "Bob", 2)] } });
    const { to, replyContext } = await account.receivedCount();
    const { outcome } = await account.send({ to, replyContext, replyToId: "om_q1", text: "**hi**", kind: "final" });
    expect(outcome).toMatchObject({ kind: "sent", chatId: GROUP });
    const [call] = api.calls("/om_q1/reply");
    expect(body(call)).toMatchObject({ msg_type: "post", reply_in_thread: true });
    expect(JSON.parse(String(body(call)["content"]))).toEqual({ zh_cn: { content: [[{ tag: "md", text: '<at user_id="ou_bob">Bob</at> **hi**' }]] } });
    await account.send({ to, replyContext, text: "without a reply id, still in the topic", kind: "block" });
    expect(api.calls("/om_q1/reply")).toHaveLength(2);
    expect(api.texts()[1]).toBe("without a reply id, still in the topic");
  });

  it("goes into a card when it has code or a table, always or never as renderMode says", async () => {
    const types = async (renderMode: string | undefined): Promise<string[]> => {
      await using account = await startTestAccount({ start: false, config: { renderMode } });
      for (const text of ["plain", "```js\nx\n```", TABLE]) await account.send({ text });
      return account.api.sent().map((one) => one.type);
    };
    expect([await types(undefined), await types("raw"), await types("card")]).toEqual([["post", "interactive", "interactive"], ["post", "post", "post"], ["interactive", "interactive", "interactive"]]);
  });

  it("shows tables as a card has them, as code or as lists", async () => {
    const shown = async (config: Record<string, unknown>): Promise<string | undefined> => {
      await using account = await startTestAccount({ start: false, config });
      await account.send({ text: `x\n\n${TABLE}\n\n![pic](https://ex.com/a.png)` });
      return account.api.texts()[0];
    };
    expect(await shown({ renderMode: "card" })).toBe(`x\n\n${TABLE}\n\n[pic](https://ex.com/a.png)`);
    expect(await shown({ renderMode: "raw" })).toBe("x\n\n```\n| a   | b   |\n| --- | --- |\n| 1   | 2   |\n```\n\n[pic](https://ex.com/a.png)");
    expect(await shown({ renderMode: "raw", markdown: { tableMode: "simple" } })).toBe("x\n\n**1**\n- b: 2\n\n\n[pic](https://ex.com/a.png)");
  });

  it("longer than a message is cut with whole fences, and goes on after the parts that arrived", async () => {
    await using account = await startTestAccount({ start: false });
    const text = `\`\`\`js\n${"let 变量 = 1;\n".repeat(800)}\`\`\``;
    const { parts, outcome } = await account.send({ text });
    expect(outcome?.kind).toBe("sent");
    expect(parts).toEqual([0, 1, 2]);
    for (const said of account.api.texts()) expect([said.length <= 4000, said.match(/```/g)?.length]).toEqual([true, 2]);
    expect((await account.send({ text }, 2)).parts).toEqual([2]);
  });

  it("is sent once though its outcome was lost, after the token expired, and to the chat when its message is gone", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const { messageId } = api.injectDirect("hi");
    const { to, replyContext } = await account.receivedCount();
    api.failNext(1, { path: "/reply", loseAnswer: true });
    expect((await account.send({ to, replyContext, replyToId: messageId, text: "once" })).outcome?.kind).toBe("sent");
    api.expireTokens();
    expect((await account.send({ to, text: "fresh" })).outcome?.kind).toBe("sent");
    const asked = api.platform.messages.get(messageId);
    if (asked) asked.isRecalled = true;
    expect((await account.send({ to, replyContext, replyToId: messageId, text: "anyway" })).outcome?.kind).toBe("sent");
    expect(api.texts()).toEqual(["once", "fresh", "anyway"]);
    expect(api.calls("tenant_access_token")).toHaveLength(2);
  });

  it("has an outcome for every refusal: 429 with the pause asked for, 5xx, no rights, a chat without the bot, an unknown name", async () => {
    await using account = await startTestAccount({ start: false });
    const { api } = account;
    const outcomeOf = async (fault: { status: number; body?: unknown; headers?: Record<string, string> } | undefined, to = `user:${ALICE}`): Promise<unknown> => {
      if (fault) api.failNext(1, { path: "/im/v1/messages", ...fault });
      return (await account.send({ to, text: "x" })).outcome;
    };
    expect(await outcomeOf({ status: 429, body: { code: 99991400, msg: "limit" }, headers: { "x-ogw-ratelimit-reset": "3" } })).toEqual({ kind: "rate-limited", retryAfterMs: 3000, sentParts: 0 });
    expect(await outcomeOf({ status: 400, body: { code: 230020, msg: "frequency" } })).toEqual({ kind: "rate-limited", retryAfterMs: 1000, sentParts: 0 });
    expect(await outcomeOf({ status: 503 })).toMatchObject({ kind: "unreachable" });
    expect(await outcomeOf({ status: 400, body: { code: 230027, msg: "no right", error: { permission_violations: [{ subject: "im:message:send_as_bot" }] } } })).toMatchObject({ kind: "rejected", reason: expect.stringContaining("im:message:send_as_bot") as string });
    expect(await outcomeOf(undefined, "chat:oc_foreign")).toMatchObject({ kind: "rejected", reason: expect.stringContaining("NOT in the chat") as string });
    expect(await outcomeOf(undefined, "name:Nowhere")).toEqual({ kind: "rejected", reason: 'Unknown target "Nowhere" for Feishu. Hint: <chatId|user:openId|chat:chatId>' });
    expect(await outcomeOf(undefined, "chat:Team")).toMatchObject({ kind: "sent", chatId: GROUP });
    expect(api.texts()).toEqual(["x"]);
  });

  it("that a card refuses becomes a post; buttons make a card", async () => {
    await using account = await startTestAccount({ start: false });
    const replyContext = { data: { messageId: "om_q", inThread: false, mention: [{ openId: BOB, name: "Bob" }] } };
    await account.send({ text: Array.from({ length: 12 }, () => TABLE).join("\n\n"), replyContext });
    expect(account.api.texts()[0]).toMatch(/^<at user_id="ou_bob">Bob<\/at> ```\n\| a/);
    await account.send({ text: "Which?", buttons: [[{ text: "One", callbackData: "/one" }]] });
    expect(account.api.sent().map((one) => one.type)).toEqual(["post", "interactive"]);
    expect(account.api.sent()[1]?.content).toContain('"value":{"callback":"/one"}');
  });

  it("shows the sign of typing until it stands", async () => {
    await using account = await startTestAccount();
    const { api, plugin } = account;
    api.injectDirect("hi");
    const { to, replyContext } = await account.receivedCount();
    const target = { accountId: "default", to, replyContext };
    await plugin.outbound?.sendTyping?.(account.cfg, target);
    await plugin.outbound?.sendTyping?.(account.cfg, target);
    expect(api.reactionNames()).toEqual(["Typing"]);
    await account.send({ to, replyContext, text: "done", kind: "final" });
    await api.waitUntil(() => api.reactionNames().length === 0, "removed sign");
    await plugin.outbound?.sendTyping?.(account.cfg, target);
    expect(api.reactionNames()).toEqual([]);
  });

  it("may be a reaction, which replaces the one before, also of an earlier process", async () => {
    await using account = await startTestAccount();
    const { messageId } = account.api.injectDirect("hi");
    const react = (emoji: string, on = account) => on.plugin.outbound?.react?.(on.cfg, { accountId: "default", to: `user:${ALICE}` }, messageId, emoji);
    await react("👀");
    await react("👍");
    expect(account.api.reactionNames()).toEqual(["THUMBSUP"]);
    await using later = await startTestAccount({ api: account.api, start: false });
    await react("", later);
    expect(account.api.reactionNames()).toEqual([]);
    await expect(react("🦖")).rejects.toMatchObject({ code: "rejected" });
  });
});

describe("files that the agent sends", () => {
  it("go out as pictures, speech, video and files, after the text", async () => {
    await using account = await startTestAccount({ start: false });
    const ogg = Buffer.concat([Buffer.from("OggS\0\0"), Buffer.from([0x80, 0xbb, 0, 0, 0, 0, 0, 0]), Buffer.alloc(20)]);
    const media = [await file("a.png", "image/png"), await file("b.ogg", "audio/ogg", ogg), await file("c.mp4", "video/mp4"), await file("报告.pdf", "application/pdf"), await file("d.zip", "application/zip")];
    const { outcome, parts } = await account.send({ text: "look", media });
    expect([outcome?.kind, parts]).toEqual(["sent", [0, 1, 2, 3, 4, 5]]);
    expect(account.api.sent().map((one) => one.type)).toEqual(["post", "image", "audio", "media", "file", "file"]);
    expect([...account.api.platform.files.values()].map((one) => [one.type, one.fileName])).toEqual([["opus", "b.ogg"], ["mp4", "c.mp4"], ["pdf", "报告.pdf"], ["stream", "d.zip"]]);
    expect(account.api.calls("/im/v1/files")[0]?.bytes.toString("latin1")).toMatch(/name="duration"\r\n\r\n1000\r\n/);
  });

  it("that are too large or missing are told in words, without a path; an upload that fails for a while is repeated", async () => {
    await using account = await startTestAccount({ start: false, config: { mediaMaxMb: 1 } });
    account.api.failNext(1, { path: "/im/v1/images", status: 500 });
    const media = [await file("big.bin", "application/octet-stream", Buffer.alloc(1024 * 1024 + 1)), { path: join(dir, "gone.txt"), mimeType: "text/plain", fileName: "gone.txt" }, await file("ok.png", "image/png")];
    expect((await account.send({ text: "", media })).outcome?.kind).toBe("sent");
    expect(account.api.texts()).toEqual(["⚠️ big.bin could not be sent: it has 1.0 MB, the limit is 1 MB", "⚠️ gone.txt could not be sent: the file cannot be read", "[image]"]);
    expect(JSON.stringify(account.api.sent())).not.toContain(dir);
  });
});

describe("the message tool", () => {
  it("reads, changes, takes back, pins, reacts and describes", async () => {
    await using account = await startTestAccount({ start: false });
    const { api, plugin } = account;
    await account.send({ to: `chat:${GROUP}`, text: "first" });
    const messageId = api.sent()[0]?.id;
    const act = (action: string, params: Record<string, unknown> = {}) => plugin.actions?.handleAction({ cfg: account.cfg, accountId: "default", action, params, current: { to: `chat:${GROUP}`, messageId }, signal: new AbortController().signal });
    expect(plugin.actions?.listActions(account.cfg)).toContain("reactions");
    expect(await act("react", { emoji: "👍" })).toEqual({ ok: true, added: "👍" });
    expect(await act("reactions")).toMatchObject({ reactions: [{ emoji: "👍", isBot: true }] });
    expect(await act("edit", { message: "second" })).toMatchObject({ ok: true });
    expect(await act("read")).toMatchObject({ messages: [{ id: messageId, isBot: true, text: "second" }] });
    expect(await act("pin")).toEqual({ ok: true, pinned: true });
    expect(await act("channel-info")).toMatchObject({ channel: { name: "Team" } });
    expect(await act("member-info", { userId: ALICE })).toMatchObject({ user: { user: { name: "Alice" } } });
    expect(await act("unsend")).toEqual({ ok: true, deleted: true });
    await expect(act("unsend", { messageId: "om_none" })).rejects.toMatchObject({ code: "rejected" });
    await expect(act("poll")).rejects.toMatchObject({ message: expect.stringContaining("not supported") as string });
  });
});
