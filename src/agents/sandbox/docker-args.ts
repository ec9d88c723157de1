import { SandboxError } from "./contract.ts";
import type { Bind } from "./binds.ts";
import type { Mount } from "./open-inside.ts";
import type { DockerSettings } from "./settings.ts";

/** A container as it is to be made. */
export interface ContainerPlan {
  readonly name: string;
  readonly scopeKey: string;
  readonly docker: DockerSettings;
  readonly mounts: readonly Mount[];
  readonly binds: readonly Bind[];
  /** `uid:gid` of the workspace. */
  readonly defaultUser: string | undefined;
}

const SECRET_NAME = /API_?KEY|TOKEN|PASSWORD|PASSWD|PRIVATE_?KEY|SECRET|CREDENTIAL/i;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What would undo the isolation is refused, not weakened. @throws SandboxError naming the key */
export function assertIsolating(docker: DockerSettings): void {
  const refuse = (key: string, why: string): never => {
    throw new SandboxError("settings", `sandbox.docker.${key} is refused: ${why}`);
  };
  const network = docker.network.trim().toLowerCase();
  if (network === "host") refuse("network", `"host" would give the sandbox the network of this machine. Use "none" or "bridge".`);
  if (network.startsWith("container:") && docker.dangerouslyAllowContainerNamespaceJoin !== true) {
    refuse("network", `"${docker.network}" joins another container. sandbox.docker.dangerouslyAllowContainerNamespaceJoin=true allows it.`);
  }
  for (const key of ["seccompProfile", "apparmorProfile"] as const) if (docker[key]?.trim().toLowerCase() === "unconfined") refuse(key, `"unconfined" switches the protection off.`);
  if (!docker.workdir.startsWith("/") || docker.workdir === "/") refuse("workdir", "it must be an absolute path below the root.");
  for (const key of ["image", "network", "user", "workdir"] as const) if (docker[key]?.startsWith("-")) refuse(key, "it must not begin with a dash.");
}

/** Names that look like those of secrets do not go in. */
export function sandboxEnvironment(env: Readonly<Record<string, string>>): { readonly env: Readonly<Record<string, string>>; readonly dropped: readonly string[] } {
  const entries = Object.entries(env);
  const isKept = (name: string): boolean => ENV_NAME.test(name) && !SECRET_NAME.test(name);
  return { env: Object.fromEntries(entries.filter(([name]) => isKept(name))), dropped: entries.map(([name]) => name).filter((name) => !isKept(name)) };
}

/** Arguments of `docker create`. Source: spec tools-and-automation §4. */
export function dockerCreateArgs(plan: ContainerPlan, labels: { readonly createdAtMs: number; readonly configHash: string }): string[] {
  const { docker } = plan;
  const user = docker.user ?? plan.defaultUser;
  const each = (flag: string, values: readonly string[] | undefined): string[] => (values ?? []).flatMap((value) => [flag, value]);
  const optional = (flag: string, value: string | number | undefined): string[] => (value === undefined || value === "" ? [] : [flag, String(value)]);
  return [
    "create", "--name", plan.name,
    "--label", "openclaw.sandbox=1", "--label", `openclaw.sessionKey=${plan.scopeKey}`,
    "--label", `openclaw.createdAtMs=${labels.createdAtMs}`, "--label", `openclaw.configHash=${labels.configHash}`,
    ...(docker.readOnlyRoot ? ["--read-only"] : []),
    ...each("--tmpfs", docker.tmpfs),
    ...optional("--network", docker.network),
    ...optional("--user", user),
    ...each("--cap-drop", docker.capDrop),
    "--security-opt", "no-new-privileges",
    ...(docker.seccompProfile ? ["--security-opt", `seccomp=${docker.seccompProfile}`] : []),
    ...(docker.apparmorProfile ? ["--security-opt", `apparmor=${docker.apparmorProfile}`] : []),
    ...each("--dns", docker.dns),
    ...each("--add-host", docker.extraHosts),
    ...optional("--pids-limit", docker.pidsLimit),
    ...optional("--memory", docker.memory),
    ...optional("--memory-swap", docker.memorySwap),
    ...optional("--cpus", docker.cpus),
    ...Object.entries(docker.ulimits ?? {}).flatMap(([name, limit]) => ["--ulimit", `${name}=${ulimit(limit)}`]),
    ...Object.entries(sandboxEnvironment(docker.env).env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    "--workdir", docker.workdir,
    ...plan.mounts.flatMap((mount) => ["--volume", `${mount.source}:${mount.target}${mount.writable ? "" : ":ro"}`]),
    ...plan.binds.flatMap((bind) => ["--volume", [bind.source, bind.target, ...(bind.options.length > 0 ? [bind.options.join(",")] : [])].join(":")]),
    docker.image, "sleep", "infinity",
  ];
}

function ulimit(limit: NonNullable<DockerSettings["ulimits"]>[string]): string {
  if (typeof limit !== "object") return String(limit);
  const soft = limit.soft ?? limit.hard ?? 0;
  return `${soft}:${limit.hard ?? soft}`;
}

export interface ExecPlan {
  readonly name: string;
  readonly workdir: string;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pty: boolean;
}

/**
 * Arguments of `docker exec`. Values of the environment stand in the arguments: in the environment of the docker command,
 * DOCKER_HOST or LD_PRELOAD of a call would change what runs on the host.
 * @throws Error for a name that is none
 */
export function dockerExecArgs(plan: ExecPlan): string[] {
  const bad = Object.keys(plan.env).find((name) => !ENV_NAME.test(name));
  if (bad !== undefined) throw new Error(`'${bad}' is not a name of an environment variable.`);
  return [
    "exec", "-i", ...(plan.pty ? ["-t"] : []), "-w", plan.workdir,
    ...Object.entries(plan.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
    plan.name, "sh", "-lc", plan.command,
  ];
}
