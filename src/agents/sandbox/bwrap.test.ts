import { execFile, spawnSync } from "node:child_process";
import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentsDefaultsSandboxConfig } from "../../config/index.ts";
import { silentLogger } from "../../infra/log.ts";
import { findOnPath } from "./executable.ts";
import { createSandboxService } from "./service.ts";
import type { SandboxSession } from "./contract.ts";

let dir: string;
beforeAll(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "openclaw-bwrap-")));
  await mkdir(join(dir, "ws"));
  await mkdir(join(dir, "bin"));
  await writeFile(join(dir, "ws", "plan.md"), "the plan");
  await writeFile(join(dir, "secret"), "canary");
});
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

function session(sandbox: AgentsDefaultsSandboxConfig, env: Readonly<Record<string, string>> = { PATH: process.env["PATH"] ?? "", OPENCLAW_SANDBOX_BACKEND: "bwrap", OPENAI_API_KEY: "canary" }): SandboxSession {
  const service = createSandboxService({
    config: () => ({ agents: { defaults: { workspace: join(dir, "ws"), sandbox: { mode: "all", ...sandbox } } } }),
    roots: { stateDir: join(dir, "state"), workspaceDir: join(dir, "ws") }, clock: { now: () => Date.now() }, log: silentLogger, env, bundledSkillsDir: join(dir, "skills"), pluginSkillDirs: () => [], docsDir: undefined,
  });
  return service.session("main", "agent:main:main") as SandboxSession;
}

async function run(sandbox: SandboxSession, command: string, more: { readonly workdir?: string; readonly env?: Record<string, string> } = {}): Promise<string> {
  const wrapped = await (await sandbox.ready()).wrap({ command, env: {}, pty: false, ...more });
  return new Promise((resolve) => {
    execFile(wrapped.argv[0], wrapped.argv.slice(1), { env: wrapped.env, cwd: wrapped.cwd, timeout: 20_000 }, (_err, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });
}

const bwrap = findOnPath("bwrap", process.env["PATH"]);
const works = bwrap !== undefined && spawnSync(bwrap, ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;

describe.runIf(works)("bubblewrap", () => {
  it("gives a command its workspace, and of the machine only programs", async () => {
    const box = session({ workspaceAccess: "ro", docker: { env: { GREETING: "hi" } } });
    expect(await run(box, "pwd; echo $GREETING-$EXTRA; cat /agent/plan.md; echo made > made.txt; id -u", { env: { EXTRA: "call" } })).toMatch(/^\/workspace\nhi-call\nthe plan/);
    expect((await (await box.files.forRead("made.txt")).read()).toString()).toBe("made\n");
    await (await box.files.forWrite("sub/from-tool.txt")).write("hello");
    expect(await run(box, "cat from-tool.txt", { workdir: "sub" })).toBe("hello");
    for (const [command, answer] of [
      [`cat ${dir}/secret /etc/passwd ~root/.bashrc`, /No such file/], ["echo x > /agent/plan.md", /Read-only|nonexistent|denied/i], ["echo x > /usr/x; echo x > /x", /Read-only/i], ["env", /^(?!.*canary)/s], ["ls /home /root /proc/1/root/home", /No such file|cannot access/],
      ["cat /proc/net/dev | tail -n +3 | grep -vc ' lo:'", /^0/], ["ls /var/run/docker.sock /run/docker.sock", /No such file|cannot access/],
    ] as const) expect(await run(box, command)).toMatch(answer);
    expect(await readFile(join(dir, "ws/plan.md"), "utf8")).toBe("the plan");
  });

  it("ends everything that a command has started when the command is ended", async () => {
    const box = session({ workspaceAccess: "rw" });
    const wrapped = await (await box.ready()).wrap({ command: "setsid sh -c 'while :; do date +%N > beat; sleep 0.05; done' & wait", env: {}, pty: false });
    const child = execFile(wrapped.argv[0], wrapped.argv.slice(1), { env: wrapped.env, cwd: wrapped.cwd });
    await expect.poll(() => access(join(dir, "ws/beat")).then(() => true, () => false), { timeout: 5000 }).toBe(true);
    const closed = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await closed;
    await expect.poll(async () => {
      const before = await readFile(join(dir, "ws/beat"), "utf8");
      await new Promise((resolve) => setTimeout(resolve, 120));
      return before === (await readFile(join(dir, "ws/beat"), "utf8"));
    }, { timeout: 5000 }).toBe(true);
  });
});

describe("the choice of what isolates", () => {
  it("without Docker and bubblewrap there is no sandbox", async () => {
    await expect(session({}, { PATH: join(dir, "bin") }).ready()).rejects.toThrow("Failed to inspect sandbox image: there is no docker command on PATH.");
  });

  it.each([
    [{ image: "mine:1" }, "image"], [{ network: "bridge" }, "network"], [{ memory: "1g" }, "memory"], [{ setupCommand: "true" }, "setupCommand"], [{ readOnlyRoot: false }, "readOnlyRoot"], [{ cpus: 2, user: "1:1" }, "user, sandbox.docker.cpus"],
  ])("bubblewrap does not pretend to honour %j", async (docker, keys) => {
    await writeFile(join(dir, "bin", "bwrap"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    await expect(session({ docker }, { PATH: join(dir, "bin") }).ready()).rejects.toThrow(process.platform === "linux" ? `bubblewrap cannot honour sandbox.docker.${keys}. Install Docker, or remove the keys.` : "no docker command");
  });

  it.runIf(process.platform === "linux")("bubblewrap that the kernel does not let run is told before the model is asked", async () => {
    await writeFile(join(dir, "bin", "bwrap"), "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n", { mode: 0o755 });
    await expect(session({}, { PATH: join(dir, "bin") }).ready()).rejects.toThrow("bubblewrap could not bring up a sandbox: bwrap: setting up uid map: Permission denied");
  });

  it("a workspace that holds the gateway's own state is not shown", async () => {
    const service = createSandboxService({
      config: () => ({ agents: { defaults: { workspace: dir, sandbox: { mode: "all", workspaceAccess: "rw" } } } }),
      roots: { stateDir: join(dir, "state"), workspaceDir: dir }, clock: { now: () => Date.now() }, log: silentLogger, env: { PATH: join(dir, "bin") }, bundledSkillsDir: dir, pluginSkillDirs: () => [], docsDir: undefined,
    });
    await expect(service.session("main", "agent:main:main")?.ready()).rejects.toThrow(process.platform === "linux" ? "holds the gateway's own state" : "no docker command");
  });
});
