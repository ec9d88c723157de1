import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { GatewayStartError } from "../../src/gateway/index.ts";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";
import { startFakeTelegram, type FakeTelegram } from "../support/telegram-api/index.ts";

const configFor = (telegram: FakeTelegram, model: MockModel, more: Record<string, unknown> = {}, channel: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } },
  channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42], streamMode: "off", ...channel } }, ...more,
});
const texts = (telegram: FakeTelegram): (string | undefined)[] => telegram.sent().map((message) => message.text);
const prompts = (model: MockModel): string => JSON.stringify(model.mock.getRequests().map((entry) => (entry.body as unknown as { messages: unknown[] }).messages.at(-1)));

it.each([
  ["429 with two seconds to wait", { status: 429, body: { ok: false, error_code: 429, description: "Too Many Requests: retry after 2", parameters: { retry_after: 2 } } }, 1, 2000],
  ["502", { status: 502, body: "<html>bad gateway</html>" }, 1, 0],
  ["markup it cannot read", { status: 400, body: { ok: false, error_code: 400, description: "Bad Request: can't parse entities: unsupported start tag" } }, 1, 0],
])("Telegram answers %s to the answer: it arrives once, and the next one too", async (_name, failure, times, waitMs) => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "**pong** <3" }));
  await using g = await startTestGateway({ config: configFor(telegram, model) });
  await g.gateway.ready;
  telegram.failNext("sendMessage", times, failure);
  telegram.text("ping");
  await telegram.waitUntil(() => telegram.sent().length > 0);
  const tries = telegram.callsOf("sendMessage");
  expect((tries[1]?.atMs ?? 0) - (tries[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(waitMs);
  telegram.text("ping again");
  await telegram.waitUntil(() => telegram.sent().length > 1);
  expect(texts(telegram).map((text) => text?.replaceAll("*", ""))).toEqual(["pong <3", "pong <3"]);
});

it("the same update given twice is answered once", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "pong" }));
  await using g = await startTestGateway({ config: configFor(telegram, model) });
  await g.gateway.ready;
  for (let index = 0; index < 5; index++) telegram.text("ping", { messageId: 900 });
  telegram.text("other", { messageId: 901 });
  await telegram.waitUntil(() => telegram.pendingUpdates() === 0 && telegram.sent().length >= 2);
  expect(prompts(model).match(/ping/g)).toHaveLength(1);
  expect(telegram.sent()).toHaveLength(2);
});

it("Telegram is gone for five seconds while an answer is due: it arrives once, and messages come in again", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "pong" }, { latency: 500 }));
  await using g = await startTestGateway({ config: configFor(telegram, model) });
  await g.gateway.ready;
  telegram.text("ping");
  await expect.poll(() => model.mock.getRequests().length, { timeout: 10_000 }).toBe(1);
  await telegram.goOffline();
  await new Promise((resolve) => setTimeout(resolve, 5000)); // the length of the outage is the point
  await telegram.goOnline();
  await telegram.waitUntil(() => telegram.sent().length > 0);
  telegram.text("ping again");
  await telegram.waitUntil(() => telegram.sent().length > 1);
  expect(texts(telegram)).toEqual(["pong", "pong"]);
});

it("a burst of two hundred messages to one chat is answered in few runs; what had to give way is named", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "all read" }, { latency: 100 }));
  await using g = await startTestGateway({ config: configFor(telegram, model, { messages: { queue: { debounceMs: 200 } } }) });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  for (let index = 0; index < 200; index++) telegram.text(`message number <${index}>`);
  await expect.poll(async () => {
    const busy = g.gateway.context.conversation.isBusy("agent:main:main");
    return telegram.pendingUpdates() === 0 && !busy && prompts(model).includes("<199>");
  }, { timeout: 60_000, interval: 100 }).toBe(true);
  delay.disable();
  const read = prompts(model);
  const named = Array.from({ length: 200 }, (_, index) => index).filter((index) => read.includes(`message number <${index}>`));
  await telegram.waitUntil(() => texts(telegram).some((text) => text?.includes("could not be read at all")));
  const unread = Number(/(\d+) could not be read at all/.exec(texts(telegram).join("\n"))?.[1] ?? 0);
  expect(named.length + unread).toBe(200);
  expect(model.mock.getRequests().length).toBeLessThan(20);
  expect(delay.max / 1e6).toBeLessThan(1000);
  expect((await client.call<object>("health")) !== undefined).toBe(true);
});

it("thirty chats at once get their own answers, in their own chat", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => {
    for (let index = 0; index < 30; index++) mock.onMessage(new RegExp(`I am number ${index}!`), { content: `You are number ${index}!` }, { latency: 100 });
  });
  await using g = await startTestGateway({ config: configFor(telegram, model, { session: { dmScope: "per-channel-peer" } }, { dmPolicy: "open", allowFrom: ["*"] }) });
  await g.gateway.ready;
  for (let index = 0; index < 30; index++) telegram.text(`I am number ${index}!`, { from: { id: 5000 + index, name: `N${index}` } });
  await telegram.waitUntil(() => telegram.sent().length >= 30, "30 answers", 60_000);
  expect(telegram.sent().map((message) => [message.chatId - 5000, message.text]).toSorted((a, b) => Number(a[0]) - Number(b[0]))).toEqual(Array.from({ length: 30 }, (_, index) => [index, `You are number ${index}!`]));
});

