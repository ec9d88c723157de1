import { SessionManager } from "@mariozechner/pi-coding-agent";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { connectClient, type TestClient } from "../support/client.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startMockModel, type MockModel } from "../support/model.ts";
import { startFakeTelegram } from "../support/telegram-api/index.ts";

const T0 = Date.parse("2026-02-20T09:00:00.000Z");
const at = (minutes: number): string => new Date(T0 + minutes * 60_000).toISOString();
const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const header = (id: string, version = 3): object => ({ type: "session", version, id, timestamp: at(0), cwd: "/home/ann/.openclaw/workspace" });
const user = (text: string, minute: number): object => ({ role: "user", content: [{ type: "text", text }], timestamp: T0 + minute * 60_000 });
const assistant = (text: string, minute: number): object => ({
  role: "assistant", content: [{ type: "text", text }], api: "openai-completions", provider: "mock", model: "gpt-mock", usage, stopReason: "stop", timestamp: T0 + minute * 60_000,
});
const entry = (id: string, parentId: string | null, minute: number, fields: object): object => ({ ...fields, id, parentId, timestamp: at(minute) });
const message = (id: string, parentId: string | null, minute: number, body: object): object => entry(id, parentId, minute, { type: "message", message: body });
const lines = (...items: readonly object[]): string => items.map((item) => `${JSON.stringify(item)}\n`).join("");

