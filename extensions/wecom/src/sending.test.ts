import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/wecom-api/account.ts";
import { ALICE, GROUP } from "../../../test/support/wecom-api/index.ts";

type Account = Awaited<ReturnType<typeof startTestAccount>>;

/** A message, and what an answer to it says. */
async function asked(account: Account, group = false) {
  const count = account.received.length + 1;
  if (group) account.api.injectGroup("hi");
  else account.api.injectDirect("hi");
  const { to, replyContext } = await account.receivedCount(count);
  return { to, replyContext, kind: "final" } as const;
}
const streams = ({ api }: Account) => [...api.bots.streams.values()];
const APP = { corpId: "corp1", corpSecret: "corpsecret1", agentId: 1000002 };

async function fileOf(account: Account, name: string, bytes: Buffer, mimeType: string) {
  const path = join(account.stateDir, name);
  await writeFile(path, bytes);
  return { path, fileName: name, mimeType };
}

describe("answers over the long connection", () => {
  it("grow in place of the thinking sign, and stand once", async () => {
    await using account = await startTestAccount();
    const target = await asked(account);
    const stream = account.plugin.streaming?.open?.(account.cfg, { accountId: "default", ...target });
    await account.api.waitUntil(() => streams(account)[0]?.content === "<think></think>", "thinking sign");
    stream?.update("half");
    await account.api.waitUntil(() => streams(account)[0]?.content === "half", "half");
    expect(await stream?.finish("the whole")).toEqual({ kind: "discarded" });
    expect((await account.send({ ...target, text: "the whole" })).outcome).toMatchObject({ kind: "sent" });
    expect(streams(account)).toMatchObject([{ content: "the whole", finish: true }]);
    expect(account.api.bots.sent).toEqual([]);
  });

  it("need no growing; later ones of the same message, and longer ones, go on as messages", async () => {
    await using account = await startTestAccount();
    const target = await asked(account, true);
    const long = `${"长".repeat(6000)}\n${"x".repeat(5000)}`;
    const { outcome, parts } = await account.send({ ...target, text: long });
    expect([outcome?.kind, parts]).toEqual(["sent", [0, 1]]);
    expect(await account.send({ ...target, text: "and more" })).toMatchObject({ outcome: { kind: "sent" } });
    expect(streams(account)).toMatchObject([{ content: "长".repeat(6000), finish: true }]);
    expect(account.api.bots.sent.map(({ chatid, markdown }) => [chatid, markdown?.content])).toEqual([[GROUP, "x".repeat(5000)], [GROUP, "and more"]]);
    expect(await account.send({ ...target, text: long }, 1)).toMatchObject({ parts: [1] });
  });

  it("of a block do not use up the message's place", async () => {
    await using account = await startTestAccount();
    const target = await asked(account);
    await account.send({ ...target, kind: "block", text: "first" });
    await account.send({ ...target, text: "last" });
    expect([streams(account)[0]?.content, account.api.bots.sent[0]?.markdown?.content]).toEqual(["last", "first"]);
  });

  it.each([846605, 846608, 40008])("go out as a message when the place is refused with %i", async (errcode) => {
    await using account = await startTestAccount();
    const target = await asked(account);
    account.api.failFrames(1, { cmd: "aibot_respond_msg", finish: true, errcode });
    expect((await account.send({ ...target, text: "answer" })).outcome?.kind).toBe("sent");
    expect(account.api.bots.sent[0]?.markdown?.content).toBe("answer");
  });

  it("that were given up are ended with what was shown", async () => {
    await using account = await startTestAccount();
    const stream = account.plugin.streaming?.open?.(account.cfg, { accountId: "default", ...(await asked(account)) });
    stream?.update("so far");
    await account.api.waitUntil(() => streams(account)[0]?.content === "so far", "text");
    await stream?.fail();
    await account.api.waitUntil(() => streams(account)[0]?.finish, "end");
    expect(streams(account)[0]?.content).toBe("so far");
  });

  it("have an outcome for every failure: lost acknowledgement, no connection, busy, too many", async () => {
    await using account = await startTestAccount();
    const target = await asked(account);
    const { api } = account;
    api.failFrames(1, { cmd: "aibot_respond_msg", silent: true });
    expect((await account.send({ ...target, text: "one" })).outcome?.kind).toBe("unreachable");
    expect((await account.send({ ...target, text: "one" })).outcome?.kind).toBe("sent");
    expect(streams(account)).toHaveLength(1);
    const outcomes: (string | undefined)[] = [];
    for (const fault of [{ silent: true }, { errcode: -1 }, { errcode: 45009 }, { errcode: 86008 }]) {
      api.failFrames(1, { cmd: "aibot_send_msg", ...fault });
      outcomes.push((await account.send({ text: "two" })).outcome?.kind);
    }
    expect(outcomes).toEqual(["uncertain", "unreachable", "rate-limited", "rejected"]);
    await account.stop();
    expect((await account.send({ text: "three" })).outcome?.kind).toBe("unreachable");
    expect((await account.send({ to: "  ", text: "x" })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("user:<userid>") as string });
    expect((await account.send({ text: "" })).outcome?.kind).toBe("rejected");
  });

  it("bring files in chunks, cards and buttons; what cannot be sent is told without its path", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const target = await asked(account);
    const big = Buffer.alloc(1_300_000, 7);
    const media = [await fileOf(account, "picture.png", Buffer.from("\x89PNG\r\n\x1a\nxx", "latin1"), "image/png"), await fileOf(account, "data.bin", big, "application/octet-stream"), { path: join(account.stateDir, "gone.pdf"), fileName: "gone.pdf", mimeType: "application/pdf" }];
    api.failFrames(1, { cmd: "aibot_upload_media_chunk", errcode: -1 });
    const { outcome, parts } = await account.send({ ...target, text: "see", media });
    expect([outcome?.kind, parts]).toEqual(["sent", [0, 1, 2, 3]]);
    expect([...api.bots.media.values()].map(({ type, fileName, bytes }) => [type, fileName, bytes.length])).toEqual([["image", "picture.png", 10], ["file", "data.bin", big.length]]);
    expect(api.bots.sent.map(({ msgtype }) => msgtype)).toEqual(["image", "file", "markdown"]);
    expect(api.bots.sent[2]?.markdown?.content).toBe("⚠️ gone.pdf could not be sent: the file cannot be read");
    await account.send({ text: '{"template_card":{"card_type":"text_notice","main_title":{"title":"T"}}}' });
    await account.send({ text: "may I?", buttons: [[{ text: "Yes", callbackData: "/approve 1 allow-once" }]] });
    expect(api.bots.sent.slice(3)).toMatchObject([{ msgtype: "template_card", template_card: { card_type: "text_notice" } }, { markdown: { content: "may I?" } }, { template_card: { card_type: "button_interaction", button_list: [{ text: "Yes", key: "/approve 1 allow-once" }] } }]);
  });

  it("take the place of what a killed process had begun", async () => {
    await using account = await startTestAccount();
    const target = await asked(account);
    const stream = account.plugin.streaming?.open?.(account.cfg, { accountId: "default", ...target });
    await account.api.waitUntil(() => streams(account)[0], "stream");
    await account.stop();
    await using restarted = await startTestAccount({ api: account.api });
    await restarted.plugin.streaming?.closeOrphan?.(restarted.cfg, "default", stream?.ref);
    await restarted.send({ ...target, text: "after all" });
    expect(streams(account)).toMatchObject([{ content: "after all", finish: true }]);
  });
});

