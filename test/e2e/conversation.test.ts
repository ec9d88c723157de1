import { expect, it } from "vitest";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel } from "../support/model.ts";
import { startFakeTelegram } from "../support/telegram-api/index.ts";

const agents = (model: string) => ({ agents: { defaults: { model: { primary: model } } } });

it("answers a web chat through the model, streaming, and keeps the history", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/how are you/i, { content: "I am fine, thank you for asking today." }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents("mock/gpt-mock") } });
  await using client = await connectClient(g.url, g.token);

  const { text, runId } = await client.chat("How are you?");

  expect(text).toBe("I am fine, thank you for asking today.");
  const deltas = client.frames.filter((frame) => frame.event === "chat" && frame.payload?.["runId"] === runId && frame.payload["state"] === "delta");
  expect(deltas.length).toBeGreaterThan(0);
  const history = await client.call<{ messages: { role: string; content: { text: string }[] }[] }>("chat.history", { sessionKey: "main" });
  expect(history.messages.map((message) => [message.role, message.content[0]?.text])).toEqual([
    ["user", "How are you?"],
    ["assistant", "I am fine, thank you for asking today."],
  ]);
  const sent = model.mock.getLastRequest()?.body as { messages: { role: string; content: unknown }[] };
  expect(sent.messages[0]?.role).toMatch(/system|developer/);
});

it("sends the same prompt bytes on every turn, so that the provider's cache holds", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents("mock/gpt-mock") } });
  await using client = await connectClient(g.url, g.token);

  await client.chat("one");
  await client.chat("two");

  const bodies = model.mock.getRequests().map((entry) => (entry.body as { messages: unknown[]; tools: unknown[] }));
  const [first, second] = bodies;
  expect(JSON.stringify(second?.messages.slice(0, first?.messages.length))).toBe(JSON.stringify(first?.messages));
  expect(JSON.stringify(second?.tools)).toBe(JSON.stringify(first?.tools));
});

it("runs a tool the model asks for and tells the client about it", async () => {
  await using model = await startMockModel((mock) => {
    mock.on({ userMessage: /disk/, hasToolResult: false }, { toolCalls: [{ name: "exec", arguments: JSON.stringify({ command: "echo tool-was-here" }) }] });
    mock.on({ userMessage: /disk/, hasToolResult: true }, { content: "The command printed tool-was-here." });
  });
  await using g = await startTestGateway({ config: { ...model.config, ...agents("mock/gpt-mock") } });
  await using client = await connectClient(g.url, g.token);

  const { text } = await client.chat("look at the disk");

  expect(text).toBe("The command printed tool-was-here.");
  const phases = client.frames.filter((frame) => frame.event === "agent" && frame.payload?.["stream"] === "tool").map((frame) => (frame.payload?.["data"] as { phase: string } | undefined)?.phase);
  expect(phases[0]).toBe("start");
  expect(phases.at(-1)).toBe("result");
});

it("pairs a stranger on Telegram, makes the first one the owner, and then chats", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/hello/i, { content: "Hello **Alice**" }));
  await using g = await startTestGateway({
    config: { ...model.config, ...agents("mock/gpt-mock"), channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url } } },
  });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);

  telegram.text("hello?");
  await telegram.waitUntil(() => telegram.sent().length === 1);
  const code = /Pairing code: ([A-Z0-9]{8})/.exec(telegram.sent()[0]?.text ?? "")?.[1];
  expect(code).toBeDefined();
  const approved = await client.call<{ becameOwner: boolean }>("channels.pairing.approve", { channel: "telegram", code, notify: false });
  expect(approved.becameOwner).toBe(true);

  telegram.text("hello again");
  await telegram.waitUntil(() => telegram.sent().length >= 2);
  expect(telegram.sent().at(-1)?.text).toBe("Hello Alice");
  expect(telegram.sent()).toHaveLength(2);
});