/** A conversation with everything the format knows: snapshots, a dead branch, a compaction, custom entries, labels. */
const full = (id: string): string =>
  lines(
    header(id),
    entry("00000001", null, 0, { type: "model_change", provider: "mock", modelId: "gpt-mock" }),
    entry("00000002", "00000001", 0, { type: "thinking_level_change", thinkingLevel: "low" }),
    entry("00000003", "00000002", 0, { type: "custom", customType: "model-snapshot", data: { timestamp: T0, provider: "mock", modelApi: "openai-completions", modelId: "gpt-mock" } }),
    message("00000004", "00000003", 1, user("my name is Ann", 1)),
    message("00000005", "00000004", 1, assistant("Hello Ann", 1)),
    message("00000006", "00000005", 2, user("this was tried and given up", 2)),
    message("00000007", "00000006", 2, assistant("given up", 2)),
    message("00000008", "00000005", 3, user("kept question", 3)),
    message("00000009", "00000008", 3, { ...assistant("", 3), content: [{ type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.txt" } }], stopReason: "toolUse" }),
    message("0000000a", "00000009", 3, { role: "toolResult", toolCallId: "call_1", toolName: "read", content: [{ type: "text", text: "file text" }], isError: false, timestamp: T0 }),
    message("0000000b", "0000000a", 3, assistant("kept answer", 3)),
    entry("0000000c", "0000000b", 4, { type: "compaction", summary: "Ann introduced herself.", firstKeptEntryId: "00000008", tokensBefore: 900 }),
    entry("0000000d", "0000000c", 4, { type: "label", targetId: "00000008", label: "mark" }),
    entry("0000000e", "0000000d", 4, { type: "session_info", name: "Ann's chat" }),
    message("0000000f", "0000000e", 5, user("after the compaction", 5)),
    message("00000010", "0000000f", 5, assistant("the latest answer", 5)),
  );

async function stateDir(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "openclaw-state-"));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  return dir;
}

const SESSIONS = "agents/main/sessions";
const store = (entries: Record<string, object>): string => JSON.stringify(entries, null, 2);

interface World extends AsyncDisposable {
  readonly g: TestGateway;
  readonly client: TestClient;
  readonly model: MockModel;
  readonly dir: string;
  read(name: string): Promise<string>;
  history(sessionKey: string): Promise<(readonly [string, string | undefined])[]>;
}

async function open(files: Readonly<Record<string, string>>, config: Record<string, unknown> = {}): Promise<World> {
  const dir = await stateDir(files);
  const model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "a new answer" }));
  const g = await startTestGateway({
    stateDir: dir,
    config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" }, workspace: join(dir, "workspace") } }, session: { reset: { mode: "idle", idleMinutes: 10_000_000 } }, ...config },
  });
  await g.gateway.ready;
  const client = await connectClient(g.url, g.token);
  return {
    g, client, model, dir,
    read: (name) => readFile(join(dir, name), "utf8"),
    async history(sessionKey) {
      const { messages } = await client.call<{ messages: { role: string; content: { text?: string }[] }[] }>("chat.history", { sessionKey });
      return messages.map((item) => [item.role, item.content.map((block) => block.text ?? "").join("")] as const);
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await g[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** What Pi itself makes of a file we wrote. */
function piMessages(path: string): string[] {
  const context = SessionManager.open(path).buildSessionContext();
  return context.messages.map((item) => {
    const { role } = item;
    const content = "content" in item ? item.content : "summary" in item ? item.summary : "";
    const text = typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : `[${block.type}]`)).join("");
    return `${role}: ${text}`;
  });
}

const sentTexts = (model: MockModel): string => JSON.stringify(model.mock.getLastRequest()?.body);

it("opens a state directory of the reference with its history, and Pi reads what is written afterwards", async () => {
  const full1 = {
    sessionId: "s-main", updatedAt: T0, sessionFile: "/home/ann/.openclaw/agents/main/sessions/s-main.jsonl", systemSent: true, abortedLastRun: false, chatType: "direct",
    provider: "webchat", lastProvider: "telegram", lastTo: "telegram:42", deliveryContext: { channel: "telegram", to: "telegram:42" }, origin: { label: "Ann", provider: "telegram" },
    thinkingLevel: "low", compactionCount: 1, totalTokens: 900, modelProvider: "mock", model: "gpt-mock", contextTokens: 128_000,
    skillsSnapshot: { prompt: "", skills: [{ name: "x" }] }, fieldOfAnotherVersion: { keep: "me" },
  };
  await using w = await open({
    [`${SESSIONS}/sessions.json`]: store({ "agent:main:main": full1, "agent:main:telegram:dm:77": { sessionId: "s-dm", updatedAt: T0, room: "r" } }),
    [`${SESSIONS}/s-main.jsonl`]: full("s-main"),
    [`${SESSIONS}/s-dm.jsonl`]: lines(header("s-dm"), message("00000001", null, 1, user("from the old dm key", 1)), message("00000002", "00000001", 1, assistant("found", 1))),
  });

  const { sessions } = await w.client.call<{ sessions: { key: string }[] }>("sessions.list", {});
  expect(sessions.map((session) => session.key)).toEqual(expect.arrayContaining(["agent:main:main", "agent:main:telegram:direct:77"]));
  const before = await w.history("main");
  expect(before.at(-1)).toEqual(["assistant", "the latest answer"]);
  expect(before).toContainEqual(["user", "kept question"]);
  expect(before).not.toContainEqual(["user", "this was tried and given up"]);
  expect(await w.history("agent:main:telegram:direct:77")).toEqual([["user", "from the old dm key"], ["assistant", "found"]]);

  expect((await w.client.chat("go on")).text).toBe("a new answer");

  const sent = sentTexts(w.model);
  for (const text of ["Ann introduced herself.", "kept question", "file text", "after the compaction"]) expect(sent).toContain(text);
  for (const text of ["this was tried", "my name is Ann"]) expect(sent).not.toContain(text);
  await w.g.gateway.close("stop");
  expect((await w.read(`${SESSIONS}/s-main.jsonl`)).startsWith(full("s-main"))).toBe(true);
  const texts = piMessages(join(w.dir, SESSIONS, "s-main.jsonl"));
  expect(texts[0]).toContain("Ann introduced herself.");
  expect(texts.slice(1, 7)).toEqual(["user: kept question", "assistant: [toolCall]", "toolResult: file text", "assistant: kept answer", "user: after the compaction", "assistant: the latest answer"]);
  expect(texts.at(-2)).toMatch(/^user: .*go on/s);
  expect(texts.at(-1)).toBe("assistant: a new answer");
  const written = JSON.parse(await w.read(`${SESSIONS}/sessions.json`)) as Record<string, Record<string, unknown>>;
  expect(written["agent:main:main"]).toMatchObject({ fieldOfAnotherVersion: { keep: "me" }, thinkingLevel: "low", sessionId: "s-main" });
  expect(written["agent:main:main"]).not.toHaveProperty("sessionKey");
});

it("reads transcripts of the first and second format, goes on with them, and leaves files that Pi reads", async () => {
  const v1 = lines(
    { type: "session", id: "s-v1", timestamp: at(0), cwd: "/x" },
    { type: "message", timestamp: at(1), message: user("question in format one", 1) },
    { type: "message", timestamp: at(1), message: assistant("answer in format one", 1) },
  );
  const v2 = lines(
    header("s-v2", 2),
    message("00000001", null, 1, user("question in format two", 1)),
    message("00000002", "00000001", 1, assistant("answer in format two", 1)),
    message("00000003", "00000002", 1, { role: "hookMessage", customType: "note", content: "from a hook", display: true, timestamp: T0 }),
  );
  await using w = await open({
    [`${SESSIONS}/sessions.json`]: store({ "agent:main:one": { sessionId: "s-v1", updatedAt: T0 }, "agent:main:two": { sessionId: "s-v2", updatedAt: T0 } }),
    [`${SESSIONS}/s-v1.jsonl`]: v1,
    [`${SESSIONS}/s-v2.jsonl`]: v2,
  });

  expect(await w.history("agent:main:one")).toEqual([["user", "question in format one"], ["assistant", "answer in format one"]]);
  await w.client.chat("go on with one", "agent:main:one");
  expect(sentTexts(w.model)).toContain("answer in format one");
  expect((await w.history("agent:main:one")).map(([, text]) => text)).toEqual(["question in format one", "answer in format one", "go on with one", "a new answer"]);
  await w.client.chat("go on with two", "agent:main:two");
  expect(sentTexts(w.model)).toContain("answer in format two");
  expect(sentTexts(w.model)).toContain("from a hook");

  await w.g.gateway.close("stop");
  const one = piMessages(join(w.dir, SESSIONS, "s-v1.jsonl"));
  expect(one.slice(0, 2)).toEqual(["user: question in format one", "assistant: answer in format one"]);
  expect(one.at(-1)).toBe("assistant: a new answer");
  const two = piMessages(join(w.dir, SESSIONS, "s-v2.jsonl"));
  expect(two.slice(0, 3)).toEqual(["user: question in format two", "assistant: answer in format two", "custom: from a hook"]);
  expect(two.at(-1)).toBe("assistant: a new answer");
});

const chat = (id: string): string[] => [
  JSON.stringify(header(id)),
  JSON.stringify(message("00000001", null, 1, user("first question", 1))),
  JSON.stringify(message("00000002", "00000001", 1, assistant("first answer", 1))),
  JSON.stringify(message("00000003", "00000002", 2, user("second question", 2))),
  JSON.stringify(message("00000004", "00000003", 2, assistant("second answer", 2))),
];

it.each([
  ["a torn first line", (all: string[]) => [`${all[0]?.slice(20)}`, ...all.slice(1)].join("\n") + "\n", ["first question", "first answer", "second question", "second answer"]],
  ["a torn last line", (all: string[]) => [...all, JSON.stringify(message("00000005", "00000004", 3, user("never finished", 3)))].join("\n").slice(0, -30), ["first question", "first answer", "second question", "second answer"]],
  ["a damaged line in the middle", (all: string[]) => [...all.slice(0, 2), `${all[2]?.slice(0, 40)}\u0000\u0000`, ...all.slice(3)].join("\n") + "\n", ["first question", "second question", "second answer"]],
])("keeps what can be read of a transcript with %s", async (_name, damage, expected) => {
  await using w = await open({ [`${SESSIONS}/sessions.json`]: store({ "agent:main:main": { sessionId: "s", updatedAt: T0 } }), [`${SESSIONS}/s.jsonl`]: damage(chat("s")) });

  await w.client.chat("go on");

  const sent = sentTexts(w.model);
  for (const text of expected) expect(sent).toContain(text);
  expect((await w.history("main")).map(([, text]) => text)).toEqual([...expected, "go on", "a new answer"]);
  await w.g.gateway.close("stop");
  const texts = piMessages(join(w.dir, SESSIONS, "s.jsonl"));
  expect(texts.at(-1)).toBe("assistant: a new answer");
  for (const text of expected) expect(texts.join("\n")).toContain(text);
});

it("keeps a damaged sessions.json aside and saves the entries that can be read", async () => {
  const whole = store({ "agent:main:main": { sessionId: "s", updatedAt: T0 }, "agent:main:lost": { sessionId: "t", updatedAt: T0, label: "half written" } });
  const torn = whole.slice(0, -30);
  await using w = await open({ [`${SESSIONS}/sessions.json`]: torn, [`${SESSIONS}/s.jsonl`]: `${chat("s").join("\n")}\n` });

  expect((await w.history("main")).at(-1)).toEqual(["assistant", "second answer"]);
  await w.client.chat("go on");
  await w.g.gateway.close("stop");

  const files = await readdir(join(w.dir, SESSIONS));
  const copy = files.find((name) => name.startsWith("sessions.json.corrupt"));
  expect(copy).toBeDefined();
  expect(await w.read(`${SESSIONS}/${copy}`)).toBe(torn);
  expect(Object.keys(JSON.parse(await w.read(`${SESSIONS}/sessions.json`)) as object)).toContain("agent:main:main");
});

it("knows the senders and devices that were approved before", async () => {
  await using telegram = await startFakeTelegram();
  await using w = await open(
    {
      "credentials/telegram-allowFrom.json": JSON.stringify({ version: 1, allowFrom: ["42"] }),
      "devices/paired.json": JSON.stringify({
        d1: { deviceId: "d1", publicKey: "cGs", displayName: "Ann's phone", platform: "ios", role: "operator", roles: ["operator"], scopes: ["operator.read"], tokens: {}, createdAtMs: T0, approvedAtMs: T0, another: 1 },
      }),
    },
    { channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url } } },
  );

  const { paired } = await w.client.call<{ paired: { deviceId: string; displayName?: string }[] }>("device.pair.list", {});
  expect(paired).toContainEqual(expect.objectContaining({ deviceId: "d1", displayName: "Ann's phone" }));
  telegram.text("hello");
  await telegram.waitUntil(() => telegram.sent().length > 0);
  expect(telegram.sent()[0]?.text).toBe("a new answer");
  expect(JSON.parse(await w.read("devices/paired.json"))).toMatchObject({ d1: { another: 1 } });
});
