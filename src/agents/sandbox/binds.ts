import { realpath } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { isErrno } from "../../infra/atomic-file.ts";
import { SandboxError } from "./contract.ts";
import type { Mount } from "./open-inside.ts";
import { AGENT_MOUNT, type DockerSettings } from "./settings.ts";

/** Folders of the machine that are never seen inside, nor anything that holds them. Source: spec tools-and-automation §4. */
const HOST_FOLDERS = ["/etc", "/private/etc", "/proc", "/sys", "/dev", "/root", "/boot", "/run", "/var/run", "/private/var/run"];
const ENGINE_SOCKET = /(^|\/)(docker|podman|containerd|crio)\.sock$/;
const OPTIONS = new Set(["ro", "rw", "z", "Z", "private", "rprivate", "cached", "delegated", "consistent"]);

export interface BindRules {
  readonly docker: Pick<DockerSettings, "binds" | "workdir" | "dangerouslyAllowExternalBindSources" | "dangerouslyAllowReservedContainerTargets">;
  /** Folders that belong to the agent: its workspace and the root of private copies. */
  readonly roots: readonly string[];
  readonly stateDir: string;
}

export interface Bind extends Mount {
  readonly options: readonly string[];
}

/** The binds of the configuration, links of their sources resolved. @throws SandboxError naming the bind and the rule it breaks */
export async function resolveBinds(rules: BindRules): Promise<Bind[]> {
  const roots = await Promise.all(rules.roots.map(realOrPlanned));
  const state = await realOrPlanned(rules.stateDir);
  return Promise.all((rules.docker.binds ?? []).map((bind) => resolveBind(bind, rules, roots, state)));
}

async function resolveBind(bind: string, { docker, stateDir }: BindRules, roots: readonly string[], state: string): Promise<Bind> {
  const refuse = (why: string): SandboxError => new SandboxError("settings", `The bind "${bind}" in sandbox.docker.binds is refused: ${why}`);
  const [source = "", target = "", optionText, ...rest] = bind.split(":");
  const options = (optionText ?? "").split(",").filter((option) => option !== "");
  if (!source.startsWith("/")) throw refuse("its source must be an absolute path of the host.");
  if (!target.startsWith("/") || rest.length > 0) throw refuse("it must read source:target or source:target:ro, both absolute.");
  const unknown = options.find((option) => !OPTIONS.has(option));
  if (unknown !== undefined) throw refuse(`the option ${unknown} is not one of ${[...OPTIONS].join(", ")}.`);
  const real = await realOrPlanned(source);
  for (const path of [posix.normalize(source).replace(/\/$/, "") || "/", real]) {
    if (path === "/") throw refuse("it would show the whole file system of the host.");
    if (ENGINE_SOCKET.test(path)) throw refuse("the socket of a container engine gives control over the host.");
    const folder = HOST_FOLDERS.find((blocked) => isBelow(blocked, path) || isBelow(path, blocked));
    if (folder !== undefined) throw refuse(`${path} reaches ${folder} of the host.`);
  }
  const isOwn = roots.some((root) => isBelow(root, real));
  if (!isOwn && (isBelow(state, real) || isBelow(real, state))) throw refuse(`it would show the gateway's own state in ${stateDir}.`);
  if (!isOwn && docker.dangerouslyAllowExternalBindSources !== true) {
    throw refuse(`${real} is outside of the agent's workspace (${roots.join(", ")}). sandbox.docker.dangerouslyAllowExternalBindSources=true allows it.`);
  }
  const inside = posix.normalize(target).replace(/\/$/, "") || "/";
  if (inside === "/") throw refuse("its target must not be the root of the sandbox.");
  const reserved = [docker.workdir, "/workspace", AGENT_MOUNT].find((path) => isBelow(path, inside));
  if (reserved !== undefined && docker.dangerouslyAllowReservedContainerTargets !== true) {
    throw refuse(`its target lies in ${reserved}, which is reserved. sandbox.docker.dangerouslyAllowReservedContainerTargets=true allows it.`);
  }
  return { source: real, target: inside, writable: !options.includes("ro"), options };
}

const isBelow = (root: string, path: string): boolean => path === root || path.startsWith(root === "/" ? "/" : `${root}/`);

/** Where a path leads to; of what does not exist, where it would lie. */
async function realOrPlanned(path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = posix.normalize(path); ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing);
    } catch (err) {
      if (!isErrno(err, "ENOENT", "ENOTDIR") || dirname(at) === at) throw err;
      missing.unshift(basename(at));
    }
  }
}
