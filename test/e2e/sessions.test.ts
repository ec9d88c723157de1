import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { InboundMessage } from "../../src/channels/contract/index.ts";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";
import { startFakeTelegram, type FakeTelegram } from "../support/telegram-api/index.ts";

const configFor = (model: MockModel, telegram?: FakeTelegram, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } }, ...more,
  ...(telegram ? { channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42], streamMode: "off" } } } : {}),
});
const sessionsDir = (stateDir: string): string => join(stateDir, "agents", "main", "sessions");
const texts = (telegram: FakeTelegram): string[] => telegram.sent().map((message) => message.text ?? "");
const userTexts = (model: MockModel): string => JSON.stringify((model.mock.getLastRequest()?.body as { messages: unknown[] } | undefined)?.messages);

it("a session store that is a folder is named in the answer; the gateway lives, and works once it is moved away", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "well again" }));
  await using g = await startTestGateway({ config: configFor(model) });
  const path = join(sessionsDir(g.stateDir), "sessions.json");
  await mkdir(path, { recursive: true });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);

  expect(await client.chat("hello").then(({ text }) => text, (err: unknown) => String(err))).toMatch(/sessions\.json is a folder, not a file\. Move the folder away/);
  expect((await client.request("sessions.list", {})).error?.message).toMatch(/is a folder, not a file/);
  expect(g.lines.filter((line) => line.includes("session store not readable"))).toHaveLength(1);

  await rm(path, { recursive: true });
  expect((await client.chat("hello")).text).toBe("well again");
});

it("locks that dead processes left behind hold nothing up", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "no delay" }));
  await using g = await startTestGateway({ config: configFor(model) });
  await using client = await connectClient(g.url, g.token);
  await client.chat("first");
  const { sessions } = g.gateway.context;
  const entry = await sessions.get("agent:main:main");
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  const lock = JSON.stringify({ pid: dead, createdAt: new Date().toISOString() });
  await writeFile(join(sessionsDir(g.stateDir), "sessions.json.lock"), lock);
  await writeFile(`${sessions.transcriptPath("agent:main:main", entry as NonNullable<typeof entry>)}.lock`, lock);

  expect((await client.chat("second")).text).toBe("no delay");
  await sessions.update("agent:main:main", { label: "locked?" });
  const since = performance.now();
  await sessions.flush();
  expect(performance.now() - since).toBeLessThan(1000); // on a quiet machine below 100 ms; a living holder would be waited for 5 s
  expect(await readFile(join(sessionsDir(g.stateDir), "sessions.json"), "utf8")).toContain("locked?");
});

it("a new day starts a new conversation: said once, not in the middle of an answer, the old one archived, settings kept", async () => {
  const base = new Date(2026, 10, 30, 12).getTime();
  let nowMs = base;
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => {
    mock.onMessage(/slow/, { content: "slow answer" }, { latency: 500 });
    mock.onMessage(/.*/, { content: "an answer" });
  });
  await using g = await startTestGateway({ config: configFor(model, telegram, { messages: { queue: { debounceMs: 0 } } }), options: { clock: { now: () => nowMs } } });
  await g.gateway.ready;
  const { sessions, conversation } = g.gateway.context;
  const key = "agent:main:main";

  telegram.text("slow one");
  await expect.poll(() => conversation.isBusy(key)).toBe(true);
  await sessions.update(key, { thinkingLevel: "low", label: "mine" });
  nowMs = base + 20 * 3_600_000;
  telegram.text("asked while it answers");
  await telegram.waitUntil(() => texts(telegram).length === 2);
  expect(texts(telegram)).toEqual(["slow answer", "an answer"]);
  const old = await sessions.get(key);

  nowMs = base + 45 * 3_600_000;
  telegram.text("good morning");
  await telegram.waitUntil(() => texts(telegram).length === 4);
  telegram.text("and again");
  await telegram.waitUntil(() => texts(telegram).length === 5);

  expect(texts(telegram).slice(2)).toEqual(["🧹 A new conversation was started (new day).", "an answer", "an answer"]);
  const entry = await sessions.get(key);
  expect(entry?.sessionId).not.toBe(old?.sessionId);
  expect(entry).toMatchObject({ thinkingLevel: "low", label: "mine" });
  expect((await readdir(sessionsDir(g.stateDir))).filter((name) => name.startsWith(`${old?.sessionId}.jsonl.reset.`))).toHaveLength(1);
  expect(userTexts(model)).not.toContain("slow one");
});

it("a thread goes on from the conversation it was opened in, once; a parent that is too large stays outside", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "ok" }));
  await using g = await startTestGateway({ config: configFor(model, telegram, { session: { parentForkMaxTokens: 5000 } }) });
  await g.gateway.ready;
  const { sessions, conversation } = g.gateway.context;
  telegram.text("the secret word is banana");
  await telegram.waitUntil(() => texts(telegram).length === 1);
  const inThread = (threadId: string, text: string): InboundMessage => ({
    channel: "telegram", accountId: "default", messageId: `${threadId}:${text}`, chat: { id: "42", type: "direct", threadId, inheritsParent: true }, sender: { id: "42", name: "Alice" },
    text, timestampMs: Date.now(), from: "telegram:42", to: "telegram:42",
  });
  telegram.bot.chats.get(42)?.topics.add(7).add(8);

  await sessions.update("agent:main:main", { totalTokens: 100 });
  await conversation.receive(inThread("7", "which word?"));
  await telegram.waitUntil(() => texts(telegram).length === 2);
  expect(userTexts(model)).toContain("banana");
  const entry = await sessions.get("agent:main:main:thread:7");
  expect(entry).toMatchObject({ forkedFromParent: true, sessionFile: expect.stringMatching(/\d{4}-\d{2}-\d{2}T.*_[0-9a-f-]{36}\.jsonl$/) as string });
  expect(await readFile(entry?.sessionFile ?? "", "utf8")).toMatch(/^\{"type":"session","version":3,.*"parentSession":".*\.jsonl"\}\n/);
  await conversation.receive(inThread("7", "once more"));
  await telegram.waitUntil(() => texts(telegram).length === 3);
  expect(userTexts(model).match(/banana/g)).toHaveLength(1);

  await sessions.update("agent:main:main", { totalTokens: 6000 });
  await conversation.receive(inThread("8", "which word?"));
  await telegram.waitUntil(() => texts(telegram).length === 4);
  expect(userTexts(model)).not.toContain("banana");
});
