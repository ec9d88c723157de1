import { mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type FakeTelegram, startFakeTelegram } from "../../../test/support/telegram-api/index.ts";
import { startTestAccount } from "../../../test/support/telegram-api/account.ts";

type Account = Awaited<ReturnType<typeof startTestAccount>>;

async function quiet(config: Parameters<typeof startTestAccount>[0] = {}): Promise<Account> {
  const account = await startTestAccount({ start: false, ...config });
  account.api.addChat({ id: 42, type: "private", first_name: "Alice" });
  return account;
}

const tooMany = { status: 429, body: { ok: false, error_code: 429, description: "Too Many Requests: retry after 7", parameters: { retry_after: 7 } } };
let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "telegram-media-"));
});
const file = async (name: string, mimeType: string, size = 10): Promise<{ path: string; mimeType: string; fileName: string }> => {
  const path = join(dir, name);
  await writeFile(path, Buffer.alloc(size, 1));
  return { path, mimeType, fileName: name };
};
const shown = (api: FakeTelegram) => api.sent().map((m) => m.text);

describe("sending text", () => {
  it("sends Markdown as HTML, with a reply, silently and without a preview", async () => {
    await using account = await quiet({ config: { linkPreview: false } });
    const { outcome } = await account.send({ text: "**pong** & `x`", replyToId: "5", silent: true });
    expect(outcome).toEqual({ kind: "sent", messageIds: ["1"], chatId: "42" });
    expect(account.api.callsOf("sendMessage")[0]?.params).toEqual({
      chat_id: "42",
      text: "<b>pong</b> &amp; <code>x</code>",
      parse_mode: "HTML",
      disable_notification: true,
      link_preview_options: { is_disabled: true },
      reply_parameters: { message_id: 5, allow_sending_without_reply: true },
    });
  });

  it("keeps to one message a second in a direct chat, without holding up typing", async () => {
    await using account = await quiet({ plugin: { throttle: true } });
    await account.plugin.outbound?.sendTyping?.(account.cfg, { accountId: "default", to: "telegram:42" });
    await Promise.all([account.send({ text: "one" }), account.send({ text: "two" })]);
    const [first, second] = account.api.callsOf("sendMessage");
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(900);
    expect((first?.atMs ?? 0) - (account.api.callsOf("sendChatAction")[0]?.atMs ?? 0)).toBeLessThan(500);
  });

  it("splits twice the limit into parts of at most 4096 characters, in order", async () => {
    await using account = await quiet();
    const text = Array.from({ length: 900 }, (_, i) => `word${i} **bold**`).join(" ");
    const { outcome, parts } = await account.send({ text });
    expect(outcome?.kind).toBe("sent");
    expect(parts.length).toBeGreaterThan(2);
    expect(account.api.sent().every((m) => m.text.length <= 4096 && m.html)).toBe(true);
    expect(shown(account.api).join(" ")).toBe(text.replaceAll("**", ""));
  });

  it("resumes after the parts that an earlier try delivered", async () => {
    await using account = await quiet();
    const text = `${"a".repeat(3999)}\n${"b".repeat(3999)}\n${"c".repeat(10)}`;
    account.api.failNext("sendMessage", 0, tooMany);
    const first = await account.send({ text }, 2);
    expect(first.outcome).toMatchObject({ kind: "sent", messageIds: ["1"] });
    expect(shown(account.api)).toEqual(["c".repeat(10)]);
  });

  it("sends plain text when Telegram refuses the markup", async () => {
    await using account = await quiet();
    account.api.failNext("sendMessage", 1, { status: 400, body: { ok: false, error_code: 400, description: "Bad Request: can't parse entities: whatever" } });
    expect((await account.send({ text: "**pong** <tag> & README.md" })).outcome?.kind).toBe("sent");
    expect(account.api.callsOf("sendMessage")[1]?.params).toMatchObject({ text: "pong <tag> & README.md" });
    expect(account.api.callsOf("sendMessage")[1]?.params.parse_mode).toBeUndefined();
  });

  it("sends to a topic, leaves the General topic out, and drops a topic that is gone", async () => {
    await using account = await quiet();
    account.api.group(-100200, "Forum", { is_forum: true, topics: [7] });
    await account.send({ text: "in seven", to: "telegram:-100200", threadId: "7" });
    await account.send({ text: "general", to: "telegram:-100200", threadId: "1" });
    await account.send({ text: "gone", to: "telegram:-100200:topic:99" });
    expect(account.api.sent().map((m) => [m.text, m.threadId])).toEqual([["in seven", 7], ["general", undefined], ["gone", undefined]]);
  });

  it("sends buttons, and refuses them where the config does not allow them", async () => {
    await using account = await quiet();
    await account.send({ text: "choose", buttons: [[{ text: "A", callbackData: "a" }]] });
    expect(account.api.sent()[0]?.markup).toEqual({ inline_keyboard: [[{ text: "A", callback_data: "a" }]] });
    await using off = await quiet({ config: { capabilities: { inlineButtons: "off" } } });
    expect((await off.send({ text: "choose", buttons: [[{ text: "A", callbackData: "a" }]] })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("inlineButtons") });
  });
});

