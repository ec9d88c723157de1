import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connectClient, type TestClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";
import { startFakeTelegram, type FakeTelegram } from "../support/telegram-api/index.ts";

const withQueue = (model: MockModel, queue: Record<string, unknown>, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } }, messages: { queue: { debounceMs: 30, ...queue } }, ...more,
});
const onTelegram = (telegram: FakeTelegram, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42], streamMode: "off", ...more } },
});
const send = (client: TestClient, runId: string, message: string): Promise<unknown> => client.call("chat.send", { sessionKey: "main", message, idempotencyKey: runId });
const running = (client: TestClient, runId: string): Promise<unknown> => client.waitFor((frame) => frame.event === "agent" && frame.payload?.["runId"] === runId);
const answered = (client: TestClient, originRunId: string): Promise<{ payload?: Record<string, unknown> }> =>
  client.waitFor((frame) => frame.event === "chat" && frame.payload?.["state"] === "final" && (frame.payload["originRunIds"] as string[] | undefined)?.includes(originRunId) === true);
const requests = (model: MockModel): { role: string; content: unknown }[][] => model.mock.getRequests().map((entry) => (entry.body as unknown as { messages: { role: string; content: unknown }[] }).messages);
const lastUserTexts = (model: MockModel): string[] => requests(model).map((messages) => JSON.stringify(messages.findLast((message) => message.role === "user")?.content));
const texts = (telegram: FakeTelegram): string[] => telegram.sent().map((message) => message.text ?? "");

it("interrupt: the running answer is told to be aborted, and every message that came is answered", async () => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/third/, { content: "all answered" });
    mock.onMessage(/first|second/, { content: "word ".repeat(400) }, { streamingProfile: { ttft: 20, tps: 20 } });
  });
  await using g = await startTestGateway({ config: withQueue(model, { mode: "interrupt" }) });
  await using client = await connectClient(g.url, g.token);

  await send(client, "r1", "first");
  await running(client, "r1");
  await send(client, "r2", "second");
  await send(client, "r3", "third");

  expect((await client.chatEnd("r1")).payload).toMatchObject({ state: "aborted", stopReason: "interrupt" });
  expect(JSON.stringify((await answered(client, "r3")).payload)).toContain("all answered");
  expect(requests(model).flat().map((message) => JSON.stringify(message.content)).join("\n")).toContain("second");
});

it("steer: the model reads the message after the running tool, and the calls that are left are skipped", async () => {
  await using model = await startMockModel((mock) => {
    mock.on({ userMessage: /look/, hasToolResult: false }, {
      toolCalls: [
        { name: "exec", arguments: JSON.stringify({ command: "touch started; while [ ! -e go ]; do sleep 0.02; done; echo one-done" }) },
        { name: "exec", arguments: JSON.stringify({ command: "touch second-ran" }) },
      ],
    });
    mock.onMessage(/rather/, { content: "changed course" });
  });
  await using g = await startTestGateway({ config: withQueue(model, { mode: "steer" }) });
  await using client = await connectClient(g.url, g.token);
  const workspace = g.gateway.context.agents.agent("main").workspaceDir;

  await send(client, "r1", "look around");
  await expect.poll(() => existsSync(join(workspace, "started"))).toBe(true);
  await send(client, "r2", "rather do that");
  expect((await client.chatEnd("r2")).payload).not.toHaveProperty("message");
  await writeFile(join(workspace, "go"), "");

  expect(JSON.stringify((await client.chatEnd("r1")).payload)).toContain("changed course");
  const last = requests(model).at(-1) ?? [];
  expect(last.filter((message) => message.role === "tool").map((message) => JSON.stringify(message.content))).toEqual([expect.stringContaining("one-done"), expect.stringContaining("Skipped")]);
  expect(last.at(-1)).toMatchObject({ role: "user" });
  expect(existsSync(join(workspace, "second-ran"))).toBe(false);
  expect(g.gateway.context.conversation.queueDepth("agent:main:main")).toBe(0);
});

it("steer: a message that the running turn has no occasion to read is answered after it", async () => {
  await using model = await startMockModel((mock) => {
    mock.on({ userMessage: /look/, hasToolResult: false }, { toolCalls: [{ name: "exec", arguments: JSON.stringify({ command: "touch started; sleep 30" }) }] });
    mock.onMessage(/rather/, { content: "read later" });
  });
  await using g = await startTestGateway({ config: withQueue(model, { mode: "steer" }) });
  await using client = await connectClient(g.url, g.token);
  const workspace = g.gateway.context.agents.agent("main").workspaceDir;

  await send(client, "r1", "look around");
  await expect.poll(() => existsSync(join(workspace, "started"))).toBe(true);
  await send(client, "r2", "rather do that");
  await client.chatEnd("r2");
  await client.call("chat.abort", { sessionKey: "main", runId: "r1" });

  expect(JSON.stringify((await answered(client, "r2")).payload)).toContain("read later");
});

