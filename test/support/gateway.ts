import { mkdtemp, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, resolveStatePaths } from "../../src/config/index.ts";
import { createGateway, type Gateway, type GatewayOptions } from "../../src/gateway/index.ts";

export const PACKAGE_ROOT = join(import.meta.dirname, "..", "..");

export interface TestGatewayOptions {
  /** Parsed config; the token is `T` unless it says otherwise. */
  readonly config?: Record<string, unknown> | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** An existing state directory, e.g. of a gateway that was closed before. */
  readonly stateDir?: string | undefined;
  readonly options?: Partial<GatewayOptions> | undefined;
}

export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly stateDir: string;
  readonly url: string;
  readonly token: string;
  readonly lines: readonly string[];
}

/** A gateway in this process on a free port with a state directory of its own; no localhost probes. */
export async function startTestGateway(input: TestGatewayOptions = {}): Promise<TestGateway> {
  const stateDir = input.stateDir ?? (await mkdtemp(join(tmpdir(), "openclaw-test-")));
  await mkdir(stateDir, { recursive: true });
  const env: Record<string, string> = {
    HOME: stateDir, PATH: process.env["PATH"] ?? "", SHELL: "/bin/bash", OPENCLAW_STATE_DIR: stateDir, OPENCLAW_SKIP_LOCAL_MODELS: "1", ...input.env,
  };
  if (input.config !== undefined || input.stateDir === undefined) {
    const config = { gateway: { mode: "local", auth: { mode: "token", token: "T" } }, agents: { defaults: { workspace: join(stateDir, "workspace") } }, ...input.config };
    await writeFile(join(stateDir, "openclaw.json"), JSON.stringify(config, null, 2), { mode: 0o600 });
  }
  const paths = resolveStatePaths(env);
  const snapshot = await loadConfig({ paths, env });
  if (!snapshot.valid) throw new Error(`test config is not valid: ${JSON.stringify(snapshot.issues)}`);
  const lines: string[] = [];
  const gateway = await createGateway({
    env, paths, snapshot, version: "2026.2.25", packageRoot: PACKAGE_ROOT, port: 0, lock: false,
    console: { level: "debug", style: "compact", write: (line) => void lines.push(line) },
    ...input.options,
  });
  return {
    gateway, stateDir, url: gateway.url, token: gateway.token ?? "", lines,
    async [Symbol.asyncDispose]() {
      await gateway.close("stop");
      if (input.stateDir === undefined) await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