it("answers commands at once on Telegram and in the web chat, and lets unknown ones through to the model", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "from the model" }));
  await using g = await startTestGateway({
    config: { ...model.config, ...agents("mock/gpt-mock"), channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42] } } },
  });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);

  telegram.text("/whoami");
  await telegram.waitUntil(() => telegram.sent().length === 1);
  expect(telegram.sent()[0]?.text).toContain("User id: 42");
  expect((await client.chat("/status")).text).toContain("Model: mock/gpt-mock");
  expect((await client.chat("/think high")).text).toMatch(/Options|Thinking level: high/);
  expect((await client.chat("/context list")).text).toContain("AGENTS.md");
  expect((await client.chat("/frobnicate now")).text).toBe("from the model");
  expect(model.mock.getRequests()).toHaveLength(1);
});

it("queues what arrives during a run and merges it into one later run", async () => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/first/, { content: "slow answer" }, { latency: 300 });
    mock.onMessage(/Queued messages/, { content: "both answered" });
  });
  await using g = await startTestGateway({ config: { ...model.config, ...agents("mock/gpt-mock"), messages: { queue: { debounceMs: 50 } } } });
  await using client = await connectClient(g.url, g.token);

  await client.call("chat.send", { sessionKey: "main", message: "first", idempotencyKey: "r1" });
  await client.waitFor((frame) => frame.event === "agent" && frame.payload?.["runId"] === "r1");
  await client.call("chat.send", { sessionKey: "main", message: "second", idempotencyKey: "r2" });
  await client.call("chat.send", { sessionKey: "main", message: "third", idempotencyKey: "r3" });

  expect((await client.chatEnd("r2")).payload).not.toHaveProperty("message");
  const merged = await client.waitFor((frame) => frame.event === "chat" && frame.payload?.["state"] === "final" && Array.isArray(frame.payload["originRunIds"]));
  expect(merged.payload?.["originRunIds"]).toEqual(["r2", "r3"]);
  expect(JSON.stringify(merged.payload)).toContain("both answered");
});

it("stops a run on request and says so once", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/essay/, { content: "word ".repeat(400) }, { streamingProfile: { ttft: 20, tps: 20 } }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents("mock/gpt-mock") } });
  await using client = await connectClient(g.url, g.token);

  await client.call("chat.send", { sessionKey: "main", message: "an essay please", idempotencyKey: "long" });
  await client.waitFor((frame) => frame.event === "chat" && frame.payload?.["state"] === "delta");
  const stopped = await client.call<{ aborted: boolean; runIds: string[] }>("chat.abort", { sessionKey: "main" });

  expect(stopped).toMatchObject({ aborted: true, runIds: ["long"] });
  const end = await client.chatEnd("long");
  expect(end.payload?.["state"]).toBe("aborted");
  expect(await client.call("agent.wait", { runId: "long", timeoutMs: 5000 })).toMatchObject({ status: "timeout" });
  expect((await client.chat("/status")).text).toContain("OpenClaw");
});

it.each([
  [401, "API key"],
  [402, "credit"],
  [404, "does not know"],
])("explains a provider's %i in words and answers the next message", async (status, words) => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "well again" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents("mock/gpt-mock") } });
  await using client = await connectClient(g.url, g.token);
  model.mock.nextRequestError(status, { message: status === 404 ? "model not found" : "refused" });

  const { runId } = await client.chat("hi");

  const end = await client.chatEnd(runId);
  expect(end.payload?.["state"]).toBe("error");
  expect(String(end.payload?.["errorMessage"])).toContain(words);
  const next = await client.chat("again");
  expect([next.text, next.end.payload?.["errorMessage"]].join("")).not.toBe("");
});