describe("what Telegram refuses", () => {
  it.each([
    ["a flood wait with its time", tooMany, { kind: "rate-limited", retryAfterMs: 7000, sentParts: 0 }],
    ["a server error as not sent", { status: 500, body: { ok: false, error_code: 500, description: "Internal" } }, { kind: "unreachable", sentParts: 0 }],
    ["a page instead of an answer as uncertain", { status: 502, body: "<html>" }, { kind: "uncertain" }],
    ["a cut connection as uncertain", { status: 0, drop: true }, { kind: "uncertain" }],
    ["a block as final", { status: 403, body: { ok: false, error_code: 403, description: "Forbidden: bot was blocked by the user" } }, { kind: "rejected" }],
  ])("reports %s", async (_name, failure, expected) => {
    await using account = await quiet();
    account.api.failNext("sendMessage", 1, failure);
    expect((await account.send({ text: "x" })).outcome).toMatchObject(expected);
  });

  it("says which parts arrived before a flood wait", async () => {
    await using account = await quiet();
    const text = `${"a".repeat(3999)}\n${"b".repeat(3999)}`;
    const release = account.api.hold("sendMessage");
    const sending = account.send({ text });
    await account.api.waitForCall("sendMessage");
    account.api.failNext("sendMessage", 1, tooMany);
    release();
    const { outcome, ids } = await sending;
    expect(outcome).toEqual({ kind: "rate-limited", retryAfterMs: 7000, sentParts: 1 });
    expect(ids).toEqual(["1"]);
    expect((await account.send({ text }, 1)).outcome?.kind).toBe("sent");
    expect(shown(account.api).map((t) => t[0])).toEqual(["a", "b"]);
  });

  it("explains an unknown chat, a wrong address and a refused connection", async () => {
    await using account = await quiet();
    expect((await account.send({ text: "x", to: "telegram:77" })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("has not started the bot") });
    expect((await account.send({ text: "x", to: "who?" })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("chat id") });
    expect((await account.send({ text: "  " })).outcome).toMatchObject({ kind: "rejected" });
    await account.api.goOffline();
    // The first may still run into the socket that was open before.
    await account.send({ text: "x" });
    expect((await account.send({ text: "x" })).outcome).toMatchObject({ kind: "unreachable" });
    await account.api.goOnline();
  });
});

describe("sending files", () => {
  it.each([
    ["a.png", "image/png", "sendPhoto"],
    ["a.gif", "image/gif", "sendAnimation"],
    ["a.mp4", "video/mp4", "sendVideo"],
    ["a.mp3", "audio/mpeg", "sendAudio"],
    ["a.pdf", "application/pdf", "sendDocument"],
    ["a.svg", "image/svg+xml", "sendDocument"],
  ])("sends %s (%s) by %s", async (name, mimeType, method) => {
    await using account = await quiet();
    const { outcome } = await account.send({ text: "**cap**", media: [await file(name, mimeType)] });
    expect(outcome?.kind).toBe("sent");
    expect(account.api.sent()[0]).toMatchObject({ method, text: "cap", html: true, file: { fileName: name } });
  });

  it("sends voice as voice, and as audio where voice is forbidden", async () => {
    await using account = await quiet();
    const media = [{ ...(await file("v.ogg", "audio/ogg")), asVoice: true }];
    await account.send({ text: "", media });
    account.api.failNext("sendVoice", 1, { status: 400, body: { ok: false, error_code: 400, description: "Bad Request: VOICE_MESSAGES_FORBIDDEN" } });
    await account.send({ text: "", media });
    expect(account.api.sent().map((m) => m.method)).toEqual(["sendVoice", "sendAudio"]);
  });

  it("sends a caption over 1024 characters as a message after the file", async () => {
    await using account = await quiet();
    const { parts } = await account.send({ text: "x".repeat(1025), media: [await file("a.png", "image/png"), await file("b.png", "image/png")] });
    expect(parts).toHaveLength(3);
    expect(account.api.sent().map((m) => [m.method, m.text.length])).toEqual([["sendPhoto", 0], ["sendPhoto", 0], ["sendMessage", 1025]]);
  });
});

