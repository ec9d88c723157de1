import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startMockModel } from "../support/model.ts";
import { startFakeTelegram } from "../support/telegram-api/index.ts";

const primary = { agents: { defaults: { model: { primary: "mock/gpt-mock" } } } };

it("changes a hot key without a restart, plans one for a key that needs it, and keeps the file's comments", async () => {
  await using g = await startTestGateway();
  await using client = await connectClient(g.url, g.token);
  const path = join(g.stateDir, "openclaw.json");
  await writeFile(path, (await readFile(path, "utf8")).replace("{", "{ // mine\n"));
  await expect.poll(async () => (await client.call<{ raw: string }>("config.get")).raw.includes("// mine"), { timeout: 10_000 }).toBe(true);

  expect((await client.request("config.patch", { raw: "{messages:{responsePrefix:'>'}}" })).error?.message).toContain("base hash required");
  const { hash } = await client.call<{ hash: string }>("config.get");
  const hot = await client.call<{ restart: { mode: string } }>("config.patch", { raw: "{messages:{responsePrefix:'>'}}", baseHash: hash });
  expect(hot.restart.mode).toBe("none");
  expect(g.gateway.context.config().messages?.responsePrefix).toBe(">");
  expect(await readFile(path, "utf8")).toContain("// mine");

  const next = await client.call<{ hash: string }>("config.get");
  const planned = await client.call<{ restart: { mode: string; delayMs: number } }>("config.patch", { raw: "{gateway:{port:18999}}", baseHash: next.hash, restartDelayMs: 60_000 });
  expect(planned.restart).toMatchObject({ mode: "emit" });
  expect((await client.request("config.patch", { raw: "{}", baseHash: "x" })).error?.message).toMatch(/rate limit exceeded for config.patch/);
});

it("a broken edit of the file changes nothing but is told everywhere, and is forgotten when repaired", async () => {
  await using g = await startTestGateway();
  await using client = await connectClient(g.url, g.token);
  const path = join(g.stateDir, "openclaw.json");
  const good = await readFile(path, "utf8");
  await writeFile(path, '{ "gateway": { "port": "nonsense" } }');
  await expect.poll(async () => (await client.call<{ configError?: { path: string } }>("status")).configError?.path, { timeout: 10_000 }).toBe("gateway.port");
  expect(g.gateway.context.config().gateway?.auth?.token).toBe("T");
  await writeFile(path, good);
  await expect.poll(async () => (await client.call<{ configError?: unknown }>("status")).configError, { timeout: 10_000 }).toBeUndefined();
});

it("refuses an invalid configuration by naming the key", async () => {
  await using g = await startTestGateway();
  await using client = await connectClient(g.url, g.token);
  const { hash } = await client.call<{ hash: string }>("config.get");
  const refused = await client.request("config.patch", { raw: "{gateway:{port:'x'}}", baseHash: hash });
  expect(refused.error?.message).toBe("invalid config");
  expect(JSON.stringify(refused.error?.details)).toContain("gateway.port");
});

it("lists, renames, previews, resolves, resets and deletes sessions", async () => {
  await using model = await startMockModel((mock) => mock.onMessage(/.*/, { content: "sure" }));
  await using g = await startTestGateway({ config: { ...model.config, ...primary } });
  await using client = await connectClient(g.url, g.token);
  await client.chat("plan my trip", "trip");

  await client.call("sessions.patch", { key: "trip", label: "Trip" });
  const list = await client.call<{ sessions: { key: string; label?: string; derivedTitle?: string; totalTokens?: number }[] }>("sessions.list", { includeDerivedTitles: true, search: "trip" });
  expect(list.sessions).toMatchObject([{ key: "agent:main:trip", label: "Trip", derivedTitle: "plan my trip" }]);
  expect(await client.call("sessions.resolve", { label: "Trip" })).toEqual({ ok: true, key: "agent:main:trip" });
  const preview = await client.call<{ previews: { status: string; items: { role: string; text: string }[] }[] }>("sessions.preview", { keys: ["trip", "nowhere"] });
  expect(preview.previews.map((item) => item.status)).toEqual(["ok", "missing"]);
  expect(preview.previews[0]?.items).toEqual([{ role: "user", text: "plan my trip" }, { role: "assistant", text: "sure" }]);
  expect((await client.request("sessions.patch", { key: "trip", thinkingLevel: "enormous" })).error?.message).toContain("invalid thinkingLevel");
  expect((await client.request("sessions.delete", { key: "main" })).error?.message).toContain("Cannot delete the main session");

  const before = await client.call<{ sessionId: string }>("chat.history", { sessionKey: "trip" });
  const reset = await client.call<{ entry: { sessionId: string; label?: string } }>("sessions.reset", { key: "trip" });
  expect(reset.entry.sessionId).not.toBe(before.sessionId);
  expect(reset.entry.label).toBe("Trip");
  await client.chat("again", "trip");
  const deleted = await client.call<{ deleted: boolean; archived: string[] }>("sessions.delete", { key: "trip" });
  expect(deleted.deleted).toBe(true);
  expect(deleted.archived[0]).toMatch(/\.jsonl\.deleted\./);
});

