import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/qqbot-api/account.ts";
import { ALICE, GROUP } from "../../../test/support/qqbot-api/index.ts";
import { toWav } from "./wav.ts";

type Account = Awaited<ReturnType<typeof startTestAccount>>;
const uploads = (account: Account) => account.api.calls().filter(({ path }) => path.endsWith("/files"));
const shape = (account: Account): unknown[] => account.api.sent().map(({ text, body }) => (body["msg_type"] === 7 ? `<${(body["media"] as { file_info: string }).file_info}>` : text));

async function file(account: Account, fileName: string, mimeType: string, bytes: Buffer = randomBytes(20), asVoice = false) {
  const path = join(account.stateDir, fileName);
  await writeFile(path, bytes);
  return { path, fileName, mimeType, ...(asVoice ? { asVoice } : {}) };
}

async function asked(account: Account, where: "injectDirect" | "injectGroup" = "injectDirect") {
  const event = account.api[where]("question");
  const { to, replyContext } = await account.api.waitUntil(() => account.received.find(({ messageId }) => messageId === event["id"]), "question");
  return { to, replyContext };
}

describe("an answer", () => {
  it("with files is read in the order in which it was written; files without a tag come last", async () => {
    await using account = await startTestAccount();
    const { plugin } = account;
    const text = "First <qqimg>out/a.png</qqimg> then <qqfile>b.zip</qqfile> and <img>https://pics.example/c.jpg</img> done";
    const taken = plugin.outbound?.takeMediaTags?.(text);
    expect(taken?.media).toEqual([{ source: "out/a.png", asVoice: false }, { source: "b.zip", asVoice: false }]);
    const media = [await file(account, "extra.txt", "text/plain"), await file(account, "b.zip", "application/zip"), await file(account, "a.png", "image/png")];
    await account.send({ text: taken?.text ?? "", media });
    expect(shape(account)).toEqual(["First", "<info-1>", "then", "<info-4>", "and", "<info-1>", "done", "<info-4>"]);
    expect(uploads(account).map(({ body }) => body["file_name"] ?? body["url"])).toEqual([undefined, "b.zip", "https://pics.example/c.jpg", "extra.txt"]);
  });

  it("whose file was refused says so in its place and names no path", async () => {
    await using account = await startTestAccount();
    await account.send({ text: "see <qqimg>/etc/passwd</qqimg> here" });
    expect(shape(account)).toEqual(["see （有一个文件未能发送） here"]);
  });

  it("that needs more replies than are left is joined into them, and nothing is sent unasked", async () => {
    await using account = await startTestAccount({ config: { textChunkLimit: 100 } });
    account.api.allowActive(false);
    const target = await asked(account, "injectGroup");
    const lines = Array.from({ length: 9 }, (_, at) => `${at}`.repeat(90));
    expect((await account.send({ ...target, text: lines.join("\n") })).outcome).toMatchObject({ kind: "sent" });
    expect(account.api.texts()).toHaveLength(5);
    expect(account.api.texts().join("\n\n")).toBe(lines.join("\n\n"));
    expect(new Set(account.api.sent().map(({ body }) => body["msg_seq"])).size).toBe(5);
    expect((await account.send({ ...target, text: "more" })).outcome).toMatchObject({ kind: "window-expired" });
  });

  it("is sent on from where it stopped when QQ is busy", async () => {
    await using account = await startTestAccount({ config: { textChunkLimit: 100 } });
    const target = await asked(account);
    const text = ["a", "b", "c"].map((letter) => letter.repeat(90)).join("\n");
    await account.plugin.outbound?.sendTyping?.(account.cfg, { accountId: "default", ...target });
    const busy = (): void => account.api.failNext(1, { status: 429, body: { code: 22_009, message: "slow" }, headers: { "retry-after": "2" }, path: /messages$/ });
    const outcome = await account.plugin.outbound?.send(account.cfg, { accountId: "default", ...target, text }, { signal: new AbortController().signal, skipParts: 0, onPart: busy });
    expect(outcome).toEqual({ kind: "rate-limited", retryAfterMs: 2000, sentParts: 1 });
    await account.send({ ...target, text }, 1);
    expect(account.api.texts().map(([letter]) => letter)).toEqual(["a", "b", "c"]);
    expect(account.api.calls().filter(({ body }) => body["msg_type"] === 6)).toHaveLength(1);
  });

  it("whose answer breaks off may have arrived; a busy token service and odd words about the token lose nothing", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    api.failNext(1, { status: 200, body: {}, cut: true, path: /messages$/ });
    expect((await account.send({ text: "a" })).outcome).toMatchObject({ kind: "uncertain" });
    api.failNext(1, { status: 400, body: { code: 99, message: "access_token is gone" }, path: /messages$/ });
    expect((await account.send({ text: "b" })).outcome).toMatchObject({ kind: "sent" });
    api.expireTokens();
    api.failNext(1, { status: 200, body: { code: "100001", message: "Too many requests" }, path: /getAppAccessToken$/ });
    expect((await account.send({ text: "c" })).outcome).toMatchObject({ kind: "rate-limited" });
    api.failNext(1, { status: 200, body: { id: 7, ext_info: [] }, path: /messages$/ });
    expect((await account.send({ text: "d" })).outcome).toMatchObject({ kind: "sent", messageIds: ["7"] });
  });

  it("that QQ refuses for its Markdown or a link goes out plain; one that waits for its audit counts as sent", async () => {
    await using account = await startTestAccount();
    account.api.failNext(1, { status: 400, body: { code: 50_056, message: "markdown" }, path: /messages$/ });
    await account.send({ text: "**bold**" });
    account.api.failNext(1, { status: 400, body: { code: 304_003, message: "url" }, path: /messages$/ });
    await account.send({ text: "see https://unknown.example/x" });
    expect(account.api.sent()).toMatchObject([{ text: "bold", body: { msg_type: 0 } }, { text: "see [链接]", body: { msg_type: 0 } }]);
    account.api.failNext(1, { status: 202, body: { code: 304_023, message: "audit" }, path: /messages$/ });
    expect((await account.send({ text: "audited" })).outcome).toMatchObject({ kind: "sent" });
    account.api.failNext(1, { status: 400, body: { code: 1_100_101, message: "sensitive" }, path: /messages$/ });
    expect((await account.send({ text: "bad" })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("1100101") as string });
  });

  it("shows pictures of links in Markdown, and as files in plain text", async () => {
    await using account = await startTestAccount();
    await account.send({ text: "A ![cat](https://p.example/c.png) and https://p.example/d.jpg here\n```\n![x](https://p.example/e.png)\n```" });
    expect(account.api.texts()).toEqual(["A ![#512px #512px](https://p.example/c.png) and  here\n```\n![x](https://p.example/e.png)\n```\n![#512px #512px](https://p.example/d.jpg)"]);
    await using plain = await startTestAccount({ api: account.api, config: { markdownSupport: false } });
    await plain.send({ text: "**A** ![cat](https://p.example/c.png) end" });
    expect(shape(plain).slice(1)).toEqual(["A", "<info-1>", "end"]);
  });

  it("in the structured form becomes a file with its caption, or a reminder's words", async () => {
    await using account = await startTestAccount();
    const takeMediaTags = (text: string) => account.plugin.outbound?.takeMediaTags?.(text);
    expect(takeMediaTags('QQBOT_PAYLOAD: {"type":"media","mediaType":"audio","source":"file","path":"a.wav","caption":"listen"}')).toEqual({ text: "<qqvoice>a.wav</qqvoice>\nlisten", media: [{ source: "a.wav", asVoice: true }] });
    const reminder = { type: "cron_reminder", content: "drink water", targetType: "c2c", targetAddress: "somebody else" };
    await account.send({ text: `QQBOT_CRON:${Buffer.from(JSON.stringify(reminder)).toString("base64")}` });
    await account.send({ text: "QQBOT_PAYLOAD:{broken" });
    expect(account.api.sent()).toMatchObject([{ text: "drink water", path: `/v2/users/${ALICE}/messages` }, { text: expect.stringContaining("载荷解析失败") as string }]);
  });
});

