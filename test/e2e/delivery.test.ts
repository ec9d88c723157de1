import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connectClient } from "../support/client.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";
import { startFakeTelegram, type FakeTelegram } from "../support/telegram-api/index.ts";

const BOB = { id: 43, name: "Bob" };

async function start(telegram: FakeTelegram, model: MockModel, more: { channel?: object; rest?: object; defaults?: object } = {}): Promise<TestGateway> {
  const provider = (model.config["models"] as { providers: { mock: { models: Record<string, unknown>[] } } }).providers.mock;
  provider.models = provider.models.map((known) => ({ ...known, reasoning: true }));
  const g = await startTestGateway({
    config: {
      ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" }, ...more.defaults } }, ...more.rest,
      channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42, 43], groupPolicy: "open", groups: { "*": { requireMention: true } }, ...more.channel } },
    },
  });
  await g.gateway.ready;
  await telegram.waitForCall("setMyCommands");
  return g;
}
const texts = (telegram: FakeTelegram): string[] => telegram.sent().map((message) => message.text);
const menuOf = (telegram: FakeTelegram): string[] => (telegram.bot.commands as { command: string }[]).map((entry) => entry.command);
const reactions = (telegram: FakeTelegram, messageId: number): string[] =>
  telegram.callsOf("setMessageReaction").filter((call) => call.params["message_id"] === messageId).map((call) => (call.params["reaction"] as { emoji: string }[] | undefined)?.map((item) => item.emoji).join("") ?? "");

it("commands on Telegram: the menu, pages with buttons, groups, and silence for strangers", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "from the model" }));
  await using _g = await start(telegram, model, { channel: { streaming: "off" } });

  const menu = menuOf(telegram);
  expect(menu).toEqual(expect.arrayContaining(["status", "think", "export_session", "skill", "openclaw_setup"]));
  expect(menu.filter((name) => ["config", "debug", "bash", "allowlist", "tts", "approve"].includes(name))).toEqual([]);

  telegram.text("/commands");
  await telegram.waitUntil(() => telegram.sent().length === 1);
  expect(texts(telegram)[0]).toContain("Commands (1/");
  telegram.callback("commands_page_2", { messageId: telegram.sent()[0]?.messageId ?? 0 });
  await telegram.waitUntil(() => telegram.sent().length === 2);
  expect(texts(telegram)[1]).toContain("Commands (2/");

  // Every chat may be written to once a second, so each word has a group of its own.
  let next = -100500;
  const inGroup = async (text: string, from = BOB): Promise<string> => {
    const chat = telegram.group(next--, "Team");
    telegram.text(text, { from, chat });
    return (await telegram.waitUntil(() => telegram.sent().find((message) => message.chatId === chat.id))).text;
  };
  telegram.text("/status", { from: { id: 99, name: "Mallory" }, chat: telegram.group(-100400, "Team") });
  for (const text of ["@test_bot /whoami", "/whoami@test_bot", "/whoami @test_bot"]) expect(await inGroup(text)).toContain("User id: 43");
  expect(await inGroup("/elevated full")).toContain("address me to raise rights");
  expect(await inGroup("/exec host=gateway security=full")).toContain("only /exec security=deny is heard");
  expect(await inGroup("/exec security=deny")).toBe("⚙️ Exec: security=deny.");
  expect(await inGroup("@test_bot /think high what is up?")).toBe("from the model");
  expect(model.mock.getLastRequest()?.body).toMatchObject({ reasoning_effort: "high" });
  expect(JSON.stringify(model.mock.getLastRequest()?.body)).not.toContain("/think");
  expect(telegram.sent().some((message) => message.chatId === -100400)).toBe(false);
});

it("a session that is switched off answers commands only, and a directive under a photo holds for the photo", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "from the model" }));
  await using _g = await start(telegram, model, { channel: { streaming: "off" } });

  telegram.text("/send off");
  telegram.text("hello?");
  telegram.text("/think high hello?");
  telegram.text("/whoami");
  await telegram.waitUntil(() => telegram.sent().length === 2);
  expect(texts(telegram)[1]).toContain("User id: 42");
  telegram.text("/send on");
  await telegram.waitUntil(() => telegram.sent().length === 3);
  telegram.photo({ bytes: Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"), caption: "/think high" });
  await telegram.waitUntil(() => telegram.sent().length === 4);
  expect(texts(telegram)[3]).toBe("from the model");
  expect(model.mock.getRequests()).toHaveLength(1);
  expect(model.mock.getLastRequest()?.body).toMatchObject({ reasoning_effort: "high" });
});