describe("the app", () => {
  it("writes to people, departments, tags and its own groups, in parts, and not into the bot's", async () => {
    await using account = await startTestAccount({ section: { agent: APP }, awaitConnection: false });
    const { api } = account;
    await account.send({ to: "user:alice", text: "字".repeat(1000) });
    await account.send({ to: "party:7", text: "all" });
    await account.send({ to: "tag:9", text: "tagged" });
    expect(api.app.sent.map(({ touser, toparty, totag, text }) => [touser ?? toparty ?? totag, Buffer.byteLength(text?.content ?? "")])).toEqual([["alice", 2043], ["alice", 957], ["7", 3], ["9", 6]]);
    await account.send({ to: "wecom-agent:group:wrOfTheApp01", text: "in the group" });
    expect(api.app.sent.at(-1)).toEqual({ chatid: "wrOfTheApp01", msgtype: "text", text: { content: "in the group" } });
    expect((await account.send({ to: `group:${GROUP}`, text: "x" })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("cannot write into a group") as string });
    expect((await account.send({ to: "user:nobody", text: "x" })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("可见范围") as string });
    expect(await account.plugin.status?.probeAccount?.(account.plugin.config.resolveAccount(account.cfg, "default"), account.cfg, 1000)).toMatchObject({ ok: true });
  });

  it("uses one token at a time, gets a new one when it expired, waits when asked, tries again when busy", async () => {
    await using account = await startTestAccount({ section: { agent: APP, network: { retryDelayMs: 5 } }, awaitConnection: false });
    const { api } = account;
    await Promise.all([account.send({ text: "a" }), account.send({ text: "b" })]);
    expect(api.calls("gettoken")).toHaveLength(1);
    api.expireTokens();
    expect((await account.send({ text: "c" })).outcome?.kind).toBe("sent");
    expect(api.calls("gettoken")).toHaveLength(2);
    api.failNext(2, { path: "message/send", status: 200, body: { errcode: -1, errmsg: "busy" } });
    expect((await account.send({ text: "d" })).outcome?.kind).toBe("sent");
    api.failNext(1, { path: "message/send", status: 200, body: { errcode: 45009, errmsg: "freq" } });
    expect((await account.send({ text: "e" })).outcome).toMatchObject({ kind: "rate-limited", retryAfterMs: 60_000 });
    api.failNext(1, { path: "message/send", status: 429, headers: { "retry-after": "7" } });
    expect((await account.send({ text: "e" })).outcome).toMatchObject({ kind: "rate-limited", retryAfterMs: 7000 });
    api.failNext(1, { path: "message/send", status: 200, body: { errcode: 60020, errmsg: "ip" } });
    expect((await account.send({ text: "f" })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("企业可信IP") as string });
    expect(JSON.stringify(await account.send({ text: "g" }))).not.toContain("corpsecret1");
  });

  it("sends files by their kind, those over its limit as plain files, and twice refused ones not at all", async () => {
    await using account = await startTestAccount({ section: { agent: APP }, awaitConnection: false });
    const { api } = account;
    const voice = await fileOf(account, "long.amr", Buffer.concat([Buffer.from("#!AMR\n"), Buffer.alloc(3 * 1024 * 1024)]), "audio/amr");
    const media = [await fileOf(account, "a.png", Buffer.from("png"), "image/png"), voice, await fileOf(account, "a.amr", Buffer.from("#!AMR\n1"), "audio/amr")];
    expect((await account.send({ text: "", media })).outcome?.kind).toBe("sent");
    expect(api.app.sent.map(({ msgtype }) => msgtype)).toEqual(["image", "file", "voice"]);
    api.failNext(1, { path: "media/upload", status: 200, body: { errcode: 40004, errmsg: "type" } });
    expect((await account.send({ media: [media[0] ?? voice] })).outcome?.kind).toBe("sent");
    const uploads = api.calls("media/upload");
    expect(uploads.at(-1)?.bytes.toString("latin1")).toContain("application/octet-stream");
    expect(api.app.sent.at(-1)).toMatchObject({ touser: ALICE, msgtype: "image" });
  });
});
