import { readFile } from "node:fs/promises";
import { encode } from "silk-wasm";
import { describe, expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/qqbot-api/account.ts";
import { ALICE, CHANNEL, GROUP } from "../../../test/support/qqbot-api/index.ts";

describe("messages", () => {
  it("come once and in order, however often and late QQ sends them", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    api.injectDirect("one");
    api.repeat();
    const two = api.injectDirect("two");
    api.dispatch("C2C_MESSAGE_CREATE", two);
    api.dispatch("C2C_MESSAGE_CREATE", { broken: true });
    api.injectDirect("three");
    await account.receivedCount(3);
    expect(account.received.map(({ text }) => text)).toEqual(["one", "two", "three"]);
  });

  it("that the gateway cannot take come again, before the next", async () => {
    let isFull = true;
    await using account = await startTestAccount({ receive: () => (isFull ? { kind: "unavailable", reason: "disk full" } : { kind: "accepted", id: "1" }) });
    account.api.injectDirect("kept");
    await account.api.waitUntil(() => account.api.identified.length > 1, "another try");
    account.api.injectDirect("next");
    isFull = false;
    await account.receivedCount(2);
    expect(account.received.map(({ text }) => text)).toEqual(["kept", "next"]);
  });

  it("of a guild, and of a person in a guild, name their place and are answered there", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const public_ = api.injectGuild("<@!bot-1> hi <@!5>", { mentions: [{ id: "bot-1" }, { id: "5", username: "Bob" }] });
    const secret = api.injectGuildDirect("psst");
    const [first, second] = [await account.receivedCount(1), await account.receivedCount(2)];
    expect(first).toMatchObject({ text: "hi @Bob", chat: { id: `channel:${CHANNEL}`, type: "group" }, sender: { id: "77", name: "Countess" }, to: `qqbot:channel:${CHANNEL}`, mentions: { bot: true } });
    expect(first.agentText).toContain(`- 场景: 群聊 (频道: ${CHANNEL})\n`);
    expect(first.agentText).toContain(`- 投递目标: channel:${CHANNEL}\n`);
    expect(second).toMatchObject({ text: "psst", chat: { id: "77", type: "direct" }, to: "qqbot:dm:8001" });
    expect(second.agentText).toContain("- 场景: 私聊\n");
    for (const { to, replyContext } of [first, second]) await account.send({ to, replyContext, text: "1 < 2 & so <on>" });
    expect(api.sent()).toMatchObject([
      { path: `/channels/${CHANNEL}/messages`, body: { content: "1 &lt; 2 &amp; so &lt;on&gt;", msg_id: public_["id"] } },
      { path: "/dms/8001/messages", body: { msg_id: secret["id"] } },
    ]);
    await account.send({ to: first.to, text: "<img>https://pics.example/a.jpg</img> <qqvideo>https://pics.example/a.mp4</qqvideo>" });
    expect(api.sent().slice(2)).toMatchObject([{ body: { image: "https://pics.example/a.jpg" } }, { text: "https://pics.example/a.mp4" }]);
  });

  it("that quote another carry its text, also of a week ago and after a restart", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    api.injectDirect("the original", { message_scene: { ext: ["msg_idx=REFIDX_a"] } });
    const { to } = await account.receivedCount();
    await account.send({ to, text: "my own words" });
    await account.stop();
    await using later = await startTestAccount({ api, stateDir: account.stateDir });
    const quote = (ref: string): unknown => api.injectGroup("and this?", { message_scene: { ext: [`ref_msg_idx=${ref}`] } });
    quote("REFIDX_a");
    quote("REFIDX_1");
    quote("REFIDX_unknown");
    await later.receivedCount(3);
    expect(later.received.map(({ reply, mentions }) => [reply?.body, mentions?.implicit])).toEqual([["the original", false], ["my own words", true], ["（原文不可用）", false]]);
  });

  it("that quote another bring what QQ tells of it, files too, when it is not remembered", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    const picture = { content_type: "image/png", url: "https://gchat.qpic.cn/a.png", filename: "a.png" };
    api.injectDirect("what is this?", { message_type: 103, message_scene: { ext: ["ref_msg_idx=REFIDX_x"] }, msg_elements: [{ msg_idx: "REFIDX_other", content: "no" }, { msg_idx: "REFIDX_x", content: "an older word", attachments: [picture] }] });
    api.injectDirect("and this?", { message_type: 103, msg_elements: [{ attachments: [picture] }], attachments: [{ ...picture, url: "https://gchat.qpic.cn/own.png" }] });
    await account.receivedCount(2);
    expect(account.received.map(({ reply, media }) => [reply?.body, media?.map(({ ref }) => ref)])).toEqual([["an older word", ["https://gchat.qpic.cn/a.png"]], ["[附件]", ["https://gchat.qpic.cn/own.png"]]]);
  });

  it("in a group: other people's talk, commands beyond the level and other bots are left alone", async () => {
    const groups = { [GROUP]: { ignoreOtherMentions: true, commandLevel: "safety", historyLimit: 3, prompt: "Be brief." } };
    await using account = await startTestAccount({ config: { groups } });
    const { api, plugin, cfg } = account;
    const say = (content: string, more: object = {}): void => api.dispatch("GROUP_MESSAGE_CREATE", { id: `m-${content}`, content, author: { member_openid: ALICE, username: "Ada" }, group_openid: GROUP, ...more });
    say("@Bob look", { mentions: [{ member_openid: "B", username: "Bob" }] });
    say("/config show");
    say("beep", { author: { member_openid: "R", bot: true } });
    say("/status");
    say("plain");
    await account.receivedCount(2);
    expect(account.received).toMatchObject([{ text: "/status" }, { text: "plain", groupSystemPrompt: "Be brief.", mentions: { bot: false } }]);
    const chat = { id: `group:${GROUP}`, type: "group" as const };
    expect(plugin.security?.resolveAccess(plugin.config.resolveAccount(cfg, "default"), cfg, chat)).toMatchObject({ historyLimit: 3, groupListed: true });
    expect(plugin.groups?.resolveToolPolicy?.({ cfg, accountId: "default", groupId: chat.id })?.deny).toContain("group:runtime");
  });

  it("are not lost for an odd word beside them", async () => {
    await using account = await startTestAccount();
    const { api } = account;
    api.injectDirect("one", { author: { user_openid: ALICE, username: null }, attachments: null, mentions: [null, { id: 5 }], message_scene: { ext: null }, timestamp: null });
    api.injectDirect("two", { attachments: [null, "x", { content_type: "image/png", url: "https://gchat.qpic.cn/a.png", size: "large", filename: null, voice_wav_url: null }], message_scene: null });
    api.injectGroup("three", { author: { member_openid: ALICE, username: null, bot: null }, mentions: {} });
    api.injectGuild("four", { member: { nick: null, roles: null } });
    await account.receivedCount(4);
    expect(account.received.map(({ text, media }) => [text, media?.map(({ kind }) => kind)])).toEqual([["one", undefined], ["two", ["image"]], ["three", undefined], ["four", undefined]]);
  });

  it("that are a pressed button are answered in the window of the press, within the level of the group", async () => {
    await using account = await startTestAccount({ config: { groups: { [GROUP]: { commandLevel: "safety", prompt: "Be brief." } } } });
    const { api } = account;
    api.allowActive(false);
    const ids = [api.press("yes", { user_openid: ALICE }), api.press("go on", { group_openid: GROUP, group_member_openid: "M1" }), api.press("hi", { channel_id: CHANNEL, guild_id: "9001" })];
    api.press("/config set x 1", { group_openid: GROUP, group_member_openid: "M1" });
    api.dispatch("INTERACTION_CREATE", { id: "odd", data: { resolved: "x" }, user_openid: 5 });
    await account.receivedCount(3);
    await api.waitUntil(() => api.calls().filter(({ method }) => method === "PUT").length === 5, "acknowledgements");
    expect(account.received).toMatchObject([
      { text: "yes", chat: { id: ALICE, type: "direct" }, commandSource: "native", agentText: expect.stringContaining("场景: 私聊") as string },
      { text: "go on", chat: { id: `group:${GROUP}`, type: "group" }, sender: { id: "M1" }, groupSystemPrompt: "Be brief.", mentions: { bot: true } },
      { text: "hi", chat: { id: `channel:${CHANNEL}`, guildId: "9001" }, sender: { id: "77" }, to: `qqbot:channel:${CHANNEL}` },
    ]);
    for (const [at, { to, replyContext }] of account.received.entries()) expect((await account.send({ to, replyContext, text: `answer ${at}` })).outcome?.kind).toBe("sent");
    expect(api.sent().map(({ body }) => [body["event_id"], body["msg_id"], typeof body["msg_seq"]])).toEqual([[ids[0], undefined, "number"], [ids[1], undefined, "number"], [ids[2], undefined, "undefined"]]);
    const [first] = account.received;
    const target = { accountId: "default", to: first?.to ?? "", replyContext: first?.replyContext };
    await account.plugin.outbound?.sendTyping?.(account.cfg, target);
    expect([api.calls().some(({ body }) => body["msg_type"] === 6), account.plugin.streaming?.open?.({ channels: { qqbot: { appId: api.appId, clientSecret: api.secret, streaming: true } } }, target)]).toEqual([false, undefined]);
  });

  it("that are a pressed button are the text of the button; every press is acknowledged", async () => {
    await using account = await startTestAccount();
    account.api.dispatch("INTERACTION_CREATE", { id: "i1", type: 11, user_openid: ALICE, data: { resolved: { button_data: "yes" } } });
    account.api.dispatch("INTERACTION_CREATE", { id: "i2", type: 2001 });
    expect(await account.receivedCount()).toMatchObject({ text: "yes", chat: { type: "direct" } });
    await account.api.waitUntil(() => account.api.calls().filter(({ method }) => method === "PUT").length === 2, "two acknowledgements");
  });
});

