import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel } from "../support/model.ts";

it("a long chat is compacted behind the answer; the next turn knows, /status counts, and /compact writes nothing when there is nothing to do", async () => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/<conversation>/, { content: "GOAL: keep going" }, { latency: 400 });
    mock.onMessage(/.*/, { content: "ok" });
  });
  await using g = await startTestGateway({
    config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" }, contextTokens: 16_000, compaction: { memoryFlush: { enabled: false } } } } },
  });
  await using client = await connectClient(g.url, g.token);
  const sent = (): string[] => model.mock.getRequests().map((entry) => JSON.stringify(entry.body));

  await client.chat("hello");
  expect((await client.chat("/compact")).text).toMatch(/Compaction skipped/);
  expect(sent()).toHaveLength(1);

  for (const n of [1, 2]) await client.chat(`note ${n} ${"x".repeat(9000)}`);
  const { end } = await client.chat(`note 3 ${"y".repeat(9000)}`);
  const done = await client.waitFor((frame) => frame.event === "agent" && frame.payload?.["stream"] === "compaction" && (frame.payload["data"] as { phase?: string }).phase === "end");
  expect(client.frames.indexOf(end)).toBeLessThan(client.frames.indexOf(done));
  await client.chat("where were we?");

  const last = sent().at(-1) as string;
  expect(last).toContain("GOAL: keep going");
  expect(last).toContain("The conversation was just compacted");
  expect(last).toContain("Red Lines");
  expect(last).not.toContain("note 1 ");
  expect((await client.chat("/status")).text).toContain("Compactions: 1");
  expect((await client.chat("/compact the notes")).text).toMatch(/Compacted/);
  expect(sent().at(-1)).toContain("Dwell on: the notes");
});

it("while a compaction runs: a message is answered behind it, /new ends it and begins afresh, and so does the end of the gateway", async () => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/<conversation>[\s\S]*(beta|gamma) 1/, { content: "GOAL: never" }, { latency: 60_000 });
    mock.onMessage(/<conversation>/, { content: "GOAL: first" }, { latency: 100 });
    mock.onMessage(/.*/, { content: "ok" });
  });
  const g = await startTestGateway({
    config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" }, contextTokens: 16_000, compaction: { memoryFlush: { enabled: false } } } } },
  });
  await using client = await connectClient(g.url, g.token);
  const fill = async (name: string): Promise<void> => {
    for (const n of [1, 2, 3]) await client.chat(`${name} ${n} ${"x".repeat(9000)}`);
  };
  const started = (count: number): Promise<unknown> =>
    client.waitFor(() => client.frames.filter((frame) => frame.event === "agent" && frame.payload?.["stream"] === "compaction" && (frame.payload["data"] as { phase?: string }).phase === "start").length >= count);

  await fill("alpha");
  await started(1);
  expect((await client.chat("still there?")).text).toBe("ok");
  expect(JSON.stringify(model.mock.getLastRequest()?.body)).toContain("GOAL: first");

  await fill("beta");
  await started(2);
  expect((await client.chat("/new")).text).toBeDefined();
  expect((await client.chat("hello")).text).toBe("ok");
  expect(JSON.stringify(model.mock.getLastRequest()?.body)).not.toContain("beta 1");

  await fill("gamma");
  await started(3);
  await g[Symbol.asyncDispose]();
}, 20_000);

it.each(["stop", "abort"])("a /compact that a provider does not answer is ended by %s, and the conversation is as it was", async (how) => {
  await using model = await startMockModel((mock) => {
    mock.onMessage(/<conversation>/, { content: "GOAL: never" }, { latency: 60_000 });
    mock.onMessage(/.*/, { content: "ok" });
  });
  await using g = await startTestGateway({ config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" }, compaction: { mode: "off", memoryFlush: { enabled: false } } } } } });
  await using client = await connectClient(g.url, g.token);
  for (const n of [1, 2, 3]) await client.chat(`note ${n} ${"x".repeat(9000)}`);
  await client.call("chat.send", { sessionKey: "main", message: "/compact", idempotencyKey: "compacting" });
  await expect.poll(() => g.gateway.context.agents.runs.bySession("agent:main:main").length).toBe(1);
  const ended = how === "abort" ? await client.call("chat.abort", { sessionKey: "main" }) : await client.call("chat.send", { sessionKey: "main", message: "stop", idempotencyKey: "stopping" });
  expect(ended).toMatchObject({ ok: true, aborted: true });
  expect(JSON.stringify((await client.chatEnd("compacting")).payload)).toContain("Compaction failed: stopped. The conversation is as it was.");
  expect((await client.chat("still there?")).text).toBe("ok");
  expect(JSON.stringify(model.mock.getLastRequest()?.body)).toContain("note 1 ");
}, 20_000);

it("a transcript with a tool call that never got its result does not stop the next message, nor does a torn file", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "fine" }), "anthropic-messages");
  await using g = await startTestGateway({ config: { ...model.config, agents: { defaults: { model: { primary: "mock/gpt-mock" } } } } });
  await using client = await connectClient(g.url, g.token);
  await client.chat("first");
  const { sessions } = await client.call<{ sessions: { key: string; sessionId: string }[] }>("sessions.list", {});
  const path = join(g.stateDir, "agents", "main", "sessions", `${sessions[0]?.sessionId}.jsonl`);
  const line = (id: string, parentId: string | null, message: object): string => JSON.stringify({ type: "message", id, parentId, timestamp: new Date().toISOString(), message });
  const assistant = { role: "assistant", api: "anthropic-messages", provider: "mock", model: "gpt-mock", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } }, stopReason: "toolUse", timestamp: 1 };
  await writeFile(path, [
    '{"type":"sess', line("00000001", null, { role: "user", content: "list files", timestamp: 1 }),
    line("00000002", "00000001", { ...assistant, content: [{ type: "toolCall", id: "toolu_1", name: "exec", arguments: { command: "ls" } }] }),
    line("00000003", "00000002", { role: "user", content: "hello?", timestamp: 2 }), '{"type":"message","id":"dead',
  ].join("\n"));

  expect((await client.chat("are you there?")).text).toBe("fine");
  const body = JSON.stringify(model.mock.getLastRequest()?.body);
  expect(body).toContain("list files");
  expect(body).toContain("restarted while this tool ran");
  const history = await client.call<{ messages: { role: string }[] }>("chat.history", { sessionKey: "main" });
  expect(history.messages.length).toBeGreaterThanOrEqual(4);
});
