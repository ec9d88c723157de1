import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { SandboxError } from "./contract.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** `docker` or `bwrap`; else what is there, Docker first. */
const BACKEND_VARIABLE = "OPENCLAW_SANDBOX_BACKEND";

/** The program of this machine that isolates. @throws SandboxError when there is none */
export function selectProgram(env: Env): { readonly kind: "docker" | "bwrap"; readonly path: string } {
  const wanted = env[BACKEND_VARIABLE];
  const docker = wanted === "bwrap" ? undefined : findOnPath("docker", env["PATH"]);
  if (docker !== undefined) return { kind: "docker", path: docker };
  const bwrap = wanted === "docker" || process.platform !== "linux" ? undefined : findOnPath("bwrap", env["PATH"]);
  if (bwrap !== undefined) return { kind: "bwrap", path: bwrap };
  throw new SandboxError("engine", "Failed to inspect sandbox image: there is no docker command on PATH. Install Docker, or set agents.defaults.sandbox.mode to \"off\" to run on this machine.");
}

/** The program of this name on PATH; relative folders of PATH do not count. */
export function findOnPath(name: string, path: string | undefined): string | undefined {
  const suffix = process.platform === "win32" ? ".exe" : "";
  return (path ?? "").split(delimiter).filter(isAbsolute).map((dir) => join(dir, `${name}${suffix}`)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // not there, or not for us to run
  }
}
