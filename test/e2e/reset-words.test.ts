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