describe("fetching files", () => {
  const take = async (account: Account, ref: string, maxBytes = 1000) =>
    account.plugin.gateway?.downloadMedia?.(account.cfg, "default", { kind: "document", ref, fileName: "../my file.pdf" }, { dir: join(dir, "in"), maxBytes, signal: new AbortController().signal });

  it("stores the bytes for the owner only, inside the directory", async () => {
    await using account = await quiet();
    account.api.document({ bytes: Buffer.from("pdf"), name: "a.pdf" });
    account.api.failNext("getFile", 1, { status: 500 });
    account.api.failNext("file", 1, { status: 503 });
    const saved = await take(account, "file1");
    expect(saved?.path.startsWith(join(dir, "in"))).toBe(true);
    expect(saved).toMatchObject({ mimeType: "application/pdf", sizeBytes: 3 });
    expect(await readFile(saved?.path ?? "", "utf8")).toBe("pdf");
    expect((await stat(saved?.path ?? "")).mode & 0o777).toBe(0o600);
  });

  it("refuses what is too large, also when Telegram gave no size, and says so", async () => {
    await using account = await quiet();
    account.api.document({ bytes: Buffer.alloc(2000), name: "a.bin", size: 10 });
    await expect(take(account, "file1")).rejects.toMatchObject({ code: "too-large", message: "⚠️ File too large. Maximum size is 1MB." });
  });

  it("gives up after three tries without showing the token", async () => {
    await using account = await quiet();
    account.api.document({ bytes: Buffer.alloc(20), name: "a.bin" });
    account.api.failNext("file", 3, { status: 500 });
    const error = await take(account, "file1")?.catch((err: unknown) => err);
    expect(error).toMatchObject({ code: "unreachable", message: "⚠️ Failed to download media. Please try again." });
    expect(String((error as Error).cause)).not.toContain(account.api.token);
  });

  it("goes on without a file that Telegram itself will not serve", async () => {
    await using account = await quiet();
    account.api.document({ bytes: Buffer.alloc(20), name: "a.bin", size: 30 * 1024 * 1024 });
    await expect(take(account, "file1", 1e9)).rejects.toMatchObject({ code: "rejected" });
  });
});

describe("the growing preview", () => {
  const open = (account: Account) => account.plugin.streaming?.open?.(account.cfg, { accountId: "default", to: "telegram:42" });
  const long = "This sentence is longer than thirty characters.";

  it("is off by default", async () => {
    await using account = await quiet();
    expect(open(account)).toBeUndefined();
  });

  it("starts at 30 characters, is edited, and becomes the final message", async () => {
    await using account = await quiet({ config: { streaming: "partial" } });
    const preview = open(account);
    preview?.update("short");
    preview?.update(long);
    await account.api.waitForCall("sendMessage");
    preview?.update(`${long} **More.**`);
    await account.api.waitForCall("editMessageText");
    expect(await preview?.finish(`${long} **More.** End.`)).toEqual({ kind: "replaced", messageIds: ["1"] });
    expect(shown(account.api)).toEqual([`${long} More. End.`]);
    const edits = account.api.callsOf("editMessageText").length;
    expect(edits).toBe(2);
  });

  it("does not edit again when the final text is shown already", async () => {
    await using account = await quiet({ config: { streaming: true } });
    const preview = open(account);
    preview?.update(long);
    await account.api.waitForCall("sendMessage");
    expect(await preview?.finish(long)).toMatchObject({ kind: "replaced" });
    expect(account.api.callsOf("editMessageText")).toHaveLength(0);
  });

  it.each([
    ["429", tooMany],
    ["400", { status: 400, body: { ok: false, error_code: 400, description: "Bad Request: message can't be edited" } }],
  ])("is abandoned on %s; the final text goes out as new", async (_name, failure) => {
    await using account = await quiet({ config: { streaming: "partial" } });
    const preview = open(account);
    preview?.update(long);
    await account.api.waitForCall("sendMessage");
    account.api.failNext("editMessageText", 1, failure);
    preview?.update(`${long} more`);
    await account.api.waitForCall("editMessageText");
    expect(await preview?.finish(`${long} more and more`)).toEqual({ kind: "discarded" });
    expect(shown(account.api)).toEqual([]);
  });

  it("makes way when the text needs more than one message, and vanishes on failure", async () => {
    await using account = await quiet({ config: { streaming: "partial" } });
    const preview = open(account);
    preview?.update(long);
    await account.api.waitForCall("sendMessage");
    expect(await preview?.finish("x ".repeat(3000))).toEqual({ kind: "discarded" });
    const second = open(account);
    second?.update(long);
    await account.api.waitUntil(() => account.api.callsOf("sendMessage").length === 2 && account.api.sent().length === 1, "second preview");
    await expect.poll((): unknown => JSON.parse(JSON.stringify(second?.ref))).toEqual({ chatId: "42", messageId: 2 });
    await second?.fail();
    expect(shown(account.api)).toEqual([]);
  });

  it("is removed after a restart by its journaled reference", async () => {
    await using account = await quiet();
    const { ids } = await account.send({ text: "orphan" });
    await account.plugin.streaming?.closeOrphan?.(account.cfg, "default", { chatId: "42", messageId: Number(ids[0]) });
    expect(shown(account.api)).toEqual([]);
  });
});

