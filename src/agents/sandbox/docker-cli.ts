import { spawn } from "node:child_process";
import { SandboxError } from "./contract.ts";

export interface DockerAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The `docker` command line of this machine. */
export interface DockerCli {
  readonly path: string;
  /** What of the gateway's environment the command gets. */
  readonly env: Readonly<Record<string, string>>;
  /** @throws SandboxError when the command cannot be run at all */
  run(args: readonly string[], timeoutMs?: number): Promise<DockerAnswer>;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_OUTPUT_CHARS = 1_000_000;
/** Where the engine is and how to get there; no keys of providers. */
const PASSED_ON = /^(PATH|HOME|USER|LANG|LC_ALL|TMPDIR|XDG_RUNTIME_DIR|XDG_CONFIG_HOME|SSH_AUTH_SOCK|DOCKER_[A-Z_]+|(https?|no)_proxy|(HTTPS?|NO)_PROXY)$/;

export function createDockerCli(path: string, gatewayEnv: Readonly<Record<string, string | undefined>>): DockerCli {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(gatewayEnv)) if (value !== undefined && PASSED_ON.test(name)) env[name] = value;
  return {
    path,
    env,
    run: (args, timeoutMs = DEFAULT_TIMEOUT_MS) =>
      new Promise((resolve, reject) => {
        const child = spawn(path, [...args], { env, stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs, killSignal: "SIGKILL" });
        const out = { stdout: "", stderr: "" };
        for (const stream of ["stdout", "stderr"] as const) {
          child[stream].setEncoding("utf8").on("data", (text: string) => {
            out[stream] = (out[stream] + text).slice(-MAX_OUTPUT_CHARS);
          });
        }
        child.once("error", (err) => reject(new SandboxError("engine", `The docker command could not be run: ${err.message}`, { cause: err })));
        child.once("close", (code, signal) => resolve({ ...out, code: code ?? 1, ...(signal ? { stderr: `${out.stderr}\ndocker ${args[0] ?? ""} did not end within ${timeoutMs} ms` } : {}) }));
      }),
  };
}