describe("a file", () => {
  it("that is large goes in parts, waits for slow ones, and is whole; it is not uploaded twice", async () => {
    await using account = await startTestAccount({ plugin: { oneShotBytes: 2000 } });
    const bytes = randomBytes(4500);
    const media = [await file(account, "big.zip", "application/zip", bytes)];
    account.api.delayParts(2);
    expect((await account.send({ text: "here", media })).outcome).toMatchObject({ kind: "sent" });
    expect(account.api.uploadedInParts().map((whole) => createHash("md5").update(whole).digest("hex"))).toEqual([createHash("md5").update(bytes).digest("hex")]);
    await account.send({ media });
    expect(account.api.uploadedInParts()).toHaveLength(1);
    await account.send({ to: `qqbot:group:${GROUP}`, media });
    expect(account.api.uploadedInParts()).toHaveLength(2);
    account.api.failNext(1, { status: 400, body: { code: 40_093_002, message: "quota" }, path: /upload_prepare$/ });
    expect((await account.send({ media: [await file(account, "other.zip", "application/zip", randomBytes(4500))] })).outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("40093002") as string });
  });

  it("of sound goes out as silk, or as the policy says", async () => {
    await using account = await startTestAccount();
    const wav = toWav({ samples: Int16Array.from({ length: 16_000 }, (_, at) => Math.round(8000 * Math.sin(at / 10))), sampleRate: 16_000 });
    await account.send({ media: [await file(account, "a.wav", "audio/wav", wav, true)] });
    const [sent] = uploads(account);
    expect(sent?.body).toMatchObject({ file_type: 3, srv_send_msg: false });
    expect(Buffer.from(String(sent?.body["file_data"]), "base64").toString("latin1", 1, 10)).toBe("#!SILK_V3");
    for (const [config, name, type] of [[{ audioFormatPolicy: { uploadDirectFormats: ["wav"] } }, "a.wav", 3], [{ audioFormatPolicy: { transcodeEnabled: false } }, "a.wav", 3], [{ voiceDirectUploadFormats: [".mp3"], audioFormatPolicy: { transcodeEnabled: false } }, "a.wav", 4]] as const) {
      await using other = await startTestAccount({ config });
      await other.send({ media: [await file(other, name, "audio/wav", wav, true)] });
      expect(uploads(other).map(({ body }) => [body["file_type"], body["file_data"]])).toEqual([[type, wav.toString("base64")]]);
    }
  });

  it("of a link that QQ cannot fetch is fetched here", async () => {
    await using account = await startTestAccount({ config: { urlDirectUpload: true } });
    const link = account.api.file("pic.png", Buffer.from("picture"), "image/png");
    account.api.failNext(3, { status: 400, body: { code: 304_082, message: "fetch" }, path: /files$/ });
    expect((await account.send({ text: `<qqimg>${link}</qqimg>` })).outcome).toMatchObject({ kind: "sent" });
    expect(uploads(account).at(-1)?.body["file_data"]).toBe(Buffer.from("picture").toString("base64"));
    await using own = await startTestAccount({ api: account.api, config: { urlDirectUpload: false } });
    await own.send({ text: `<qqimg>${link}</qqimg>` });
    expect(uploads(own).at(-1)?.body["url"]).toBeUndefined();
  });
});