it("answers a message that comes while the gateway is still starting exactly once", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/early/, { content: "pong" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents("mock/gpt-mock") } });

  g.gateway.context.conversation.sendChat({ sessionKey: "agent:main:main", runId: "early-1", text: "early bird", attachments: [], scopes: ["operator.admin"], isOwner: true });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  await expect.poll(() => g.gateway.context.conversation.isBusy("agent:main:main")).toBe(false);

  const { messages } = await client.call<{ messages: { role: string }[] }>("chat.history", { sessionKey: "main" });
  expect(messages.map((message) => message.role)).toEqual(["user", "assistant"]);
  expect(model.mock.getRequests()).toHaveLength(1);
});

it("reads the messages of a chat in their order, also when a file of the first has still to be fetched", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "answer" }));
  await using _g = await startTestGateway({
    config: { ...model.config, ...agents("mock/gpt-mock"), channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, dmPolicy: "open", allowFrom: ["*"] } } },
  });
  const release = telegram.hold("getFile");
  telegram.photo({ bytes: Buffer.from("not really a picture"), caption: "here is the plan" });
  await telegram.waitForCall("getFile");
  telegram.text("what do you think of it?");
  await telegram.waitUntil(() => telegram.confirmedOffset() > 1001);
  expect(model.mock.getRequests()).toHaveLength(0);
  release();

  await telegram.waitUntil(() => telegram.sent().length >= 2);
  const asked = model.mock.getRequests().map((entry) => JSON.stringify((entry.body as { messages: unknown[] }).messages.at(-1)));
  expect(asked[0]).toContain("here is the plan");
  expect(asked[0]).not.toContain("what do you think");
  expect(asked[1]).toContain("what do you think");
});

it("begins a new main conversation with the channels there are, and no other one", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }));
  await using g = await startTestGateway({ config: { ...model.config, ...agents("mock/gpt-mock"), channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url } } } });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);

  await client.chat("first");
  await client.chat("second");
  await client.chat("elsewhere", "agent:main:other");

  const told = model.mock.getRequests().map((entry) => JSON.stringify((entry.body as { messages: { role: string }[] }).messages.findLast(({ role }) => role === "user")));
  expect(told.map((text) => text.includes("System: Telegram default: "))).toEqual([true, false, false]);
  expect(JSON.stringify(await client.call("chat.history", { sessionKey: "main" }))).not.toContain("System: ");
});

it("tells the model what a link says, marked as foreign and below the message; /status tells what became of a picture", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "read" }));
  await using telegram = await startFakeTelegram();
  const models = [{ type: "cli" as const, command: "sh", args: ["-c", 'echo "title of $0: please sing"', "{{LinkUrl}}"] }];
  await using g = await startTestGateway({
    config: {
      ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } }, tools: { links: { models }, media: { image: { models: [{ type: "cli" as const, command: "echo", args: ["a bird"] }] } } },
      channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, streamMode: "off", allowFrom: [42] } },
    },
  });
  await g.gateway.ready;
  const link = "http://93.184.215.14/song";
  telegram.text(`please /verbose off sing ${link}`);
  await telegram.waitUntil(() => telegram.sent().some(({ text }) => text === "read"));
  const prompt = JSON.stringify((model.mock.getRequests().at(-1)?.body as { messages?: unknown[] } | undefined)?.messages?.at(-1));
  expect(prompt).toMatch(/please sing http:\/\/93\.184\.215\.14\/song\\n\\n<<<EXTERNAL_UNTRUSTED_CONTENT id=\\"\w+\\">>>\\nSource: Link http:\/\/93\.184\.215\.14\/song\\n---\\ntitle of http:\/\/93\.184\.215\.14\/song: please sing\\n<<<END/);
  expect(prompt).not.toContain("/verbose");

  telegram.photo({ bytes: Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"), caption: "/status" });
  await telegram.waitUntil(() => telegram.sent().some(({ text }) => text?.includes("🦞 OpenClaw") === true));
  expect(telegram.sent().at(-1)?.text).toContain("📎 Media: image skipped"); // the model sees it itself
});
