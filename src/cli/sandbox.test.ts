import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createFakeDocker } from "../../test/support/fake-docker/index.ts";
import { createHome } from "./test-support.ts";

const entry = (containerName: string, sessionKey: string): object => ({ containerName, sessionKey, createdAtMs: Date.now() - 3_600_000, lastUsedAtMs: Date.now() - 60_000, image: "openclaw-sandbox:bookworm-slim", configHash: "h" });

it("containers are listed and removed, and the rules of a session told", async () => {
  await using home = await createHome();
  await using docker = await createFakeDocker({ images: [] });
  const env = { PATH: `${docker.binDir}:${process.env["PATH"] ?? ""}` };
  await home.writeConfig(JSON.stringify({
    gateway: { mode: "local" }, tools: { sandbox: { tools: { deny: ["exec"] } } },
    agents: { defaults: { sandbox: { mode: "non-main" } }, list: [{ id: "main", default: true }, { id: "work", sandbox: { mode: "all", docker: { image: "mine:1" } } }] },
  }));
  expect((await home.runWith(env, "sandbox", "list")).stdout).toBe("No sandbox containers.\n");
  await mkdir(join(home.stateDir, "sandbox"), { recursive: true });
  await writeFile(join(home.stateDir, "sandbox", "containers.json"), JSON.stringify({ entries: [entry("box-main", "agent:main"), entry("box-work", "agent:work"), { broken: true }] }));

  const list = JSON.parse((await home.runWith(env, "sandbox", "list", "--json")).stdout) as { containers: object[]; browsers: object[] };
  expect(list).toMatchObject({ containers: [{ containerName: "box-main", running: false, state: "gone" }, { containerName: "box-work" }], browsers: [] });
  expect((await home.runWith(env, "sandbox", "list")).stdout).toMatch(/box-main.*gone.*agent:main/);

  expect((await home.runWith(env, "sandbox", "recreate", "--agent", "work")).stderr).toContain("--force");
  expect((await home.runWith(env, "sandbox", "recreate")).stderr).toContain("--all, --session <key> or --agent <id>");
  expect((await home.runWith(env, "sandbox", "recreate", "--agent", "work", "--force")).stdout).toMatch(/box-work[\s\S]*Removed 1/);
  expect(JSON.parse((await home.runWith(env, "sandbox", "list", "--json")).stdout)).toMatchObject({ containers: [{ containerName: "box-main" }] });

  const explained = async (...args: string[]): Promise<unknown> => JSON.parse((await home.runWith(env, "sandbox", "explain", "--json", ...args)).stdout);
  expect(await explained()).toMatchObject({ sessionKey: "agent:main:main", sandbox: { mode: "non-main", sessionIsSandboxed: false } });
  expect(await explained("--session", "agent:main:telegram:group:-1")).toMatchObject({ sandbox: { sessionIsSandboxed: true, scopeKey: "agent:main", tools: { deny: ["exec"], denyFrom: "tools.sandbox.tools.deny", allowFrom: "default" } } });
  expect((await home.runWith(env, "sandbox", "explain", "--agent", "work")).stdout).toMatch(/Runs: in the sandbox of agent:work \(mode all\)/);

  expect((await home.runWith(env, "doctor")).stdout).toContain("Sandbox image not found: mine:1. Build or pull it first.");
});
