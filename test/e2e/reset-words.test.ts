import { expect, it } from "vitest";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel } from "../support/model.ts";

it("starts a new session on a word of session.resetTriggers, as on /new", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "fine" }));
  await using g = await startTestGateway({ config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } }, session: { resetTriggers: ["重新开始"] } } });
  await using client = await connectClient(g.url, g.token);
  const texts = async (): Promise<string[]> =>
    (await client.call<{ messages: { content: { text?: string }[] }[] }>("chat.history", { sessionKey: "main" })).messages.map((message) => message.content.map((block) => block.text ?? "").join(""));

  await client.chat("the old conversation");
  await client.chat("重新开始 with this");
  expect(await texts()).not.toContain("the old conversation");
  expect((await texts()).join()).toContain("with this");

  await client.chat("/new and this");
  expect((await texts()).join()).not.toContain("with this");
});

it("what follows /new is read as a message of its own: a model, directives, a command, or words", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "fine" }));
  const { mock } = (model.config["models"] as { providers: { mock: { models: object[] } } }).providers;
  mock.models = ["gpt-mock", "gpt-other"].map((id) => ({ id, name: id, contextWindow: 128_000, maxTokens: 8192, input: ["text"], reasoning: true }));
  await using g = await startTestGateway({ config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" }, thinkingDefault: "low" } } } });
  await using client = await connectClient(g.url, g.token);
  const asked = () => model.mock.getLastRequest()?.body as unknown as { model: string; reasoning_effort?: string; messages: { role: string }[] };
  const said = (): string => JSON.stringify(asked().messages.findLast(({ role }) => role === "user"));
  const entry = () => g.gateway.context.sessions.get("agent:main:main");

  await client.chat("/new /think high what is new?");
  expect(asked().reasoning_effort).toBe("high");
  expect(said()).toMatch(/\] what is new\?"/);
  expect((await entry())?.thinkingLevel).toBeUndefined();

  const before = (await entry())?.sessionId;
  expect((await client.chat("/reset /verbose on")).text).toBe("🔧 Tool summaries: on.");
  expect(await entry()).toMatchObject({ verboseLevel: "on" });
  expect((await entry())?.sessionId).not.toBe(before);
  expect((await client.chat("/new /status")).text).toContain("🦞 OpenClaw");

  await client.chat("/new mock gpt-other tell me");
  expect(asked().model).toBe("gpt-other");
  expect(said()).toMatch(/\] tell me"/);
  await client.chat("/new mock me gently");
  expect(said()).toMatch(/\] mock me gently"/);
});