it("fifty clients talk at the same time, and each reads its own answer", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "hello" }));
  await using g = await startTestGateway({ config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } } } });
  const clients = await Promise.all(Array.from({ length: 50 }, () => connectClient(g.url, g.token)));
  const before = process.memoryUsage().rss;
  const answers = await Promise.all(clients.map((client, index) => client.chat(`hi ${index}`, `agent:main:c${index}`).then((answer) => answer.text)));
  expect(answers).toEqual(Array.from({ length: 50 }, () => "hello"));
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
}, 120_000);

it("while the journal cannot be written, messages are not acknowledged; afterwards they are answered", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "pong" }));
  await using g = await startTestGateway({ config: configFor(telegram, model) });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  // Another process holds the write lock, as a full disk would: every write fails.
  const path = join(g.stateDir, "delivery", "journal.sqlite");
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const { updateId } = telegram.text("ping");
  await expect.poll(() => g.lines.some((line) => line.includes("message not accepted")), { timeout: 15_000 }).toBe(true);
  expect(telegram.confirmedOffset()).toBeLessThanOrEqual(updateId);
  const refused = await client.request("chat.send", { sessionKey: "main", message: "hi", idempotencyKey: randomUUID() });
  expect([refused.ok, refused.error?.message]).toEqual([false, expect.stringContaining("could not be stored")]);
  expect((await fetch(`${g.url}/healthz`)).status).toBe(200);
  other.exec("ROLLBACK");
  other.close();
  await telegram.waitUntil(() => telegram.sent().length > 0);
  expect(texts(telegram)).toEqual(["pong"]);
});

it("a chat.send that could not be stored can be sent again with the same key", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "pong" }));
  await using g = await startTestGateway({ config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } } } });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  const other = new DatabaseSync(join(g.stateDir, "delivery", "journal.sqlite"));
  other.exec("BEGIN IMMEDIATE");
  const params = { sessionKey: "main", message: "hi", idempotencyKey: "again" };
  expect((await client.request("chat.send", params)).ok).toBe(false);
  other.exec("ROLLBACK");
  other.close();
  expect((await client.request("chat.send", params)).payload?.["status"]).toBe("started");
  expect((await client.chatEnd("again")).payload?.["state"]).toBe("final");
});

it.each<[string, (dir: string) => Promise<unknown>]>([
  ["garbage", async (dir) => writeFile(join(dir, "journal.sqlite"), "this is no database ".repeat(500))],
  ["a directory", async (dir) => mkdir(join(dir, "journal.sqlite"))],
])("a journal that is %s stops the start with a clear error", async (_name, damage) => {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-attack-"));
  await mkdir(join(stateDir, "delivery"));
  await damage(join(stateDir, "delivery"));
  const started = startTestGateway({ stateDir, config: {} });
  await expect(started).rejects.toThrow(GatewayStartError);
  await expect(started).rejects.toThrow(/journal\.sqlite cannot be opened/);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

it("garbage in the middle of a transcript costs only those lines", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-attack-"));
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "pong" }));
  const config = { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" }, workspace: join(stateDir, "workspace") } } };
  let sessionId = "";
  {
    await using g = await startTestGateway({ stateDir, config });
    await using client = await connectClient(g.url, g.token);
    await client.chat("first words");
    await client.chat("second words");
    sessionId = String((await client.call("chat.history", { sessionKey: "main" }))["sessionId"]);
  }
  const path = join(stateDir, "agents", "main", "sessions", `${sessionId}.jsonl`);
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  const middle = Math.ceil(lines.length / 2);
  await writeFile(path, [...lines.slice(0, middle), "\0\0\0garbage", '{"type":"message","id":', "null", "[]", '{"type":"message","id":"zz","parentId":null,"message":null}', ...lines.slice(middle)].join("\n") + "\n");
  await using g = await startTestGateway({ stateDir, config });
  await using client = await connectClient(g.url, g.token);
  expect((await client.chat("third words")).text).toBe("pong");
  expect(prompts(model)).toContain("third words");
  const last = JSON.stringify(model.mock.getLastRequest()?.body);
  expect(last).toContain("first words");
  expect(last).toContain("second words");
  const history = JSON.stringify(await client.call("chat.history", { sessionKey: "main" }));
  for (const words of ["first words", "second words", "third words"]) expect(history).toContain(words);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
});

it("a journal that cannot be opened stops the start with a clear error", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-attack-"));
  await writeFile(join(stateDir, "openclaw.json"), JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: "T" } } }));
  await writeFile(join(stateDir, "delivery"), "in the way");
  await expect(startTestGateway({ stateDir })).rejects.toThrow(/journal|delivery/i);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});
