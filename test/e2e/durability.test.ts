import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { connectClient } from "../support/client.ts";
import { startMockModel } from "../support/model.ts";
import { startFakeTelegram, type FakeTelegram } from "../support/telegram-api/index.ts";

interface Child {
  readonly port: number;
  kill(signal?: NodeJS.Signals): Promise<void>;
  readonly log: () => string;
}

async function startChild(stateDir: string): Promise<Child> {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, "../support/gateway-child.ts")], {
    env: { PATH: process.env["PATH"] ?? "", HOME: stateDir, SHELL: "/bin/bash", OPENCLAW_STATE_DIR: stateDir, OPENCLAW_SKIP_LOCAL_MODELS: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`gateway ended with ${code}: ${err}`)));
    child.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      const match = /listening (\d+)[\s\S]*ready/.exec(out);
      if (match?.[1]) resolve(Number(match[1]));
    });
  });
  return {
    port,
    log: () => err,
    async kill(signal = "SIGKILL") {
      const gone = once(child, "exit");
      child.kill(signal);
      await gone;
    },
  };
}

async function home(config: Record<string, unknown>): Promise<string> {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-kill-"));
  const base = { gateway: { mode: "local", auth: { mode: "token", token: "T" } } };
  await writeFile(join(stateDir, "openclaw.json"), JSON.stringify({ ...base, ...config }), { mode: 0o600 });
  return stateDir;
}

const telegramConfig = (telegram: FakeTelegram, model: Record<string, unknown>, stateDir = ""): Record<string, unknown> => ({
  ...model,
  agents: { defaults: { model: { primary: "mock/gpt-mock" }, ...(stateDir ? { workspace: join(stateDir, "workspace") } : {}) } },
  channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42] } },
});

const TEXTS = (telegram: FakeTelegram): string[] => telegram.sent().map((message) => message.text ?? "");
const answers = (telegram: FakeTelegram, text: string): number => telegram.sent().filter((message) => message.text === text).length;

it("killed while the model is thinking: the message is answered once after the restart, and what waited behind it after that", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => {
    mock.onMessage(/waiting/, { content: "read both" });
    mock.onMessage(/ping/, { content: "pong" }, { latency: 1500 });
  });
  const stateDir = await home(telegramConfig(telegram, model.config));
  const first = await startChild(stateDir);
  telegram.text("ping");
  await telegram.waitForCall("sendChatAction");
  telegram.text("waiting one");
  telegram.text("waiting two");
  await telegram.waitUntil(() => telegram.pendingUpdates() === 0);
  await first.kill();
  expect(answers(telegram, "pong")).toBe(0);

  const second = await startChild(stateDir);
  await telegram.waitUntil(() => answers(telegram, "read both") > 0);
  await second.kill("SIGTERM");

  expect(TEXTS(telegram)).toEqual(["pong", "read both"]);
  expect(JSON.stringify((model.mock.getLastRequest()?.body as { messages: unknown[] } | undefined)?.messages.at(-1))).toMatch(/waiting one.*waiting two/);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

it("killed while a tool runs: the tool is not run again and the answer comes once", async () => {
  await using telegram = await startFakeTelegram();
  const stateDir = await home({});
  const marker = join(stateDir, "ran.txt");
  await using model = await startMockModel((mock) => {
    mock.on({ userMessage: /work/, hasToolResult: false }, { toolCalls: [{ name: "exec", arguments: JSON.stringify({ command: `echo x >> ${marker}; sleep 20` }) }] });
    mock.on({ userMessage: /work/, hasToolResult: true }, { content: "done after the break" });
  });
  await writeFile(join(stateDir, "openclaw.json"), JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: "T" } }, ...telegramConfig(telegram, model.config, stateDir) }));
  const first = await startChild(stateDir);
  telegram.text("work");
  await telegram.waitUntil(() => existsSync(marker));
  await first.kill();

  const second = await startChild(stateDir);
  await telegram.waitUntil(() => answers(telegram, "done after the break") > 0);
  await second.kill("SIGTERM");

  expect(answers(telegram, "done after the break")).toBe(1);
  expect((await readFile(marker, "utf8")).trim()).toBe("x");
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

it("killed while the answer is being sent: it arrives, at most one piece twice", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/ping/, { content: "pong" }));
  const stateDir = await home(telegramConfig(telegram, model.config));
  const first = await startChild(stateDir);
  const release = telegram.hold("sendMessage");
  telegram.text("ping");
  await telegram.waitForCall("sendMessage");
  await first.kill();
  release();

  const second = await startChild(stateDir);
  await telegram.waitUntil(() => answers(telegram, "pong") > 0);
  await second.kill("SIGTERM");

  expect(answers(telegram, "pong")).toBeGreaterThanOrEqual(1);
  expect(answers(telegram, "pong")).toBeLessThanOrEqual(2);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

it("stopped politely in mid-run: the run goes on in the next process", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/ping/, { content: "pong" }, { latency: 14_000 }));
  const stateDir = await home(telegramConfig(telegram, model.config));
  const first = await startChild(stateDir);
  telegram.text("ping");
  await telegram.waitForCall("sendChatAction");
  await first.kill("SIGTERM");
  model.mock.clearFixtures();
  model.mock.onMessage(/ping/, { content: "pong" });

  const second = await startChild(stateDir);
  await telegram.waitUntil(() => telegram.sent().length > 0);
  await second.kill("SIGTERM");

  expect(TEXTS(telegram)).toEqual(["pong"]);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
}, 90_000);

