import { expect, it } from "vitest";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";
import { startFakeTelegram, type FakeTelegram } from "../support/telegram-api/index.ts";

const texts = (telegram: FakeTelegram): string[] => telegram.sent().map((message) => message.text ?? "");
const eve = { id: 77, name: "Eve" };
const configFor = (model: MockModel, telegram: FakeTelegram, channel: Record<string, unknown>, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } },
  channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, streamMode: "off", allowFrom: [42], ...channel } }, ...more,
});
it("a group is answered by pattern, by name, and always or never again as /activation says; strangers cannot say it", async () => {
  await using telegram = await startFakeTelegram();
  const group = telegram.group(-100, "Team");
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "here" }));
  await using g = await startTestGateway({
    config: configFor(model, telegram, { groups: { "-100": {} }, groupPolicy: "open" }, { messages: { queue: { debounceMs: 0 }, groupChat: { mentionPatterns: ["\\bhey robot\\b", "((a+)+)+$", "(broken"] } } }),
  });
  await g.gateway.ready;
  /** `answers`: how many messages of the bot there are afterwards; what is not answered shows in the next count. */
  const say = async (text: string, answers: number, more: object = {}): Promise<void> => {
    telegram.text(text, { chat: group, ...more });
    await telegram.waitUntil(() => texts(telegram).length >= answers);
    expect(texts(telegram)).toHaveLength(answers);
  };

  await say(`nobody is meant ${"a".repeat(3000)}!`, 0);
  await say("Hey\u200b ROBOT, are you there?", 1);
  await say("/activation always", 1, { from: eve });
  await say("still nobody", 1, { from: eve });
  await say("/activation always", 2);
  await say("now anybody", 3, { from: eve });
  await say("/activation mention", 4);
  await say("nobody again", 4, { from: eve });
  await say("hey robot!", 5);
  expect(texts(telegram)).toEqual(["here", expect.stringContaining("every message"), "here", expect.stringContaining("only when I am mentioned"), "here"]);
});

it("commands obey their own lists: commands.allowFrom alone decides where it is set", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "from the model" }));
  await using g = await startTestGateway({ config: configFor(model, telegram, { dmPolicy: "open", allowFrom: ["*", 42] }, { commands: { allowFrom: { telegram: [77] } }, session: { dmScope: "per-peer" } }) });
  await g.gateway.ready;

  telegram.text("/whoami");
  telegram.text("hello");
  await telegram.waitUntil(() => texts(telegram).length === 1);
  telegram.text("/whoami", { from: eve });
  await telegram.waitUntil(() => texts(telegram).length === 2);

  expect(texts(telegram)[0]).toBe("from the model");
  expect(texts(telegram)[1]).toContain("77");
});

it("an unset policy keeps groups and strangers out, and status names the line that would let a group in", async () => {
  await using telegram = await startFakeTelegram();
  const group = telegram.group(-200, "Unknown");
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "never" }));
  await using g = await startTestGateway({ config: configFor(model, telegram, {}) });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);

  telegram.text("@test_bot hello", { chat: group });
  for (const id of [81, 82, 83, 84]) telegram.text("let me in", { from: { id, name: `S${id}` } });
  telegram.text("again", { from: { id: 81, name: "S81" } });
  await telegram.waitUntil(() => telegram.pendingUpdates() === 0 && texts(telegram).length === 3);

  expect(texts(telegram).every((text) => text.includes("Pairing code: "))).toBe(true);
  expect(new Set(telegram.sent().map(({ chatId }) => chatId))).toEqual(new Set([81, 82, 83]));
  expect(JSON.stringify(await client.call("channels.status", {}))).toContain("-200");
  expect(model.mock.getRequests()).toHaveLength(0);
});

it("a name that is spoken in a group counts: the recording is heard before it is decided, once, and is talk of the group otherwise", async () => {
  await using telegram = await startFakeTelegram();
  const group = telegram.group(-100, "Team");
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "here" }));
  // The program "hears" what the file says.
  const audio = { models: [{ type: "cli" as const, command: "cat", args: ["{{MediaPath}}"] }] };
  await using g = await startTestGateway({ config: configFor(model, telegram, { groups: { "-100": {} }, groupPolicy: "open" }, { tools: { media: { audio } }, messages: { queue: { debounceMs: 0 }, groupChat: { mentionPatterns: ["\\brobot\\b"] } } }) });
  await g.gateway.ready;
  const speak = (words: string) => telegram.voice({ bytes: Buffer.from(`OggS ${words}`) }, { chat: group, from: eve });
  speak("shall we have lunch");
  speak("robot, when is lunch?");
  await telegram.waitUntil(() => texts(telegram).includes("here"));
  expect(model.mock.getRequests()).toHaveLength(1);
  const asked = JSON.stringify((model.mock.getRequests()[0]?.body as { messages?: unknown[] } | undefined)?.messages?.at(-1));
  expect(asked).toContain("robot, when is lunch?");
  expect(asked).toContain("shall we have lunch");
});