describe("a recording", () => {
  it("becomes WAV unless its format is heard as it is; QQ's own WAV and words are used", async () => {
    const { data } = await encode(new Uint8Array(new Int16Array(24_000).buffer), 24_000);
    const fetched = async (config: object, attachment: (file: (name: string, bytes: Buffer, type: string) => string) => object) => {
      await using account = await startTestAccount({ config: { ...config } });
      account.api.injectDirect("", { attachments: [attachment(account.api.file)] });
      const message = await account.receivedCount();
      const [media] = message.media ?? [];
      if (!media) throw new Error("no media");
      const file = await account.plugin.gateway?.downloadMedia?.(account.cfg, "default", media, { dir: `${account.stateDir}/media/inbound`, maxBytes: 1e6, signal: new AbortController().signal });
      return { message, file, head: (await readFile(file?.path ?? "")).toString("latin1", 0, 4) };
    };
    const silk = (file: (name: string, bytes: Buffer, type: string) => string): object => ({ content_type: "voice", filename: "a.amr", url: file("a.amr", Buffer.concat([Buffer.from("#!AMR\n"), Buffer.from(data)]), "audio/amr"), asr_refer_text: "good day" });
    const converted = await fetched({}, silk);
    expect(converted).toMatchObject({ head: "RIFF", file: { mimeType: "audio/wav", path: expect.stringContaining("/media/qqbot/") as string } });
    expect(converted.message.agentText).toContain("[语音识别: good day]");
    expect(await fetched({ audioFormatPolicy: { sttDirectFormats: [".amr"] } }, silk)).toMatchObject({ head: "#!AM", file: { path: expect.stringMatching(/\.amr$/) as string } });
    expect(await fetched({}, (file) => ({ content_type: "voice", filename: "b.amr", url: "https://example.com/x", voice_wav_url: file("b.wav", Buffer.from("RIFF0000WAVE"), "audio/wav") }))).toMatchObject({ head: "RIFF", file: { mimeType: "audio/wav" } });
    expect(await fetched({}, (file) => ({ content_type: "voice", filename: "c.amr", url: file("c.amr", Buffer.from("noise"), "audio/amr") }))).toMatchObject({ head: "nois" });
  });

  it("or file on a host that is not QQ's is not fetched", async () => {
    await using account = await startTestAccount();
    const download = (ref: string): Promise<unknown> | undefined => account.plugin.gateway?.downloadMedia?.(account.cfg, "default", { kind: "image", ref }, { dir: account.stateDir, maxBytes: 10, signal: new AbortController().signal });
    await expect(download("https://evil.example/a.png")).rejects.toMatchObject({ code: "rejected" });
    await expect(download("http://127.0.0.1:1/a.png")).rejects.toMatchObject({ code: "rejected" });
    await expect(download(account.api.file("big.png", Buffer.alloc(100), "image/png"))).rejects.toMatchObject({ code: "too-large" });
    await expect(download(`${account.api.url}/media/none.png`)).rejects.toMatchObject({ code: "unreachable" });
  });
});
