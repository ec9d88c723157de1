import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import { connectClient, type Frame, type TestClient } from "../support/client.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";

let model: MockModel;
let g: TestGateway;
let configBefore: string;

beforeAll(async () => {
  model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "still here" }));
  g = await startTestGateway({ config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } } } });
  await g.gateway.ready;
  configBefore = await readFile(join(g.stateDir, "openclaw.json"), "utf8");
});

afterAll(async () => {
  await g[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

/** The gateway answers, and the config is what it was. */
async function expectUnharmed(client: TestClient): Promise<void> {
  expect((await client.call("health")).ok).toBe(true);
  expect(await readFile(join(g.stateDir, "openclaw.json"), "utf8")).toBe(configBefore);
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
}

it.each([
  ["a number", "5", "invalid"],
  ["a list", "[]", "invalid"],
  ["null", "null", "invalid"],
  ["an unknown type", '{"type":"hello","id":"a"}', "a"],
  ["no method", '{"type":"req","id":"b"}', "b"],
  ["an empty id", '{"type":"req","id":"","method":"health"}', undefined],
  ["a numeric id", '{"type":"req","id":7,"method":"health"}', undefined],
  ["an object as method", '{"type":"req","id":"c","method":{}}', "c"],
  ["a surplus field", '{"type":"req","id":"d","method":"health","extra":1}', "d"],
  ["a response", '{"type":"res","id":"e","ok":true}', "e"],
])("answers a frame that is %s with what is wrong, and goes on", async (_name, frame, id) => {
  await using client = await connectClient(g.url, g.token);
  client.socket.send(frame);

  const answer = await client.waitFor((item) => item.type === "res" && item.ok === false);

  expect(answer.error?.code).toBe("INVALID_REQUEST");
  expect(answer.error?.message).toMatch(/^invalid request frame: /);
  if (id !== undefined) expect(answer.id).toBe(id);
  await expectUnharmed(client);
});

it("ignores text that is no JSON, binary rubbish and NUL bytes on a connected socket", async () => {
  await using client = await connectClient(g.url, g.token);
  for (const junk of ["{", "hello", "", "\u0000", "{\u0000}", '{"type":"req"', "NaN", "[".repeat(200_000)]) client.socket.send(junk);
  client.socket.send(Buffer.from([0, 255, 1, 254, 128]), { binary: true });

  await expectUnharmed(client);
});

it("closes a socket that breaks the WebSocket protocol, and only that one", async () => {
  await using witness = await connectClient(g.url, g.token);
  const broken = await connectClient(g.url, g.token);
  const closed = once(broken.socket, "close") as Promise<[number]>;
  // 0xff is no UTF-8; the frame says that it is text.
  broken.socket.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false });
  expect((await closed)[0]).toBe(1007);

  const large = await connectClient(g.url, g.token);
  const refused = once(large.socket, "close") as Promise<[number, Buffer]>;
  large.socket.send(Buffer.alloc(26 * 1024 * 1024 + 1, 0x61), { binary: false });
  const [code, reason] = await refused;
  expect([code, reason.toString()]).toEqual([1009, ""]);

  await expectUnharmed(witness);
});

it("answers a frame nested a thousand levels deep and one with a thousand keys", async () => {
  await using client = await connectClient(g.url, g.token);
  const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
  client.socket.send(`{"type":"req","id":"deep","method":"sessions.list","params":${deep}}`);
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])));
  client.socket.send(`{"type":"req","id":"wide","method":"sessions.list","params":${wide}}`);

  expect((await client.waitFor((frame) => frame.id === "wide")).error?.code).toBe("INVALID_REQUEST");
  // Nesting beyond any use may be refused as text that is no JSON.
  await expectUnharmed(client);
  expect(client.frames.filter((frame) => frame.id === "deep").every((frame) => frame.error?.code === "INVALID_REQUEST")).toBe(true);
});

it.each([
  ["chat.send", { sessionKey: 5, message: "x", idempotencyKey: "a" }, "/sessionKey: must be string"],
  ["chat.send", { message: "x" }, "must have required property 'sessionKey'"],
  ["chat.send", { sessionKey: "main", message: "x", idempotencyKey: "a", zzz: 1 }, "unexpected property 'zzz'"],
  ["chat.history", { sessionKey: "main", limit: 1e9 }, "/limit: must be <= 1000"],
  ["chat.history", { sessionKey: "main", limit: "ten" }, "/limit: must be"],
  ["sessions.patch", [], "invalid sessions.patch params"],
  ["sessions.list", "x", "invalid sessions.list params"],
  ["config.set", { raw: 7 }, "invalid config.set params"],
  ["device.pair.approve", {}, "must have required property 'requestId'"],
])("%s explains params of the wrong form", async (method, params, words) => {
  await using client = await connectClient(g.url, g.token);

  const answer = await client.request(method, params);

  expect(answer.error).toMatchObject({ code: "INVALID_REQUEST" });
  expect(answer.error?.message).toContain(words);
  await expectUnharmed(client);
});

