import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { resolveBinds, type Bind } from "./binds.ts";

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "openclaw-binds-")));
  for (const dir of ["ws/data", "elsewhere", "state/credentials", "state/sandboxes"]) await mkdir(join(root, dir), { recursive: true });
  await symlink("/etc", join(root, "ws", "innocent"));
  await symlink(join(root, "state"), join(root, "ws", "state-link"));
  await symlink(join(root, "elsewhere"), join(root, "ws", "elsewhere-link"));
});
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

const resolve = (bind: string, more: object = {}): Promise<Bind[]> =>
  resolveBinds({ docker: { workdir: "/workspace", binds: [bind.replaceAll("~", root)], ...more }, roots: [join(root, "ws"), join(root, "state", "sandboxes")], stateDir: join(root, "state") });

it.each([
  ["relative:/data", "absolute path"], ["~/ws:data", "both absolute"], ["~/ws/data:/data:exec", "option exec"], ["~/ws/data:/data:ro:x", "both absolute"],
  ["/:/host", "whole file system"], ["/etc:/data", "/etc"], ["/etc/ssh:/data", "/etc"], ["/proc:/data", "/proc"], ["/sys/fs:/data", "/sys"], ["/dev:/data", "/dev"], ["/root:/data", "/root"], ["/boot:/data", "/boot"], ["/var/../etc:/data", "/etc"], ["//etc:/data", "/etc"],
  ["/run:/data", "/run"], ["/var/run/docker.sock:/var/run/docker.sock", "socket|/var/run"], ["~/docker.sock:/s", "socket"], ["/var:/data", "/var/run"],
  ["~/ws/innocent:/data", "/etc"], ["~/ws/innocent/ssh:/data", "/etc"], ["~/ws/state-link:/data", "own state"], ["~/ws/elsewhere-link:/data", "outside of the agent's workspace"], ["~/elsewhere:/data", "outside of the agent's workspace"],
  ["~/ws/data:/workspace", "reserved"], ["~/ws/data:/workspace/sub", "reserved"], ["~/ws/data:/agent", "reserved"], ["~/ws/data:/x/../workspace/", "reserved"], ["~/ws/data:/", "root of the sandbox"],
])("%s is refused: %s", async (bind, why) => {
  await expect(resolve(bind)).rejects.toThrow(new RegExp(`sandbox.docker.binds is refused: .*(${why})`));
});

it("a folder of the workspace is mounted, by its real path", async () => {
  expect(await resolve("~/ws/data:/data:ro")).toEqual([{ source: join(root, "ws/data"), target: "/data", writable: false, options: ["ro"] }]);
  expect(await resolve("~/ws/data:/data/")).toMatchObject([{ target: "/data", writable: true }]);
});

it("what is allowed on purpose stays within the rest of the rules", async () => {
  const external = { dangerouslyAllowExternalBindSources: true };
  expect(await resolve("~/elsewhere:/data", external)).toMatchObject([{ source: join(root, "elsewhere") }]);
  await expect(resolve("/etc:/data", external)).rejects.toThrow("/etc");
  await expect(resolve("~/state/credentials:/data", external)).rejects.toThrow("own state");
  await expect(resolve("~:/data", external)).rejects.toThrow("own state");
  expect(await resolve("~/ws/data:/workspace/data", { dangerouslyAllowReservedContainerTargets: true })).toMatchObject([{ target: "/workspace/data" }]);
});
