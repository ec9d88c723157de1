import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { createKeyedQueue } from "../../infra/keyed-queue.ts";
import type { Logger } from "../../infra/log.ts";
import type { SandboxBackend, SandboxPlan } from "./backend.ts";
import { SandboxError, type SandboxRuntime } from "./contract.ts";
import { assertIsolating, dockerCreateArgs, dockerExecArgs, sandboxEnvironment, type ContainerPlan } from "./docker-args.ts";
import type { DockerCli } from "./docker-cli.ts";
import { configHash, containerName } from "./names.ts";
import type { SandboxEntry, SandboxRegistry } from "./registry.ts";
import { DEFAULT_SANDBOX_IMAGE } from "./settings.ts";
import { resolveSandboxWorkdir } from "./workdir.ts";

const BASE_IMAGE = "debian:bookworm-slim";
/** A container that was used within this time is not replaced under the hands of whoever uses it. Source: spec tools-and-automation §4. */
export const HOT_MS = 5 * 60_000;
const NOTE_USE_EVERY_MS = 60_000;
const PULL_TIMEOUT_MS = 600_000;
const SETUP_TIMEOUT_MS = 300_000;
const MARK = "OPENCLAW_EXEC_ID";

export interface DockerBackendOptions {
  readonly docker: DockerCli;
  readonly registry: SandboxRegistry;
  readonly now: () => number;
  readonly log: Logger;
}

type Found = { readonly kind: "none" } | { readonly kind: "there"; readonly running: boolean; readonly hash: string | undefined };

/** One container for each scope, made when it is first needed and started again when it has ended. */
export function createDockerBackend(options: DockerBackendOptions): SandboxBackend {
  const { docker, registry, now, log } = options;
  const inTurn = createKeyedQueue();

  async function ensure(plan: SandboxPlan): Promise<SandboxRuntime> {
    const container = await toContainerPlan(plan);
    const hash = configHash({ docker: container.docker, mounts: container.mounts, binds: container.binds, user: container.docker.user ?? container.defaultUser });
    let found = await inspectContainer(docker, container.name);
    const entry = (await registry.list()).find((known) => known.containerName === container.name);
    let isOutdated = false;
    if (found.kind === "there" && found.hash !== hash) {
      if (found.running && entry !== undefined && now() - entry.lastUsedAtMs < HOT_MS) {
        isOutdated = true;
        log.warn("the sandbox settings have changed, and the container is in use: it keeps the old ones for now", { container: container.name, fix: `openclaw sandbox recreate --force ${recreateOption(plan)}` });
      } else {
        await must(docker, ["rm", "-f", container.name], "The sandbox container could not be replaced");
        found = { kind: "none" };
      }
    }
    let createdAtMs = entry?.createdAtMs ?? now();
    if (found.kind === "none") {
      createdAtMs = now();
      await create(container, createdAtMs, hash);
    } else if (!found.running) await must(docker, ["start", container.name], "The sandbox container could not be started");
    const kept = isOutdated && found.kind === "there" ? found.hash : hash;
    const use = async (): Promise<void> => registry.put({ containerName: container.name, sessionKey: plan.scopeKey, createdAtMs, lastUsedAtMs: now(), image: container.docker.image, ...(kept === undefined ? {} : { configHash: kept }) });
    await use();
    let notedAt = now();
    return runtimeOf(docker, container, () => {
      if (now() - notedAt < NOTE_USE_EVERY_MS) return;
      notedAt = now();
      use().catch((err: unknown) => log.warn("the use of a sandbox container was not noted", { container: container.name, err }));
    });
  }

  async function create(plan: ContainerPlan, createdAtMs: number, hash: string): Promise<void> {
    const { dropped } = sandboxEnvironment(plan.docker.env);
    if (dropped.length > 0) log.warn("variables of sandbox.docker.env that look like secrets stay outside", { names: dropped });
    await ensureImage(docker, plan.docker.image, log);
    await must(docker, dockerCreateArgs(plan, { createdAtMs, configHash: hash }), "The sandbox container could not be created");
    try {
      await must(docker, ["start", plan.name], "The sandbox container could not be started");
      if (plan.docker.setupCommand) await must(docker, ["exec", "-i", plan.name, "sh", "-lc", plan.docker.setupCommand], "sandbox.docker.setupCommand failed", SETUP_TIMEOUT_MS);
    } catch (err) {
      await docker.run(["rm", "-f", plan.name]);
      throw err;
    }
  }

  return { ensure: (plan) => inTurn(plan.slug, () => ensure(plan)) };
}

async function toContainerPlan(plan: SandboxPlan): Promise<ContainerPlan> {
  const { docker } = plan.settings;
  assertIsolating(docker);
  const withColon = plan.mounts.find((mount) => mount.source.includes(":"));
  if (withColon) throw new SandboxError("settings", `The folder ${withColon.source} cannot be mounted: docker takes no ":" in paths.`);
  const owner = plan.mounts[0] && (await stat(plan.mounts[0].source));
  return {
    name: containerName(docker.containerPrefix, plan.slug), scopeKey: plan.scopeKey, docker, mounts: plan.mounts, binds: plan.binds,
    defaultUser: owner && process.platform !== "win32" ? `${owner.uid}:${owner.gid}` : undefined,
  };
}

