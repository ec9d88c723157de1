import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** The gateway as a process of its own, to be killed: the function does so, and again does nothing. */
export function startGatewayProcess(stateDir: string, env: Readonly<Record<string, string>>): () => Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "gateway-child.ts")], {
    env: { PATH: process.env["PATH"] ?? "", HOME: stateDir, OPENCLAW_STATE_DIR: stateDir, OPENCLAW_SKIP_LOCAL_MODELS: "1", ...env }, stdio: "ignore",
  });
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
}
