import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");
export const ENTRY = join(ROOT, "dist", "entry.js");

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Wall time of a command in ms; the median of `runs`. */
export function timeCommand(args: readonly string[], env: NodeJS.ProcessEnv, runs = 7): number {
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const from = performance.now();
    spawnSync(process.execPath, args, { env, stdio: "ignore" });
    times.push(performance.now() - from);
  }
  return median(times);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

export interface BenchGateway {
  readonly port: number;
  readonly startMs: number;
  rssMb(): number;
  stop(): Promise<void>;
}

/** Resident memory of a process in MB, from /proc (undefined elsewhere). */
export function rssMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1024;
}

/** The built gateway as a process; `startMs` is from spawn to the first HTTP 200. */
export async function startGateway(env: NodeJS.ProcessEnv, args?: readonly string[]): Promise<BenchGateway> {
  const port = await freePort();
  const from = performance.now();
  const child = spawn(process.execPath, args ?? [ENTRY, "gateway", "--port", String(port)], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let routePort = port;
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    if (args && /^\d+\n/.test(output)) routePort = Number(output);
  });
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  let ended = false;
  child.once("exit", () => (ended = true));
  for (;;) {
    const ok = await fetch(`http://127.0.0.1:${routePort}/healthz`).then((res) => res.ok, () => false);
    if (ok) break;
    if (ended) throw new Error(`the gateway ended: ${output}`);
    if (performance.now() - from > 60_000) throw new Error(`the gateway does not answer: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  const startMs = performance.now() - from;
  return {
    port: routePort,
    startMs,
    rssMb: () => rssMb(child.pid as number),
    async stop() {
      if (ended) return;
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}
