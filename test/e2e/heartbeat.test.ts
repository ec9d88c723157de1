import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { brokenProvider, call, say, type Answer } from "../support/broken-provider.ts";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startFakeTelegram } from "../support/telegram-api/index.ts";

const textOf = (content: unknown): string => (Array.isArray(content) ? content.map((block: { text?: string }) => block.text ?? "").join("\n") : String(content));

async function world(answers: readonly Answer[], heartbeat: Record<string, unknown>) {
  const telegram = await startFakeTelegram();
  const provider = await brokenProvider(...answers);
  const g = await startTestGateway({
    config: {
      models: provider.config.models, channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42], streamMode: "off" } },
      agents: { defaults: { model: { primary: "mock/gpt-mock" }, heartbeat } }, messages: { queue: { debounceMs: 0 } },
    },
  });
  await g.gateway.ready;
  const client = await connectClient(g.url, g.token);
  return {
    telegram, provider, g, client,
    texts: () => telegram.sent().map((message) => message.text),
    /** What the request number `index` put before the model, without the system prompt. */
    spoken: (index: number) => (provider.bodies.at(index)?.messages ?? []).filter(({ role }) => role !== "system" && role !== "developer").map(({ role, content }) => `${role}: ${textOf(content)}`),
    heartbeat: async (status: string) => (await client.waitFor((frame) => frame.event === "heartbeat" && frame.payload?.["status"] === status)).payload,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await g[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

it("with nothing to say is silent, leaves no trace in the conversation, and does not keep the session awake", async () => {
  await using w = await world([say("hello there"), say("HEARTBEAT_OK all quiet"), say("fine")], { every: "0m", target: "last" });
  w.telegram.text("hello");
  await w.telegram.waitUntil(() => w.texts().length === 1);
  await expect.poll(() => w.g.gateway.context.conversation.isBusy("agent:main:main")).toBe(false);
  const before = (await w.g.gateway.context.sessions.get("agent:main:main"))?.updatedAt;
  await w.client.call("wake", { mode: "now", text: "The backup has ended" });
  expect(await w.heartbeat("ok-token")).toMatchObject({ status: "ok-token", silent: true, indicatorType: "ok", channel: "telegram" });
  expect(w.spoken(1).at(-1)).toMatch(/System: \[.*\] The backup has ended[\s\S]*HEARTBEAT_OK\.\nCurrent time: /);
  expect((await w.g.gateway.context.sessions.get("agent:main:main"))?.updatedAt).toBe(before);
  expect(await w.client.call("last-heartbeat")).toMatchObject({ status: "ok-token" });
  w.telegram.text("how are you?");
  await w.telegram.waitUntil(() => w.texts().length === 2);
  expect(w.texts()).toEqual(["hello there", "fine"]);
  expect(w.spoken(2)).toHaveLength(3);
  expect(w.spoken(2).join("\n")).not.toMatch(/HEARTBEAT|backup/);
});

it("tells what needs attention in the last chat, the same thing once a day", async () => {
  await using w = await world([say("hello there"), say("The disk is full."), say("The disk is full."), say("what is it?")], { every: "0m", target: "last" });
  w.telegram.text("hello");
  await w.telegram.waitUntil(() => w.texts().length === 1);
  await expect.poll(() => w.g.gateway.context.conversation.isBusy("agent:main:main")).toBe(false);
  await w.client.call("wake", { mode: "now", text: "look around" });
  expect(await w.heartbeat("sent")).toMatchObject({ preview: "The disk is full.", channel: "telegram", indicatorType: "alert" });
  await w.client.call("wake", { mode: "now", text: "look again" });
  expect(await w.heartbeat("skipped")).toMatchObject({ reason: "duplicate" });
  w.telegram.text("and?");
  await w.telegram.waitUntil(() => w.texts().length === 3);
  expect(w.texts()).toEqual(["hello there", "The disk is full.", "what is it?"]);
  expect(w.spoken(-1).join("\n")).toContain("assistant: The disk is full.");
});

it("runs by its interval, costs nothing while HEARTBEAT.md has no tasks, and stops when it is switched off", async () => {
  await using w = await world([say("HEARTBEAT_OK")], { every: "200ms" });
  expect(await w.heartbeat("skipped")).toMatchObject({ reason: "empty-heartbeat-file" });
  expect(w.provider.bodies).toHaveLength(0);
  expect(await w.client.call("status")).toMatchObject({ heartbeat: { agents: [{ agentId: "main", enabled: true, everyMs: 200 }] } });
  await writeFile(join(w.g.gateway.context.agents.agent("main").workspaceDir, "HEARTBEAT.md"), "- check the mail\n");
  await w.heartbeat("ok-token");
  expect(w.spoken(0).at(-1)).toContain("Read HEARTBEAT.md");
  expect(await w.client.call("set-heartbeats", { enabled: false })).toEqual({ ok: true, enabled: false });
  await w.client.waitFor((frame) => frame.event === "heartbeat" && frame.payload?.["reason"] === "disabled");
});

it("a command that ends in the background is told in the chat that waits for it", async () => {
  await using w = await world([call("exec", JSON.stringify({ command: "sleep 0.3; echo built 17 files", background: true })), say("I tell you when it is done."), say("The build is done: 17 files.")], { every: "0m" });
  w.telegram.text("build it");
  await w.telegram.waitUntil(() => w.texts().length === 2, "two messages", 10_000);
  expect(w.texts()).toEqual(["I tell you when it is done.", "The build is done: 17 files."]);
  expect(w.spoken(2).at(-1)).toMatch(/System: \[.*\] Exec completed \(.*code 0\) :: built 17 files/);
});