it("the agent method answers twice under one id, joins repeats and delivers when asked", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await startMockModel((mock) => mock.onMessage(/report/, { content: "all is well" }));
  await using g = await startTestGateway({ config: { ...model.config, ...primary, channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42] } } } });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  telegram.text("/whoami");
  await telegram.waitUntil(() => telegram.sent().length === 1);

  client.socket.send(JSON.stringify({ type: "req", id: "a1", method: "agent", params: { message: "report", idempotencyKey: "k1", deliver: true, channel: "telegram", to: "42" } }));
  const final = await client.waitFor((frame) => frame.id === "a1" && frame.payload?.["status"] === "ok");
  expect(client.frames.filter((frame) => frame.id === "a1").map((frame) => frame.payload?.["status"])).toEqual(["accepted", "ok"]);
  expect(JSON.stringify(final.payload)).toContain("all is well");
  await telegram.waitUntil(() => telegram.sent().length === 2);
  expect(telegram.sent().at(-1)?.text).toBe("all is well");
  expect(await client.call("agent", { message: "report", idempotencyKey: "k1" })).toMatchObject({ status: "ok" });
  expect(model.mock.getRequests()).toHaveLength(1);
  expect((await client.request("agent", { message: "x", idempotencyKey: "k2", agentId: "ghost" })).error?.message).toBe('unknown agent id "ghost"');
});

it("send reaches a chat once per key and mirrors the text into its session", async () => {
  await using telegram = await startFakeTelegram();
  await using g = await startTestGateway({ config: { channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42] } } } });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  telegram.text("/whoami");
  await telegram.waitUntil(() => telegram.sent().length === 1);

  const send = { to: "42", message: "*news*", idempotencyKey: "s1", sessionKey: "main" };
  const [first, second] = await Promise.all([client.call("send", send), client.call("send", send)]);
  expect(second).toEqual(first);
  expect(telegram.sent().filter((message) => message.text === "news")).toHaveLength(1);
  const history = await client.call<{ messages: { content: { text: string }[] }[] }>("chat.history", { sessionKey: "main" });
  expect(history.messages.at(-1)?.content[0]?.text).toBe("*news*");
  expect((await client.request("send", { to: "42", idempotencyKey: "s2" })).error?.message).toBe("invalid send params: text or media is required");
});

it("shows models, agents, tools, skills, commands and the log", async () => {
  await using model = await startMockModel(() => undefined);
  await using g = await startTestGateway({ config: { ...model.config, ...primary } });
  await using client = await connectClient(g.url, g.token);
  const models = await client.call<{ models: { id: string; provider: string }[] }>("models.list");
  expect(models.models[0]).toMatchObject({ id: "gpt-mock", provider: "mock" });
  expect(await client.call("agents.list")).toMatchObject({ defaultId: "main" });
  expect(JSON.stringify(await client.call("tools.catalog"))).toContain('"exec"');
  expect(await client.call("usage.status")).toMatchObject({ updatedAt: expect.any(Number) as number, providers: [] });
  expect(JSON.stringify(await client.call("skills.status"))).toContain("openclaw-setup");
  expect(JSON.stringify(await client.call("commands.list"))).toContain('"whoami"');
  const logs = await client.call<{ lines: string[]; cursor: number }>("logs.tail", { limit: 50 });
  expect(logs.lines.some((line) => line.includes("listening"))).toBe(true);
  expect(await client.call("logs.tail", { cursor: logs.cursor + 1_000_000 })).toMatchObject({ reset: true });
});
