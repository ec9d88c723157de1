import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFakeDocker, type FakeDocker } from "../../../test/support/fake-docker/index.ts";
import { silentLogger } from "../../infra/log.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { SandboxPlan } from "./backend.ts";
import { createDockerCli } from "./docker-cli.ts";
import { createDockerBackend } from "./docker.ts";
import { containerName, configHash, sandboxSlug } from "./names.ts";
import { pruneSandboxes } from "./prune.ts";
import { createSandboxRegistry } from "./registry.ts";
import { resolveSandboxSettings } from "./settings.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "openclaw-docker-"));
});
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

const MINUTE = 60_000;

function setup(docker: FakeDocker, stateDir = join(dir, String(Math.random()))) {
  const clock = { nowMs: 1_000_000_000_000 };
  const now = (): number => clock.nowMs;
  const cli = createDockerCli(docker.path, process.env);
  const registry = createSandboxRegistry(stateDir);
  const backend = createDockerBackend({ docker: cli, registry, now, log: silentLogger });
  const plan = (sandbox: object = {}, scopeKey = "agent:main"): SandboxPlan => ({
    scopeKey, slug: sandboxSlug(scopeKey, "/root"), binds: [], mounts: [{ target: "/workspace", source: dir, writable: true }],
    settings: resolveSandboxSettings({ agents: { defaults: { sandbox: { mode: "all", ...sandbox } } } } as OpenClawConfig, "main"),
  });
  const creates = async (): Promise<number> => (await docker.calls()).filter(([command]) => command === "create").length;
  return { clock, cli, registry, backend, plan, creates, prune: (config: OpenClawConfig = {}) => pruneSandboxes({ config, registry, docker: cli, now, log: silentLogger }) };
}

describe("a container", () => {
  it("is made with every setting in the form that docker takes", async () => {
    await using docker = await createFakeDocker({ images: ["mine:1"] });
    const { backend, plan } = setup(docker);
    const seccomp = join(dir, "seccomp.json");
    await (await import("node:fs/promises")).writeFile(seccomp, "{}");
    await backend.ensure(plan({
      docker: {
        image: "mine:1", network: "bridge", user: "1000:1000", capDrop: ["NET_RAW", "ALL"], tmpfs: ["/tmp", "/cache:size=64m"], env: { A: "b=c d" }, pidsLimit: 100, memory: "512m", memorySwap: -1, cpus: 1.5,
        ulimits: { nofile: { soft: 1024, hard: 2048 }, nproc: 256, core: "0" }, seccompProfile: seccomp, apparmorProfile: "mine", dns: ["1.1.1.1"], extraHosts: ["db:10.0.0.5"],
      },
    }));
    const [container] = Object.values((await docker.state()).containers);
    const args = container?.args.join(" ") ?? "";
    for (const part of [
      "--network bridge", "--user 1000:1000", "--cap-drop NET_RAW --cap-drop ALL", "--tmpfs /cache:size=64m", "--env A=b=c d", "--pids-limit 100", "--memory 512m", "--memory-swap -1", "--cpus 1.5", "--ulimit nofile=1024:2048", "--ulimit nproc=256",
      "--ulimit core=0", `--security-opt seccomp=${seccomp}`, "--security-opt apparmor=mine", "--security-opt no-new-privileges", "--dns 1.1.1.1", "--add-host db:10.0.0.5", "mine:1 sleep infinity",
    ]) expect(args).toContain(part);
  });

  it("belongs to whom the workspace belongs", async () => {
    await using docker = await createFakeDocker();
    const { backend, plan } = setup(docker);
    await backend.ensure(plan());
    const { uid, gid } = await stat(dir);
    expect(Object.values((await docker.state()).containers)[0]?.args.join(" ")).toContain(`--user ${uid}:${gid}`);
  });

  it("is made once for many who ask at the same time", async () => {
    await using docker = await createFakeDocker();
    const { backend, plan, creates } = setup(docker);
    await Promise.all(Array.from({ length: 4 }, () => backend.ensure(plan())));
    expect(await creates()).toBe(1);
  });

  it("is replaced when its settings change, unless it was used a moment ago", async () => {
    await using docker = await createFakeDocker();
    const { backend, plan, creates, clock, registry } = setup(docker);
    await backend.ensure(plan());
    const [first] = await registry.list();
    clock.nowMs += 4 * MINUTE;
    await backend.ensure(plan({ docker: { memory: "1g" } }));
    expect([await creates(), (await registry.list())[0]?.configHash]).toEqual([1, first?.configHash]);
    clock.nowMs += 6 * MINUTE;
    await backend.ensure(plan({ docker: { memory: "1g" } }));
    expect(await creates()).toBe(2);
    expect((await registry.list())[0]?.configHash).not.toBe(first?.configHash);
    await backend.ensure(plan({ docker: { memory: "1g" } }));
    expect(await creates()).toBe(2);
  });

  it("whose setup fails is removed, and the next try starts anew", async () => {
    await using docker = await createFakeDocker();
    const { backend, plan } = setup(docker);
    await expect(backend.ensure(plan({ docker: { setupCommand: "echo no network >&2; exit 3" } }))).rejects.toThrow("sandbox.docker.setupCommand failed: no network");
    expect((await docker.state()).containers).toEqual({});
    await backend.ensure(plan({ docker: { setupCommand: "true" } }));
  });

  it.each([
    [{ network: "host" }, "sandbox.docker.network is refused"], [{ network: " HOST " }, "sandbox.docker.network is refused"], [{ network: "container:other" }, "joins another container"], [{ seccompProfile: "unconfined" }, "seccompProfile is refused"],
    [{ apparmorProfile: "Unconfined" }, "apparmorProfile is refused"], [{ workdir: "/" }, "workdir is refused"], [{ image: "--privileged" }, "image is refused"],
    [{ image: "none:1" }, "Sandbox image not found: none:1. Build or pull it first."], [{ memory: "lots" }, "invalid size"],
  ])("with %j is not made: %s", async (settings, text) => {
    await using docker = await createFakeDocker();
    const { backend, plan } = setup(docker);
    await expect(backend.ensure(plan({ docker: settings }))).rejects.toThrow(text);
    expect((await docker.state()).containers).toEqual({});
  });

  it("a command is stopped together with what it has started", async () => {
    await using docker = await createFakeDocker();
    const { backend, plan } = setup(docker);
    const runtime = await backend.ensure(plan());
    const { spawn } = await import("node:child_process");
    const command = await runtime.wrap({ command: "setsid sleep 300 & echo $! > pid; wait", env: {}, pty: false });
    const child = spawn(command.argv[0], command.argv.slice(1), { env: command.env, cwd: command.cwd, stdio: "ignore" });
    const closed = new Promise((resolve) => child.once("close", resolve));
    await expect.poll(() => readFile(join(dir, "pid"), "utf8").catch(() => ""), { timeout: 5000 }).toMatch(/\d/);
    const pid = Number(await readFile(join(dir, "pid"), "utf8"));
    command.stop?.("SIGKILL");
    await closed;
    await expect.poll(() => readFile(`/proc/${pid}/stat`, "utf8").then((text) => text.split(" ")[2], () => "gone"), { timeout: 5000 }).toMatch(/gone|Z/);
  });
});

