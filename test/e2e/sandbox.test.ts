import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { answeringModel, type Asked, type Reply } from "../support/answering-model.ts";
import { connectClient, type TestClient } from "../support/client.ts";
import { createFakeDocker, type FakeDocker } from "../support/fake-docker/index.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

/** The model calls the tool that the message names: `exec {"command":"ls"}`; then it repeats what came back. */
function scripted(asked: Asked): Reply {
  const call = /\b(exec|process|read|write|edit|sessions_spawn|sessions_send|session_status) (\{.*\})$/s.exec(asked.last.trim());
  return call?.[1] ? { tool: call[1], args: JSON.parse(call[2] as string) as object } : `done: ${asked.last}`;
}

interface Setup extends AsyncDisposable {
  readonly g: TestGateway;
  readonly docker: FakeDocker;
  readonly client: TestClient;
  readonly asked: readonly Asked[];
  /** What the tool gave, as the model saw it. */
  tool(name: string, args: object): Promise<string>;
  readonly workspace: string;
}

async function start(sandbox: object, more: { readonly list?: readonly object[]; readonly config?: object; readonly env?: Record<string, string> } = {}): Promise<Setup> {
  const model = await answeringModel(scripted);
  const docker = await createFakeDocker();
  const g = await startTestGateway({
    env: { PATH: `${docker.binDir}:${process.env["PATH"] ?? ""}`, ...more.env },
    config: {
      gateway: { mode: "local", auth: { mode: "token", token: "T" }, http: { endpoints: { chatCompletions: { enabled: true } } } }, models: { providers: model.providers }, messages: { queue: { debounceMs: 0 } },
      agents: { defaults: { model: { primary: "mock/m" }, heartbeat: { every: "0m" }, sandbox: { mode: "all", ...sandbox } }, ...(more.list ? { list: more.list } : {}) }, ...more.config,
    },
  });
  await g.gateway.ready;
  const client = await connectClient(g.url, g.token);
  return {
    g, docker, client, asked: model.asked, workspace: g.gateway.context.agents.agent("main").workspaceDir,
    tool: async (name, args) => (await client.chat(`${name} ${JSON.stringify(args)}`)).text ?? "",
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await g[Symbol.asyncDispose]();
      await docker[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

const containers = async (docker: FakeDocker): Promise<string[]> => Object.keys((await docker.state()).containers);

it("commands and files of a session work in one container, apart from the host", async () => {
  await using s = await start({ docker: { env: { GREETING: "hi", MY_API_KEY: "canary" }, setupCommand: "echo ready > setup.txt" } }, { env: { OPENAI_API_KEY: "canary-key" } });
  await mkdir(s.workspace, { recursive: true });
  await writeFile(join(s.workspace, "MEMORY.md"), "host memory");

  expect(await s.tool("exec", { command: "cat setup.txt; echo $GREETING-$EXTRA; env | grep -c KEY; pwd", env: { EXTRA: "call" } })).toMatch(/ready\nhi-call\n0\n/);
  const [name = ""] = await containers(s.docker);
  expect(name).toMatch(/^openclaw-sbx-agent-main-[0-9a-f]{8}$/);
  const container = (await s.docker.state()).containers[name];
  const box = container?.mounts[0]?.source ?? "";
  expect(container?.mounts).toEqual([{ source: box, target: "/workspace", readOnly: false }]);
  expect(box.startsWith(join(s.g.stateDir, "sandboxes"))).toBe(true);
  for (const flag of ["--read-only", "--cap-drop ALL", "--security-opt no-new-privileges", "--network none", "--tmpfs /tmp --tmpfs /var/tmp --tmpfs /run", "--label openclaw.sandbox=1", "--label openclaw.sessionKey=agent:main", "--user"]) {
    expect(container?.args.join(" ")).toContain(flag);
  }
  expect(container?.args.join(" ")).not.toContain("canary");
  expect(container?.cmd).toEqual(["sleep", "infinity"]);

  expect(await s.tool("write", { path: "notes/a.txt", content: "from the model" })).toContain("Successfully wrote");
  expect(await readFile(join(box, "notes/a.txt"), "utf8")).toBe("from the model");
  expect(await s.tool("exec", { command: "cat a.txt", workdir: "/workspace/notes" })).toContain("from the model");
  expect(await s.tool("edit", { path: "/workspace/notes/a.txt", oldText: "model", newText: "sandbox" })).toContain("Successfully replaced");
  expect(await s.tool("read", { path: "notes/a.txt" })).toContain("from the sandbox");
  expect(await s.tool("exec", { command: "true", workdir: "gone" })).toContain("does not exist in the sandbox");

  expect(await s.tool("exec", { command: "test -t 0 && echo a-terminal", pty: true })).toContain("a-terminal");
  expect(await s.tool("exec", { command: "echo $$ > pid; setsid sleep 300; echo never", timeout: 1 })).toContain("timed out after 1 seconds");
  const pid = (await readFile(join(box, "pid"), "utf8")).trim();
  await expect.poll(() => readFile(`/proc/${pid}/stat`, "utf8").then((text) => text.split(" ")[2], () => "gone")).toMatch(/gone|Z/);

  // Skills are read by the paths of the prompt, and lie in the workspace for commands.
  const skill = /<location>(.*?)<\/location>/.exec(s.asked[0]?.system ?? "")?.[1] ?? "";
  expect(await s.tool("read", { path: skill })).toContain("name:");
  expect(await s.tool("exec", { command: "cat skills/*/SKILL.md" })).toContain("name:");

  // The prompt says what is true, and the tools are those of the sandbox.
  const { system, tools } = s.asked[0] as Asked;
  expect(system).toContain("## Sandbox\nCommands and file tools work in a sandbox (mode all), in /workspace.");
  expect(system).toContain("Working directory: /workspace");
  expect(tools).toEqual(expect.arrayContaining(["exec", "process", "read", "write", "edit", "sessions_list", "session_status"]));
  for (const absent of ["cron", "gateway", "message", "web_fetch", "browser"]) expect(tools).not.toContain(absent);

  // Ways out.
  await symlink(s.workspace, join(box, "door"));
  for (const path of ["door/MEMORY.md", "/etc/passwd", join(s.g.stateDir, "openclaw.json")]) expect(await s.tool("read", { path })).toMatch(/outside of what file tools reach|ENOENT/);
  expect(await s.tool("write", { path: "door/MEMORY.md", content: "changed" })).toMatch(/outside of what file tools reach|ENOENT/);
  expect(await readFile(join(s.workspace, "MEMORY.md"), "utf8")).toBe("host memory");
  expect(await s.tool("exec", { command: "id", host: "gateway" })).toContain("exec host not allowed");
  expect(await s.tool("session_status", { sessionKey: "agent:main:other" })).toContain("not visible from a sandbox");
  await s.tool("exec", { command: "true", env: { DOCKER_HOST: "tcp://evil:1", LD_PRELOAD: "/evil.so" } });
  expect((await s.docker.calls()).at(-1)).toEqual(expect.arrayContaining(["-e", "DOCKER_HOST=tcp://evil:1", "-e", "LD_PRELOAD=/evil.so"]));

  // It dies and comes back; one turn asks the engine once before the model.
  await s.docker.change((state) => {
    Object.assign(state.containers[name] ?? {}, { running: false });
  });
  expect(await s.tool("exec", { command: "cat setup.txt" })).toContain("ready");
  expect((await s.docker.calls()).filter(([command]) => command === "create")).toHaveLength(1);
  await s.docker.change((state) => {
    delete state.containers[name];
  });
  expect(await s.tool("exec", { command: "echo again" })).toContain("again");
  expect((await s.docker.calls()).filter(([command]) => command === "create")).toHaveLength(2);
});

it("without an engine the run fails before the model is asked, and nothing runs on the host", async () => {
  await using s = await start({});
  await s.docker.change((state) => void (state.engine = "down"));
  const canary = join(s.g.stateDir, "canary");
  const end = await s.client.chat(`exec {"command":"touch ${canary}"}`);
  expect(JSON.stringify(end)).toContain("Failed to inspect sandbox image: Cannot connect to the Docker daemon");
  const http = await fetch(`${s.g.url.replace(/^ws/, "http")}/v1/chat/completions`, { method: "POST", headers: { authorization: "Bearer T", "content-type": "application/json" }, body: JSON.stringify({ model: "openclaw", messages: [{ role: "user", content: "hi" }] }) });
  expect([http.status, await http.json()]).toEqual([500, { error: { message: "internal error", type: "api_error" } }]);
  expect(s.asked).toEqual([]);
  expect(await readdir(s.g.stateDir)).not.toContain("canary");
  expect((await s.docker.calls()).every(([command]) => command === "container")).toBe(true);

  await s.docker.change((state) => {
    state.engine = "up";
    state.images = [];
  });
  expect(await s.tool("exec", { command: "echo works" })).toContain("works");
  expect((await s.docker.state()).images).toEqual(["debian:bookworm-slim", "openclaw-sandbox:bookworm-slim"]);
});

it("the agent's workspace itself is worked on where it may be written", async () => {
  await using s = await start({ workspaceAccess: "rw" });
  await mkdir(s.workspace, { recursive: true });
  await writeFile(join(s.workspace, "plan.md"), "the plan");
  expect(await s.tool("exec", { command: "cat plan.md; echo more > new.md" })).toContain("the plan");
  expect(await readFile(join(s.workspace, "new.md"), "utf8")).toBe("more\n");
  expect(await s.tool("write", { path: "/workspace/other.md", content: "x" })).toContain("Successfully wrote");
  expect(await readFile(join(s.workspace, "other.md"), "utf8")).toBe("x");
});

it("with non-main, the main conversation works on the host and others do not; elevated rights reach the host", async () => {
  await using s = await start({ mode: "non-main", workspaceAccess: "ro" }, { config: { tools: { elevated: { allowFrom: { webchat: ["*"] } } } } });
  await mkdir(s.workspace, { recursive: true });
  await writeFile(join(s.workspace, "plan.md"), "the plan");
  expect(await s.tool("exec", { command: "pwd" })).toContain(s.workspace);
  expect(await s.docker.calls()).toEqual([]);

  const inside = async (message: string): Promise<string> => (await s.client.chat(message, "agent:main:direct:someone")).text ?? "";
  expect(await inside('exec {"command":"pwd"}')).toContain(join(s.g.stateDir, "sandboxes"));
  expect(s.asked.at(-1)?.tools).not.toEqual(expect.arrayContaining(["write"]));
  expect(s.asked.at(-1)?.tools).not.toContain("edit");
  expect(s.asked.at(-1)?.system).toContain("the agent's workspace can be read under /agent");
  expect(await inside('read {"path":"/agent/plan.md"}')).toContain("the plan");
  expect((await s.docker.state()).containers[(await containers(s.docker))[0] ?? ""]?.mounts).toContainEqual({ source: s.workspace, target: "/agent", readOnly: true });
  const context = (await s.client.chat("/context list", "agent:main:direct:someone")).text ?? "";
  expect(context).toContain("Sandbox: mode=non-main sandboxed=true");
  expect(context).toMatch(/Not offered: .*write \(sandbox\.workspaceAccess=ro\)/);
  expect(context).toContain("cron (tools.sandbox.tools.deny (default))");
  expect((await s.client.chat("/status", "agent:main:direct:someone")).text).toContain("Runtime: sandbox");
  expect(await inside('/elevated full exec {"command":"pwd"}')).not.toContain(join(s.g.stateDir, "sandboxes"));
});

it("a sandboxed session does not start an agent that works outside, and sees what it has started only", async () => {
  await using s = await start({}, { list: [{ id: "main", default: true, subagents: { allowAgents: ["*"] } }, { id: "free", sandbox: { mode: "off" } }], config: { tools: { sessions: { visibility: "all" } } } });
  expect(await s.tool("sessions_spawn", { task: "get out", agentId: "free" })).toContain("A sandboxed session cannot start an agent that is not");
  await s.client.chat("hello", "agent:main:direct:sibling");
  expect(await s.tool("sessions_send", { sessionKey: "agent:main:direct:sibling", message: "hi" })).toContain("sessionToolsVisibility=spawned");
});
