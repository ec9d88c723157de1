import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ENTRY = join(import.meta.dirname, "..", "entry.ts");
/** Shared by all homes, or every run would compile the sources anew. */
const NODE_COMPILE_CACHE = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "cli-tests");

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A home of its own, with the real program run in it. */
export interface CliHome extends AsyncDisposable {
  readonly home: string;
  readonly stateDir: string;
  readonly configPath: string;
  writeConfig(text: string): Promise<void>;
  run(...args: readonly string[]): Promise<Run>;
  runWith(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run>;
  /** The one JSON document that the run printed; throws when it printed anything else. */
  json(...args: readonly string[]): Promise<{ readonly code: number | null; readonly value: Record<string, unknown> }>;
  /** Starts a gateway on a free port and waits until it is ready. */
  startGateway(...args: readonly string[]): Promise<RunningGateway>;
}

export interface RunningGateway {
  readonly port: number;
  readonly child: ChildProcess;
  /** Everything printed so far, both streams. */
  output(): string;
  /** Resolves when the output (from now on, or before) has it. */
  until(text: string, times?: number): Promise<void>;
  readonly ended: Promise<number | null>;
  stop(): Promise<number | null>;
}

function baseEnv(home: string, more: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = "", TMPDIR } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...(TMPDIR ? { TMPDIR } : {}), HOME: home, OPENCLAW_STATE_DIR: join(home, ".openclaw"), OPENCLAW_SKIP_LOCAL_MODELS: "1", ...more };
}

export function spawnCli(home: string, env: Readonly<Record<string, string>>, args: readonly string[], stdin: "ignore" | "pipe" = "ignore"): ChildProcess {
  return spawn(process.execPath, [ENTRY, ...args], { cwd: home, env: baseEnv(home, env), stdio: [stdin, "pipe", "pipe"] });
}

export function collect(child: ChildProcess): Promise<Run> {
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

export async function createHome(): Promise<CliHome> {
  const home = await mkdtemp(join(tmpdir(), "openclaw-cli-"));
  const stateDir = join(home, ".openclaw");
  const configPath = join(stateDir, "openclaw.json");
  const gateways: RunningGateway[] = [];
  // Nothing of another installation on this machine may answer on the default port.
  const port = await freePort();
  const runWith = (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run> => collect(spawnCli(home, { OPENCLAW_GATEWAY_PORT: String(port), ...env }, args));
  return {
    home,
    stateDir,
    configPath,
    async writeConfig(text) {
      await mkdir(stateDir, { recursive: true, mode: 0o700 });
      await writeFile(configPath, text, { mode: 0o600 });
    },
    runWith,
    run: (...args) => runWith({}, ...args),
    async json(...args) {
      const { code, stdout } = await runWith({}, ...args);
      return { code, value: JSON.parse(stdout) as Record<string, unknown> };
    },
    async startGateway(...args) {
      const gateway = openGateway(spawnCli(home, { OPENCLAW_GATEWAY_PORT: String(port) }, ["gateway", ...args]), port);
      gateways.push(gateway);
      await gateway.until("] ready");
      return gateway;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await rm(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

export function openGateway(child: ChildProcess, port: number): RunningGateway {
  let text = "";
  let isGone = false;
  const waiters = new Set<() => void>();
  const wake = (): void => waiters.forEach((waiter) => waiter());
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      wake();
    });
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (code) => {
      isGone = true;
      resolve(code);
      wake();
    });
  });
  return {
    port,
    child,
    ended,
    output: () => text,
    until: (wanted, times = 1) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (text.split(wanted).length > times) resolve();
          else if (isGone) reject(new Error(`the gateway ended without "${wanted}":\n${text}`));
          else return;
          waiters.delete(look);
        };
        waiters.add(look);
        look();
      }),
    async stop() {
      if (!isGone) child.kill("SIGTERM");
      return ended;
    },
  };
}
