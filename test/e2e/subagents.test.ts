import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { answeringModel } from "../support/answering-model.ts";
import { connectClient } from "../support/client.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startFakeTelegram } from "../support/telegram-api/index.ts";

const config = (providers: object, defaults: object = {}, more: object = {}): Record<string, unknown> => ({
  gateway: { mode: "local", auth: { mode: "token", token: "T" } }, models: { providers }, agents: { defaults: { model: { primary: "mock/m" }, heartbeat: { every: "0m" }, ...defaults } }, messages: { queue: { debounceMs: 0 } }, ...more,
});

it("a task is done in a session of its own, and its result comes back to who asked", async () => {
  await using m = await answeringModel((asked) => {
    if (asked.isChild) return "The answer is 42.";
    if (asked.last.includes("[System Message]")) return "Your sub-agent says 42.";
    return asked.last.includes("accepted") ? "I have asked somebody." : { tool: "sessions_spawn", args: { task: "Compute the answer\ncarefully", label: "calc" } };
  });
  await using g = await startTestGateway({ config: config(m.providers) });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  expect((await client.chat("find the answer")).text).toBe("I have asked somebody.");
  await expect.poll(() => m.asked.some((asked) => asked.last.includes("[System Message]"))).toBe(true);
  const child = m.asked.find((asked) => asked.isChild);
  expect(child?.last).toMatch(/\[Subagent Context\] You are running as a subagent \(depth 1\/1\)[\s\S]*\[Subagent Task\]: Compute the answer\ncarefully$/);
  expect(child?.system).toContain("> Compute the answer\n> carefully");
  expect(child?.tools).toContain("exec");
  for (const name of ["sessions_spawn", "cron", "session_status", "message_"]) expect(child?.tools).not.toContain(name);
  const announced = m.asked.find((asked) => asked.last.includes("[System Message]"))?.last ?? "";
  expect(announced).toMatch(/A subagent task "calc" just completed successfully\.\n\nResult:\nThe answer is 42\.\n\nStats: runtime .* • tokens/);
  await client.waitFor((frame) => frame.event === "chat" && frame.payload?.["state"] === "final" && JSON.stringify(frame.payload).includes("Your sub-agent says 42."));
  const stored = async (): Promise<{ version: number; runs: Record<string, object> }> => JSON.parse(await readFile(join(g.stateDir, "subagents", "runs.json"), "utf8")) as { version: number; runs: Record<string, object> };
  await expect.poll(async () => Object.values((await stored()).runs)).toMatchObject([
    { label: "calc", task: "Compute the answer\ncarefully", requesterSessionKey: "agent:main:main", outcome: { status: "ok" }, resultText: "The answer is 42.", cleanupHandled: true },
  ]);
  expect((await stored()).version).toBe(2);
});

it("in a chat the result is a message, once, and part of the conversation", async () => {
  await using telegram = await startFakeTelegram();
  await using m = await answeringModel((asked) => (asked.isChild ? "It is done." : asked.last.includes("accepted") ? "Working on it." : asked.last.includes("what") ? "as said" : { tool: "sessions_spawn", args: { task: "do it" } }));
  await using g = await startTestGateway({ config: config(m.providers, {}, { channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42], streamMode: "off" } } }) });
  await g.gateway.ready;
  telegram.text("do it please");
  await telegram.waitUntil(() => telegram.sent().length === 2);
  expect(telegram.sent().map((message) => message.text)).toEqual(expect.arrayContaining(["Working on it.", "✅ Subagent main finished\n\nIt is done."]));
  await expect.poll(() => JSON.stringify(g.gateway.context.subagents.list("agent:main:main", 60_000))).toContain('"cleanupHandled":true');
});

it("fifty at once all come back, each once, and limits are said", async () => {
  let spawned = 0;
  await using m = await answeringModel((asked) => {
    if (asked.isChild) return `done ${/\[Subagent Task\]: task (\d+)/.exec(asked.last)?.[1]}`;
    if (asked.last.includes("[System Message]")) return "NO_REPLY";
    return spawned < 50 ? { tool: "sessions_spawn", args: { task: `task ${spawned++}` } } : "all started";
  });
  await using g = await startTestGateway({ config: config(m.providers, { subagents: { maxChildrenPerAgent: 20, maxConcurrent: 8 } }) });
  await g.gateway.ready;
  const { subagents, sessions } = g.gateway.context;
  const results = [];
  for (let i = 0; i < 50; i++) {
    const request = { requesterSessionKey: `agent:main:direct:p${i % 5}`, requesterAgentId: "main", origin: undefined, isOwner: true, senderId: undefined, task: `task ${i}` };
    results.push(await subagents.spawn(request));
  }
  expect(results.filter((result) => result.status === "accepted")).toHaveLength(50);
  const all = () => [0, 1, 2, 3, 4].flatMap((i) => subagents.list(`agent:main:direct:p${i}`, 600_000));
  await expect.poll(() => all().filter((run) => run.cleanupHandled).length, { timeout: 30_000 }).toBe(50);
  expect(new Set(all().map((run) => run.resultText))).toEqual(new Set(Array.from({ length: 50 }, (_, i) => `done ${i}`)));
  for (let i = 0; i < 50; i++) expect(m.asked.filter((asked) => !asked.isChild && asked.last.includes(`Result:\ndone ${i}\n`))).toHaveLength(1);
  expect(await subagents.spawn({ requesterSessionKey: "agent:main:main", requesterAgentId: "main", origin: undefined, isOwner: true, senderId: undefined, task: "x", agentId: "nobody" })).toMatchObject({ status: "forbidden" });
  await sessions.update("agent:main:deep", { spawnDepth: 1 });
  expect(await subagents.spawn({ requesterSessionKey: "agent:main:deep", requesterAgentId: "main", origin: undefined, isOwner: true, senderId: undefined, task: "x" })).toEqual({ status: "forbidden", error: "sessions_spawn is not allowed at this depth (current depth: 1, max: 1)" });
}, 40_000);