it.each([
  ["it runs out of time", { timeoutMs: 400 }, undefined],
  ["its client aborts it", {}, "chat.abort"],
])("what waits behind a run is answered when %s", async (_how, options, method) => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/slow/, { content: "word ".repeat(400) }, { streamingProfile: { ttft: 20, tps: 20 } });
    mock.onMessage(/waiting/, { content: "answered after it" });
  });
  await using g = await startTestGateway({ config: withQueue(model, { mode: "followup" }) });
  await using client = await connectClient(g.url, g.token);

  await client.call("chat.send", { sessionKey: "main", message: "slow", idempotencyKey: "r1", ...options });
  await running(client, "r1");
  await send(client, "r2", "waiting one");
  g.gateway.context.systemEvents.push("agent:main:main", "The door opened.");
  await send(client, "r3", "waiting two");
  if (method) await client.call(method, { sessionKey: "main" });

  for (const id of ["r2", "r3"]) expect(JSON.stringify((await answered(client, id)).payload)).toContain("answered after it");
  // What happened meanwhile, and that the run before was cut off, is told once, to the first of them.
  const told = lastUserTexts(model).map((text) => [text.includes("System: [") && text.includes("The door opened."), text.includes("previous run was stopped")]);
  expect(told.slice(-2)).toEqual([[true, true], [false, false]]);
});

it("a word to stop drops what waits and says so in each chat that it came from", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/slow/, { content: "word ".repeat(400) }, { streamingProfile: { ttft: 20, tps: 20 } }));
  await using g = await startTestGateway({ config: withQueue(model, {}, onTelegram(telegram)) });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);

  await send(client, "r1", "slow");
  await running(client, "r1");
  telegram.text("what is the time?");
  await expect.poll(() => g.gateway.context.conversation.queueDepth("agent:main:main")).toBe(1);
  await client.call("chat.send", { sessionKey: "main", message: "Stop!", idempotencyKey: "r2" });

  expect((await client.chatEnd("r1")).payload).toMatchObject({ state: "aborted", stopReason: "stop" });
  await telegram.waitUntil(() => texts(telegram).length === 1);
  expect(texts(telegram)[0]).toContain("The conversation was stopped. Not read: “what is the time?”");
  expect(lastUserTexts(model).join("\n")).not.toContain("what is the time?");
});

it("fifty messages in a burst cost one run more, and the model reads every one", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "all read" }, { latency: 400 }));
  await using g = await startTestGateway({ config: withQueue(model, { debounceMs: 300 }, onTelegram(telegram)) });
  await g.gateway.ready;

  for (let index = 0; index < 50; index++) telegram.text(`burst number <${index}>`);
  await telegram.waitUntil(() => texts(telegram).length >= 2);

  const read = lastUserTexts(model).join("\n");
  expect(Array.from({ length: 50 }, (_, index) => index).filter((index) => !read.includes(`<${index}>`))).toEqual([]);
  expect(model.mock.getRequests()).toHaveLength(2);
  expect(texts(telegram)).toEqual(["all read", "all read"]);
});

it("messages of different chats or rights never share a run, and each answer goes to its own chat", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => {
    mock.onMessage(/slow/, { content: "slow done" }, { latency: 300 });
    mock.onMessage(/from Alice/, { content: "to Alice" });
    mock.onMessage(/from Eve/, { content: "to Eve" });
    mock.onMessage(/from the page/, { content: "to the page" });
  });
  await using g = await startTestGateway({ config: withQueue(model, {}, onTelegram(telegram, { dmPolicy: "open", allowFrom: ["*", 42] })) });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);

  await send(client, "r1", "slow");
  await running(client, "r1");
  telegram.text("from Alice");
  telegram.text("from Eve", { from: { id: 77, name: "Eve" } });
  await expect.poll(() => g.gateway.context.conversation.queueDepth("agent:main:main")).toBe(2);
  await send(client, "r2", "from the page");

  expect(JSON.stringify((await answered(client, "r2")).payload)).toContain("to the page");
  await telegram.waitUntil(() => texts(telegram).length === 2);
  expect(telegram.sent().map((message) => [message.chatId, message.text])).toEqual([[42, "to Alice"], [77, "to Eve"]]);
  expect(model.mock.getRequests()).toHaveLength(4);
});