it("commands.text off leaves typed commands to the model where the platform has a menu", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "from the model" }));
  await using _g = await start(telegram, model, { channel: { streaming: "off" }, rest: { commands: { text: false, nativeSkills: false } } });

  expect(menuOf(telegram)).not.toContain("openclaw_setup");
  telegram.text("/id");
  await telegram.waitUntil(() => telegram.sent().length === 1);
  telegram.text("/whoami");
  await telegram.waitUntil(() => telegram.sent().length === 2);
  expect(texts(telegram)[0]).toBe("from the model");
  expect(texts(telegram)[1]).toContain("User id: 42");
});

it("tool summaries for one message, each once, with the output in its own code block", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => {
    mock.on({ hasToolResult: false }, { toolCalls: [{ name: "exec", arguments: JSON.stringify({ command: "printf 'a\\n```\\nb'" }) }] });
    mock.on({ hasToolResult: true }, { content: "done" });
  });
  await using _g = await start(telegram, model, { channel: { streaming: "off" } });

  telegram.text("/verbose full list it");
  await telegram.waitUntil(() => texts(telegram).includes("done"));
  expect(texts(telegram).map((text) => text.trim())).toEqual(["🛠️ Exec: printf 'a\\n```\\nb'", "a\n```\nb", "done"]);
});

it("status reactions follow the run, also of a message that waits, and go away when the config wants that", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => {
    mock.on({ userMessage: /more/ }, { content: "more done" });
    mock.on({ hasToolResult: false }, { toolCalls: [{ name: "exec", arguments: JSON.stringify({ command: "sleep 1.2" }) }] });
    mock.on({ hasToolResult: true }, { content: "done" });
  });
  await using _g = await start(telegram, model, {
    channel: { streaming: "off" },
    rest: { messages: { queue: { debounceMs: 1 }, ackReactionScope: "all", removeAckAfterReply: true, statusReactions: { enabled: true, emojis: { done: "🎉" }, timing: { debounceMs: 20, doneHoldMs: 30 } } } },
  });

  const first = telegram.text("work").messageId;
  await telegram.waitUntil(() => reactions(telegram, first).at(-1) === "👨‍💻");
  const second = telegram.text("more").messageId;
  await telegram.waitUntil(() => reactions(telegram, second).at(-1) === "👀");
  expect(reactions(telegram, first)).toEqual(["👀", "👨‍💻"]);
  await telegram.waitUntil(() => reactions(telegram, second).at(-1) === "");
  expect(reactions(telegram, first)).toEqual(["👀", "👨‍💻", "🎉", ""]);
  expect(reactions(telegram, second)).toEqual(["👀", "🎉", ""]);
});

it("/reasoning stream shows thoughts until the answer begins, and the answer alone stays", async () => {
  await using telegram = await startFakeTelegram();
  const thoughts = "I should think about the weather first, then about the wind, and only then say anything at all.";
  await using model = await startMockModel((mock) => mock.onMessage(/weather/, { content: "It will be sunny, and warm enough for a walk.", reasoning: thoughts }, { streamingProfile: { ttft: 20, tps: 40 } }));
  await using _g = await start(telegram, model, { channel: { streaming: "partial" } });

  telegram.text("/reasoning stream how is the weather?");
  await telegram.waitUntil(() => telegram.sent()[0]?.text.startsWith("Reasoning:\nI should"));
  await telegram.waitUntil(() => telegram.sent()[0]?.text === "It will be sunny, and warm enough for a walk.");
  expect(telegram.sent()).toHaveLength(1);

  telegram.text("/reasoning on the weather again");
  await telegram.waitUntil(() => telegram.sent().length === 3);
  expect(texts(telegram).slice(1).toSorted()).toEqual(["It will be sunny, and warm enough for a walk.", `Reasoning:\n${thoughts}`]);
  telegram.text("and the weather tomorrow");
  await telegram.waitUntil(() => telegram.sent().length === 4);
  expect(texts(telegram)[3]).not.toContain("Reasoning");
});