const recreateOption = ({ scopeKey }: SandboxPlan): string => (scopeKey === "shared" ? "--all" : /^agent:[^:]+$/.test(scopeKey) ? `--agent ${scopeKey.slice("agent:".length)}` : `--session ${scopeKey}`);

/** What a person reads of docker's complaint. */
const complaint = (stderr: string): string => stderr.trim().split("\n").slice(-3).join(" ").replace(/^(Error response from daemon|ERROR): /i, "") || "no reason was given";

async function must(docker: DockerCli, args: readonly string[], what: string, timeoutMs?: number): Promise<void> {
  const { code, stderr } = await docker.run(args, timeoutMs);
  if (code !== 0) throw new SandboxError("container", `${what}: ${complaint(stderr)}`);
}

/** The first question to the engine: without an answer there is no sandbox, and no run. */
async function inspectContainer(docker: DockerCli, name: string): Promise<Found> {
  const { code, stdout, stderr } = await docker.run(["container", "inspect", name]);
  if (code !== 0) {
    if (/no such container/i.test(stderr)) return { kind: "none" };
    throw new SandboxError("engine", `Failed to inspect sandbox image: ${complaint(stderr)}`);
  }
  const [state] = JSON.parse(stdout) as { State?: { Running?: boolean }; Config?: { Labels?: Record<string, string> | null } }[];
  return { kind: "there", running: state?.State?.Running === true, hash: state?.Config?.Labels?.["openclaw.configHash"] };
}

/** Is the image there, or can it be fetched? @throws SandboxError */
export async function inspectImage(docker: DockerCli, image: string): Promise<"there" | "fetchable"> {
  const { code, stderr } = await docker.run(["image", "inspect", image]);
  if (code === 0) return "there";
  if (!/no such image/i.test(stderr)) throw new SandboxError("engine", `Failed to inspect sandbox image: ${complaint(stderr)}`);
  if (image !== DEFAULT_SANDBOX_IMAGE) throw new SandboxError("image", `Sandbox image not found: ${image}. Build or pull it first.`);
  return "fetchable";
}

async function ensureImage(docker: DockerCli, image: string, log: Logger): Promise<void> {
  if ((await inspectImage(docker, image)) === "there") return;
  log.info("the sandbox image is fetched", { image, from: BASE_IMAGE });
  for (const [args, what] of [[["pull", BASE_IMAGE], `The image ${BASE_IMAGE} could not be pulled`], [["tag", BASE_IMAGE, image], `The image ${image} could not be named`]] as const) {
    const answer = await docker.run(args, PULL_TIMEOUT_MS);
    if (answer.code !== 0) throw new SandboxError("image", `${what}: ${complaint(answer.stderr)}`);
  }
}

function runtimeOf(docker: DockerCli, container: ContainerPlan, onUse: () => void): SandboxRuntime {
  const mounts = [...container.mounts, ...container.binds];
  return {
    backend: "docker",
    name: container.name,
    async wrap(request) {
      const workdir = await resolveSandboxWorkdir(request.workdir, mounts, container.docker.workdir);
      const id = randomUUID();
      onUse();
      const args = dockerExecArgs({ name: container.name, workdir, command: request.command, env: { ...request.env, [MARK]: id }, pty: request.pty });
      return {
        argv: [docker.path, ...args], env: docker.env, cwd: "/", workdir,
        stop: (signal) => void docker.run(["exec", container.name, "sh", "-c", killScript(id, signal)]).catch(() => undefined), // the container is gone, and the command with it
      };
    },
  };
}

/** The docker command dies alone: what it has started inside is found by its mark, children that left their group included. */
const killScript = (id: string, signal: "SIGTERM" | "SIGKILL"): string =>
  `for p in /proc/[0-9]*; do if tr '\\0' '\\n' 2>/dev/null <"$p/environ" | grep -qx '${MARK}=${id}'; then kill -${signal.slice(3)} "\${p#/proc/}" 2>/dev/null; fi; done`;

/** Is a container of this entry still known to the engine, and does it run? undefined: the engine does not answer. */
export async function containerState(docker: DockerCli, entry: Pick<SandboxEntry, "containerName">): Promise<"running" | "stopped" | "gone" | undefined> {
  try {
    const found = await inspectContainer(docker, entry.containerName);
    return found.kind === "none" ? "gone" : found.running ? "running" : "stopped";
  } catch {
    return undefined; // the engine's own trouble; the list is shown all the same
  }
}

/** @throws SandboxError */
export async function removeContainer(docker: DockerCli, registry: SandboxRegistry, containerName: string): Promise<void> {
  const { code, stderr } = await docker.run(["rm", "-f", containerName]);
  if (code !== 0 && !/no such container/i.test(stderr)) throw new SandboxError("container", `The container ${containerName} could not be removed: ${complaint(stderr)}`);
  await registry.remove(containerName);
}