it("does not let keys of JavaScript's own objects through", async () => {
  await using client = await connectClient(g.url, g.token);
  const raw = (id: string, method: string, params: string): void => client.socket.send(`{"type":"req","id":"${id}","method":"${method}","params":${params}}`);
  raw("p1", "sessions.patch", '{"key":"main","__proto__":{"polluted":1},"label":"x"}');
  raw("p2", "config.patch", JSON.stringify({ raw: '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}', baseHash: "0" }));
  raw("p3", "__proto__", "{}");
  raw("p4", "constructor", "{}");
  raw("p5", "chat.history", '{"sessionKey":"__proto__"}');
  raw("p6", "sessions.delete", '{"key":"constructor"}');

  const answers = await Promise.all(["p1", "p2", "p3", "p4", "p5", "p6"].map((id) => client.waitFor((frame) => frame.id === id)));

  expect(answers.map((frame) => (frame.ok ? "ok" : frame.error?.code)).slice(1, 4)).toEqual(["INVALID_REQUEST", "INVALID_REQUEST", "INVALID_REQUEST"]);
  await expectUnharmed(client);
});

it.each(["../../etc/passwd", "..", "a/../../b", "/etc/passwd", "C:\\x", "x\u0000y", "%2e%2e%2f"])("keeps the session key %j inside the state directory", async (key) => {
  await using client = await connectClient(g.url, g.token);

  const history = await client.request("chat.history", { sessionKey: key });
  const patched = await client.request("sessions.patch", { key, label: "probe" });
  const removed = await client.request("sessions.delete", { key, deleteTranscript: true });

  for (const frame of [history, patched, removed]) if (!frame.ok) expect(frame.error?.message).not.toBe("");
  expect(JSON.stringify([history, patched, removed])).not.toMatch(/root:x:0/);
  expect(await readFile("/etc/passwd", "utf8")).not.toBe("");
  await expectUnharmed(client);
});

it("refuses a file of the agent that lies elsewhere", async () => {
  await using client = await connectClient(g.url, g.token);
  for (const name of ["../openclaw.json", "/etc/passwd", "..", "AGENTS.md/../../openclaw.json", "AGENTS.md\u0000"]) {
    const read = await client.request("agents.files.get", { agentId: "main", name });
    const write = await client.request("agents.files.set", { agentId: "main", name, content: "owned" });
    expect([name, read.ok, write.ok]).toEqual([name, false, false]);
  }
  for (const agentId of ["../x", "..", "nobody"]) expect((await client.request("agents.files.get", { agentId, name: "AGENTS.md" })).ok).toBe(false);
  await expectUnharmed(client);
});

it("takes a chat message of ten million characters or says why not", async () => {
  await using client = await connectClient(g.url, g.token);

  const answer = await client.request("chat.send", { sessionKey: "agent:main:large", message: "x".repeat(10_000_000), idempotencyKey: "large" });

  if (answer.ok) expect((await client.chatEnd("large")).payload?.["state"]).toMatch(/final|error/);
  else expect(answer.error?.message).toMatch(/large|long|limit|bytes|characters/i);
  expect((await client.chat("hello", "agent:main:after")).text).toBe("still here");
  await expectUnharmed(client);
});

it.each([
  ["no base64", { type: "image", mimeType: "image/png", content: "***" }],
  ["rubbish that calls itself a picture", { type: "image", mimeType: "image/png", content: Buffer.from("not a picture").toString("base64") }],
  ["a type nobody knows", { type: "hologram", mimeType: "application/x-unknown", fileName: "../../evil.bin", content: Buffer.from("x").toString("base64") }],
  ["nothing", {}],
  ["a number", 5],
])("deals with an attachment that is %s", async (_name, attachment) => {
  await using client = await connectClient(g.url, g.token);

  const answer = await client.request("chat.send", { sessionKey: "agent:main:attach", message: "look", idempotencyKey: `att-${_name}`, attachments: [attachment] });

  if (answer.ok) expect((await client.chatEnd(`att-${_name}`)).payload?.["state"]).toBe("final");
  else expect(answer.error?.message.length).toBeGreaterThan(10);
  await expectUnharmed(client);
});

it("refuses a NUL byte in a chat message in words, and answers one with other control characters", async () => {
  await using client = await connectClient(g.url, g.token);
  const refused = await client.request("chat.send", { sessionKey: "agent:main:control", message: "a\u0000b", idempotencyKey: "nul" });

  expect(refused.error).toMatchObject({ code: "INVALID_REQUEST", message: expect.stringContaining("null bytes") });
  expect((await client.chat("b\u001b[31mc\u202e\ud800", "agent:main:control")).text).toBe("still here");
  await expectUnharmed(client);
});

it.each([
  ["text that is no JSON", "hello", 1000],
  ["a request other than connect", JSON.stringify({ type: "req", id: "1", method: "health" }), 1008],
  ["connect without params", JSON.stringify({ type: "req", id: "1", method: "connect" }), 1008],
  ["600 kB", JSON.stringify({ type: "req", id: "1", method: "connect", params: { pad: "x".repeat(600_000) } }), undefined],
])("closes a stranger that begins with %s", async (_name, first, code) => {
  const socket = new WebSocket(g.url.replace(/^http/, "ws"));
  const frames: Frame[] = [];
  socket.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString("utf8")) as Frame));
  socket.on("error", () => undefined);
  await once(socket, "open");
  socket.send(first);
  const [got] = (await once(socket, "close")) as [number];

  if (code !== undefined) expect(got).toBe(code);
  expect(frames.some((frame) => frame.ok === true)).toBe(false);
  await using client = await connectClient(g.url, g.token);
  await expectUnharmed(client);
});
