import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestAccount, type TestAccountOptions } from "../../../test/support/qqbot-api/account.ts";
import { textBeforeTags } from "./media-tags.ts";

const STREAMING = { streaming: { mode: "partial", c2cStreamApi: true } };

async function asked(options: TestAccountOptions = {}) {
  const account = await startTestAccount({ ...options, config: { ...STREAMING, ...options.config } });
  account.api.injectDirect("question");
  const { to, replyContext } = await account.receivedCount();
  const open = () => account.plugin.streaming?.open?.(account.cfg, { accountId: "default", to, replyContext });
  const shows = (text: string): Promise<unknown> => account.api.waitUntil(() => account.api.streams().at(-1)?.text === text, `stream with ${text}`);
  return { ...account, to, replyContext, open, shows, [Symbol.asyncDispose]: () => account[Symbol.asyncDispose]() };
}

describe("an answer that grows", () => {
  it("is one message and one reply", async () => {
    await using chat = await asked();
    const stream = chat.open();
    stream?.update("Hel");
    await chat.shows("Hel");
    stream?.update("Hello");
    await chat.shows("Hello");
    expect(await stream?.finish("Hello **world**")).toMatchObject({ kind: "replaced" });
    expect(chat.api.streams()).toMatchObject([{ text: "Hello **world**", isOpen: false, msgId: chat.received[0]?.messageId }]);
    for (const text of ["2", "3", "4", "5"]) expect((await chat.send({ to: chat.to, replyContext: chat.replyContext, text })).outcome).toMatchObject({ kind: "sent" });
    expect(await readdir(join(chat.stateDir, "qqbot", "streams"))).toEqual([]);
  });

  it("is written down anew each time: whoever dies meanwhile leaves the one before", async () => {
    await using chat = await asked();
    const stream = chat.open();
    const dir = join(chat.stateDir, "qqbot", "streams");
    const written = async (text: string): Promise<number> => {
      stream?.update(text);
      const file = async (): Promise<string> => {
        const name = (await readdir(dir).catch(() => [])).find((one) => one.endsWith(".json"));
        return name === undefined ? "" : join(dir, name);
      };
      await expect.poll(async () => readFile(await file(), "utf8").catch(() => "")).toContain(`"shown":"${text}"`);
      return (await stat(await file())).ino;
    };
    expect(await written("one")).not.toBe(await written("one and two"));
    await stream?.finish("one and two");
  });

  it("ends before its first file; the rest follows and nothing is said twice", async () => {
    await using chat = await asked();
    const stream = chat.open();
    stream?.update("Look: <qqimg>a.p");
    await chat.shows("Look:");
    const text = "Look: <qqimg>a.png</qqimg> nice";
    expect(await stream?.finish(text)).toEqual({ kind: "discarded" });
    const path = join(chat.stateDir, "a.png");
    await writeFile(path, "png");
    await chat.send({ to: chat.to, replyContext: chat.replyContext, text, media: [{ path, fileName: "a.png", mimeType: "image/png" }] });
    expect(chat.api.streams()).toMatchObject([{ text: "Look: ", isOpen: false }]);
    expect(chat.api.sent().map(({ text: words, body }) => (body["msg_type"] === 7 ? "file" : words))).toEqual(["file", "nice"]);
  });

  it("that is given up keeps what it showed, and the rest is sent", async () => {
    await using chat = await asked();
    const stream = chat.open();
    stream?.update("first half");
    await chat.shows("first half");
    await stream?.fail();
    await chat.send({ to: chat.to, replyContext: chat.replyContext, text: "first half, second half" });
    expect(chat.api.texts()).toEqual([", second half"]);
    expect(chat.api.streams()).toMatchObject([{ isOpen: false }]);
  });

  it("is sent whole when QQ does not grant streams, when it is short, and when there is no time left", async () => {
    await using chat = await asked();
    chat.api.failNext(1, { status: 403, body: { code: 11_253, message: "no permission" }, path: /stream_messages$/ });
    const refused = chat.open();
    refused?.update("half");
    await chat.api.waitUntil(() => chat.api.calls().some(({ path }) => path.endsWith("stream_messages")), "try");
    expect(await refused?.finish("whole")).toEqual({ kind: "discarded" });
    expect(await chat.open()?.finish("at once")).toEqual({ kind: "discarded" });
    await chat.send({ to: chat.to, replyContext: chat.replyContext, text: "whole" });
    expect(chat.api.texts()).toEqual(["whole"]);
    for (let reply = 0; reply < 3; reply++) await chat.send({ to: chat.to, replyContext: chat.replyContext, text: "." });
    expect(chat.open()).toBeUndefined();
  });

  it("is for people only, and only where it is asked for", async () => {
    await using chat = await asked();
    const openFor = (config: object, to = chat.to) => chat.plugin.streaming?.open?.({ channels: { qqbot: { appId: chat.api.appId, clientSecret: chat.api.secret, ...config } } }, { accountId: "default", to, replyContext: chat.replyContext });
    expect(openFor({ streaming: true })).toBeDefined();
    for (const config of [{}, { streaming: false }, { streaming: { mode: "partial" } }, { streaming: { mode: "off", c2cStreamApi: true } }, { ...STREAMING, markdownSupport: false }]) expect(openFor(config)).toBeUndefined();
    expect(openFor(STREAMING, "qqbot:group:G")).toBeUndefined();
  });

  it("that a killed process left open is ended after the restart", async () => {
    await using chat = await asked();
    const stream = chat.open();
    const ref: unknown = structuredClone(stream?.ref);
    stream?.update("half");
    await chat.shows("half");
    await expect.poll(() => readdir(join(chat.stateDir, "qqbot", "streams")).catch(() => [])).toHaveLength(1);
    await using later = await startTestAccount({ api: chat.api, start: false, stateDir: chat.stateDir, config: STREAMING });
    await later.plugin.streaming?.closeOrphan?.(later.cfg, "default", { nonsense: true });
    await later.plugin.streaming?.closeOrphan?.(later.cfg, "default", ref);
    expect(chat.api.streams()).toMatchObject([{ text: "half", isOpen: false }]);
  });

  it.each([
    ["a <qqimg>x.png</qqimg> b", "a ", "a "],
    ["a <qqim", "a <qqim", "a "],
    ["a <qqimg>x.p", "a <qqimg>x.p", "a "],
    ["1 < 2 and", "1 < 2 and", "1 < 2 and"],
    ["`<qqimg>`", "`<qqimg>`", "`<qqimg>`"],
    ["<qqvoice>a.wav</qqvoice>", "", ""],
  ])("of %j the final text shows %j, the growing one %j", (text, final, growing) => {
    expect([textBeforeTags(text, { isFinal: true }), textBeforeTags(text, { isFinal: false })]).toEqual([final, growing]);
  });
});
