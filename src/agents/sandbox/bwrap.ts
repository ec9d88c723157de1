import { spawn } from "node:child_process";
import type { SandboxBackend, SandboxPlan } from "./backend.ts";
import { SandboxError } from "./contract.ts";
import { assertIsolating, sandboxEnvironment } from "./docker-args.ts";
import type { Mount } from "./open-inside.ts";
import { DEFAULT_SANDBOX_IMAGE, type DockerSettings } from "./settings.ts";
import { resolveSandboxWorkdir } from "./workdir.ts";

/** Of the host's system, enough for a shell and programs; nothing of its settings or users. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ssl/certs", "/etc/localtime"];
/** Limits and shapes that only a container engine can give. */
const ENGINE_ONLY = ["setupCommand", "user", "pidsLimit", "memory", "memorySwap", "cpus", "ulimits", "seccompProfile", "apparmorProfile", "dns", "extraHosts"] as const;
const PROBE_TIMEOUT_MS = 10_000;

/** bubblewrap: for Linux machines without a container engine. Each command gets namespaces of its own; the folders stay. */
export function createBwrapBackend({ path, env: gatewayEnv }: { readonly path: string; readonly env: Readonly<Record<string, string | undefined>> }): SandboxBackend {
  const env = { PATH: gatewayEnv["PATH"] ?? "/usr/bin:/bin" };
  let probe: Promise<void> | undefined;
  return {
    async ensure(plan) {
      const { docker } = plan.settings;
      assertIsolating(docker);
      assertPossible(docker);
      await (probe ??= tryOut(path, env, plan).catch((err: unknown) => {
        probe = undefined;
        throw err;
      }));
      return {
        backend: "bwrap",
        name: `bwrap:${plan.slug}`,
        async wrap(request) {
          const mounts = [...plan.mounts, ...plan.binds];
          const workdir = await resolveSandboxWorkdir(request.workdir, mounts, docker.workdir);
          return { argv: [path, ...bwrapArgs(docker, mounts, { workdir, env: request.env, pty: request.pty }), "sh", "-lc", request.command], env, cwd: "/", workdir };
        },
      };
    },
  };
}

/** @throws SandboxError naming the keys that need a container engine */
export function assertPossible(docker: DockerSettings): void {
  const keys: string[] = ENGINE_ONLY.filter((key) => docker[key] !== undefined);
  if (docker.image !== DEFAULT_SANDBOX_IMAGE) keys.push("image");
  if (docker.network.trim().toLowerCase() !== "none") keys.push("network");
  if (!docker.readOnlyRoot) keys.push("readOnlyRoot");
  if (keys.length > 0) throw new SandboxError("settings", `bubblewrap cannot honour sandbox.docker.${keys.join(", sandbox.docker.")}. Install Docker, or remove the keys.`);
}

/** Arguments of bwrap up to the command. */
export function bwrapArgs(docker: DockerSettings, mounts: readonly Mount[], call: { readonly workdir: string; readonly env: Readonly<Record<string, string>>; readonly pty: boolean }): string[] {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: docker.workdir, ...sandboxEnvironment(docker.env).env, ...call.env };
  return [
    "--unshare-all", "--die-with-parent", ...(call.pty ? [] : ["--new-session"]), "--cap-drop", "ALL", "--clearenv",
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...SYSTEM.flatMap((dir) => ["--ro-bind-try", dir, dir]),
    "--proc", "/proc", "--dev", "/dev",
    ...docker.tmpfs.flatMap((dir) => ["--tmpfs", dir.split(":")[0] as string]),
    ...mounts.flatMap((mount) => [mount.writable ? "--bind" : "--ro-bind", mount.source, mount.target]),
    "--remount-ro", "/",
    "--chdir", call.workdir, "--",
  ];
}

/** Namespaces of users are off on some machines: said once, before the model is asked. */
function tryOut(path: string, env: Readonly<Record<string, string>>, plan: SandboxPlan): Promise<void> {
  const { docker } = plan.settings;
  return new Promise((resolve, reject) => {
    const child = spawn(path, [...bwrapArgs(docker, plan.mounts, { workdir: docker.workdir, env: {}, pty: false }), "true"], { env, cwd: "/", stdio: ["ignore", "ignore", "pipe"], timeout: PROBE_TIMEOUT_MS });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-2000);
    });
    const fail = (why: string): void => reject(new SandboxError("engine", `bubblewrap could not bring up a sandbox: ${why}`));
    child.once("error", (err) => fail(err.message));
    child.once("close", (code) => (code === 0 ? resolve() : fail(stderr.trim() || `it ended with code ${code}`)));
  });
}