it("a task that still waits for its lane and is stopped is never begun", async () => {
  let spawned = 0;
  const hold = Promise.withResolvers<void>();
  await using m = await answeringModel(async (asked) => {
    if (asked.isChild) await hold.promise;
    if (asked.isChild) return "done";
    if (asked.last.includes("hello")) return "hello yourself";
    return spawned < 2 ? { tool: "sessions_spawn", args: { task: `task ${spawned++}` } } : "all started";
  });
  await using g = await startTestGateway({ config: config(m.providers, { subagents: { maxConcurrent: 1 } }) });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  expect((await client.chat("start two")).text).toBe("all started");
  await expect.poll(() => m.asked.filter((asked) => asked.isChild).length).toBe(1);

  const waiting = g.gateway.context.subagents.list("agent:main:main", 0).find(({ task }) => task === "task 1");
  expect(await g.gateway.context.subagents.kill(waiting?.runId ?? "")).toBe(1);
  hold.resolve();
  expect((await client.chat("hello")).text).toBe("hello yourself");
  await expect.poll(() => g.gateway.context.agents.lanes.active()).toBe(0);
  expect(m.asked.filter((asked) => asked.isChild)).toHaveLength(1);
});

it("a task that a stop interrupts goes on in the next process, and its result is told once", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-sub-"));
  let childCalls = 0;
  const never = new Promise<string>(() => undefined);
  await using m = await answeringModel((asked) => {
    if (asked.isChild) return ++childCalls === 1 ? never : "finished at last";
    return asked.last.includes("[System Message]") ? "told" : asked.last.includes("accepted") ? "started" : { tool: "sessions_spawn", args: { task: "long task" } };
  });
  const first = await startTestGateway({ stateDir, config: config(m.providers) });
  await first.gateway.ready;
  const client = await connectClient(first.url, first.token);
  expect((await client.chat("go")).text).toBe("started");
  await expect.poll(() => childCalls).toBe(1);
  await client[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await using second = await startTestGateway({ stateDir });
  await second.gateway.ready;
  await expect.poll(() => m.asked.filter((asked) => asked.last.includes("[System Message]")).length, { timeout: 10_000 }).toBe(1);
  expect(m.asked.find((asked) => asked.last.includes("[System Message]"))?.last).toContain("finished at last");
  await expect.poll(() => second.gateway.context.subagents.list("agent:main:main", 60_000).map((run) => run.cleanupHandled)).toEqual([true]);
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
}, 40_000);

it("sessions see what they may, read each other shortened, and talk", async () => {
  await using m = await answeringModel((asked) => {
    if (asked.last.includes("The talk with")) return "ANNOUNCE_SKIP";
    if (asked.last.includes("The other conversation replied")) return "REPLY_SKIP";
    if (asked.last.startsWith("[Inter-session message]") || asked.last.includes("ping from")) return "pong";
    if (asked.last.includes("list them")) return { tool: "sessions_list", args: { messageLimit: 1 } };
    if (asked.last.includes("read it")) return { tool: "sessions_history", args: { sessionKey: "agent:main:other" } };
    if (asked.last.includes("write to it")) return { tool: "sessions_send", args: { sessionKey: "agent:main:other", message: "ping from main" } };
    return `seen: ${asked.last}`;
  });
  await using g = await startTestGateway({ config: config(m.providers, {}, { tools: { sessions: { visibility: "agent" } } }) });
  await g.gateway.ready;
  await using client = await connectClient(g.url, g.token);
  await client.chat(`my key is sk-abcdefghijklmnop1234 and ${"x".repeat(5000)}`, "agent:main:other");
  expect((await client.chat("list them")).text).toMatch(/"key": "agent:main:other"[\s\S]*"kind": "other"/);
  const read = (await client.chat("read it")).text ?? "";
  expect(read).not.toContain("sk-abcdefghijklmnop1234");
  expect(read).toContain("…(truncated)…");
  expect(read).toMatch(/"contentRedacted": true/);
  const sent = (await client.chat("write to it")).text ?? "";
  expect(sent).toMatch(/"status": "ok"[\s\S]*"reply": "pong"/);
  await expect.poll(() => m.asked.some((asked) => asked.last.includes("The other conversation replied"))).toBe(true);
  expect(m.asked.find((asked) => asked.last.includes("ping from main"))?.last).toContain("[Inter-session message] sourceSession=agent:main:main");
});