describe("old containers", () => {
  it("go when nobody has used them for long, or when they are very old", async () => {
    await using docker = await createFakeDocker();
    const { backend, plan, clock, prune, registry } = setup(docker);
    await backend.ensure(plan({}, "agent:idle"));
    clock.nowMs += 23 * 60 * MINUTE;
    await backend.ensure(plan({}, "agent:used"));
    await prune();
    expect(await registry.list()).toHaveLength(2);
    clock.nowMs += 2 * 60 * MINUTE;
    await prune();
    expect((await registry.list()).map((entry) => entry.sessionKey)).toEqual(["agent:used"]);
    clock.nowMs += 8 * 24 * 60 * MINUTE;
    await backend.ensure(plan({}, "agent:used"));
    await prune();
    expect(await registry.list()).toHaveLength(1); // in use
    clock.nowMs += 10 * MINUTE;
    await prune({ agents: { defaults: { sandbox: { prune: { maxAgeDays: 0, idleHours: 0 } } } } });
    expect(await registry.list()).toHaveLength(1);
    await docker.change((state) => {
      state.engine = "down";
    });
    await prune();
    expect(await registry.list()).toHaveLength(1); // tried again later
    await docker.change((state) => {
      state.engine = "up";
    });
    await prune();
    expect([await registry.list(), (await docker.state()).containers]).toEqual([[], {}]);
  });
});

it("names fit into 63 characters, are the same for ever, and differ between state directories", () => {
  const slug = sandboxSlug("agent:main:telegram:group:-1001234567890:topic:12345", "/a");
  expect(slug).toMatch(/^[a-z0-9][a-z0-9._-]{0,31}-[0-9a-f]{8}$/);
  expect(containerName("openclaw-sbx-", slug)).toHaveLength(13 + slug.length);
  expect(containerName("a".repeat(60), slug)).toHaveLength(63);
  expect(sandboxSlug("agent:main", "/a")).not.toBe(sandboxSlug("agent:main", "/b"));
  expect(sandboxSlug("会话", "/a")).toMatch(/^session-/);
  expect(configHash({ a: 1, b: { c: 2, d: 3 } })).toBe(configHash({ b: { d: 3, c: 2 }, a: 1 }));
});