it("a web chat that was killed finishes under the same run id", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/ping/, { content: "pong" }, { latency: 1500 }));
  const stateDir = await home({ ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } } });
  const first = await startChild(stateDir);
  const before = await connectClient(`http://127.0.0.1:${first.port}`, "T");
  await before.call("chat.send", { sessionKey: "main", message: "ping", idempotencyKey: "run-1" });
  await before.waitFor((frame) => frame.event === "agent");
  await first.kill();

  const second = await startChild(stateDir);
  await using after = await connectClient(`http://127.0.0.1:${second.port}`, "T");
  expect(await after.call("agent.wait", { runId: "run-1", timeoutMs: 20_000 })).toMatchObject({ runId: "run-1", status: "ok" });
  const history = await after.call<{ messages: { role: string }[] }>("chat.history", { sessionKey: "main" });
  expect(history.messages.map((message) => message.role)).toEqual(["user", "assistant"]);
  await after[Symbol.asyncDispose]();
  await second.kill("SIGTERM");
  const sessions = await readdir(join(stateDir, "agents", "main", "sessions"));
  expect(sessions.filter((name) => name.endsWith(".jsonl"))).toHaveLength(1);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

it("what a message asked for its own run holds after the restart too, whether the run had begun or waited for its lane", async () => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/first/, { content: "one" }, { latency: 1500 });
    mock.onMessage(/second/, { content: "two" });
  });
  const { mock } = (model.config["models"] as { providers: { mock: { models: object[] } } }).providers;
  mock.models = mock.models.map((each) => ({ ...each, reasoning: true }));
  const stateDir = await home({ ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" }, thinkingDefault: "low", maxConcurrent: 1 } } });
  const first = await startChild(stateDir);
  const before = await connectClient(`http://127.0.0.1:${first.port}`, "T");
  await before.call("chat.send", { sessionKey: "main", message: "/think high first", idempotencyKey: "run-1" });
  await before.waitFor((frame) => frame.event === "agent");
  await before.call("chat.send", { sessionKey: "agent:main:other", message: "/think high second", idempotencyKey: "run-2" });
  const journal = new DatabaseSync(join(stateDir, "delivery", "journal.sqlite"), { readOnly: true });
  await expect.poll(() => journal.prepare("SELECT COUNT(run_id) AS n FROM inbox").get()?.["n"], { timeout: 10_000 }).toBe(2);
  journal.close();
  await first.kill();
  model.mock.clearRequests();

  const second = await startChild(stateDir);
  await using after = await connectClient(`http://127.0.0.1:${second.port}`, "T");
  for (const runId of ["run-1", "run-2"]) expect(await after.call("agent.wait", { runId, timeoutMs: 20_000 })).toMatchObject({ runId, status: "ok" });
  const asked = model.mock.getRequests().map(({ body }) => body as unknown as { reasoning_effort?: string; messages: { role: string; content: unknown }[] });
  expect(new Set(asked.map((body) => `${/(first|second)/.exec(JSON.stringify(body.messages.at(-1)))?.[0]}: ${body.reasoning_effort}`))).toEqual(new Set(["first: high", "second: high"]));
  expect(JSON.stringify(asked)).not.toContain("/think high");
  await after[Symbol.asyncDispose]();
  await second.kill("SIGTERM");
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

it("what happened before a run is told to the model once, although the run was interrupted", async () => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/again/, { content: "second" });
    mock.onMessage(/ping/, { content: "first" }, { latency: 1500 });
  });
  const stateDir = await home({ ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } } });
  const first = await startChild(stateDir);
  const before = await connectClient(`http://127.0.0.1:${first.port}`, "T");
  await before.call("system-event", { text: "The door opened." });
  await before.call("chat.send", { sessionKey: "main", message: "ping", idempotencyKey: "run-1" });
  await before.waitFor((frame) => frame.event === "agent");
  await expect.poll(async () => (await readdir(join(stateDir, "agents", "main", "sessions"))).some((name) => name.endsWith(".jsonl"))).toBe(true);
  await first.kill();

  const second = await startChild(stateDir);
  await using after = await connectClient(`http://127.0.0.1:${second.port}`, "T");
  expect(await after.call("agent.wait", { runId: "run-1", timeoutMs: 20_000 })).toMatchObject({ status: "ok" });
  expect((await after.chat("again")).text).toBe("second");
  const [last] = model.mock.getRequests().slice(-1);
  const { messages = [] } = { ...last?.body } as unknown as { messages?: { role: string; content: unknown }[] };
  const users = messages.filter(({ role }) => role === "user");
  expect(users.map(({ content }) => JSON.stringify(content).includes("The door opened."))).toEqual([true, false]);
  await after[Symbol.asyncDispose]();
  await second.kill("SIGTERM");
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

it("a message that is never understood, however often the process starts, is given up with a word", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "pong" }));
  const stateDir = await home(telegramConfig(telegram, model.config));
  const release = telegram.hold("getFile");
  telegram.photo({ bytes: Buffer.from("a bomb"), caption: "look" });
  const attempts = (): unknown => {
    const journal = new DatabaseSync(join(stateDir, "delivery", "journal.sqlite"));
    const row = journal.prepare("SELECT attempts FROM inbox").get();
    journal.close();
    return row?.["attempts"];
  };
  for (const expected of [0, 1]) {
    const child = await startChild(stateDir);
    await expect.poll(attempts, { timeout: 10_000 }).toBe(expected);
    await child.kill();
  }
  const journal = new DatabaseSync(join(stateDir, "delivery", "journal.sqlite"));
  journal.exec("UPDATE inbox SET attempts = 10");
  journal.close();
  const last = await startChild(stateDir);
  await telegram.waitUntil(() => telegram.sent().length > 0);
  telegram.text("ping");
  await telegram.waitUntil(() => answers(telegram, "pong") > 0);
  release();
  await last.kill("SIGTERM");
  expect(TEXTS(telegram)).toEqual([expect.stringContaining("has given it up"), "pong"]);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});