describe("polls, reactions, typing and actions", () => {
  const options = { signal: new AbortController().signal, skipParts: 0, onPart: () => undefined };
  const target = { accountId: "default", to: "telegram:42" };

  it("sends polls and explains bad ones", async () => {
    await using account = await quiet();
    expect(await account.plugin.outbound?.sendPoll?.(account.cfg, target, { question: "Tea?", options: ["yes", "no"], maxSelections: 2 }, options)).toMatchObject({ kind: "sent" });
    expect(account.api.callsOf("sendPoll")[0]?.params).toMatchObject({ question: "Tea?", allows_multiple_answers: true, is_anonymous: true });
    expect(await account.plugin.outbound?.sendPoll?.(account.cfg, target, { question: "Tea?", options: ["yes"] }, options)).toMatchObject({ kind: "rejected" });
  });

  it("sets and removes reactions, and says when an emoji is none", async () => {
    await using account = await quiet();
    await account.plugin.outbound?.react?.(account.cfg, target, "5", "👀");
    await account.plugin.outbound?.react?.(account.cfg, target, "5", "");
    expect(account.api.callsOf("setMessageReaction").map((c) => c.params.reaction)).toEqual([[{ type: "emoji", emoji: "👀" }], []]);
    await expect(account.plugin.outbound?.react?.(account.cfg, target, "5", "🦞")).rejects.toThrow("🦞");
  });

  it("shows typing in the General topic too, and never fails for it", async () => {
    await using account = await quiet();
    account.api.group(-100200, "Forum", { is_forum: true });
    await account.plugin.outbound?.sendTyping?.(account.cfg, { accountId: "default", to: "telegram:-100200", threadId: "1" });
    await account.plugin.outbound?.sendTyping?.(account.cfg, { accountId: "default", to: "telegram:777" });
    expect(account.api.callsOf("sendChatAction")[0]?.params).toEqual({ chat_id: "-100200", action: "typing", message_thread_id: 1 });
  });

  it("edits, deletes and reacts for the message tool, within the config's gates", async () => {
    await using account = await quiet({ config: { actions: { deleteMessage: false } } });
    await account.send({ text: "one" });
    const act = (action: string, params: Record<string, unknown>) =>
      account.plugin.actions?.handleAction({ cfg: account.cfg, accountId: "default", action, params, current: { to: "telegram:42", messageId: "1" }, signal: options.signal });
    expect(account.plugin.actions?.listActions(account.cfg)).toEqual(["react", "edit", "topic-create", "poll"]);
    expect(await act("edit", { messageId: 1, message: "**two**" })).toEqual({ ok: true, messageId: "1" });
    expect(await act("react", { emoji: "👍" })).toEqual({ ok: true, added: "👍" });
    expect(await act("react", { emoji: "🦞" })).toMatchObject({ ok: false });
    await expect(act("delete", {})).rejects.toThrow("not supported by telegram");
    await expect(act("edit", { messageId: 99, message: "x" })).rejects.toThrow("message to edit not found");
    await expect(act("edit", { message: "x" })).rejects.toThrow("messageId");
    expect(shown(account.api)).toEqual(["two"]);
    account.api.group(-100200, "Forum", { is_forum: true });
    expect(await act("topic-create", { chatId: "-100200", name: "News" })).toMatchObject({ ok: true, name: "News" });
  });

  it("probes the bot and its webhook", async () => {
    await using api = await startFakeTelegram();
    await using account = await quiet({ api });
    const resolved = account.plugin.config.resolveAccount(account.cfg, "default");
    expect(await account.plugin.status?.probeAccount?.(resolved, account.cfg, 2000)).toMatchObject({ ok: true, bot: { id: 123456, username: "test_bot", canReadAllGroupMessages: false }, webhook: { url: "", hasCustomCert: false } });
    api.failNext("getMe", 1, { status: 401, body: { ok: false, error_code: 401, description: "Unauthorized" } });
    expect(await account.plugin.status?.probeAccount?.(resolved, account.cfg, 2000)).toMatchObject({ ok: false, status: 401 });
  });
});
