import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { brokenProvider, call, say, type Answer } from "../support/broken-provider.ts";
import { chatText, connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startFakeTelegram } from "../support/telegram-api/index.ts";

const textOf = (content: unknown): string => (Array.isArray(content) ? content.map((block: { text?: string }) => block.text ?? "").join("\n") : String(content));

async function world(answers: readonly Answer[], channel: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  const telegram = await startFakeTelegram();
  const provider = await brokenProvider(...answers);
  const g = await startTestGateway({
    config: {
      models: provider.config.models, channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42], streamMode: "off", ...channel } },
      agents: { defaults: { model: { primary: "mock/gpt-mock" }, heartbeat: { every: "0m" } } }, messages: { queue: { debounceMs: 0 } }, ...more,
    },
    options: { fetchAllowOrigins: [new URL(provider.url).origin] },
  });
  await g.gateway.ready;
  const client = await connectClient(g.url, g.token);
  return {
    telegram, provider, g, client,
    texts: () => telegram.sent().map((message) => message.text),
    lastUser: (index: number) => textOf(provider.bodies.at(index)?.messages.findLast(({ role }) => role === "user")?.content),
    tools: (index: number) => ((provider.bodies.at(index) as { tools?: { function: { name: string } }[] } | undefined)?.tools ?? []).map((tool) => tool.function.name),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await g[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString();

it("a reminder that the owner asks for comes in the same chat at its time", async () => {
  await using w = await world([
    (res, req) => call("cron", JSON.stringify({ action: "add", job: { name: "tea", schedule: { kind: "at", at: soon(400) }, payload: { kind: "systemEvent", text: "Reminder: drink tea" } } }))(res, req),
    say("It is planned."), say("Time for your tea!"),
  ]);
  w.telegram.text("remind me of the tea");
  await w.telegram.waitUntil(() => w.texts().length === 2, "the reminder", 10_000);
  expect(w.texts()).toEqual(["It is planned.", "Time for your tea!"]);
  expect(w.lastUser(2)).toMatch(/System: \[.*\] Reminder: drink tea[\s\S]*A scheduled reminder has been triggered\. The reminder content is:\n\nReminder: drink tea/);
  await expect.poll(async () => (await w.client.call("cron.list", { includeDisabled: true }))["total"]).toBe(0);
  const shown = JSON.stringify(await w.client.call("chat.history", { sessionKey: "main" }));
  expect(shown).toContain("Time for your tea!");
  expect(shown).not.toContain("A scheduled reminder has been triggered");
});

it("a task runs in a session of its own, without cron, and its answer goes to the chat and into its conversation", async () => {
  await using w = await world([say("hello"), say("It is 20 degrees."), say("as I said, 20")]);
  w.telegram.text("hello");
  await w.telegram.waitUntil(() => w.texts().length === 1);
  const job = await w.client.call<{ id: string; delivery: unknown }>("cron.add", { name: "weather", schedule: { kind: "every", everyMs: 3_600_000 }, message: "What is the weather?" });
  expect(job.delivery).toEqual({ mode: "announce", channel: "last" });
  expect(await w.client.call("cron.run", { id: job.id })).toEqual({ ok: true, ran: true });
  expect(w.texts()).toEqual(["hello", "It is 20 degrees."]);
  expect(w.lastUser(1)).toMatch(new RegExp(`^\\[cron:${job.id} weather\\] What is the weather\\?\\nCurrent time: `));
  expect(w.tools(0)).toContain("cron");
  expect(w.tools(1)).not.toContain("cron");
  expect(w.tools(1)).toContain("exec");
  const runs = await w.client.call<{ entries: Record<string, unknown>[] }>("cron.runs", { id: job.id });
  expect(runs.entries).toMatchObject([{ status: "ok", summary: "It is 20 degrees.", delivered: true, deliveryStatus: "delivered", sessionKey: expect.stringMatching(`^agent:main:cron:${job.id}:run:`), model: "gpt-mock" }]);
  expect(JSON.parse((await readFile(join(w.g.stateDir, "cron", "runs", `${job.id}.jsonl`), "utf8")).trim())).toMatchObject(runs.entries[0] ?? {});
  w.telegram.text("what did you say?");
  await w.telegram.waitUntil(() => w.texts().length === 3);
  expect(w.client.frames.filter((frame) => frame.event === "cron").map((frame) => frame.payload?.["action"])).toEqual(["added", "started", "finished"]);
});

it("a reminder and a task asked for in the web chat come in the web chat, however often in the same words", async () => {
  const add = (job: Record<string, unknown>): Answer => (res, req) => call("cron", JSON.stringify({ action: "add", job }))(res, req);
  await using w = await world([
    add({ name: "tea", schedule: { kind: "every", everyMs: 3_600_000 }, payload: { kind: "systemEvent", text: "drink tea" } }), say("planned"), say("Tea time!"), say("Tea time!"),
    add({ name: "weather", schedule: { kind: "every", everyMs: 3_600_000 }, payload: { kind: "agentTurn", message: "weather?" } }), say("planned too"), say("It is 20 degrees."),
  ]);
  const shown = (): string[] => w.client.frames.flatMap((frame) => (frame.event === "chat" && frame.payload?.["state"] === "final" && frame.payload["sessionKey"] === "agent:main:main" ? [chatText(frame) ?? ""] : []));
  const ids = async (): Promise<string[]> => (await w.client.call<{ jobs: { id: string; name: string }[] }>("cron.list")).jobs.toSorted((a, b) => a.name.localeCompare(b.name)).map(({ id }) => id);
  await w.client.chat("remind me of the tea every hour");
  const [tea] = await ids();
  await w.client.call("cron.run", { id: tea });
  expect(w.lastUser(-1)).toContain("Pass this reminder on to the person");
  await w.client.call("cron.run", { id: tea });
  await w.client.chat("and tell me the weather every hour");
  await w.client.call("cron.run", { id: (await ids())[1] });
  await expect.poll(shown).toEqual(["planned", "Tea time!", "Tea time!", "planned too", "It is 20 degrees."]);
  const { messages } = await w.client.call<{ messages: { role: string; content: unknown }[] }>("chat.history", { sessionKey: "main" });
  expect(textOf(messages.at(-1)?.content)).toBe("It is 20 degrees.");
  expect((await w.client.call<{ entries: unknown[] }>("cron.runs", { id: (await ids())[1] })).entries).toMatchObject([{ status: "ok", delivered: true, deliveryStatus: "delivered" }]);
});

it("a task that nobody can be told about is an error, and the agent learns what it said with bestEffort", async () => {
  await using w = await world([say("found it"), say("noted")]);
  const strict = await w.client.call<{ id: string }>("cron.add", { name: "strict", everyMs: 3_600_000, message: "look" });
  await w.client.call("cron.run", { id: strict.id });
  expect((await w.client.call<{ entries: unknown[] }>("cron.runs", { id: strict.id })).entries).toMatchObject([{ status: "error", error: expect.stringMatching(/^Channel is required/), deliveryStatus: "unknown" }]);
  const loose = await w.client.call<{ id: string }>("cron.add", { name: "loose", everyMs: 3_600_000, message: "look", delivery: { mode: "announce", bestEffort: true } });
  await w.client.call("cron.run", { id: loose.id });
  expect((await w.client.call<{ entries: unknown[] }>("cron.runs", { id: loose.id })).entries).toMatchObject([{ status: "ok", delivered: false, deliveryStatus: "not-delivered" }]);
  await w.client.chat("anything new?");
  expect(w.lastUser(-1)).toContain("Cron: loose: found it");
});

it("others than the owner get reminders for their own chat only, and see only theirs", async () => {
  const job = (args: Record<string, unknown>): Answer => (res, req) => call("cron", JSON.stringify(args))(res, req);
  await using w = await world([
    job({ action: "add", job: { name: "mine", at: soon(60_000), message: "stretch", delivery: { mode: "announce", channel: "telegram", to: "42" }, sessionTarget: "main" } }), say("done"),
    job({ action: "list" }), say("listed"),
    job({ action: "run", jobId: "x" }), say("refused"),
  ], { allowFrom: [42, 77] }, { commands: { ownerAllowFrom: ["telegram:42"] } });
  const secret = await w.client.call<{ id: string }>("cron.add", { name: "secret", everyMs: 3_600_000, text: "owner's" });
  for (const [index, text] of ["remind me", "what is planned?", "run it"].entries()) {
    w.telegram.text(text, { from: { id: 77, name: "Bob" } });
    await w.telegram.waitUntil(() => w.texts().length === index + 1);
  }
  const { jobs } = await w.client.call<{ jobs: { name: string; id: string; delivery?: unknown; authority?: unknown }[] }>("cron.list", { includeDisabled: true });
  expect(jobs.find((item) => item.name === "mine")).toMatchObject({ sessionTarget: "isolated", delivery: { mode: "announce", channel: "telegram", to: "telegram:77" }, authority: { isOwner: false, senderId: "77" } });
  const seen = textOf(w.provider.bodies[3]?.messages.findLast(({ role }) => role === "tool")?.content);
  expect(seen).toContain('"mine"');
  expect(seen).not.toContain(secret.id);
  expect(textOf(w.provider.bodies[5]?.messages.findLast(({ role }) => role === "tool")?.content)).toMatch(/owner only|enum|Validation/i);
});

it("bad jobs are refused with what is wrong, over the wire too", async () => {
  await using w = await world([]);
  const refusal = async (params: unknown): Promise<string | undefined> => (await w.client.request("cron.add", params)).error?.message;
  expect(await refusal({ everyMs: 5000, sessionTarget: "main", message: "m" })).toBe('main cron jobs require payload.kind="systemEvent"');
  expect(await refusal({ expr: "61 * * * *", text: "t" })).toContain("schedule.expr cannot be read");
  expect((await w.client.request("cron.update", { id: "nobody", patch: {} })).error?.message).toBe("unknown cron job id: nobody");
  expect((await w.client.request("cron.runs", { id: "../../etc" })).error?.message).toContain("must not contain");
  expect(await w.client.call("cron.status")).toMatchObject({ enabled: true, jobs: 0, nextWakeAtMs: null, storePath: join(w.g.stateDir, "cron", "jobs.json") });
});

it("a promised reminder that nobody scheduled is pointed out, a scheduled one is not", async () => {
  await using w = await world([
    say("Sure, I'll remind you at five."),
    call("cron", JSON.stringify({ action: "add", job: { name: "tea", at: soon(3_600_000), text: "Tea time" } })), say("Now I'll remind you at five."),
  ]);
  w.telegram.text("remind me at five");
  await w.telegram.waitUntil(() => w.texts().length === 1);
  expect(w.texts()[0]).toMatch(/^Sure, I'll remind you at five\.\n\n⏰ Nothing is scheduled for this/);
  w.telegram.text("do schedule it");
  await w.telegram.waitUntil(() => w.texts().length === 2);
  expect(w.texts()[1]).toBe("Now I'll remind you at five.");
});
