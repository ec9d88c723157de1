import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "silk-wasm";
import { expect, it, vi } from "vitest";
import { answeringModel, type Reply } from "../support/answering-model.ts";
import { type Answer, brokenProvider, piece, say, sse } from "../support/broken-provider.ts";
import { connectClient } from "../support/client.ts";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startTestGateway } from "../support/gateway.ts";
import { ALICE, GROUP, startFakeQQ } from "../support/qqbot-api/index.ts";

/** A whole gateway with the bundled extension against the emulator. */
async function world(section: object, answer: (last: string) => Reply) {
  const stack = new AsyncDisposableStack();
  const api = stack.use(await startFakeQQ());
  for (const [name, value] of Object.entries(api.env)) vi.stubEnv(name, value);
  stack.defer(() => void vi.unstubAllEnvs());
  const model = stack.use(await answeringModel(({ last }) => answer(last)));
  const stateDir = await mkdtemp(join(tmpdir(), "qqbot-e2e-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  const start = () => startTestGateway({
    stateDir,
    config: {
      gateway: { mode: "local", auth: { mode: "token", token: "T" } }, models: { providers: model.providers }, messages: { queue: { debounceMs: 0 } }, session: { dmScope: "per-channel-peer" },
      agents: { defaults: { workspace: join(stateDir, "workspace"), model: { primary: "mock/m" }, heartbeat: { every: "0m" } } },
      channels: { qqbot: { appId: api.appId, clientSecret: api.secret, ...section } },
    },
  });
  return { api, model, stateDir, start, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const lastLine = (last: string): string => last.split("\n").at(-1) ?? "";

it("a person pairs and is answered once, in the window of the message; the model is told where it speaks; a denied group is named in status", async () => {
  await using w = await world({}, (last) => `echo ${lastLine(last)}`);
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  api.injectDirect("hello");
  const text = await api.waitUntil(() => api.texts()[0], "pairing text");
  expect(text).toContain(ALICE);
  await using client = await connectClient(g.url, g.token);
  await client.call("channels.pairing.approve", { channel: "qqbot", code: /pairing approve qqbot (\w+)/.exec(text)?.[1], notify: false });

  const d = api.injectDirect('<faceType=1,faceId="13",ext="eyJ0ZXh0Ijoi5ZGy54mZIn0="> are you there?');
  const reply = await api.waitUntil(() => api.sent().find((one) => one.text.startsWith("echo")), "answer");
  expect(reply).toMatchObject({ path: `/v2/users/${ALICE}/messages`, body: { msg_id: d.id, msg_type: 2, markdown: { content: expect.stringContaining("are you there?") as string } } });
  expect(typeof reply.body["msg_seq"]).toBe("number");
  const prompt = w.model.asked.at(-1)?.last ?? "";
  expect(prompt).toContain("【本次会话上下文】");
  expect(prompt).toContain(`- 投递目标: ${ALICE}`);
  expect(prompt).not.toContain("faceType");
  api.dispatch("C2C_MESSAGE_CREATE", d);
  api.injectGroup("hi bot");
  api.injectDirect("/status");
  await api.waitUntil(() => api.texts().some((said) => said.includes("mock/m")), "status");
  expect(api.texts().filter((said) => said.startsWith("echo"))).toHaveLength(1);

  const status = await client.call("channels.status", { probe: true });
  const accounts = (status as unknown as { channelAccounts: Record<string, Record<string, unknown>[]> }).channelAccounts;
  expect(accounts["qqbot"]?.[0]).toMatchObject({ accountId: "default", running: true, connected: true, probe: { ok: true, bot: { username: "Robot" } } });
  expect(JSON.stringify(accounts["qqbot"])).toContain(GROUP);
  await client.call("send", { channel: "qqbot", to: `qqbot:c2c:${ALICE}`, message: "by the way", idempotencyKey: "k1" });
  expect(api.sent().at(-1)).toMatchObject({ text: "by the way" });
  expect(api.sent().at(-1)?.body["msg_id"]).toBeUndefined();
}, 30_000);

it("files go by tag when they may, voice is heard as WAV, and what lies outside stays there", async () => {
  let answer = "";
  await using w = await world({ allowFrom: [ALICE], groupPolicy: "open", groups: { "*": { requireMention: true, historyLimit: 1 } } }, () => answer);
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.connected();
  await mkdir(join(w.stateDir, "workspace"), { recursive: true });
  await writeFile(join(w.stateDir, "workspace", "pic.png"), Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
  await writeFile(join(w.stateDir, "secret.txt"), "canary");
  answer = `Look: <qqimg>pic.png</qqimg> and <qqfile>${join(w.stateDir, "secret.txt")}</qqfile> <img>https://pics.example/a.jpg</img>`;
  api.injectDirect("show me");
  await api.waitUntil(() => api.sent().filter((one) => one.body["msg_type"] === 7).length === 2, "two pictures");
  expect(api.texts().join("\n")).toMatch(/Look:[\s\S]*secret\.txt could not be attached/);
  // As written: words, picture, words, picture.
  expect(api.sent().slice(0, 4).map(({ text, body }) => (body["msg_type"] === 7 ? "picture" : text.slice(0, 5)))).toEqual(["Look:", "picture", "and （", "picture"]);
  const uploads = api.calls().filter(({ path }) => path.endsWith("/files"));
  expect(uploads.map(({ body }) => [body["file_type"], typeof body["file_data"], body["url"]])).toEqual(expect.arrayContaining([[1, "string", undefined], [1, "undefined", "https://pics.example/a.jpg"]]));
  expect(JSON.stringify(uploads)).not.toContain(Buffer.from("canary").toString("base64"));

  answer = "heard";
  const { data } = await encode(new Uint8Array(new Int16Array(24_000).buffer), 24_000);
  api.injectDirect("", { attachments: [{ content_type: "voice", url: api.file("a.amr", Buffer.from(data), "audio/silk"), filename: "a.amr" }] });
  await api.waitUntil(() => api.texts().includes("heard"), "answer to voice");
  expect(w.model.asked.at(-1)?.last).toMatch(/\[media attached: \S+\.wav \(audio\/wav\)\]/);

  answer = "in the group";
  for (const content of ["older talk", "newer talk"]) api.dispatch("GROUP_MESSAGE_CREATE", { id: content, content, author: { member_openid: ALICE }, group_openid: GROUP });
  const d = api.injectGroup("hi");
  await api.waitUntil(() => api.texts().includes("in the group"), "group answer");
  expect(api.sent().at(-1)).toMatchObject({ path: `/v2/groups/${GROUP}/messages`, body: { msg_id: d["id"] } });
  const asked = w.model.asked.at(-1)?.last ?? "";
  expect([asked.includes("newer talk"), asked.includes("older talk"), asked.includes(`群聊 (群组: ${GROUP})`)]).toEqual([true, false, true]);
}, 30_000);

it("nothing is lost when tokens end, the socket drops, QQ is busy, the window closes or the gateway restarts", async () => {
  await using w = await world({ allowFrom: [ALICE] }, (last) => `echo ${lastLine(last)}`);
  const { api } = w;
  const answered = (word: string): Promise<unknown> => api.waitUntil(() => api.texts().some((text) => text.startsWith("echo") && text.includes(word)), `answer to ${word}`);
  {
    await using g = await w.start();
    await g.gateway.ready;
    await api.connected();
    api.expireTokens();
    api.injectDirect("one");
    await answered("one");
    api.failNext(1, { status: 429, body: { code: 22009, message: "slow down" }, headers: { "retry-after": "1" }, path: /messages$/ });
    api.injectDirect("two");
    await answered("two");
    api.dropSockets();
    api.injectDirect("three"); // replayed by the session
    await answered("three");
    expect(api.identified.at(-1)?.op).toBe(6);
    api.failNext(1, { status: 400, body: { code: 304027, message: "msg_id expired" }, path: /messages$/ });
    api.injectDirect("four");
    await answered("four");
    expect(api.sent().at(-1)?.body["msg_id"]).toBeUndefined();
    await expect.poll(() => g.gateway.context.outbox.countOpen()).toBe(0); // the gateway knows that it is out
  }
  api.injectDirect("five"); // while nobody is there
  await using g = await w.start();
  await g.gateway.ready;
  await answered("five");
  expect(api.texts().filter((text) => text.startsWith("echo")).map((text) => text.slice(5))).toEqual(["one", "two", "three", "four", "five"]);
}, 40_000);

it("killed while an answer grows: after the restart it is ended and the answer stands in a message of its own, once", async () => {
  const half: Answer = (res) => sse(res, piece({ role: "assistant", content: "half of the answer, which is long enough to be shown" }));
  await using provider = await brokenProvider(half, say("the answer"));
  await using stack = new AsyncDisposableStack();
  const stateDir = await mkdtemp(join(tmpdir(), "qqbot-kill-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  const api = stack.use(await startFakeQQ());
  const qqbot = { appId: api.appId, clientSecret: api.secret, allowFrom: [ALICE], streaming: true };
  await writeFile(join(stateDir, "openclaw.json"), JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: "T" } }, ...provider.config, channels: { qqbot } }), { mode: 0o600 });
  const kill = startGatewayProcess(stateDir, api.env);
  stack.defer(kill);
  await api.connected();
  api.injectDirect("a long question");
  await api.waitUntil(() => api.streams()[0]?.text.startsWith("half"), "growing answer");
  // Under its name it is whole.
  await expect.poll(async () => (await readdir(join(stateDir, "qqbot", "streams")).catch(() => [])).filter((name) => name.endsWith(".json"))).toHaveLength(1);
  await kill();
  for (const [name, value] of Object.entries(api.env)) vi.stubEnv(name, value);
  stack.defer(() => void vi.unstubAllEnvs());
  const stands = (): boolean => api.texts().includes("the answer") || api.streams().some(({ text, isOpen }) => text === "the answer" && !isOpen);
  {
    await using _restarted = await startTestGateway({ stateDir });
    await api.waitUntil(() => api.streams()[0]?.isOpen === false && stands(), "ended stream and the answer");
  }
  expect(api.streams()[0]).toMatchObject({ text: expect.stringMatching(/^half/) as string, isOpen: false });
  expect([...api.streams().map(({ text }) => text), ...api.texts()].filter((text) => text === "the answer")).toHaveLength(1);
});

it("by webhook: the gateway answers for the address, takes a group's event and answers in its window; nothing is connected to", async () => {
  await using w = await world({ connectionMode: "webhook", groupPolicy: "open", groups: { [GROUP]: {} } }, (last) => `echo ${lastLine(last)}`);
  const { api } = w;
  await using g = await w.start();
  await g.gateway.ready;
  await api.callAt(`${g.url}/qqbot/webhook`);
  const d = api.injectGroup("hello by http");
  const reply = await api.waitUntil(() => api.sent()[0], "answer");
  expect(reply).toMatchObject({ path: `/v2/groups/${GROUP}/messages`, text: expect.stringContaining("hello by http") as string, body: { msg_id: d["id"] } });
  expect(api.callbackAnswers()).toEqual([{ status: 200, body: { op: 12 } }]);
  expect(api.identified).toEqual([]);
});
