import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { answeringModel, type Reply } from "../support/answering-model.ts";
import { type Answer, brokenProvider, piece, say, sse } from "../support/broken-provider.ts";
import { connectClient } from "../support/client.ts";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startTestGateway } from "../support/gateway.ts";
import { createCallbackSender, KEYS } from "../support/wecom-api/callback.ts";
import { ALICE, BOT, GROUP, startFakeWecom } from "../support/wecom-api/index.ts";

/** A whole gateway with the bundled extension against the emulator. */
async function world(section: object, answer: (last: string) => Reply) {
  const stack = new AsyncDisposableStack();
  const api = stack.use(await startFakeWecom());
  for (const [name, value] of Object.entries(api.env)) vi.stubEnv(name, value);
  stack.defer(() => void vi.unstubAllEnvs());
  const model = stack.use(await answeringModel(({ last }) => answer(last)));
  const stateDir = await mkdtemp(join(tmpdir(), "wecom-e2e-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  const start = () => startTestGateway({
    stateDir,
    config: {
      gateway: { mode: "local", auth: { mode: "token", token: "T" } }, models: { providers: model.providers }, messages: { queue: { debounceMs: 0 } },
      agents: { defaults: { workspace: join(stateDir, "workspace"), model: { primary: "mock/m" }, heartbeat: { every: "0m" } } },
      channels: { wecom: section },
    },
  });
  return { api, model, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
const BOT_KEYS = { botId: BOT, secret: "secret1" };

it("a person pairs and is answered once; groups and strangers are held off; send and status know the channel", async () => {
  await using w = await world(BOT_KEYS, (last) => `echo ${last.split("\n").at(-1) ?? ""}`);
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  api.injectDirect("hello");
  const text = await api.waitUntil(() => api.texts()[0], "pairing text");
  const code = /pairing approve wecom (\w+)/.exec(text)?.[1];
  expect(text).toContain(`Your WeCom user id: ${ALICE}`);
  await using client = await connectClient(g.url, g.token);
  await client.call("channels.pairing.approve", { channel: "wecom", code });
  const { body } = api.injectDirect("are you there?");
  await api.waitUntil(() => api.texts().some((said) => said.includes("echo") && said.includes("are you there?")), "answer");
  api.injectAgain(body);
  api.injectGroup("hi bot");
  api.injectDirect("/status");
  await api.waitUntil(() => api.texts().some((said) => said.includes("mock/m")), "status");
  expect(api.texts().filter((said) => said.includes("are you there?"))).toHaveLength(1);
  expect(api.texts().some((said) => said.includes("hi bot"))).toBe(false);
  const status = await client.call("channels.status", { probe: true });
  const accounts = (status as { channelAccounts: Record<string, Record<string, unknown>[]> }).channelAccounts;
  expect(accounts["wecom"]?.[0]).toMatchObject({ accountId: "default", running: true, connected: true, probe: { ok: true } });
  expect(JSON.stringify(accounts["wecom"])).toContain(`groups[\\"${GROUP}\\"]`);
  await client.call("send", { channel: "wecom", to: "user:bob", message: "by the way", idempotencyKey: "k1" });
  await api.waitUntil(() => api.bots.sent.some(({ chatid, markdown }) => chatid === "bob" && markdown?.content === "by the way"), "active message");
});

it("a listed group is answered in a growing stream; a picture reaches the model; people may get agents of their own", async () => {
  await using w = await world({ ...BOT_KEYS, groupPolicy: "open", groups: { "*": {} }, dmPolicy: "open", allowFrom: ["*"], dynamicAgents: { enabled: true, groupEnabled: false } }, (last) => (last.includes("media attached") ? "I see it" : "answer"));
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  const { reqId } = api.injectGroup("hi");
  await api.waitUntil(() => api.texts().includes("answer"), "answer");
  expect([...api.bots.streams.values()]).toMatchObject([{ reqId, content: "answer", finish: true }]);
  api.injectDirect("", { extra: { msgtype: "image", text: undefined, image: api.file(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64")) } });
  await api.waitUntil(() => api.texts().includes("I see it"), "answer to a picture");
  const storeOf = (agentId: string): Promise<string> => readFile(join(g.stateDir, "agents", agentId, "sessions", "sessions.json"), "utf8").catch(() => "");
  await vi.waitUntil(async () => (await storeOf("main")).includes(`agent:main:wecom:group:${GROUP.toLowerCase()}`) && (await storeOf(`wecom-default-dm-${ALICE}`)).includes(`agent:wecom-default-dm-${ALICE}:wecom:default:dm:${ALICE}`), { timeout: 5000 });
});

it("the final answer survives a lost acknowledgement, a rate limit and a dropped connection", async () => {
  await using w = await world({ ...BOT_KEYS, dmPolicy: "open", allowFrom: ["*"] }, (last) => `answer to ${last.split("\n").at(-1) ?? ""}`);
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  api.failFrames(1, { cmd: "aibot_respond_msg", finish: true, errcode: -1 });
  api.injectDirect("one");
  await api.waitUntil(() => api.texts().some((text) => text.includes("one")), "first answer");
  api.failFrames(1, { cmd: "aibot_respond_msg", finish: false, errcode: 846608 });
  api.injectDirect("two");
  await api.waitUntil(() => api.texts().some((text) => text.includes("two")), "second answer");
  api.dropSockets();
  await api.connected(2);
  api.injectDirect("three");
  await api.waitUntil(() => api.texts().some((text) => text.includes("three")), "third answer");
  for (const word of ["one", "two", "three"]) expect(api.texts().filter((text) => text.includes(word))).toHaveLength(1);
});

it("callbacks come through the gateway's own port without its token, and nothing else does", async () => {
  await using w = await world({ ...KEYS, dmPolicy: "open", allowFrom: ["*"], agent: { corpId: "corp1", corpSecret: "corpsecret1", agentId: 1000002, ...KEYS } }, (last) => `answer to ${last.split("\n").at(-1) ?? ""}`);
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  const bot = createCallbackSender(g.url);
  const path = "/plugins/wecom/bot/default";
  await api.waitUntil(async () => (await bot.verify(path, "echo")).status === 200, "route");
  const { body } = await bot.postJson(path, api.message("hi bot", {}, { chattype: "single" }));
  expect((await bot.pollStream(path, (body as { stream: { id: string } }).stream.id)).contents.at(-1)).toContain("answer to");
  const app = createCallbackSender(g.url, { receiveId: "corp1" });
  expect(await app.postXml("/plugins/wecom/agent/default", { FromUserName: ALICE, MsgType: "text", Content: "hi app", MsgId: "77", CreateTime: "1" })).toEqual({ status: 200, text: "success" });
  await api.waitUntil(() => api.app.sent.some(({ touser, text }) => touser === ALICE && text?.content.includes("hi app")), "answer of the app");
  expect((await fetch(`${g.url}/plugins/wecom/bot/default`, { method: "POST", body: "{}" })).status).toBe(400);
  expect((await fetch(`${g.url}/plugins/wecom/agent/default`, { method: "POST", body: `<xml>${"<a>".repeat(400_000)}` })).status).toBe(413);
  expect((await fetch(`${g.url}/plugins/wecom/bot/other`, { method: "POST", body: "{}" })).status).toBeGreaterThan(400);
});

it("killed while an answer grows: after the restart the answer stands in the same place, once", async () => {
  const half: Answer = (res) => sse(res, piece({ role: "assistant", content: "half of the answer, which is long enough to be shown" }));
  await using provider = await brokenProvider(half, say("the answer"));
  await using stack = new AsyncDisposableStack();
  const stateDir = await mkdtemp(join(tmpdir(), "wecom-kill-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  const api = stack.use(await startFakeWecom());
  await writeFile(join(stateDir, "openclaw.json"), JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: "T" } }, ...provider.config, channels: { wecom: { ...BOT_KEYS, dmPolicy: "open", allowFrom: ["*"] } } }), { mode: 0o600 });
  const kill = startGatewayProcess(stateDir, api.env);
  stack.defer(kill);
  await api.waitUntil(() => api.connections() > 0, "connection");
  api.injectDirect("a long question");
  await api.waitUntil(() => [...api.bots.streams.values()].some(({ content }) => content.startsWith("half")), "growing answer");
  await kill();
  for (const [name, value] of Object.entries(api.env)) vi.stubEnv(name, value);
  stack.defer(() => void vi.unstubAllEnvs());
  {
    await using _restarted = await startTestGateway({ stateDir });
    await api.waitUntil(() => api.texts().includes("the answer"), "answer");
  }
  expect([...api.bots.streams.values()].map(({ content, finish }) => [content, finish])).toEqual([["the answer", true]]);
  expect(api.bots.sent).toEqual([]);
});
