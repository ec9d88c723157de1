import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { answeringModel, type Reply } from "../support/answering-model.ts";
import { type Answer, brokenProvider, piece, say, sse } from "../support/broken-provider.ts";
import { connectClient } from "../support/client.ts";
import { ALICE, APP, APP2, BOB, GROUP, startFakeFeishu } from "../support/feishu-api/index.ts";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startTestGateway } from "../support/gateway.ts";

const APP_KEYS = { appId: APP, appSecret: "secret1" };

/** A whole gateway with the built-in channel against the emulator. */
async function world(section: object, answer: (last: string) => Reply) {
  const stack = new AsyncDisposableStack();
  const api = stack.use(await startFakeFeishu());
  const model = stack.use(await answeringModel(({ last }) => answer(last)));
  const stateDir = await mkdtemp(join(tmpdir(), "feishu-e2e-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  const start = () => startTestGateway({
    stateDir, env: api.env,
    config: {
      gateway: { mode: "local", auth: { mode: "token", token: "T" } }, models: { providers: model.providers }, messages: { queue: { debounceMs: 0 } },
      agents: { defaults: { workspace: join(stateDir, "workspace"), model: { primary: "mock/m" }, heartbeat: { every: "0m" } } },
      channels: { feishu: { ...APP_KEYS, ...section } },
    },
  });
  return { api, model, start, stateDir, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

it("a person pairs and is answered once, with the sign of typing; groups and strangers are held off; status, send and the tools know the channel", async () => {
  await using w = await world({}, (last) => {
    if (last.includes("who is in the team")) return { tool: "feishu_chat", args: { action: "members", chat_id: GROUP } };
    return last.includes("Alice") && last.includes("member_id") ? "Alice and Bob" : `echo ${last.split("\n").at(-1) ?? ""}`;
  });
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  api.injectDirect("hello");
  const text = await api.waitUntil(() => api.texts()[0], "pairing text");
  expect(text).toContain(`Your Feishu user id: ${ALICE}`);
  expect(api.calls("contact/v3")).toHaveLength(0);
  await using client = await connectClient(g.url, g.token);
  await client.call("channels.pairing.approve", { channel: "feishu", code: /pairing approve feishu (\w+)/.exec(text)?.[1] });
  const asked = api.injectDirect("are you there?");
  await api.waitUntil(() => api.texts().some((said) => said.includes("echo") && said.includes("are you there?")), "answer");
  await api.acked(api.injectAgain(asked.event));
  await api.acked(api.injectGroup("hi bot").ackId);
  api.injectDirect("/status");
  await api.waitUntil(() => api.texts().some((said) => said.includes("mock/m")), "status");
  expect(api.texts().filter((said) => said.includes("are you there?"))).toHaveLength(1);
  expect(api.texts().some((said) => said.includes("hi bot"))).toBe(false);
  expect(api.sent().find((one) => one.content.includes("are you there?"))?.parentId).toBe(asked.messageId);
  api.injectDirect("who is in the team?");
  await api.waitUntil(() => api.texts().includes("Alice and Bob"), "answer from a tool");
  expect(api.calls("/reactions", "POST")[0]?.body).toEqual({ reaction_type: { emoji_type: "Typing" } });
  await api.waitUntil(() => api.reactionNames().length === 0, "removed signs of typing");
  const status = await client.call("channels.status", { probe: true });
  const accounts = (status as { channelAccounts: Record<string, Record<string, unknown>[]> }).channelAccounts;
  expect(accounts["feishu"]?.[0]).toMatchObject({ accountId: "default", running: true, connected: true, probe: { ok: true, botName: "Claw" } });
  expect(JSON.stringify(accounts["feishu"])).toContain(`channels.feishu.groups[\\"${GROUP}\\"]`);
  await client.call("send", { channel: "feishu", to: `user:${BOB}`, message: "by the way", idempotencyKey: "k1" });
  await api.waitUntil(() => api.texts().includes("by the way"), "active message");
  const { skills } = (await client.call("skills.status")) as { skills: { name: string; eligible: boolean }[] };
  expect(skills.filter(({ name }) => name.startsWith("feishu-")).map(({ name, eligible }) => [name, eligible])).toEqual([["feishu-doc", true], ["feishu-drive", true], ["feishu-perm", false], ["feishu-wiki", true]]);
});

it("a group that is listed is answered in a growing card, through 429 at its end; a picture reaches the model; two accounts answer for themselves", async () => {
  const accounts = { work: { appId: APP2, appSecret: "secret2" }, main: {} };
  await using w = await world({ renderMode: "card", groups: { [GROUP]: {} }, dmPolicy: "open", allowFrom: ["*"], accounts }, (last) => (last.includes("media attached") ? "I see it" : "a long answer that is written piece by piece"));
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected(2);
  await api.acked(api.injectGroup("not for the bot", { mention: false }).ackId);
  api.failNext(1, { path: "/content", status: 429, body: { code: 99991400, msg: "limit" }, headers: { "x-ogw-ratelimit-reset": "0" } });
  const { messageId } = api.injectGroup("hi");
  await api.waitUntil(() => api.texts().includes("a long answer that is written piece by piece"), "answer");
  expect(api.sent()).toMatchObject([{ parentId: messageId, type: "interactive", sender: { id: APP } }]);
  api.resource("om_pic", "img_1", Buffer.from("\x89PNG\r\n\x1a\nxx", "latin1"), "image/png");
  api.injectDirect("", { messageId: "om_pic", type: "image", content: { image_key: "img_1" }, appId: APP2 });
  await api.waitUntil(() => api.texts().includes("I see it"), "answer to a picture");
  expect(api.sent().at(-1)?.sender.id).toBe(APP2);
});

it("a person who writes directly gets an agent of their own, which answers from the first message on", async () => {
  await using w = await world({ dmPolicy: "open", allowFrom: ["*"], dynamicAgentCreation: { enabled: true } }, () => "hello");
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  api.injectDirect("hi");
  await api.waitUntil(() => api.texts().includes("hello"), "answer");
  await using client = await connectClient(g.url, g.token);
  const { sessions } = (await client.call("sessions.list", {})) as { sessions: { key: string }[] };
  expect(sessions.map(({ key }) => key)).toEqual(["agent:feishu-ou_alice:main"]);
});

it("the final answer survives an expired token, a rate limit and a dropped socket", async () => {
  await using w = await world({ dmPolicy: "open", allowFrom: ["*"] }, () => "here it is");
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  api.expireTokens();
  api.failNext(1, { path: "/reply", status: 429, body: { code: 99991400, msg: "limit" }, headers: { "x-ogw-ratelimit-reset": "0" } });
  api.failNext(1, { path: "/reply", loseAnswer: true });
  const { ackId } = api.injectDirect("now");
  await api.acked(ackId);
  api.dropSockets();
  await api.waitUntil(() => api.texts().includes("here it is"), "answer");
  await api.connected(2);
  await api.acked(api.injectDirect("again").ackId);
  await api.waitUntil(() => api.texts().length === 2, "second answer");
});

it("killed while a card grows: after the restart that card is closed and the answer stands in a new one, once", async () => {
  const half: Answer = (res) => sse(res, piece({ role: "assistant", content: "half of the answer, which is long enough to be shown" }));
  await using provider = await brokenProvider(half, say("the answer"));
  await using stack = new AsyncDisposableStack();
  const stateDir = await mkdtemp(join(tmpdir(), "feishu-kill-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  const api = stack.use(await startFakeFeishu());
  const feishu = { ...APP_KEYS, dmPolicy: "open", allowFrom: ["*"], renderMode: "card" };
  await writeFile(join(stateDir, "openclaw.json"), JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: "T" } }, ...provider.config, channels: { feishu } }), { mode: 0o600 });
  const kill = startGatewayProcess(stateDir, api.env);
  stack.defer(kill);
  await api.connected();
  api.injectDirect("a long question");
  await api.waitUntil(() => api.sent().length === 1 && api.cards()[0]?.text.startsWith("half"), "growing card");
  await kill();
  for (const [name, value] of Object.entries(api.env)) vi.stubEnv(name, value);
  stack.defer(() => void vi.unstubAllEnvs());
  {
    await using _restarted = await startTestGateway({ stateDir, env: api.env });
    await api.waitUntil(() => api.cards()[0]?.isStreaming === false && api.texts().includes("the answer"), "closed card and answer");
  }
  expect(api.cards()[0]).toMatchObject({ notes: [expect.stringContaining("Interrupted") as string] });
  expect(api.texts().filter((said) => said === "the answer")).toHaveLength(1);
  expect(api.cards().every((card) => !card.isStreaming)).toBe(true);
});