it("blocks come one by one with pauses, notices before them, the usage line after them, and nothing twice", async () => {
  await using telegram = await startFakeTelegram();
  const answer = `[[reply_to_current]]First part, which is long enough for a block.\n\nSecond part, which is long enough as well.\nMEDIA:./note.txt\n\nThird part, which ends it all. HEARTBEAT_OK`;
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: answer }));
  await using g = await start(telegram, model, {
    channel: { blockStreaming: true, chunkMode: "newline", blockStreamingCoalesce: { minChars: 1, maxChars: 50, idleMs: 5 } },
    defaults: { blockStreamingChunk: { minChars: 10, maxChars: 60 }, humanDelay: { mode: "custom", minMs: 1, maxMs: 2 } },
    rest: { messages: { responsePrefix: "{model}:" } },
  });
  const workspace = g.gateway.context.agents.agent("main").workspaceDir;
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, "note.txt"), "note");

  telegram.text("/usage tokens");
  await telegram.waitUntil(() => telegram.sent().length === 1);
  const { messageId } = telegram.text("/think xhigh go");
  await telegram.waitUntil(() => texts(telegram).some((text) => text.includes("Usage:")));
  const seen = telegram.sent().slice(1);
  expect(seen.map((message) => message.text)).toEqual([
    expect.stringContaining('does not offer "xhigh"'),
    "gpt-mock: First part, which is long enough for a block.",
    "gpt-mock: Second part, which is long enough as well.",
    "",
    "gpt-mock: Third part, which ends it all.",
    expect.stringMatching(/^gpt-mock: Usage: /),
  ]);
  expect(seen[1]?.replyTo).toBe(messageId);
  expect(seen[3]?.file).toBeDefined();
});

it("what the message tool said in this chat is not said again, a file it did not send is", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => {
    mock.on({ hasToolResult: false }, { toolCalls: [{ name: "message", arguments: JSON.stringify({ action: "send", message: "Here is the plan for today. NO_REPLY", target: "42" }) }] });
    mock.on({ hasToolResult: true }, { content: "[[reply_to_current]] Here is the plan for today.\nMEDIA:./plan.txt" });
  });
  await using g = await start(telegram, model);
  const workspace = g.gateway.context.agents.agent("main").workspaceDir;
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, "plan.txt"), "plan");

  telegram.text("plan?");
  await telegram.waitUntil(() => telegram.sent().some((message) => message.file));
  expect(telegram.sent().map((message) => [message.text, message.file !== undefined])).toEqual([["Here is the plan for today. NO_REPLY", false], ["", true]]);
});

it("the web chat shows the same after a reload, streamed or not, and the HTTP endpoint too", async () => {
  const raw = "<think>plan</think>[[reply_to_current]]Hello\nMEDIA:./x.png\n\n```\nNO_REPLY <think>kept</think>\n```\n\nHEARTBEAT_OK";
  const shown = "Hello\n\n```\nNO_REPLY <think>kept</think>\n```\n\n📎 ./x.png";
  await using model = await startMockModel((mock) => {
    mock.onMessage(/silent/, { content: "<think>nothing to say</think>NO_REPLY" });
    mock.onMessage(/.*/, { content: raw }, { chunkSize: 3 });
  });
  await using g = await startTestGateway({ config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } }, gateway: { mode: "local", auth: { mode: "token", token: "T" }, http: { endpoints: { chatCompletions: { enabled: true } } } } } });
  await using client = await connectClient(g.url, g.token);

  expect((await client.chat("hello")).text).toBe(shown);
  expect((await client.chat("silent")).text).toBeUndefined();
  const { messages } = await client.call<{ messages: { role: string; content: { text?: string }[] }[] }>("chat.history", { sessionKey: "main" });
  expect(messages.filter((message) => message.role === "assistant").map((message) => message.content.map((block) => block.text).join(""))).toEqual([shown]);
  for (const frame of client.frames) if (frame.event === "chat") expect(JSON.stringify(frame.payload)).not.toMatch(/plan|HEARTBEAT|MEDIA:|\[\[/);

  const ask = async (stream: boolean): Promise<string> => {
    const response = await fetch(`${g.url}/v1/chat/completions`, {
      method: "POST", headers: { authorization: "Bearer T", "content-type": "application/json" }, body: JSON.stringify({ model: "openclaw", stream, messages: [{ role: "user", content: "hello" }] }),
    });
    return response.text();
  };
  const streamed = (await ask(true)).split("\n").filter((line) => line.startsWith("data: {")).map((line) => (JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? "").join("");
  expect(streamed).toBe(shown.replace("\n\n📎 ./x.png", ""));
  expect((JSON.parse(await ask(false)) as { choices: { message: { content: string } }[] }).choices[0]?.message.content).toBe(streamed);
});
