import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";
import { startFakeTelegram, type FakeTelegram } from "../support/telegram-api/index.ts";

const texts = (telegram: FakeTelegram): string[] => telegram.sent().map((message) => message.text ?? "");
const lastBody = (model: MockModel): { model: string; messages: { role: string; content: unknown }[]; tools: { function: { name: string } }[] } =>
  model.mock.getLastRequest()?.body as unknown as { model: string; messages: { role: string; content: unknown }[]; tools: { function: { name: string } }[] };

it("agents live beside each other: a binding chooses one, with its own workspace, model, tools, name and sessions", async () => {
  await using telegram = await startFakeTelegram();
  const group = telegram.group(-100, "Team");
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }));
  const providers = (model.config["models"] as { providers: { mock: { models: Record<string, unknown>[] } } }).providers;
  providers.mock.models.push({ id: "gpt-work", name: "Work", contextWindow: 64_000, maxTokens: 4096, input: ["text"] });
  await using g = await startTestGateway({
    config: {
      models: { providers }, session: { dmScope: "per-channel-peer", identityLinks: { alice: ["telegram:42"] } },
      agents: {
        defaults: { model: { primary: "mock/gpt-mock" } },
        list: [{ id: "home", default: true }, { id: "work", model: "mock/gpt-work", tools: { allow: ["read"] }, identity: { name: "Wanda" } }],
      },
      bindings: [{ agentId: "work", match: { channel: "telegram", peer: { kind: "group", id: "-100" } } }],
      channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42], streamMode: "off", groups: { "-100": {} }, groupAllowFrom: ["*"] } },
    },
  });
  await g.gateway.ready;
  const { agents, sessions } = g.gateway.context;
  const workspace = agents.agent("work").workspaceDir;
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, "AGENTS.md"), "You work in the PURPLE office.");

  telegram.text("hello");
  await telegram.waitUntil(() => texts(telegram).length === 1);
  expect(lastBody(model).model).toBe("gpt-mock");
  expect(JSON.stringify(lastBody(model).messages)).not.toContain("PURPLE");

  telegram.text("Wanda, are you there?", { chat: group });
  await telegram.waitUntil(() => texts(telegram).length === 2);
  expect(lastBody(model).model).toBe("gpt-work");
  expect(JSON.stringify(lastBody(model).messages)).toContain("PURPLE");
  expect(lastBody(model).tools.map((tool) => tool.function.name)).toEqual(["read"]);

  await using client = await connectClient(g.url, g.token);
  const listed = await client.call<{ sessions: { key: string }[] }>("sessions.list", {});
  expect(listed.sessions.map(({ key }) => key).toSorted()).toEqual(["agent:home:telegram:direct:alice", "agent:work:telegram:group:-100"]);
  expect(sessions.sessionsDir("work")).toBe(join(g.stateDir, "agents", "work", "sessions"));
});

it("one session for everything: channels and clients talk in it, and each answer goes to who asked", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "in one place" }));
  await using g = await startTestGateway({
    config: {
      ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } }, session: { scope: "global" },
      channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42], streamMode: "off" } },
    },
  });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);

  telegram.text("from the phone");
  await telegram.waitUntil(() => texts(telegram).length === 1);
  expect((await client.chat("from the desk")).text).toBe("in one place");
  expect(JSON.stringify(lastBody(model).messages)).toContain("from the phone");
  expect(texts(telegram)).toEqual(["in one place"]);
  expect(await g.gateway.context.sessions.get("global")).toBeDefined();
});

it.each(["parallel", "sequential"])("a broadcast group is read by several agents (%s), each once and in a session of its own", async (strategy) => {
  await using telegram = await startFakeTelegram();
  const group = telegram.group(-100, "Team");
  await using model = await startMockModel((mock) => {
    mock.on({ model: "gpt-one" }, { content: "one says hi" }, { latency: 200 });
    mock.on({ model: "gpt-two" }, { content: "two says hi" });
  });
  const { mock } = (model.config["models"] as { providers: { mock: { models: Record<string, unknown>[] } } }).providers;
  mock.models = ["gpt-one", "gpt-two"].map((id) => ({ ...mock.models[0], id, name: id }));
  await using g = await startTestGateway({
    config: {
      ...model.config, broadcast: { strategy, "-100": ["one", "two", "unknown"] }, agents: { list: [{ id: "one", model: "mock/gpt-one" }, { id: "two", model: "mock/gpt-two" }] },
      channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, streamMode: "off", groups: { "-100": { requireMention: false } }, groupAllowFrom: ["*"] } },
    },
  });
  await g.gateway.ready;

  telegram.text("good morning all", { chat: group, messageId: 500 });
  await telegram.waitUntil(() => texts(telegram).length === 2);
  telegram.text("good morning all", { chat: group, messageId: 500 });
  await telegram.waitUntil(() => telegram.pendingUpdates() === 0);

  expect(strategy === "sequential" ? texts(telegram) : texts(telegram).toSorted()).toEqual(["one says hi", "two says hi"]);
  const sessions = await g.gateway.context.sessions.all();
  expect(sessions.map(({ key }) => key).toSorted()).toEqual(["agent:one:telegram:group:-100", "agent:two:telegram:group:-100"]);
  expect(model.mock.getRequests()).toHaveLength(2);
  expect(JSON.stringify(lastBody(model).messages)).toContain("You see every message"); // requireMention is false here
});
