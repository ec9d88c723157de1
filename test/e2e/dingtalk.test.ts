import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { answeringModel, type Reply } from "../support/answering-model.ts";
import { type Answer, brokenProvider, piece, say, sse } from "../support/broken-provider.ts";
import { connectClient } from "../support/client.ts";
import { ALICE, GROUP, startFakeDingTalk } from "../support/dingtalk-api/index.ts";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startTestGateway } from "../support/gateway.ts";

/** A whole gateway with the bundled extension against the emulator. */
async function world(section: object, answer: (last: string) => Reply) {
  const stack = new AsyncDisposableStack();
  const api = stack.use(await startFakeDingTalk());
  for (const [name, value] of Object.entries(api.env)) vi.stubEnv(name, value);
  stack.defer(() => void vi.unstubAllEnvs());
  const model = stack.use(await answeringModel(({ last }) => answer(last)));
  const stateDir = await mkdtemp(join(tmpdir(), "dingtalk-e2e-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  const start = () => startTestGateway({
    stateDir,
    config: {
      gateway: { mode: "local", auth: { mode: "token", token: "T" } }, models: { providers: model.providers }, messages: { queue: { debounceMs: 0 } },
      agents: { defaults: { workspace: join(stateDir, "workspace"), model: { primary: "mock/m" }, heartbeat: { every: "0m" } } },
      channels: { dingtalk: { clientId: "app1", clientSecret: "secret1", initialReconnectDelay: 5, ...section } },
    },
  });
  return { api, model, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

it("a person pairs and is answered; groups and strangers are held off; the message tool and status know the channel", async () => {
  await using w = await world({ ackReaction: "emoji" }, (last) => `echo ${last.split("\n").at(-1) ?? ""}`);
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  api.injectDirect("hello");
  const text = await api.waitUntil(() => api.texts()[0], "pairing text");
  const code = /pairing approve dingtalk (\w+)/.exec(text)?.[1];
  expect(text).toContain(`Your DingTalk user id: ${ALICE}`);
  await using client = await connectClient(g.url, g.token);
  await client.call("channels.pairing.approve", { channel: "dingtalk", code });
  const { data } = api.injectDirect("are you there?");
  await api.waitUntil(() => api.texts().some((said) => said.includes("echo") && said.includes("are you there?")), "answer");
  const { ackId } = api.injectAgain(data);
  await api.acked(ackId);
  const denied = api.injectGroup("hi bot");
  await api.acked(denied.ackId);
  api.injectDirect("/status");
  await api.waitUntil(() => api.texts().some((said) => said.includes("mock/m")), "status");
  expect(api.texts().filter((said) => said.includes("are you there?"))).toHaveLength(1);
  expect(api.texts().some((said) => said.includes("hi bot"))).toBe(false);
  const status = await client.call("channels.status", { probe: true });
  const accounts = (status as { channelAccounts: Record<string, Record<string, unknown>[]> }).channelAccounts;
  expect(accounts["dingtalk"]?.[0]).toMatchObject({ accountId: "default", running: true, connected: true, probe: { ok: true } });
  expect(JSON.stringify(accounts["dingtalk"])).toContain(`groups[\\"${GROUP}\\"]`);
  await client.call("send", { channel: "dingtalk", to: "user:bob", message: "by the way", idempotencyKey: "k1" });
  await api.waitUntil(() => api.texts().includes("by the way"), "active message");
});

it("a group that is allowed is answered with a mention after the webhook ended, and a picture reaches the model", async () => {
  await using w = await world({ groupAllowFrom: [ALICE], groups: { "*": {} }, dmPolicy: "open", allowFrom: ["*"], ackReaction: "text" }, (last) => (last.includes("media attached") ? "I see it" : "answer"));
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  const { msgId } = api.injectGroup("hi");
  await api.waitUntil(() => api.texts()[0], "answer");
  expect(api.texts()[0]).toBe(`answer @${ALICE}`);
  expect(api.calls("emotion/reply")[0]?.body).toMatchObject({ openMsgId: msgId, emotionName: "思考中" });
  const code = api.file(Buffer.from("\x89PNG\r\n\x1a\nxx", "latin1"), "image/png");
  api.injectDirect("", { webhookMs: 1, extra: { msgtype: "picture", text: undefined, content: { downloadCode: code } } });
  await api.waitUntil(() => api.calls("oToMessages")[0], "answer as robot");
  expect(api.texts().at(-1)).toBe("I see it");
});

it("killed while a card grows: after the restart that card is closed and the answer stands in a new one, once", async () => {
  const half: Answer = (res) => sse(res, piece({ role: "assistant", content: "half of the answer, which is long enough to be shown" }));
  await using provider = await brokenProvider(half, say("the answer"));
  await using stack = new AsyncDisposableStack();
  const stateDir = await mkdtemp(join(tmpdir(), "dingtalk-kill-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  const api = stack.use(await startFakeDingTalk());
  const dingtalk = { clientId: "app1", clientSecret: "secret1", dmPolicy: "open", allowFrom: ["*"], messageType: "card", cardStreamingMode: "answer", cardStreamInterval: 200 };
  await writeFile(join(stateDir, "openclaw.json"), JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: "T" } }, ...provider.config, channels: { dingtalk } }), { mode: 0o600 });
  const cards = (): { flowStatus: string; content: string; isError: boolean }[] => [...api.platform.cards.values()];
  const kill = startGatewayProcess(stateDir, api.env);
  stack.defer(kill);
  await api.connected();
  api.injectDirect("a long question");
  await api.waitUntil(() => cards()[0]?.content.startsWith("half"), "growing card");
  await kill();
  for (const [name, value] of Object.entries(api.env)) vi.stubEnv(name, value);
  stack.defer(() => void vi.unstubAllEnvs());
  {
    await using _restarted = await startTestGateway({ stateDir });
    await api.waitUntil(() => cards()[0]?.flowStatus === "5" && cards().some((card) => card.flowStatus === "3"), "closed and finished cards");
  }
  expect(cards()).toMatchObject([{ isError: true, content: expect.stringContaining("已中断") as string }, { content: "the answer", isError: false }]);
  expect(api.texts()).toEqual([]);
});