it("group talk that comes while the bot answers is told with the next mention", async () => {
  await using telegram = await startFakeTelegram();
  const group = telegram.group(-100, "Team");
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }, { latency: 300 }));
  await using g = await startTestGateway({ config: withQueue(model, {}, onTelegram(telegram, { groups: { "-100": {} }, groupAllowFrom: ["*"] })) });
  await g.gateway.ready;

  telegram.text("before", { chat: group });
  telegram.text("@test_bot one", { chat: group });
  await expect.poll(() => model.mock.getRequests().length).toBe(1);
  telegram.text("said meanwhile", { chat: group });
  await telegram.waitUntil(() => texts(telegram).length === 1 && telegram.pendingUpdates() === 0);
  telegram.text("@test_bot two", { chat: group });
  await telegram.waitUntil(() => texts(telegram).length === 2);

  const [first = "", second = ""] = lastUserTexts(model);
  expect([first.includes("before"), second.includes("before"), second.includes("said meanwhile")]).toEqual([true, false, true]);
});

it("a full queue that drops names what was not read, once", async () => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/slow/, { content: "slow done" }, { latency: 300 });
    mock.onMessage(/kept/, { content: "kept answered" });
  });
  await using g = await startTestGateway({ config: withQueue(model, { cap: 1, drop: "new" }) });
  await using client = await connectClient(g.url, g.token);

  await send(client, "r1", "slow");
  await running(client, "r1");
  for (const [id, text] of [["r2", "kept"], ["r3", "too much"], ["r4", "also too much"]] as const) await send(client, id, text);

  const notice = await answered(client, "r3");
  expect(notice.payload).toMatchObject({ originRunIds: ["r3", "r4"] });
  expect(JSON.stringify(notice.payload)).toContain("limit 1). Not read: “too much”, “also too much”");
  expect(JSON.stringify((await answered(client, "r2")).payload)).toContain("kept answered");
});

it.each([{ runId: "r2" }, {}])("a run that still waits for a free lane can be stopped too, as %j, and says that it was", async (named) => {
  await using model = await startMockModel((mock) => mock.onMessage(/slow/, { content: "word ".repeat(400) }, { streamingProfile: { ttft: 20, tps: 20 } }));
  await using g = await startTestGateway({ config: { ...withQueue(model, {}), agents: { defaults: { model: { primary: "mock/gpt-mock" }, maxConcurrent: 1 } } } });
  await using client = await connectClient(g.url, g.token);

  await send(client, "r1", "slow");
  await client.waitFor((frame) => frame.event === "chat" && frame.payload?.["runId"] === "r1"); // the model speaks
  await client.call("chat.send", { sessionKey: "agent:main:other", message: "slow too", idempotencyKey: "r2" });
  await expect.poll(() => g.gateway.context.agents.lanes.depth("agent:main:other")).toBe(1);

  expect(await client.call("chat.abort", { sessionKey: "agent:main:other", ...named })).toEqual({ ok: true, aborted: true, runIds: ["r2"] });
  expect((await client.chatEnd("r2")).payload).toMatchObject({ state: "aborted" });
  await client.call("chat.abort", { sessionKey: "main" });
  // The mock notes a request when it has ended.
  await expect.poll(() => model.mock.getRequests().length).toBe(1);
});

it("a word to stop drops also what is still being read, and nothing that comes after it", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "answered" }));
  await using g = await startTestGateway({ config: withQueue(model, {}, onTelegram(telegram)) });
  await g.gateway.ready;
  const release = telegram.hold("getFile");
  telegram.photo({ bytes: Buffer.from("not really a picture"), caption: "draw this" });
  await telegram.waitForCall("getFile");
  telegram.text("and that");
  telegram.text("stop");
  await telegram.waitUntil(() => texts(telegram).some((text) => text.includes("Stopped")));
  release();
  telegram.text("are you there?");
  await telegram.waitUntil(() => texts(telegram).includes("answered"));

  expect(texts(telegram)).toEqual(["⚙️ Stopped. 2 waiting message(s) dropped.", "answered"]);
  expect(lastUserTexts(model)).toEqual([expect.stringContaining("are you there?")]);
});

it.each([{ runId: "r1" }, {}])("a client may abort its message while that is still being read, as %j", async (named) => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "answered" }));
  const config = { ...withQueue(model, {}), tools: { links: { models: [{ type: "cli" as const, command: "sleep", args: ["2"] }] } } };
  await using g = await startTestGateway({ config });
  await using client = await connectClient(g.url, g.token);
  await send(client, "r1", "look at http://93.184.215.14/");

  expect(await client.call("chat.abort", { sessionKey: "main", ...named })).toEqual({ ok: true, aborted: true, runIds: ["r1"] });
  expect((await client.chatEnd("r1")).payload).toMatchObject({ state: "aborted", stopReason: "rpc" });
  expect((await client.chat("are you there?")).text).toBe("answered");
  expect(lastUserTexts(model)).toEqual([expect.stringContaining("are you there?")]);
});
