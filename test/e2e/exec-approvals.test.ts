import { existsSync } from "node:fs";
import { mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { answeringModel, type Asked } from "../support/answering-model.ts";
import { connectClient, type Frame, type TestClient } from "../support/client.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { startFakeTelegram } from "../support/telegram-api/index.ts";

const SESSION = "agent:main:main";

/** A model that runs what a message tells it to, and says "done" to everything else. */
async function obedientModel() {
  const model = await answeringModel(({ last }) => {
    const order = /RUN (\{.*\})/.exec(last)?.[1];
    return order === undefined ? "done" : { tool: "exec", args: JSON.parse(order) as object };
  });
  return { ...model, heard: (text: string) => model.asked.some((asked: Asked) => asked.last.includes(text)) };
}
type Model = Awaited<ReturnType<typeof obedientModel>>;
const order = (command: string, more: Record<string, unknown> = {}): string => `RUN ${JSON.stringify({ command, ...more })}`;

function start(model: Model, more: { exec?: Record<string, unknown>; rest?: Record<string, unknown>; gateway?: Record<string, unknown> } = {}): Promise<TestGateway> {
  return startTestGateway({
    config: {
      models: { providers: model.providers }, agents: { defaults: { model: { primary: "mock/m" } } }, gateway: { mode: "local", auth: { mode: "token", token: "T" }, ...more.gateway },
      tools: { exec: { host: "gateway", ...more.exec } }, ...more.rest,
    },
  });
}
const workspaceOf = (g: TestGateway): string => g.gateway.context.agents.agent("main").workspaceDir;
const requested = (client: TestClient, command?: string): Promise<Frame> =>
  client.waitFor((frame) => frame.event === "exec.approval.requested" && (command === undefined || (frame.payload?.["request"] as { command: string } | undefined)?.command === command));
const idOf = (frame: Frame): string => String(frame.payload?.["id"]);
const resolve = (client: TestClient, frame: Frame, decision: string): Promise<unknown> => client.call("exec.approval.resolve", { id: idOf(frame), decision });
/** A session hears of a command in its next prompt; the run that the news wakes may have taken it already. */
const told = (g: TestGateway, model: Model, text: string): Promise<void> =>
  expect.poll(() => model.heard(text) || g.gateway.context.systemEvents.peek(SESSION).events.some((event) => event.text.includes(text)), { timeout: 15_000, message: text }).toBe(true);

it("a command waits for a person, runs when it is allowed, and its session hears of the end", async () => {
  await using model = await obedientModel();
  await using g = await start(model);
  await using client = await connectClient(g.url, g.token);
  await using approver = await connectClient(g.url, g.token, { scopes: ["operator.approvals"] });
  await using reader = await connectClient(g.url, g.token, { scopes: ["operator.read", "operator.write"] });

  expect((await client.chat(order("echo said > out.txt; echo visible"))).text).toBe("done");
  const asked = await requested(approver);
  expect(model.heard(`Approval required (id ${idOf(asked).slice(0, 8)}). Approve to run; updates will arrive after completion.`)).toBe(true);
  expect(asked.payload?.["request"]).toMatchObject({ command: "echo said > out.txt; echo visible", cwd: workspaceOf(g), host: "gateway", security: "allowlist", ask: "on-miss", agentId: "main", sessionKey: SESSION, nodeId: null });
  expect(existsSync(join(workspaceOf(g), "out.txt"))).toBe(false);

  // Not everybody may answer, and not by another way.
  expect((await reader.request("exec.approval.resolve", { id: idOf(asked), decision: "allow-once" })).error?.message).toContain("missing scope");
  expect((await reader.chat(`/approve ${idOf(asked)} allow-once`)).text).toContain("for the owner");
  expect((await approver.request("exec.approval.resolve", { id: idOf(asked), decision: "maybe" })).error?.message).toBe("invalid decision");
  expect(existsSync(join(workspaceOf(g), "out.txt"))).toBe(false);

  await resolve(approver, asked, "allow-once");
  expect((await client.waitFor((frame) => frame.event === "exec.approval.resolved")).payload).toMatchObject({ id: idOf(asked), decision: "allow-once", request: { host: "gateway" } });
  expect(reader.frames.some((frame) => frame.event?.startsWith("exec.approval"))).toBe(false);
  await told(g, model, "Exec finished (gateway id=");
  expect(await readFile(join(workspaceOf(g), "out.txt"), "utf8")).toBe("said\n");
  // One yes is one run.
  expect((await approver.request("exec.approval.resolve", { id: idOf(asked), decision: "allow-once" })).error?.message).toBe("unknown approval id");
  expect(await approver.call("exec.approval.waitDecision", { id: idOf(asked) })).toMatchObject({ decision: "allow-once" });
});

it("denied, changed meanwhile, timed out, or stopped with the gateway: nothing runs, and the session is told", async () => {
  await using model = await obedientModel();
  await using g = await start(model);
  await using client = await connectClient(g.url, g.token);
  const workspace = workspaceOf(g);
  await mkdir(join(workspace, "a"), { recursive: true });
  await mkdir(join(workspace, "b"));
  await writeFile(join(workspace, "script.sh"), "true\n");
  for (const [dir, text] of [["a", "#!/bin/sh\ntrue\n"], ["b", "#!/bin/sh\ntouch ../evil\n"]] as const) await writeFile(join(workspace, dir, "tool"), text, { mode: 0o755 });
  await symlink(join(workspace, "a"), join(workspace, "link"));

  await client.chat(order("touch denied"));
  await resolve(client, await requested(client, "touch denied"), "deny");
  await told(g, model, "user-denied): touch denied");

  await client.chat(order("sh ./script.sh"));
  const script = await requested(client, "sh ./script.sh");
  await writeFile(join(workspace, "script.sh"), "touch evil\n");
  await resolve(client, script, "allow-once");
  await told(g, model, "changed-since-asked");

  await client.chat(order("./link/tool"));
  const linked = await requested(client, "./link/tool");
  await rm(join(workspace, "link"));
  await symlink(join(workspace, "b"), join(workspace, "link"));
  await resolve(client, linked, "allow-always");
  await told(g, model, `${idOf(linked)}, changed-since-asked`);

  await client.chat(order("touch late"));
  const late = await requested(client, "touch late");
  await g.gateway.close("restart");
  await using again = await startTestGateway({ stateDir: g.stateDir });
  await told(again, model, "gateway-stopped): touch late");
  await using later = await connectClient(again.url, again.token);
  expect((await later.request("exec.approval.resolve", { id: idOf(late), decision: "allow-once" })).error?.message).toBe("unknown approval id");
  for (const name of ["denied", "evil", "late"]) expect(existsSync(join(workspace, name))).toBe(false);
});

it("always: the program is remembered, by its real path and nothing else", async () => {
  await using model = await obedientModel();
  await using g = await start(model);
  await using client = await connectClient(g.url, g.token);
  await client.chat(order("seq 3 | sort -r"));
  await resolve(client, await requested(client), "allow-always");
  await told(g, model, "code 0)");
  const file = JSON.parse(await readFile(join(g.stateDir, ".openclaw", "exec-approvals.json"), "utf8")) as { socket: { token: string }; agents: { main: { allowlist: { pattern: string }[] } } };
  expect(new Set(file.agents.main.allowlist.map((entry) => entry.pattern.split("/").at(-1)))).toEqual(new Set(["seq", "sort"]));
  expect((await stat(join(g.stateDir, ".openclaw", "exec-approvals.json"))).mode & 0o777).toBe(0o600);

  await client.chat(order("seq 2"));
  expect(model.heard("1\n2")).toBe(true);
  for (const command of ["seq $(touch evil)", "seq 1; sh -c 'touch evil'", "seq 1 > evil", "env X=1 seq 1", "seq 1 \n touch evil"]) {
    await client.chat(order(command));
    await requested(client, command);
  }
  expect(existsSync(join(workspaceOf(g), "evil"))).toBe(false);

  const got = await client.call<{ hash: string; file: Record<string, unknown> }>("exec.approvals.get");
  expect(JSON.stringify(got)).not.toContain(file.socket.token);
  expect((await client.request("exec.approvals.set", { file: got.file })).error?.message).toContain("exec approvals base hash required; re-run exec.approvals.get and retry");
  expect((await client.request("exec.approvals.set", { file: got.file, baseHash: "0".repeat(64) })).error?.message).toContain("exec approvals changed since last load");
  await client.call("exec.approvals.set", { file: { version: 1, defaults: { security: "deny" }, agents: { default: { allowlist: ["/usr/bin/seq"] } } }, baseHash: got.hash });
  const after = JSON.parse(await readFile(join(g.stateDir, ".openclaw", "exec-approvals.json"), "utf8")) as { socket: { token: string }; agents: Record<string, { allowlist: unknown[] }> };
  expect(after.socket.token).toBe(file.socket.token);
  expect(after.agents["main"]?.allowlist).toMatchObject([{ pattern: "/usr/bin/seq" }]);
  await client.chat(order("seq 5"));
  expect(model.heard("exec denied: host=gateway security=deny")).toBe(true);
});

it("nobody can be asked: the model is told at once, and a request of a client ends at once", async () => {
  await using model = await obedientModel();
  await using g = await start(model, { gateway: { http: { endpoints: { chatCompletions: { enabled: true } } } } });
  const answer = await fetch(`${g.url}/v1/chat/completions`, { method: "POST", headers: { authorization: "Bearer T", "content-type": "application/json" }, body: JSON.stringify({ model: "openclaw", messages: [{ role: "user", content: order("touch out") }] }) });
  expect(answer.status).toBe(200);
  expect(model.heard("nobody can be asked")).toBe(true);

  await using approver = await connectClient(g.url, g.token, { scopes: ["operator.approvals"] });
  const undecided = await approver.call("exec.approval.request", { command: "sleep", timeoutMs: 50 });
  expect(undecided).toMatchObject({ decision: null });
  expect((await approver.request("exec.approval.request", { command: "x", host: "node" })).error?.message).toContain("nodeId is required");
  const pending = approver.request("exec.approval.request", { id: "ap-1", command: "echo \u001B[2K\u202Ehi", twoPhase: true, timeoutMs: 5000 });
  const shown = await requested(approver, "echo \\u{1b}[2K\\u{202e}hi");
  expect(idOf(shown)).toBe("ap-1");
  expect((await pending).payload).toMatchObject({ status: "accepted", id: "ap-1" });
  expect((await approver.request("exec.approval.request", { id: "ap-1", command: "again" })).error?.message).toBe("approval id already pending");
  // Who connects later is shown what waits.
  await using late = await connectClient(g.url, g.token, { scopes: ["operator.approvals"] });
  expect(idOf(await requested(late))).toBe("ap-1");
  expect((await approver.request("exec.approval.waitDecision", { id: "none" })).error?.message).toBe("approval expired or not found");
});

it("asked in a Telegram chat, answered by the owner there, and by nobody else", async () => {
  await using telegram = await startFakeTelegram();
  await using model = await obedientModel();
  await using g = await start(model, {
    rest: {
      approvals: { exec: { enabled: true, mode: "both", targets: [{ channel: "telegram", to: "42" }] } }, commands: { ownerAllowFrom: ["telegram:42"] },
      channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, dmPolicy: "open", allowFrom: ["*"], streaming: "off" } },
    },
  });
  await g.gateway.ready;
  telegram.text(order("echo **from** `echo the-chat` > out.txt"));
  await telegram.waitUntil(() => telegram.sent().some((message) => message.text?.includes("Exec approval required")));
  const question = telegram.sent().find((message) => message.text?.includes("Exec approval required"))?.text ?? "";
  expect(telegram.sent().filter((message) => message.text?.includes("Exec approval required"))).toHaveLength(1);
  expect(question).toContain("echo **from** `echo the-chat` > out.txt");
  const id = /ID: (\S+)/.exec(question)?.[1] ?? "";
  const mallory = { from: { id: 99, name: "Mallory" } };
  telegram.text(`/approve ${id} allow-once`, mallory);
  telegram.text("hello", mallory);
  await telegram.waitUntil(() => telegram.sent().some((message) => message.chatId === 99));
  expect(existsSync(join(workspaceOf(g), "out.txt"))).toBe(false);
  telegram.text(`/approve once ${id.slice(0, 8)}`);
  await expect.poll(() => readFile(join(workspaceOf(g), "out.txt"), "utf8").catch(() => "")).toBe("**from** the-chat\n");
  await telegram.waitUntil(() => telegram.sent().some((message) => message.text?.includes("✅ Exec approval allowed once. Resolved by telegram:")));
});
