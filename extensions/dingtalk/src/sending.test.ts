import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/dingtalk-api/account.ts";
import { ALICE, GROUP } from "../../../test/support/dingtalk-api/index.ts";

const STRANGER = "$:LWCP_v1:abcDEF==";
let dir = "";
beforeAll(async () => void (dir = await mkdtemp(join(tmpdir(), "dingtalk-out-"))));
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

async function file(fileName: string, mimeType: string, bytes: Buffer | string = "bytes") {
  const path = join(dir, fileName);
  await writeFile(path, bytes);
  return { path, mimeType, fileName };
}

type Account = Awaited<ReturnType<typeof startTestAccount>>;
/** The context of a message that was just received. */
async function heard(account: Account, where: "direct" | "group" = "direct", message: Parameters<Account["api"]["injectDirect"]>[1] = {}) {
  const count = account.received.length + 1;
  if (where === "group") account.api.injectGroup("hi", message);
  else account.api.injectDirect("hi", message);
  const { to, replyContext } = await account.receivedCount(count);
  return { to, replyContext };
}

describe("an answer", () => {
  it("goes through the webhook of its message, in a group with a mention of who asked", async () => {
    await using account = await startTestAccount();
    expect((await account.send({ ...(await heard(account)), text: "plain words" })).outcome).toMatchObject({ kind: "sent" });
    await account.send({ ...(await heard(account, "group")), text: "# Title\n\nwords" });
    await account.send({ ...(await heard(account, "group")), text: "on the way", kind: "block" });
    expect(account.api.calls("sendBySession").map((call) => call.body)).toEqual([
      { msgtype: "text", text: { content: "plain words" } },
      { msgtype: "markdown", markdown: { title: "Title", text: `# Title\n\nwords @${ALICE}` }, at: { atUserIds: [ALICE], isAtAll: false } },
      { msgtype: "text", text: { content: "on the way" } },
    ]);
  });

  it("goes out as the robot when the webhook has ended or is refused; to people outside it cannot", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    await account.send({ ...(await heard(account, "direct", { webhookMs: 1 })), text: "too late" });
    const group = await heard(account, "group");
    api.expireSessions();
    await account.send({ ...group, text: "**refused**" });
    expect(api.calls("sendBySession")).toHaveLength(1);
    expect(api.calls("oToMessages")[0]?.body).toEqual({ robotCode: "app1", userIds: [ALICE], msgKey: "sampleText", msgParam: JSON.stringify({ content: "too late" }) });
    expect(api.calls("groupMessages")[0]?.body).toMatchObject({ openConversationId: GROUP, msgKey: "sampleMarkdown" });
    const { outcome } = await account.send({ ...(await heard(account, "direct", { staffId: STRANGER, webhookMs: 1 })), text: "x" });
    expect(outcome).toMatchObject({ kind: "window-expired" });
    expect((await account.send({ ...(await heard(account, "direct", { staffId: STRANGER })), text: "x" })).outcome).toMatchObject({ kind: "sent" });
  });

  it("never goes to a webhook elsewhere, nor into another chat than the one it is for", async () => {
    await using account = await startTestAccount();
    const evil = { data: { webhook: "https://evil.example/robot/sendBySession", conversationId: "c", senderId: ALICE, isGroup: false } };
    expect((await account.send({ text: "a", replyContext: evil })).outcome).toMatchObject({ kind: "sent" });
    await account.send({ text: "b", to: `group:${GROUP}`, replyContext: (await heard(account)).replyContext });
    expect(account.api.calls("sendBySession")).toHaveLength(0);
    expect(account.api.texts()).toEqual(["a", "b"]);
  });

  it("longer than a message is cut, numbered, with whole fences, and goes on after the parts that arrived", async () => {
    await using account = await startTestAccount({ start: false });
    const text = `\`\`\`js\n${"let 变量 = 1;\n".repeat(700)}\`\`\`\n\nthe end`;
    const { parts, outcome } = await account.send({ text });
    expect(outcome?.kind).toBe("sent");
    expect(parts).toEqual([0, 1, 2]);
    for (const body of account.api.texts()) {
      expect(body.length).toBeLessThanOrEqual(3800);
      expect(body.match(/```/g)?.length).toBe(2);
    }
    expect(account.api.calls("oToMessages").map((call) => (JSON.parse((call.body as { msgParam: string }).msgParam) as { title: string }).title)).toEqual(["let 变量 = 1; (1/3)", "let 变量 = 1; (2/3)", "let 变量 = 1; (3/3)"]);
    expect((await account.send({ text }, 2)).parts).toEqual([2]);
  });

  it("shows tables as lists and images only from hosts that are allowed", async () => {
    await using account = await startTestAccount({ start: false, config: { mediaUrlAllowlist: ["ok.example"] } });
    await account.send({ text: "| Name | Qty |\n| --- | --- |\n| Apple | 2 |\n\n![a](https://ok.example/1.png) ![b](https://leak.example/?q=1) ![c](/etc/passwd)" });
    expect(account.api.texts()).toEqual(["**Name: Apple**\n- Qty: 2\n\n\n![a](https://ok.example/1.png) b c"]);
  });
});

describe("files", () => {
  it("go out as image, voice with its length, and file; failures are told without the path", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const ogg = Buffer.alloc(27);
    ogg.write("OggS");
    ogg.writeBigInt64LE(96_000n, 6);
    const context = await heard(account);
    const media = [await file("图.png", "image/png"), await file("v.ogg", "audio/ogg", ogg), await file("clip.mp4", "video/mp4"), await file("a.pdf", "application/pdf")];
    expect((await account.send({ ...context, text: "see", media })).parts).toEqual([0, 1, 2, 3, 4]);
    expect([...api.platform.media.values()].map(({ type, fileName }) => [type, fileName])).toEqual([["image", "图.png"], ["voice", "v.ogg"], ["video", "clip.mp4"], ["file", "a.pdf"]]);
    const sent = api.calls("oToMessages").map((call) => call.body as { msgKey: string; msgParam: string });
    expect(sent.map((body) => body.msgKey)).toEqual(["sampleImageMsg", "sampleAudio", "sampleFile", "sampleFile"]);
    expect(JSON.parse(sent[1]?.msgParam ?? "")).toMatchObject({ duration: "2000" });
    const gone = { path: "/secret/place/gone.pdf", mimeType: "application/pdf", fileName: "gone.pdf" };
    expect((await account.send({ ...context, media: [gone, await file("big.zip", "application/zip", Buffer.alloc(21 * 1024 * 1024))] })).outcome?.kind).toBe("sent");
    expect(api.texts().slice(-2)).toEqual(["⚠️ gone.pdf could not be sent: the file cannot be read", "⚠️ big.zip could not be sent: it has 21.0 MB, DingTalk takes at most 20 MB"]);
    expect(JSON.stringify(api.calls().map((call) => call.body))).not.toContain("/secret/place");
  });

  it("that the text shows as images stand in the text; people outside get images through the webhook", async () => {
    await using account = await startTestAccount();
    const picture = await file("p.png", "image/png");
    await account.send({ text: `Look: ![p](${picture.path})`, media: [picture] });
    await account.send({ ...(await heard(account, "direct", { staffId: STRANGER })), media: [picture] });
    expect(account.api.texts()).toEqual([expect.stringMatching(/^Look: !\[p\]\(@[\w-]+\)$/), expect.stringMatching(/^!\[p\.png\]\(@[\w-]+\)$/)]);
  });
});

describe("refusals of the platform", () => {
  it("of a token lead to one new token for all that wait, on both APIs", async () => {
    await using account = await startTestAccount({ start: false });
    const { api } = account;
    await account.send({ text: "one", media: [await file("t.pdf", "application/pdf")] });
    api.expireTokens();
    const sent = await Promise.all([account.send({ text: "two" }), account.send({ text: "three" }), account.send({ media: [await file("t.pdf", "application/pdf")] })]);
    expect(sent.map(({ outcome }) => outcome?.kind)).toEqual(["sent", "sent", "sent"]);
    expect([api.calls("oauth2/accessToken").length, api.calls("gettoken").length]).toEqual([2, 2]);
  });

  it("become outcomes that say whether and when to try again", async () => {
    await using account = await startTestAccount({ plugin: { callTimeoutMs: 150 } });
    const { api } = account;
    const context = await heard(account);
    const outcome = async (fault: Parameters<typeof api.failNext>[1], message = {}) => {
      api.failNext(1, { path: "robot/", ...fault });
      return (await account.send({ text: "x", ...message })).outcome;
    };
    expect(await outcome({ status: 429, headers: { "retry-after": "7" } })).toMatchObject({ kind: "rate-limited", retryAfterMs: 7000, sentParts: 0 });
    expect(await outcome({ status: 400, body: { code: "Throttling.User" } })).toMatchObject({ kind: "rate-limited", retryAfterMs: 2000 });
    expect(await outcome({ status: 200, body: { errcode: 130101, errmsg: "send too fast" } }, context)).toMatchObject({ kind: "rate-limited", retryAfterMs: 60_000 });
    expect(await outcome({ status: 503 })).toMatchObject({ kind: "unreachable" });
    expect(await outcome({ status: 400, body: { code: "system.err" } })).toMatchObject({ kind: "unreachable" });
    expect(await outcome({ hold: true })).toMatchObject({ kind: "uncertain" });
    expect(await outcome({ status: 403, body: { code: "Forbidden.AccessDenied.AccessTokenPermissionDenied", message: "no" } })).toMatchObject({ kind: "rejected", reason: expect.stringContaining("权限管理") as string });
    expect((await account.send({ to: "user:nobody", text: "x" })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("nobody") as string });
    expect((await account.send({ to: "group:cidUnknown", text: "x" })).outcome).toMatchObject({ kind: "rejected" });
    expect((await account.send({ to: " ", text: "x" })).outcome).toMatchObject({ kind: "rejected" });
    expect((await account.send({ text: "  " })).outcome).toMatchObject({ kind: "rejected" });
  });
});

describe("reactions", () => {
  it("think aloud on the message and are taken back", async () => {
    await using account = await startTestAccount();
    const { msgId } = account.api.injectDirect("hi");
    await account.receivedCount();
    const react = (emoji: string) => account.plugin.outbound?.react?.(account.cfg, { accountId: "default", to: `user:${ALICE}` }, msgId, emoji);
    await account.api.waitUntil(() => account.api.acks.length > 0, "acknowledgement");
    for (const emoji of ["off", "emoji", ""]) await react(emoji);
    expect(account.api.calls("emotion").map(({ path, body }) => [path, (body as { emotionName: string }).emotionName])).toEqual([["/v1.0/robot/emotion/reply", "🤔思考中"], ["/v1.0/robot/emotion/recall", "🤔思考中"]]);
    expect(account.api.calls("emotion")[0]?.body).toMatchObject({ openMsgId: msgId, openConversationId: `cidDm${ALICE}` });
  });
});

describe("addresses and status", () => {
  it("keep their case; names that were heard are addresses when they are to be", async () => {
    await using account = await startTestAccount({ config: { displayNameResolution: "all" } });
    const resolve = (to: string) => account.plugin.outbound?.resolveTarget?.(account.cfg, to, "default");
    await heard(account, "group");
    await account.api.waitUntil(() => account.api.acks.length > 0, "acknowledgement");
    expect([resolve("Team"), resolve("dd:cidABc=="), resolve("dingtalk:user:Abc"), resolve("bob"), resolve("two words")]).toMatchObject([
      { ok: true, to: `group:${GROUP}` }, { ok: true, to: "group:cidABc==" }, { ok: true, to: "user:Abc" }, { ok: true, to: "user:bob" }, { ok: false },
    ]);
    expect(account.plugin.messaging?.normalizeTarget("telegram:1")).toBeUndefined();
  });

  it("the probe says whether the credentials hold", async () => {
    await using account = await startTestAccount({ start: false });
    const { plugin, cfg, api } = account;
    const probe = (): Promise<unknown> | undefined => plugin.status?.probeAccount?.(plugin.config.resolveAccount(cfg, "default"), cfg, 1000);
    expect(await probe()).toMatchObject({ ok: true, bot: { robotCode: "app1" } });
    api.failNext(1, { path: "accessToken", status: 400, body: { code: "invalidClientIdOrSecret", message: "无效" } });
    expect(await probe()).toMatchObject({ ok: false, error: expect.stringContaining("clientId") as string });
  });
});

describe("limits and actions", () => {
  it("a chat gets 20 answers a minute, the next waits instead of being shut out", async () => {
    let nowMs = Date.now();
    await using account = await startTestAccount({ plugin: { now: () => nowMs } });
    const context = await heard(account);
    for (let i = 0; i < 20; i++) expect((await account.send({ ...context, text: "x" })).outcome?.kind).toBe("sent");
    nowMs += 10_000;
    expect((await account.send({ ...context, text: "x" })).outcome).toMatchObject({ kind: "rate-limited", retryAfterMs: 50_000 });
    nowMs += 50_001;
    expect((await account.send({ ...context, text: "x" })).outcome?.kind).toBe("sent");
  });

  it("what the robot sent is taken back by its id", async () => {
    await using account = await startTestAccount({ start: false });
    const act = (action: string, params: object) => account.plugin.actions?.handleAction({ cfg: account.cfg, accountId: "default", action, params: { ...params }, signal: new AbortController().signal });
    for (const to of [`user:${ALICE}`, `group:${GROUP}`]) {
      const { outcome } = await account.send({ to, text: "oops" });
      expect(await act("unsend", { to, messageId: outcome?.kind === "sent" ? outcome.messageIds[0] : "" })).toEqual({ ok: true, deleted: true });
    }
    expect(await act("unsend", { to: `user:${ALICE}`, messageId: "gone" })).toMatchObject({ ok: false });
    await expect(act("unsend", { messageId: "m" })).rejects.toThrow("needs the chat");
    await expect(act("pin", { messageId: "m" })).rejects.toThrow("not supported");
  });
});
